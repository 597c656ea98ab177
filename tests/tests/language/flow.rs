//! Control flow meant to break the making of SSA and the passes after it: variables that change on some ways.

use crate::bench::{Bench, cases, small, words};
use warpwright::prelude::*;

cases!(
    assigned_in_one_branch,
    swapped_in_loops,
    mixed_indices,
    arrays_across_loops,
    struct_copies,
    zero_trips,
    loop_in_loop_carried,
    uniform_and_divergent,
    many_carried,
    conditional_arrays,
    inner_mutation,
    lagged,
    string_of_ifs,
    loop_bounds_changed,
    variable_born_in_loop,
    accumulate_in_memory,
    conditional_loads,
);

#[kernel(block = 32)]
fn one_branch(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut a = 1;
    let mut b = 2;
    let mut c = 3;
    if n > 3 {
        a = n;
        if n > 9 {
            b = a + 1;
        } else {
            if n == 5 {
                c = b;
            }
        }
    } else if n == 1 {
        c = a + b;
    }
    for k in 0..n {
        if k % 2 == 0 {
            a += b;
        }
        if k == 3 {
            b = c;
        }
    }
    y[i] = a * 10000 + b * 100 + c;
}

fn assigned_in_one_branch(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(one_branch, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn swaps(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let (mut a, mut b) = (0u32, 1u32);
    for _ in 0..n {
        let t = a + b;
        a = b;
        b = t;
    }
    let (mut p, mut q, mut r) = (n, n + 1, n + 2);
    let mut k = 0;
    while k < n {
        (p, q, r) = (q, r, p);
        if k % 3 == 1 {
            let t = p;
            p = q;
            q = t;
        }
        k += 1;
    }
    let mut pair = [p, q];
    for _ in 0..n % 5 {
        pair = [pair[1], pair[0] + 1];
    }
    let mut s = (a, b);
    let mut m = n;
    loop {
        s = (s.1, s.0);
        if m == 0 {
            break;
        }
        m -= 1;
    }
    y[i] = s.0 ^ s.1 << 4 ^ p << 8 ^ q << 12 ^ r << 16 ^ pair[0] << 20 ^ pair[1] << 24;
}

fn swapped_in_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = small(64);
    let found = b.map(swaps, &xs, 1)?;
    let expected = xs.iter().map(|&n| {
        let (mut a, mut f) = (0u32, 1u32);
        (0..n).for_each(|_| (a, f) = (f, a + f));
        let (mut p, mut q, mut r) = (n, n + 1, n + 2);
        for k in 0..n {
            (p, q, r) = (q, r, p);
            if k % 3 == 1 {
                std::mem::swap(&mut p, &mut q);
            }
        }
        let mut pair = [p, q];
        (0..n % 5).for_each(|_| pair = [pair[1], pair[0] + 1]);
        let s = if n % 2 == 0 { (f, a) } else { (a, f) };
        s.0 ^ s.1 << 4 ^ p << 8 ^ q << 12 ^ r << 16 ^ pair[0] << 20 ^ pair[1] << 24
    });
    b.expect("swaps", &found, expected);
    Ok(())
}

#[kernel(block = 32)]
fn mixed(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i] as usize;
    let mut a = [1u32, 2, 3, 4, 5];
    a[0] = a[n % 5];
    a[n % 5] = 9;
    a[1] += a[0];
    let before = a;
    a[(n + 1) % 5] = before[2] + a[3];
    if n > 4 {
        a[2] = before[n % 3];
    } else {
        a[n] += 1;
    }
    for k in 0..5 {
        a[k] ^= a[(k + n) % 5];
        a[4] += before[k];
    }
    let mut grid = [[0u32; 4]; 3];
    grid[n % 3][1] = a[1];
    grid[1][n % 4] += a[2];
    let row = grid[1];
    grid[2] = row;
    grid[n % 3] = [a[0], row[n % 4], 7, 8];
    y[i] = a[0] ^ a[1] << 5 ^ a[2] << 10 ^ a[3] << 15 ^ a[4] << 20 ^ before[0];
    y[i] ^= grid[0][1] * 3 + grid[1][3] * 5 + grid[2][n % 4] * 7 + grid[n % 3][2] * 11;
}

fn mixed_indices(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(mixed, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn arrays_carried(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut window = [0u32; 3];
    let mut best = [0u32; 3];
    for k in 0..x.len() {
        window = [window[1], window[2], x[k]];
        if window[0] + window[2] > best[0] + best[2] && k as u32 % 3 != n % 3 {
            best = window;
        }
        if best[0] + best[1] + best[2] > 38 {
            break;
        }
    }
    let mut fir = [1u32; 4];
    for k in 0..n {
        let mut next = fir;
        for t in 0..4 {
            next[t] = fir[t] + fir[(t + 1) % 4] * k;
        }
        fir = next;
    }
    y[i] = best[0] ^ best[1] << 8 ^ best[2] << 16 ^ fir[0] ^ fir[3];
}

fn arrays_across_loops(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(arrays_carried, &small(64), 1).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Inner {
    a: u32,
    b: [u32; 2],
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Outer {
    p: Inner,
    q: [Inner; 2],
}

#[device]
fn change(mut o: Outer, n: u32) -> Outer {
    o.p.a += n;
    o.q[(n % 2) as usize].b[1] = o.p.a;
    o
}

#[kernel(block = 32)]
fn copies(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let base = Inner { a: n, b: [1, 2] };
    let mut o = Outer { p: base, q: [base, Inner { a: 5, ..base }] };
    let saved = o;
    o.p.b[0] = 50;
    o.q[0] = o.p;
    o.p = o.q[1];
    let changed = change(o, n);
    let mut all = [saved, o, changed];
    all[1] = all[(n % 3) as usize];
    all[2].q = all[0].q;
    all[(n % 2) as usize].p = changed.q[1];
    if n % 3 == 0 {
        o = all[1];
    }
    let mut sum = 0;
    for k in 0..3 {
        sum = sum * 7 + all[k].p.a + all[k].p.b[1] * 3 + all[k].q[1].b[0] + all[k].q[0].b[1] * 2 + all[k].q[k % 2].a;
    }
    y[i] = sum + o.p.b[1] + saved.q[0].a;
}

fn struct_copies(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(copies, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn zero(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut v = 5;
    let mut last = 99;
    for k in 0..0 {
        v += x[k];
        last = v;
    }
    for k in n..n {
        v += k;
        last = k;
    }
    for k in n + 1..n {
        last = 100 / (n - n + k);
    }
    for k in (n..0).rev() {
        v = k;
    }
    for k in (5..=4).step_by(2) {
        v += k;
    }
    while n > 1000 {
        v += 1;
        last = v;
    }
    for k in 0..n {
        for m in k..k {
            v += m;
            last = 1;
        }
        for _ in 0..1 {
            v += 1;
        }
    }
    y[i] = v * 1000 + last;
}

fn zero_trips(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(zero, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn carried(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut a = 1u32;
    let mut b = 2u32;
    for k in 0..n {
        let old = a;
        for m in 0..k {
            b += old;
            a = b - m;
        }
        if a > b {
            let mut t = 0;
            while t < 3 {
                t += 1;
                a -= t;
            }
        } else {
            b = old;
        }
    }
    y[i] = a ^ b << 7;
}

fn loop_in_loop_carried(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(carried, &small(64), 1).map(drop)
}

#[kernel(block = 64)]
fn uniformity(n: u32, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut line: [u32; 64];
    let t = thread_idx().x;
    let i = global_id().x;
    line[t] = x[i];
    let mut v = 0;
    for k in 0..n {
        sync_threads();
        let mine = line[(t + k as usize) % 64];
        sync_threads();
        if mine > 7 {
            line[t] += 1;
            v += mine;
        }
        if n > 3 && k == n - 1 {
            sync_threads();
            v += line[63 - t];
        }
    }
    sync_threads();
    if n % 2 == 0 {
        v += line[0];
    }
    y[i] = v;
}

fn uniform_and_divergent(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&small(128))?;
    for n in [0, 1, 4, 7] {
        let mut y = b.device.zeros::<u32>(128)?;
        b.go(uniformity(n, &x, &mut y).cover(128))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[kernel(block = 32)]
fn many(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let (mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h) = (n, 1u8, 2u16, 3u64, 4.0f32, 5i8, true, 6.0f64);
    let mut k = 0;
    while k < n {
        a += b as u32;
        b = c as u8;
        c += d as u16;
        d ^= e as u64;
        e = f as f32 * 1.5;
        f = -f + 1;
        g = !g ^ (f > 0);
        h += if g { 0.5 } else { -0.25 };
        k += 1 + (g && a % 2 == 0) as u32;
    }
    y[i] = a ^ (b as u32) << 8 ^ (c as u32) << 3 ^ d as u32 ^ e as u32 ^ f as u32 ^ (g as u32) << 31 ^ (h * 4.0) as i32 as u32;
}

fn many_carried(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(many, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn array_choice(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let a = if n % 2 == 0 { [1u32, 2, 3] } else { [n, n + 1, n + 2] };
    let mut b = match n {
        0..=4 => a,
        5..=8 => {
            let mut t = a;
            t[(n % 3) as usize] = 40;
            t
        }
        _ => [a[2], a[1], a[0]],
    };
    let c = loop {
        b[0] += 5;
        if b[0] > 20 {
            break b;
        }
        if b[1] == 2 {
            break [7; 3];
        }
    };
    y[i] = a[(n % 3) as usize] + b[(n as usize + 1) % 3] * 100 + c[(n as usize / 2) % 3] * 10000;
}

fn conditional_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(array_choice, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn inner(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut v = x[i];
    let a = {
        v += 1;
        v
    } + {
        v *= 2;
        v
    };
    let b = if {
        v += 3;
        v % 2 == 0
    } {
        v
    } else {
        v = 100;
        v + 1
    };
    let c = [
        v,
        {
            v -= 1;
            v
        },
        v,
    ];
    let d = v + match {
        v += 7;
        v % 3
    } {
        0 => {
            v *= 3;
            1
        }
        1 => v,
        _ => {
            let v = 5;
            v
        }
    };
    let e = (v, {
        v ^= 0xff;
        v
    })
        .0
        + v;
    for k in v..({
        v = v % 1000 + 2;
        v
    }) {
        v += k;
    }
    while {
        v += 1;
        v % 5 != 0
    } {
        v += 1;
    }
    y[i] = a ^ b << 4 ^ c[0] << 8 ^ c[1] << 12 ^ c[2] << 16 ^ d << 20 ^ e << 24 ^ v;
}

fn inner_mutation(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(inner, &words(64), 1).map(drop)
}

#[kernel(block = 32, contract = false)]
fn lags(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let n = x.len();
    let mut older = 0.0;
    let mut old = 0.0;
    let mut sum = 0.0;
    for k in 0..8 {
        let new = x[(i + k) % n];
        sum += older * 0.25 + old * 0.5 + new;
        older = old;
        old = new;
    }
    let mut previous = sum;
    let mut current = sum * 0.5;
    let mut rounds = 0;
    while (current - previous).abs() > 1e-3 && rounds < 30 {
        let next = current + (previous - current) * 0.3;
        previous = current;
        current = next;
        rounds += 1;
    }
    y[i] = sum + previous * 3.0 - current + rounds as f32;
}

fn lagged(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(lags, &crate::bench::tame(64), 1).map(drop)
}

#[kernel(block = 32)]
fn ifs(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut v = 0;
    if n & 1 != 0 {
        v += 1;
    }
    if n & 2 != 0 {
        v = v * 3 + 2;
    }
    if n & 4 != 0 {
        v ^= 0x55;
    } else {
        v += 9;
    }
    if n & 8 != 0 {
        if v % 2 == 0 {
            v /= 2;
        }
        v += x[(v as usize) % x.len()];
    }
    let w = if v > 10 { v - 10 } else { 10 - v };
    let u = if w > 3 { if v > 5 { 1 } else { 2 } } else { 3 };
    let z = if u == 1 && w != 7 { x[w as usize % x.len()] } else { u };
    if z > 3 {
        y[i] = v;
    } else if z == 3 {
        y[i] = w;
    } else {
        y[i] = u + z;
    }
}

fn string_of_ifs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(ifs, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn bounds_changed(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let mut n = x[i];
    let mut s = 0u32;
    for mut k in 0..n {
        n += 1;
        k += n;
        s = s * 3 + k;
    }
    let mut m = 3;
    while m < n {
        n -= 1;
        m += 1;
        s ^= n << m % 8;
    }
    for k in 0..m {
        m = k;
        s += m;
    }
    y[i] = s + n + m;
}

fn loop_bounds_changed(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(bounds_changed, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn born(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    let mut s = 0;
    let mut k = 0;
    while k < n {
        let t;
        let mut u = [0u32; 2];
        if k % 2 == 0 {
            t = k * 3;
            u[1] = t;
        } else {
            t = s;
        }
        u[0] += t + u[1];
        let mut q = u[0];
        for _ in 0..k {
            q = q * 3 + 1;
            u[(q % 2) as usize] += 1;
        }
        s += q % 100 + u[1];
        k += 1;
    }
    y[i] = s;
}

fn variable_born_in_loop(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(born, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn in_memory(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let n = x[i];
    y[i] = n;
    for k in 0..n {
        y[i] += y[i] % 3 + x[(y[i] as usize) % x.len()] + k;
        let before = y[i];
        if before % 4 == 1 {
            y[i] = before / 2;
            continue;
        }
        y[i] = before ^ y[i] << 1;
    }
}

fn accumulate_in_memory(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(in_memory, &small(64), 1).map(drop)
}

#[kernel(block = 32)]
fn guarded(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let left = if i > 0 { x[i - 1] } else { 0 };
    let right = if i + 1 < x.len() { x[i + 1] } else { 7 };
    let far = if i >= 5 && i + 5 < x.len() { x[i - 5] / (x[i + 5] + 1) } else { 3 };
    let by = x[i];
    let quotient = if by != 0 { left / by } else { 0 };
    let rest = match by {
        0 => 0,
        d => right % d,
    };
    let mut k = i;
    while k < x.len() && x[k] != 0 {
        k += 1;
    }
    y[i] = left ^ right << 4 ^ far << 8 ^ quotient << 12 ^ rest << 16 ^ (k as u32) << 20;
}

fn conditional_loads(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(guarded, &small(64), 1).map(drop)
}
