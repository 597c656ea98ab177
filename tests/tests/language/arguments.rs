//! Arguments of `#[kernel(…)]`, and kernels of odd signatures.

use crate::bench::{Bench, cases, tame, words};
use warpwright::prelude::*;
use warpwright::warp::shuffle;

cases!(
    index_64,
    fast_math,
    trapping,
    limits,
    no_parameters,
    many_parameters,
    generic_attributes,
    names,
    raw,
    printing,
    empty,
    arrays_by_value
);

#[kernel(block = 64, index = 64)]
fn wide_index(n: usize, x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    if i < x.len() {
        let big = i * 0x1_0000_0001 + n;
        let s = -(i as isize) - 5;
        y[i] = big as u64 ^ (s as u64).rotate_left(17) ^ (usize::MAX as u64) ^ usize::BITS as u64 ^ x[(big >> 32) % x.len()] as u64;
        for k in (0..i).rev().step_by(1 << 20) {
            y[i] += k as u64;
        }
    }
}

#[kernel(block = 32, index = 64)]
fn wide_elements(x: &Global<usize>, y: &mut Global<(usize, isize)>) {
    #[shared]
    let mut line: [usize; 32];
    let i = global_id().x;
    line[thread_idx().x] = x[i] * 3;
    sync_threads();
    let v = shuffle(x[i], 3);
    y[i] = (line[31 - thread_idx().x].rotate_left(9) ^ v, x[i] as isize >> 2);
}

fn index_64(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(100))?;
    let mut y = b.device.zeros::<u64>(100)?;
    b.go(wide_index(usize::MAX - 10, &x, &mut y).cover(100))?;
    b.keep(&y)?;
    let xs: Vec<usize> = words(32).iter().map(|&w| (w as usize) << 29).collect();
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<(usize, isize)>(32)?;
    b.go(wide_elements(&x, &mut y).cover(32))?;
    let found = y.download()?;
    b.expect("first", &found.iter().map(|y| y.0).collect::<Vec<_>>(), (0..32).map(|i| (xs[31 - i].wrapping_mul(3)).rotate_left(9) ^ xs[3]));
    Ok(())
}

#[kernel(block = 32, math = fast)]
fn quick(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let a = x[i].abs() + 0.5;
    y[i] = a.sin() + a.cos() * a.sqrt() + a.recip() / a.exp() + a.ln().tanh() + a.powf(0.3) + 1.0 / a;
}

fn fast_math(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&tame(64).iter().map(|f| f / 40.0).collect::<Vec<_>>())?;
    let mut y = b.device.zeros::<f32>(64)?;
    b.go(quick(&x, &mut y).cover(64))?;
    b.keep_close(&y, 1e-4).map(drop)
}

#[kernel(block = 32, bounds = trap)]
fn guarded(c: &Constant<[u32; 3]>, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [[u32; 4]; 8];
    let i = global_id().x;
    let t = thread_idx().x;
    tile[t / 4][t % 4] = x[i];
    sync_threads();
    let local = [1u32, 2, 3];
    let mut v = tile[(t + 1) % 32 / 4][(t + 1) % 4] + local[i % 3] + c[i % 3];
    v += x.load::<2>(i / 2 * 2)[1];
    y[i] = v;
    y.atomic_add(i, 1);
}

fn trapping(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let c = b.device.constant([5u32, 6, 7])?;
    let x = b.device.upload(&words(64))?;
    let mut y = b.device.zeros::<u32>(64)?;
    b.go(guarded(&c, &x, &mut y).cover(64))?;
    b.keep(&y).map(drop)
}

#[kernel(block = (16, 4), min_blocks = 2, max_registers = 64, targets = [sm_80, sm_90], index = 32, contract = true, bounds = unchecked)]
fn limited(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().y * 16 + global_id().x;
    y[i] = x[i] + 1;
}

fn limits(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(128))?;
    let mut y = b.device.zeros::<u32>(128)?;
    b.go(limited(&x, &mut y).cover((16, 8)))?;
    b.keep(&y).map(drop)
}

#[kernel(block = 1)]
fn alone() {}

#[kernel]
fn alone_too() {
    sync_threads();
}

fn no_parameters(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.go(alone().grid(3))?;
    b.go(alone_too().grid(3).block(40))
}

#[kernel(block = 32)]
fn crowded(
    a: u8,
    x: &Global<u32>,
    b: f64,
    y: &mut Global<u32>,
    c: bool,
    z: &mut Global<f64>,
    d: [u8; 3],
    w: &Global<bool>,
    e: i64,
    v: &mut Global<u8>,
) {
    let i = global_id().x;
    y[i] = x[i] + a as u32 + c as u32;
    z[i] = b + e as f64;
    v[i] = d[i % 3] + w[i] as u8;
}

fn many_parameters(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(32))?;
    let w = b.device.upload(&(0..32).map(|i| i % 3 == 1).collect::<Vec<_>>())?;
    let (mut y, mut z, mut v) = (b.device.zeros::<u32>(32)?, b.device.zeros::<f64>(32)?, b.device.zeros::<u8>(32)?);
    b.go(crowded(200, &x, 0.5, &mut y, true, &mut z, [1, 2, 3], &w, -7, &mut v).grid(1))?;
    b.keep(&y)?;
    b.keep(&z)?;
    b.keep(&v).map(drop)
}

const WARPS: usize = 2;

#[kernel(block = WARPS * 32 * if BIG { 2 } else { 1 }, contract = FUSE, max_registers = 32 + 8 * LEVEL, min_blocks = LEVEL)]
fn assigned<const BIG: bool, const FUSE: bool, const LEVEL: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = x[i] * 1.1 + (block_dim().x * LEVEL) as f32;
    }
}

fn generic_attributes(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let xs = tame(200);
    let x = b.device.upload(&xs)?;
    let mut y = b.device.zeros::<f32>(200)?;
    b.go(assigned::<true, false, 1>(&x, &mut y).cover(200))?;
    let found = b.keep(&y)?;
    b.expect("big", &found, xs.iter().map(|x| x * 1.1 + 128.0));
    b.go(assigned::<false, true, 3>(&x, &mut y).cover(200))?;
    b.keep_close(&y, 1e-6).map(drop)
}

/// Names that mean something to a back end.
#[kernel(block = 32)]
fn kernel(float: u32, global: &Global<u32>, out: &mut Global<u32>) {
    let get_global_id = global_id().x;
    let int = float + 1;
    let half = global[get_global_id];
    let barrier = half ^ int;
    let reg = [barrier, 2];
    let (_x, __y, v0, b1, r1, p1, ret, pragma) = (1, 2, 3, 4, 5, 6, 7, 8);
    let mut double = reg[0] + _x + __y + v0 + b1 + r1 + p1 + ret + pragma;
    for uchar in 0..3 {
        let volatile = uchar * 2;
        double += volatile;
    }
    let größe = 5;
    let switch = match double % 3 {
        0 => größe,
        short => short,
    };
    let r#type = switch + NULL + M_PI + sampler_t(1);
    out[get_global_id] = double + r#type;
}

#[allow(non_upper_case_globals)]
const NULL: u32 = 3;
const M_PI: u32 = 4;

#[device]
fn sampler_t(image2d_t: u32) -> u32 {
    let union = image2d_t;
    union + 1
}

#[kernel(block = 32)]
fn main(x: &Global<u32>, y: &mut Global<u32>) {
    let tid = global_id().x;
    let ntid = x[tid];
    y[tid] = ntid;
}

fn names(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(32))?;
    let mut y = b.device.zeros::<u32>(32)?;
    b.go(kernel(7, &x, &mut y).grid(1))?;
    b.keep(&y)?;
    b.go(main(&x, &mut y).grid(1))?;
    b.keep(&y).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct r#enum {
    r#dyn: u32,
}

#[device]
fn r#const(r#ref: r#enum) -> u32 {
    r#ref.r#dyn + 1
}

#[kernel(block = 32)]
fn r#loop(r#in: &Global<u32>, r#mod: &mut Global<u32>) {
    let r#fn = global_id().x;
    let r#if = r#in[r#fn];
    'r: for r#while in 0..3 {
        if r#while == 2 {
            break 'r;
        }
    }
    r#mod[r#fn] = r#const(r#enum { r#dyn: r#if });
}

fn raw(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(r#loop, &words(32), 1).map(drop)
}

#[kernel(block = 32)]
fn printer(x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i == 40 {
        println!("thread {} of {}: {} {:?} {:.3} {} {}", i, grid_dim().x * block_dim().x, x[0], true, x[1], 255u8, -5i64);
        println!();
        print!("100% {{done}} \"quoted\" \\ {}\n", x[2] as f16 as f32);
    }
    y[i] = 1;
}

fn printing(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(printer, &tame(64), 1).map(drop)
}

#[kernel(block = 32)]
fn nothing(_unused: u32, _x: &Global<u32>, y: &mut Global<u32>) {
    if y.len() > 0 {
        return;
    }
}

fn empty(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let x = b.device.upload(&words(32))?;
    let mut y = b.device.zeros::<u32>(32)?;
    b.go(nothing(3, &x, &mut y).grid(2))?;
    b.keep(&y).map(drop)
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Filter {
    scale: i32,
    taps: [[i16; 2]; 3],
    is_on: [bool; 4],
}

#[device]
impl Filter {
    fn sum(&self, k: usize) -> i32 {
        let mut sum = 0;
        for n in 0..3 {
            sum += self.taps[n][k % 2] as i32;
        }
        sum * self.scale
    }
}

#[device]
struct Weights<'a> {
    table: [u8; 7],
    to: &'a mut Global<i32>,
}

#[device]
fn last_of(counts: [u32; 3], k: usize) -> u32 {
    counts[2 - k % 3]
}

/// Arrays that are read where they are passed, by indices that are known and that are not, and copies of them that are changed.
#[kernel(block = 32, bounds = trap)]
fn with_arrays(filter: Filter, mut counts: [u32; 3], odd: ([i64; 2], f32), x: &Global<u32>, w: Weights<'_>) {
    let i = global_id().x;
    let k = x[i] as usize % 6;
    let mut taps = filter.taps;
    taps[k / 2][1] = 9;
    counts[k % 3] += last_of(counts, k);
    let (pair, _) = odd;
    let mut sum = filter.sum(k) + taps[i % 3][k % 2] as i32 + (pair[i % 2] >> 33) as i32 + odd.0[1] as i32;
    if filter.is_on[k % 4] != filter.is_on[(k > 2) as usize] {
        sum -= w.table[(i + k) % 7] as i32 + w.table[6] as i32;
    }
    w.to[i] = sum + counts[i % 3] as i32;
}

fn arrays_by_value(b: &mut Bench<'_>) -> warpwright::Result<()> {
    let filter = Filter { scale: -3, taps: [[1, -2], [300, 4], [-5, 600]], is_on: [true, false, false, true] };
    let x = b.device.upload(&words(96))?;
    let mut to = b.device.zeros::<i32>(96)?;
    let weights = WeightsBuffers { table: [1, 2, 3, 250, 5, 6, 7], to: &mut to };
    b.go(with_arrays(filter, [10, 20, 30], ([7 << 33, -8 << 40], 0.5), &x, weights).cover(96))?;
    b.keep(&to).map(drop)
}
