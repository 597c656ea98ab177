//! Not a kernel anyone needs: a seed for spoilt sources, with as much of the language as fits.

use warpwright::prelude::*;
use warpwright::{Float, Int};
use warpwright::warp::{ballot, shuffle_xor};

const SCALE: f32 = 2.5;
const TABLE: [u32; 4] = [1, 2, 4, 8];

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Point {
    pub at: [f32; 2],
    pub mass: f64,
    pub kind: u8,
}

#[device]
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub enum Kind {
    Low,
    High = 7,
}

#[device]
impl Point {
    const ORIGIN: Point = Point { at: [0.0; 2], mass: 1.0, kind: 0 };
    fn norm(&self) -> f32 {
        (self.at[0] * self.at[0] + self.at[1] * self.at[1]).sqrt()
    }
    fn push(&mut self, by: f32) -> bool {
        self.at[0] += by;
        self.at[1] -= by;
        self.norm() > 1.0
    }
}

#[device]
fn gcd<T: Int>(mut a: T, mut b: T) -> T {
    while b != T::from_i32(0) {
        let t = a % b;
        a = b;
        b = t;
    }
    a
}

#[device]
fn sum<const N: usize>(list: [f32; N]) -> f32 {
    let mut total = 0.0;
    for k in 0..N {
        total += list[k];
    }
    total
}

#[kernel(block = (8, 4, 2), min_blocks = 2, max_registers = 64, index = 64, math = fast, contract = false, bounds = trap, targets = [sm_80, sm_90])]
pub fn everything(n: i32, scale: f32, p: Point, x: &Global<f32>, c: &Constant<[f32; 16]>, y: &mut Global<f32>, out: &mut Global<Point>) {
    #[shared]
    let mut tile: [[f32; 9]; 8];
    #[shared]
    let mut count: [u32; 32];
    let Dim3 { x: tx, y: ty, z: tz } = thread_idx();
    let i = global_id().x + global_id().y * grid_dim().x;
    let mut p = p;
    tile[tx][ty] = x[i] * scale + c[ty];
    count[lane_id() as usize] = 0;
    sync_threads();
    count.atomic_add(tz, 1);
    let (low, high) = (n.min(3), n.max(-7));
    let mut a = [1.0f32, 2.0, 3.0, x[i]];
    for k in (0..4).rev().step_by(2) {
        a[k] = a[3 - k].mul_add(SCALE, tile[k][0]).clamp(-1.0, 1.0);
    }
    let v = if p.push(0.5) { sum([a[0], a[1], a[2]]) } else { -a[3] };
    let kind = match (low, p.kind) {
        (0, _) => Kind::Low,
        (1..=5 | -3, 2) if v > 0.0 => Kind::High,
        (other, k) if other as u8 == k => Kind::Low,
        _ => Kind::High,
    };
    'outer: for j in 0..=n {
        let mut m = j;
        loop {
            m = if m % 2 == 0 { m >> 1 } else { m.wrapping_mul(3) + 1 };
            if m < 2 {
                continue 'outer;
            }
            if m > 1 << 20 {
                break 'outer;
            }
        }
    }
    let h = v as f16 + 0.5 as f16;
    let d = p.mass.powi(3).abs() + h as f64;
    let g = gcd(low as u32, high as u32) ^ TABLE[(n & 3) as usize];
    let w = warp_sum(g) + shuffle_xor(g, 1) + ballot(v > 0.0) + block_max(g);
    assert!(w > 0, "no {}", w);
    if tx == 0 && ty == 0 {
        println!("{} {}", v, n);
    }
    let [q, r, ..] = x.load::<4>(i * 4) else { return };
    y.store::<2>(i * 2, [q.sin() + native_exp(r), d as f32 + kind as u32 as f32]);
    y.atomic_add(i, f32::from_bits(w.rotate_left(3)));
    out[i] = Point { at: [v, f32::EPSILON], ..p };
}

#[kernel(block = B, variants(B in [32, 64], F in [true, false], T in [f32, f64]))]
pub fn varied<const B: usize, const F: bool, T: Float>(x: &Global<T>, y: &mut Global<T>) {
    #[shared(dynamic)]
    let mut buf: [T];
    let i = global_id().x;
    if i < y.len() {
        buf[i % B] = x[i];
        sync_threads();
        y[i] = if F { buf[i % B].sqrt() } else { buf[(i + 1) % B] * x[i] };
    }
}

const GROUP: usize = 4;

/// Elements of threads, loops and rows that are told how to lie and run.
#[kernel(block = 32, ilp(GROUP, assume_disjoint), vectorize(2, assume_aligned), batch_loads(true, best_effort), best_effort)]
pub fn annotated(w: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = GROUP - 3)]
    let mut padded: [[f32; 8]; 4];
    #[shared(swizzle = true, best_effort)]
    let mut swizzled: [[u32; 8]; 4];
    let i = global_id().x;
    if i >= y.len() {
        return;
    }
    let mut total = 0.0;
    #[ilp(GROUP)]
    #[batch_loads(assume_disjoint)]
    #[unroll(2)]
    for k in 0..w {
        total += x[i * w + k];
    }
    #[prefetch(best_effort)]
    for k in (0..w).step_by(2) {
        total = total * 2.0 + x[k];
    }
    #[vectorize(4, assume_aligned)]
    for k in 0..8 {
        padded[i % 4][k] = x[k];
        swizzled[i % 4][k] = k as u32;
    }
    #[unroll]
    for k in 0..GROUP {
        total += padded[k][i % 8] + swizzled[k][i % 8] as f32;
    }
    #[unroll(1)]
    while total > 100.0 {
        total *= 0.5;
    }
    y[i] = total;
}
