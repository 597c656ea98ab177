//! Tiles with a halo: the convolution whose block loads it in a `while`, the five-point stencil.

use crate::contest::Alone;
use crate::memory::{Number, random, samples};
use crate::report::Unit;
use crate::{Outcome, Runner};
use warpwright::Buffer;
use warpwright_kernels::halo::{COLUMNS, MASK, REACH, ROWS, SIDE, at, convolve, five_points};

const INP: u32 = 31;

struct Grid {
    width: usize,
    height: usize,
    inp: Buffer<f32>,
    out: Buffer<f32>,
    mask: warpwright::ConstantBuffer<[f32; 25]>,
}

pub(super) fn run(runner: &mut Runner) -> Outcome<()> {
    let (width, height) = runner.size.pick((16_384, 8_192), (1_024, 1_000), (70, 37));
    let (n, device) = (width * height, runner.device.clone());
    let weights: [f32; 25] = std::array::from_fn(|i| f32::input(1, i));
    let mask = device.constant(weights)?;
    let mut grid = Grid { width, height, inp: random(&device, INP, n)?, out: device.zeros(n)?, mask };
    let inp = |i| f32::input(INP, i);
    let near = |i: usize, dx, dy| at(width, height, inp, (i % width, i / width), (dx, dy));
    let shift = |k: usize| k as isize - REACH as isize;
    let case = Alone {
        variant: "convolution",
        threads: SIDE * SIDE,
        work: 8.0 * n as f64,
        unit: Unit::Bytes,
        launch: &|grid: &mut Grid| convolve(width, height, &grid.mask, &grid.inp, &mut grid.out).cover((grid.width, grid.height)),
        results: n,
        found: &|grid, places| Ok(samples(&device, places, &grid.out)?.into_iter().map(f64::from).collect()),
        expected: &|i| (0..25).map(|k| f64::from(weights[k]) * near(i, shift(k % MASK), shift(k / MASK))).sum(),
        // 25 roundings of partial sums below 25.
        bound: 25.0 * 25.0 * f64::from(f32::EPSILON) / 2.0,
    };
    runner.alone("halo", &mut grid, &case);
    let sides = |i| near(i, -1, 0) + near(i, 1, 0) + near(i, 0, -1) + near(i, 0, 1);
    let case = Alone {
        variant: "five points",
        threads: COLUMNS * ROWS,
        launch: &|grid: &mut Grid| five_points(width, height, 0.5, 0.125, &grid.inp, &mut grid.out).cover((grid.width, grid.height)),
        expected: &|i| 0.5 * f64::from(inp(i)) + 0.125 * sides(i),
        bound: 6.0 * f64::from(f32::EPSILON),
        ..case
    };
    runner.alone("halo", &mut grid, &case);
    Ok(())
}
