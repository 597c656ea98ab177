//! Kernels inline in a program, on the simulator and on the host twin.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub)]

use outside_shapes::{Action, Point, codes, doubled};
use warpwright::Num;
use warpwright::prelude::*;

mod inner {
    use warpwright::prelude::*;

    #[device]
    pub(crate) fn square(x: f32) -> f32 {
        x * x
    }

    #[kernel(block = 64)]
    pub(crate) fn squares(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        if i < y.len() {
            y[i] = square(x[i]);
        }
    }
}

const BLOCK: usize = 64;

/// y ← a·x + y
#[kernel(block = 256)]
fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// Functions, constants and types of another crate, by every kind of path: what comes from there, the macro does not see.
#[kernel(block = BLOCK, allow(unchecked))]
fn foreign(action: Action, points: &mut Global<Point>, x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= points.len() {
        return;
    }
    let mut point = points[i];
    match action {
        Action::Keep => {}
        Action::Shift => point.shift(1.0),
    }
    points[i] = point;
    let scaled = doubled(point.norm_squared()) * outside_shapes::SCALE;
    let code = codes::code(i as u32) + outside_shapes::WEIGHTS[2] + outside_shapes::sum_of::<2>(x);
    y[i] = outside_shapes::fused(scaled, 1.0, code as f32) + inner::square(Point::ORIGIN.x + Point::new(2.0, 0.0).x);
}

/// Generic in type and block, with shared memory and casts.
#[kernel(block = B, allow(small_block), variants(B in [32, 64], T in [f32, u32]))]
fn block_means<const B: usize, T: Num>(x: &Global<T>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [T; B];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    if t == 0 {
        let mut sum = T::ZERO;
        for i in 0..B {
            sum = sum + tile[i];
        }
        y[block_idx().x] = sum as f32 / B as f32;
    }
}

/// A kernel made by a macro.
macro_rules! binary_kernel {
    ($name:ident, $ty:ty, $a:ident, $b:ident => $value:expr) => {
        #[kernel(block = 32, allow(small_block))]
        fn $name($a: &Global<$ty>, $b: &mut Global<$ty>) {
            let i = global_id().x;
            if i < $b.len() {
                let $a = $a[i];
                $b[i] = $value * 2;
            }
        }
    };
}

binary_kernel!(twice_the_next, u32, a, b => a + 1);

/// Named by annotations alone.
const ROOM: usize = 1;
const AT_A_TIME: usize = 2;
const TOGETHER: bool = true;

#[kernel(block = 8, ilp = AT_A_TIME * 2, batch_loads = TOGETHER, allow(partial_warp, small_block))]
fn negated(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = !x[i];
    }
}

#[kernel(block = (8, 8), allow(bank_conflict))]
fn turned(x: &Global<u32>, y: &mut Global<u32>) {
    #[shared(pad = ROOM)]
    let mut tile: [[u32; 8]; 8];
    let (i, j) = (thread_idx().x, thread_idx().y);
    tile[j][i] = x[j * 8 + i];
    sync_threads();
    let mut sum = 0;
    #[unroll(AT_A_TIME)]
    for k in 0..8 {
        sum += tile[k][i];
    }
    y[j * 8 + i] = tile[i][j] + sum;
}

fn run(device: &Device) -> warpwright::Result<()> {
    let x = device.upload(&[1.0f32, 2.0, 3.0])?;
    let mut y = device.upload(&[10.0f32, 20.0, 30.0])?;
    saxpy(2.0, &x, &mut y).cover(x.len()).launch(device)?;
    assert_eq!(y.download()?, [12.0, 24.0, 36.0]);

    inner::squares(&x, &mut y).cover(3).launch(device)?;
    assert_eq!(y.download()?, [1.0, 4.0, 9.0]);

    let mut points = device.upload(&[Point::new(0.0, 1.0), Point::ORIGIN])?;
    let numbers = device.upload(&[5u32, 6, 7])?;
    let mut y = device.zeros::<f32>(2)?;
    foreign(Action::Shift, &mut points, &numbers, &mut y).cover(2).launch(device)?;
    assert_eq!(points.download()?, [Point::new(1.0, 3.0), Point::new(1.0, 2.0)]);
    assert_eq!(y.download()?, [10.0 + 100.0 + 11.0 + 4.0, 5.0 + 1.0 + 100.0 + 11.0 + 4.0]);

    let ones = device.upload(&(0..64).collect::<Vec<u32>>())?;
    let mut means = device.zeros::<f32>(2)?;
    block_means::<32, u32>(&ones, &mut means).grid(2).launch(device)?;
    assert_eq!(means.download()?, [15.5, 47.5]);

    let mut doubled = device.zeros::<u32>(3)?;
    twice_the_next(&numbers, &mut doubled).cover(3).launch(device)?;
    assert_eq!(doubled.download()?, [12, 14, 16]);

    codes::fill(&mut doubled).cover(3).launch(device)?;
    assert_eq!(doubled.download()?, [0, 1, 2]);

    let squares = device.upload(&(0..64).collect::<Vec<u32>>())?;
    let mut results = device.zeros::<u32>(64)?;
    negated(&squares, &mut results).cover(64).launch(device)?;
    assert!(results.download()?.into_iter().eq((0..64).map(|i: u32| !i)));
    turned(&squares, &mut results).grid(1).launch(device)?;
    assert_eq!(results.download()?[..3], [224, 232 + 8, 240 + 16]);

    #[kernel(block = 32, allow(small_block))]
    fn within_a_function(y: &mut Global<u32>) {
        y[thread_idx().x] = thread_idx().x as u32;
    }
    let mut y = device.zeros::<u32>(32)?;
    within_a_function(&mut y).grid(1).launch(device)?;
    assert_eq!(y.download()?[31], 31);
    Ok(())
}

fn main() -> warpwright::Result<()> {
    for (name, device) in [("simulator", Device::simulator()), ("host", Device::host())] {
        run(&device)?;
        println!("{name}: good");
    }
    Ok(())
}
