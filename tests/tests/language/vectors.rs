//! Elements that are one access, and `load` and `store` of several elements.

use crate::bench::{Bench, cases, tame, words};
use warpwright::prelude::*;

cases!(
    elements_of_arrays,
    elements_of_mixed_structs,
    elements_with_padding,
    elements_in_parts,
    elements_of_bytes_and_halves,
    elements_of_constants,
    elements_in_shared_memory,
    swapped_elements,
    vectors_of_bytes,
    loads_under_conditions,
    vectors_of_every_type,
    vectors_of_shared_arrays,
    vectors_of_dynamic_arrays,
    vectors_of_constants,
    what_vectors_hand_on,
);

#[kernel(block = 64)]
fn arrays(x: &Global<[f32; 4]>, y: &mut Global<[f64; 2]>, z: &mut Global<[f32; 8]>) {
    let i = global_id().x;
    if i < y.len() {
        let [a, b, c, d] = x[i];
        y[i] = [(a + b) as f64, (c * d) as f64];
        z[i] = [d, c, b, a, a, b, c, d];
        z[i][3] += z[(i + 0) % z.len()][4];
    }
}

fn elements_of_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(4 * 75))?;
    let mut y = b.device.zeros::<f64>(2 * 75)?;
    let mut z = b.device.zeros::<f32>(8 * 75)?;
    b.go(arrays(x.view()?, y.view_mut()?, z.view_mut()?).cover(75))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Body {
    pos: [f32; 3],
    id: u32,
    spin: (i32, f32),
    mass: f64,
}

#[kernel(block = 64)]
fn mixed(x: &Global<Body>, y: &mut Global<Body>) {
    let i = global_id().x;
    if i < y.len() {
        let mut b = x[i];
        b.pos[2] = b.pos[0] * b.spin.1;
        b.id ^= b.spin.0 as u32;
        b.spin.0 += 1;
        b.mass += y[i].mass + y[i].pos[1] as f64;
        y[i] = b;
    }
}

fn elements_of_mixed_structs(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(8 * 40).iter().map(|word| word % 0x3fff_ffff).collect::<Vec<u32>>())?;
    let mut y = b.device.zeros::<u32>(8 * 40)?;
    b.go(mixed(x.view()?, y.view_mut()?).cover(40))?;
    b.keep(&y).map(drop)
}

#[device]
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[device]
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Cell {
    width: u32,
    at: Vec3,
    kind: u8,
}

#[kernel(block = 32)]
fn padded(scale: Vec3, x: &Global<Vec3>, y: &mut Global<Vec3>, cells: &mut Global<Cell>, sums: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let v = x[i];
        y[i] = Vec3 { x: v.x * scale.x, y: v.y * scale.y, z: v.z * scale.z };
        cells[i] = Cell { width: i as u32, at: y[i], kind: 3 };
        sums[i] = cells[i].at.x + cells[i].at.y + cells[i].at.z + cells[i].width as f32 + cells[i].kind as f32;
    }
}

fn elements_with_padding(b: &mut Bench<'_>) -> warpwright::Result<()> {
    assert_eq!((size_of::<Vec3>(), size_of::<Cell>()), (16, 48));
    let xs: Vec<Vec3> = tame(3 * 50).chunks(3).map(|v| Vec3 { x: v[0], y: v[1], z: v[2] }).collect();
    let zero = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
    let x = b.device.upload(&xs)?;
    let mut y = b.device.upload(&vec![zero; 50])?;
    let mut cells = b.device.upload(&vec![Cell { width: 0, at: zero, kind: 0 }; 50])?;
    let mut sums = b.device.zeros::<f32>(50)?;
    b.go(padded(Vec3 { x: 2.0, y: 0.5, z: -1.0 }, &x, &mut y, &mut cells, &mut sums).cover(50))?;
    b.keep(&sums)?;
    let found: Vec<f32> = y.download()?.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
    b.expect("scaled", &found, xs.iter().flat_map(|v| [v.x * 2.0, v.y * 0.5, -v.z]));
    Ok(())
}

/// One place, loaded under conditions of which neither contains the other, by threads that load it for one, the other, both and none.
#[kernel(block = 32)]
fn conditional(n: &Global<u32>, flags: &Global<bool>, bytes: &Global<u8>, halves: &Global<f16>, y: &mut Global<u32>, z: &mut Global<f32>) {
    let i = global_id().x;
    let (first, second) = (n[i] & 1 == 1, n[i] & 2 == 2);
    let (mut a, mut b) = (false, false);
    if first {
        a = flags[0];
    }
    if second {
        b = flags[0];
    }
    let (mut c, mut d) = (0u8, 0u8);
    if first {
        c = bytes.load::<8>(0)[5];
    }
    if second {
        d = bytes.load::<8>(0)[5];
    }
    let (mut e, mut f) = (f16::ZERO, f16::ONE);
    if first {
        e = halves.load::<4>(0)[3];
    }
    if second {
        f = halves.load::<4>(0)[3];
    }
    y[i] = a as u32 + 2 * b as u32 + 256 * c as u32 + 65536 * d as u32;
    z[i * 2] = e as f32;
    z[i * 2 + 1] = f as f32;
}

fn loads_under_conditions(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let n = b.device.upload(&words(64))?;
    let flags = b.device.upload(&[true; 8])?;
    let bytes = b.device.upload(&[201u8; 8])?;
    let halves = b.device.upload(&[f16::from_f32(-3.5); 4])?;
    let mut y = b.device.zeros::<u32>(64)?;
    let mut z = b.device.zeros::<f32>(128)?;
    b.go(conditional(&n, &flags, &bytes, &halves, &mut y, &mut z).cover(64))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[kernel(block = 64, contract = false)]
fn parts(x: &Global<[f32; 4]>, y: &mut Global<[u32; 4]>, z: &mut Global<f32>) {
    let i = global_id().x;
    if i < z.len() {
        // Of what nobody writes, neighbours come along; of what threads write, each writes its own.
        z[i] = x[i][0] * x[i][2] - x[i][3];
        y[i / 4][i % 4] += i as u32;
        if x[i][1] > 0.0 {
            y[z.len() / 4 + i][1] = 1;
            y[z.len() / 4 + i][2] = 2;
        }
        y[z.len() / 4 + i][3] = 3;
    }
}

fn elements_in_parts(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(4 * 64))?;
    let mut y = b.device.zeros::<u32>(4 * (16 + 64))?;
    let mut z = b.device.zeros::<f32>(64)?;
    b.go(parts(x.view()?, y.view_mut()?, &mut z).cover(64))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Small {
    flags: [bool; 4],
    color: [u8; 4],
    signed: [i8; 2],
    half: f16,
    brain: [bf16; 2],
}

#[kernel(block = 64)]
fn small(x: &Global<[u8; 16]>, y: &mut Global<Small>, z: &mut Global<[i8; 8]>, w: &mut Global<[u16; 8]>) {
    let i = global_id().x;
    if i < y.len() {
        let b = x[i];
        y[i] = Small {
            flags: [b[0] > 100, b[1] > 100, b[2] > 100, b[3] > 100],
            color: [b[4], b[5], b[6], b[7]],
            signed: [b[8] as i8, b[9] as i8],
            half: (b[10] as f32).sqrt() as f16,
            brain: [b[11] as bf16, b[12] as bf16],
        };
        let s = y[i];
        z[i] = [s.signed[0], s.signed[1], s.flags[0] as i8, s.flags[3] as i8, s.color[3] as i8, -3, b[14] as i8, b[15] as i8];
        let v = z[i];
        w[i] = [v[0] as u16, v[1] as u16, v[4] as u16, v[5] as u16, v[6] as u16, s.half.to_bits(), s.brain[1].to_bits(), 7];
    }
}

fn elements_of_bytes_and_halves(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let bytes: Vec<u8> = words(16 * 70).iter().map(|word| (word >> 8) as u8).collect();
    let x = b.device.upload(&bytes)?;
    let no = Small { flags: [false; 4], color: [0; 4], signed: [0; 2], half: f16::ZERO, brain: [bf16::ZERO; 2] };
    let mut y = b.device.upload(&vec![no; 70])?;
    let mut z = b.device.zeros::<i8>(8 * 70)?;
    let mut w = b.device.zeros::<u16>(8 * 70)?;
    b.go(small(x.view()?, &mut y, z.view_mut()?, w.view_mut()?).cover(70))?;
    b.keep(&z)?;
    b.keep(&w)?;
    let colors: Vec<u8> = y.download()?.iter().flat_map(|small| small.color).collect();
    b.expect("colors", &colors, bytes.chunks(16).flat_map(|b| [b[4], b[5], b[6], b[7]]));
    Ok(())
}

#[kernel(block = 64)]
fn constants(c: &Constant<[Vec3; 5]>, d: &Constant<[Body; 1]>, e: &Constant<[[u8; 4]; 6]>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let v = c[i % 5];
        let [p, q, r, s] = e[i % 6];
        let whole = v.x + v.y * v.z + d[0].pos[0] + d[0].pos[1] + d[0].id as f32 + d[0].mass as f32;
        y[i] = whole + (p as u32 + q as u32 * 2 + r as u32 * 3 + s as u32 * 4) as f32;
    }
}

fn elements_of_constants(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let at = |n: usize| Vec3 { x: n as f32, y: 0.5 * n as f32, z: 3.0 };
    let c = b.device.constant([at(0), at(1), at(2), at(3), at(4)])?;
    let d = b.device.constant_from_slice(&[Body { pos: [1.0, 2.0, 3.0], id: 9, spin: (1, 1.0), mass: 0.25 }])?;
    let e = b.device.constant([[1, 2, 3, 4], [250, 251, 252, 253], [5, 6, 7, 8], [0; 4], [9; 4], [255; 4]])?;
    let mut y = b.device.zeros::<f32>(100)?;
    b.go(constants(&c, &d, &e, &mut y).cover(100))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 64)]
fn shared(x: &Global<[f32; 4]>, y: &mut Global<[f32; 4]>, sums: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 4]; 64];
    #[shared]
    let mut bodies: [Body; 2];
    #[shared]
    let mut total: [f32; 3];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    if t < 2 {
        bodies[t] = Body { pos: [t as f32, 2.0, 3.0], id: 7, spin: (1, 2.5), mass: 0.5 };
    }
    if t == 0 {
        total[0] = 1.0;
        total[1] = 2.0;
        total[2] = 3.0;
    }
    sync_threads();
    let v = tile[63 - t];
    let b = bodies[t % 2];
    y[global_id().x] = [v[3] + b.pos[0], v[2] + b.id as f32, v[1] + b.mass as f32, v[0] + total[0] + total[1] + total[2]];
    sync_threads();
    tile[t][1] = 0.0;
    sync_threads();
    sums[global_id().x] = tile[(t + 1) % 64][0] + tile[(t + 1) % 64][1];
}

fn elements_in_shared_memory(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(4 * 128))?;
    let mut y = b.device.zeros::<f32>(4 * 128)?;
    let mut sums = b.device.zeros::<f32>(128)?;
    b.go(shared(x.view()?, y.view_mut()?, &mut sums).grid(2))?;
    b.keep(&sums)?;
    b.keep(&y).map(drop)
}

#[kernel(block = 64)]
fn swap(y: &mut Global<[u32; 4]>) {
    let i = global_id().x;
    if 2 * i + 1 < y.len() {
        // Elements that may be the same one: the order of reads and writes stays.
        let (a, b) = (y[2 * i], y[2 * i + 1 - i % 2]);
        y[2 * i] = b;
        y[2 * i + 1 - i % 2] = [a[3], a[2], a[1], a[0]];
        y[2 * i][0] += y[2 * i + 1][1];
    }
}

fn swapped_elements(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let mut y = b.device.upload(&words(4 * 90))?;
    b.go(swap(y.view_mut()?).cover(45))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 64)]
fn bytes(x: &Global<u8>, y: &mut Global<u8>, z: &mut Global<i8>) {
    let i = 16 * global_id().x;
    if i < x.len() {
        let v = x.load::<16>(i);
        y.store::<16>(i, v);
        let mut w = [0i8; 16];
        for k in 0..16 {
            w[k] = (v[15 - k] ^ 0x55) as i8;
        }
        z.store::<16>(i, w);
        z[i + 3] = z.load::<16>(i)[4] >> 1;
    }
}

fn vectors_of_bytes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs: Vec<u8> = words(16 * 80).iter().map(|word| (word >> 8) as u8).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<u8>(16 * 80)?;
    let mut z = b.device.zeros::<i8>(16 * 80)?;
    b.go(bytes(&x, &mut y, &mut z).cover(80))?;
    let found = y.download()?;
    b.expect("copied", &found, xs);
    b.keep(&z).map(drop)
}

#[kernel(block = 64)]
fn widest<T: Element, const N: usize>(x: &Global<T>, y: &mut Global<T>) {
    let i = N * global_id().x;
    if i < x.len() {
        y.store(x.len() - N - i, x.load::<N>(i));
    }
}

fn vectors_of_every_type(b: &mut Bench<'_>) -> warpwright::Result<()> {
    macro_rules! widest {
        ($($ty:ty, $n:literal;)*) => {$(
            let x = b.device.upload(&(0..16 * 20).map(|n| (n * 37 % 101) as u8 as $ty).collect::<Vec<$ty>>())?;
            let mut y = b.device.zeros::<$ty>(16 * 20)?;
            b.go(widest::<$ty, $n>(&x, &mut y).cover(320 / $n))?;
            b.keep(&y)?;
        )*};
    }
    widest!(u8, 16; i8, 8; u8, 2; u16, 8; i16, 4; u32, 4; i32, 2; u64, 2; f32, 4; f64, 2;);
    Ok(())
}

#[kernel(block = 64)]
fn tiles(x: &Global<u16>, y: &mut Global<u16>, z: &mut Global<f32>) {
    #[shared]
    let mut tile: [[u16; 64]; 16];
    #[shared(pad = 4)]
    let mut sums: [[f32; 8]; 64];
    let t = thread_idx().x;
    for k in 0..2 {
        tile[t / 4].store::<8>(t % 4 * 16 + 8 * k, x.load::<8>(16 * global_id().x + 8 * k));
    }
    sync_threads();
    let v = tile[15 - t / 4].load::<4>(t % 16 * 4);
    for k in 0..4 {
        y[4 * global_id().x + k] = v[3 - k];
    }
    sums[t].store(4, [v[0] as f32, v[1] as f32, v[2] as f32, v[3] as f32]);
    sums[t].store(0, [1.0, 2.0]);
    sync_threads();
    let w = sums[63 - t].load::<4>(4);
    let u = sums[t].load::<2>(0);
    z[global_id().x] = w[0] + w[1] * 2.0 - w[2] + w[3] + u[0] + u[1];
}

fn vectors_of_shared_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(16 * 128).iter().map(|word| *word as u16).collect::<Vec<u16>>())?;
    let mut y = b.device.zeros::<u16>(4 * 128)?;
    let mut z = b.device.zeros::<f32>(128)?;
    b.go(tiles(&x, &mut y, &mut z).grid(2))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}

#[device]
fn quarter(part: &mut [f32], t: usize) -> f32 {
    let v = part.load::<4>(4 * t);
    v[0] + v[1] * v[2] - v[3]
}

#[kernel(block = 32)]
fn dynamic(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut part: [f32];
    let t = thread_idx().x;
    part.store::<4>(4 * t, x.load::<4>(4 * global_id().x));
    sync_threads();
    y[global_id().x] = quarter(&mut part, 31 - t);
}

fn vectors_of_dynamic_arrays(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(4 * 96))?;
    let mut y = b.device.zeros::<f32>(96)?;
    b.go(dynamic(&x, &mut y).grid(3).shared_bytes(4 * 32 * 4))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 32)]
fn tables(c: &Constant<[f32; 12]>, d: &Constant<[[u8; 16]; 3]>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let v = c.load::<4>(i % 3 * 4);
        let w = d[i % 3].load::<8>(8);
        y[i] = v[0] + v[1] - v[2] * v[3] + w[i % 8] as f32;
    }
}

fn vectors_of_constants(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let c = b.device.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0f32])?;
    let d = b.device.constant([[7u8; 16], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16], [255; 16]])?;
    let mut y = b.device.zeros::<f32>(70)?;
    b.go(tables(&c, &d, &mut y).cover(70))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 32, contract = false)]
fn handed_on(x: &Global<f32>, y: &mut Global<f32>, z: &mut Global<f32>) {
    let t = global_id().x;
    if 20 * t + 20 > x.len() {
        return;
    }
    let (mut s, mut best, mut at, mut before, mut compensation) = (0.0f32, f32::MIN, 0, 1.0f32, 0.0f32);
    // 20 iterations: five groups, or two and a rest.
    #[vectorize(4)]
    for k in 0..20 {
        let v = x[20 * t + k];
        if v > best {
            best = v;
            at = k;
        }
        let corrected = v - compensation;
        let sum = s + corrected;
        compensation = (sum - s) - corrected;
        s = sum;
        y[20 * t + k] = s + before;
        before = v;
    }
    #[vectorize(2)]
    for k in 0..19 {
        best *= y[20 * t + k];
        y[20 * t + k] -= best;
    }
    z[t] = s + best + at as f32 + before;
}

fn what_vectors_hand_on(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(20 * 50))?;
    let mut y = b.device.zeros::<f32>(20 * 50)?;
    let mut z = b.device.zeros::<f32>(50)?;
    b.go(handed_on(&x, &mut y, &mut z).cover(50))?;
    b.keep(&y)?;
    b.keep(&z).map(drop)
}
