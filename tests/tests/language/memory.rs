//! Global, shared, dynamic shared and constant memory.

use crate::bench::{Bench, cases, small, tame, words};
use warpwright::prelude::*;

cases!(
    constants,
    constant_structs,
    constant_nested,
    constants_at_conditions,
    tables_of_infinities,
    dynamic_shared,
    dynamic_and_static,
    several_shared,
    shared_structs,
    shared_types,
    transpose,
    lengths,
    odd_elements,
    shared_in_functions,
    grid_stride,
    bool_buffers,
);

#[kernel(block = 32, contract = false)]
fn constant(c: &Constant<[f32; 5]>, k: &Constant<[u8; 3]>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut s = 0.0;
    for t in 0..c.len() {
        s += c[t] * x[(i + t) % x.len()];
    }
    s += c[i % 5] + k[i % 3] as f32 * c[2];
    y[i] = s - c[4];
}

fn constants(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let c = b.device.constant([0.5f32, -1.0, 2.0, 4.5, 1e-3])?;
    let k = b.device.constant([1u8, 200, 7])?;
    let x = b.device.upload(&tame(64))?;
    let mut y = b.device.zeros::<f32>(64)?;
    b.go(constant(&c, &k, &x, &mut y).cover(64))?;
    b.keep(&y).map(drop)
}

const BYTES: [u8; 4] = [3, 250, 17, 99];
const FLAGS: [bool; 2] = [true, false];

/// Bytes of constant memory at places that a condition decides.
#[kernel(block = 32)]
fn at_conditions(c: &Constant<[u8; 3]>, d: &Constant<[[bool; 2]; 2]>, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let odd = x[i] % 2 == 1;
    let large = x[i] > 1000;
    let mut sum = BYTES[odd as usize] as u32 + 1000 * c[1 + large as usize] as u32;
    if FLAGS[large as usize] ^ d[odd as usize][large as usize] {
        sum += 7 * BYTES[if odd { 3 } else { 2 }] as u32;
    }
    y[i] = sum + 1_000_000 * c[3 - odd as usize - 1] as u32;
}

fn constants_at_conditions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let c = b.device.constant([11u8, 200, 7])?;
    let d = b.device.constant([[true, false], [false, false]])?;
    let x = b.device.upload(&words(64))?;
    let mut y = b.device.zeros::<u32>(64)?;
    b.go(at_conditions(&c, &d, &x, &mut y).cover(64))?;
    b.keep(&y).map(drop)
}

const LIMITS: [f32; 4] = [0.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
const WIDE: [[f64; 2]; 2] = [[1.5, f64::INFINITY], [-0.0, f64::NEG_INFINITY]];

#[kernel(block = 32, contract = false)]
fn limits(k: &Global<u32>, y: &mut Global<f32>, z: &mut Global<f64>) {
    let i = global_id().x;
    let n = k[i] as usize;
    y[i] = if LIMITS[n % 4].is_nan() { 7.0 } else { LIMITS[n % 4] };
    z[i] = WIDE[n / 2 % 2][n % 2];
}

fn tables_of_infinities(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let k = b.device.upload(&words(64))?;
    let (mut y, mut z) = (b.device.zeros::<f32>(64)?, b.device.zeros::<f64>(64)?);
    b.go(limits(&k, &mut y, &mut z).cover(64))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Layer {
    weights: [[f32; 2]; 2],
    bias: f32,
    kind: u8,
}

#[device]
fn layer(c: &Constant<[Layer; 3]>, k: usize, x: f32) -> f32 {
    let l = c[k];
    match l.kind {
        0 => l.weights[0][1] * x + l.bias,
        1 => c[k].weights[k % 2][0] - x,
        _ => l.bias,
    }
}

#[kernel(block = 32, contract = false)]
fn layers(c: &Constant<[Layer; 3]>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = layer(c, i % 3, x[i]) + layer(c, 0, 1.0) + c[2].bias;
}

fn constant_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let one = |k: u8| Layer { weights: [[1.5, 2.5 * f32::from(k)], [3.0, 4.0]], bias: 0.25, kind: k };
    let c = b.device.constant([one(0), one(1), one(2)])?;
    let x = b.device.upload(&tame(64))?;
    let mut y = b.device.zeros::<f32>(64)?;
    b.go(layers(&c, &x, &mut y).cover(64))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 32)]
fn constant_grid<const N: usize>(c: &Constant<[[i16; N]; 4]>, y: &mut Global<i32>) {
    let i = global_id().x;
    let mut s = 0;
    for row in 0..4 {
        for column in 0..N {
            s = s * 3 + c[row][(column + i) % N] as i32;
        }
    }
    y[i] = s + c[i % 4][i % N] as i32;
}

fn constant_nested(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let c = b.device.constant([[1i16, -2, 3], [4, 5, -6], [7, -8, 9], [300, 200, 100]])?;
    let mut y = b.device.zeros::<i32>(32)?;
    b.go(constant_grid::<3>(&c, &mut y).grid(1))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 64)]
fn dynamic(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared(dynamic)]
    let mut buf: [u32];
    let t = thread_idx().x;
    let n = buf.len();
    for k in (t..n).step_by(64) {
        buf[k] = x[k % x.len()] + k as u32;
    }
    sync_threads();
    buf.atomic_add(t % n, 1);
    sync_threads();
    y[global_id().x] = buf[n - 1 - t % n] + n as u32;
}

fn dynamic_shared(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(64))?;
    for bytes in [256usize, 40, 4096] {
        let mut y = b.device.zeros::<u32>(64)?;
        b.go(dynamic(&x, &mut y).grid(1).shared_bytes(bytes))?;
        b.keep(&y)?;
    }
    Ok(())
}

#[device]
fn fill(buf: &mut [f32], t: usize, v: f32) {
    if t < buf.len() {
        buf[t] = v;
    }
}

#[kernel(block = 32)]
fn dynamic_too(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut flags: [bool; 5];
    #[shared(dynamic)]
    let mut buf: [f32];
    #[shared]
    let mut doubles: [f64; 3];
    let t = thread_idx().x;
    if t < 5 {
        flags[t] = x[t] > 0.0;
    }
    if t < 3 {
        doubles[t] = x[t] as f64 * 3.0;
    }
    fill(&mut buf, t, x[t]);
    sync_threads();
    let v = if flags[t % 5] { buf[(t + 1) % 32] } else { doubles[t % 3] as f32 };
    y[t] = v + buf.len() as f32;
}

fn dynamic_and_static(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(32))?;
    let mut y = b.device.zeros::<f32>(32)?;
    b.go(dynamic_too(&x, &mut y).grid(1).shared_bytes(32 * 4))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 32)]
fn several(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut a: [u8; 33];
    #[shared]
    let mut b: [[u16; 3]; 11];
    #[shared]
    let mut c: [u64; 32];
    let t = thread_idx().x;
    let v = x[global_id().x];
    a[t] = v as u8;
    if t == 0 {
        a[32] = 7;
    }
    if t < 11 {
        b[t] = [v as u16, t as u16, 9];
    }
    c[t] = v as u64 * 3;
    sync_threads();
    if t > 3 {
        #[shared]
        let mut d: [u32; 32];
        d[t] = a[32 - t] as u32;
        y[global_id().x] = d[t];
    } else {
        y[global_id().x] = 0;
    }
    let row = b[t % 11];
    y[global_id().x] += row[0] as u32 + b[(t + 1) % 11][1] as u32 + c[31 - t] as u32 + row[t % 3] as u32;
}

fn several_shared(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(several, &words(64), 1).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Item {
    key: u32,
    weight: f32,
    tags: [u8; 3],
}

#[kernel(block = 32)]
fn items(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut all: [Item; 32];
    let t = thread_idx().x;
    let v = x[global_id().x];
    all[t] = Item { key: v, weight: t as f32, tags: [v as u8, 1, 2] };
    all[t].tags[1] += 5;
    sync_threads();
    // Odd-even transposition sort.
    for round in 0..32 {
        let k = t * 2 + round % 2;
        if t < 16 && k + 1 < 32 && all[k].key > all[k + 1].key {
            let (p, q) = (all[k], all[k + 1]);
            all[k] = q;
            all[k + 1] = p;
        }
        sync_threads();
    }
    let mine = all[t];
    y[global_id().x] = mine.key ^ (mine.weight as u32) << 24 ^ (mine.tags[t % 3] as u32) << 16 ^ (all[31 - t].tags[1] as u32) << 8;
}

fn shared_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(items, &words(64), 1).map(drop)
}

#[kernel(block = 32)]
fn shared_scalars(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut total: u32;
    #[shared]
    let mut flag: bool;
    #[shared]
    let mut item: Item;
    let t = thread_idx().x;
    if t == 3 {
        total = x[global_id().x];
        flag = total > 7;
        item = Item { key: total, weight: 0.5, tags: [1, 2, 3] };
        item.tags[1] += 5;
        total += 1;
    }
    sync_threads();
    let copy = item;
    let mut sum = total + flag as u32 + item.tags[t % 3] as u32;
    for total in 0..3 {
        sum += total;
    }
    assert!(total > 0, "total {}", total);
    y[global_id().x] = if flag { sum + copy.key } else { total };
}

#[device]
fn fresh(x: &Global<u32>, t: usize, round: u32) -> u32 {
    #[shared]
    let mut line: [u32; 32];
    line[t] = x[t] + round;
    sync_threads();
    let v = line[(t + 1) % 32];
    sync_threads();
    v
}

#[kernel(block = 32)]
fn shared_of_functions(x: &Global<u32>, y: &mut Global<u32>) {
    let t = thread_idx().x;
    let a = fresh(x, t, 1);
    let b = fresh(x, t, a % 3);
    let mut c = 0;
    for k in 0..3 {
        c = c * 3 + fresh(x, t, k);
    }
    y[t] = a + b * 5 + c;
}

#[kernel(block = 32)]
fn shared_kinds(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut h: [f16; 32];
    #[shared]
    let mut b: [bf16; 32];
    #[shared]
    let mut p: [(u8, f32); 32];
    #[shared]
    let mut f: [bool; 32];
    #[shared]
    let mut s: [i8; 32];
    let t = thread_idx().x;
    let v = x[global_id().x] % 2000;
    h[t] = v as f16;
    b[t] = v as bf16;
    p[t] = (v as u8, v as f32 * 0.5);
    f[t] = v % 3 == 0;
    s[t] = v as i8;
    sync_threads();
    let o = 31 - t;
    p[t].1 += 1.0;
    let q = p[t];
    y[global_id().x] =
        h[o].to_bits() as u32 ^ (b[o].to_bits() as u32) << 16 ^ (q.1 * 4.0) as u32 ^ (f[o] as u32) << 31 ^ s[o] as u32 ^ (q.0 as u32) << 3;
}

fn shared_types(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shared_scalars, &words(64), 1)?;
    b.map(shared_of_functions, &small(32), 1)?;
    b.map(shared_kinds, &words(64), 1).map(drop)
}

#[kernel(block = (16, 16))]
fn transposing(w: usize, h: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 17]; 16];
    let Dim3 { x: tx, y: ty, .. } = thread_idx();
    let g = global_id();
    if g.x < w && g.y < h {
        tile[ty][tx] = x[g.y * w + g.x];
    }
    sync_threads();
    let column = block_idx().y * 16 + tx;
    let row = block_idx().x * 16 + ty;
    if column < h && row < w {
        y[row * h + column] = tile[tx][ty];
    }
}

fn transpose(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let (w, h) = (37, 50);
    let xs = tame(w * h);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f32>(w * h)?;
    b.go(transposing(w, h, &x, &mut y).cover((w, h)))?;
    let found = b.keep(&y)?;
    b.expect("transpose", &found, (0..w * h).map(|i| xs[i % h * w + i / h]));
    Ok(())
}

#[kernel(block = 32)]
fn measures(a: &Global<u8>, b: &Global<[f64; 3]>, c: &Constant<[u32; 9]>, y: &mut Global<u32>) {
    #[shared]
    let mut s: [[u32; 6]; 4];
    let l = [[1u8; 3]; 2];
    let t = thread_idx().x;
    if t == 0 {
        s[0][0] = 1;
        y[0] = a.len() as u32;
        y[1] = b.len() as u32;
        y[2] = c.len() as u32;
        y[3] = s.len() as u32 * 10 + s[0].len() as u32;
        y[4] = l.len() as u32 * 10 + l[0].len() as u32;
        y[5] = y.len() as u32 + b[0].len() as u32 * 100;
        y[6] = a.is_empty() as u32;
    }
}

fn lengths(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let a = b.device.upload(&[0u8; 33])?;
    let d = b.device.upload(&[[0f64; 3]; 5])?;
    let c = b.device.constant([0u32; 9])?;
    let mut y = b.device.zeros::<u32>(7)?;
    b.go(measures(&a, &d, &c, &mut y).grid(1))?;
    let found = b.keep(&y)?;
    b.expect("lengths", &found, [33, 5, 9, 46, 23, 307, 0]);
    Ok(())
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Odd {
    a: [u8; 3],
    b: u16,
    c: u8,
}

#[kernel(block = 32)]
fn odd(x: &Global<Odd>, y: &mut Global<Odd>, z: &mut Global<[u8; 5]>) {
    let i = global_id().x;
    let mut o = x[i];
    o.a[i % 3] ^= 0xff;
    o.b += o.c as u16;
    y[i] = o;
    y[i].c = o.a[1];
    z[i] = [o.a[0], o.a[1], o.a[2], o.b as u8, o.c];
    z[i][i % 5] = 9;
}

fn odd_elements(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<Odd> = words(64).iter().map(|&w| Odd { a: [w as u8, (w >> 8) as u8, 3], b: (w >> 16) as u16, c: (w >> 5) as u8 }).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.upload(&xs)?;
    let mut z = b.device.zeros::<[u8; 5]>(64)?;
    b.go(odd(&x, &mut y, &mut z).cover(64))?;
    let found: Vec<u8> = z.download()?.concat();
    let expected = xs.iter().enumerate().flat_map(|(i, o)| {
        let mut a = o.a;
        a[i % 3] ^= 0xff;
        let mut all = [a[0], a[1], a[2], o.b.wrapping_add(o.c.into()) as u8, o.c];
        all[i % 5] = 9;
        all
    });
    b.expect("bytes", &found, expected);
    let fields: Vec<u8> = y.download()?.iter().map(|o| o.c).collect();
    b.expect("fields", &fields, xs.iter().enumerate().map(|(i, o)| if i % 3 == 1 { !o.a[1] } else { o.a[1] }));
    Ok(())
}

#[device]
fn row_sum(tile: &[[f32; 8]; 4], row: usize) -> f32 {
    line_sum(&tile[row])
}

#[device]
fn line_sum(line: &[f32; 8]) -> f32 {
    let mut s = 0.0;
    for k in 0..8 {
        s += line[k];
    }
    s
}

#[device]
fn bump(line: &mut [f32; 8], at: usize) {
    line[at] += 1.0;
}

#[kernel(block = 32, contract = false)]
fn sharing(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 8]; 4];
    let t = thread_idx().x;
    tile[t / 8][t % 8] = x[global_id().x];
    sync_threads();
    bump(&mut tile[t / 8], (t + 3) % 8);
    sync_threads();
    y[global_id().x] = row_sum(&tile, t % 4) - tile[t / 8][t % 8];
}

fn shared_in_functions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(sharing, &tame(64), 1).map(drop)
}

#[kernel(block = 64, contract = false)]
fn striding(x: &Global<f32>, y: &mut Global<f32>) {
    let stride = block_dim().x * grid_dim().x;
    for i in (global_id().x..x.len()).step_by(stride) {
        y[i] = x[i] * 2.0 + 1.0;
    }
}

fn grid_stride(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = tame(1000);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f32>(1000)?;
    b.go(striding(&x, &mut y).grid(3))?;
    let found = b.keep(&y)?;
    b.expect("all", &found, xs.iter().map(|x| x * 2.0 + 1.0));
    Ok(())
}

#[kernel(block = 32)]
fn sieve(n: usize, y: &mut Global<bool>) {
    let i = global_id().x;
    if i >= 2 && i < n {
        let mut prime = true;
        let mut d = 2;
        while d * d <= i {
            if i % d == 0 {
                prime = false;
                break;
            }
            d += 1;
        }
        y[i] = prime;
        if !y[i] && i % 2 == 1 {
            y[i] |= i == 91;
        }
    }
}

fn bool_buffers(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.zeros::<bool>(100)?;
    b.go(sieve(100, &mut y).cover(100))?;
    let found = b.keep(&y)?;
    b.check("primes and 91", found.iter().filter(|&&p| p).count() == 26);
    Ok(())
}
