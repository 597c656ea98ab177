//! Which block runs when: `raster` numbers the blocks of a grid anew, and every one runs once, on every device there is.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::Targets;
use warpwright_review::estimate::estimate;

/// Runs on every device there is: the first two are always there.
fn on_all(name: &str, run: impl Fn(&Device)) {
    let devices: Vec<Device> = [Device::host(), Device::simulator()].into_iter().chain(Device::all()).collect();
    for device in &devices {
        run(device);
    }
    println!("ran: {name} ({} devices)", devices.len());
}

/// The grids that are tried: rows that no band divides, one row, one column, several layers.
const GRIDS: [[usize; 3]; 14] = [
    [1, 1, 1],
    [1, 2, 1],
    [1, 7, 1],
    [1, 8, 1],
    [1, 9, 1],
    [5, 1, 1],
    [4, 3, 1],
    [3, 4, 1],
    [7, 8, 1],
    [7, 9, 2],
    [8, 16, 1],
    [5, 17, 3],
    [33, 6, 1],
    [2, 40, 1],
];

/// Each block notes when it came, and what it was told of the grid.
#[kernel(block = 32, raster(rows = R))]
fn tickets<const R: usize>(next: &mut Global<u32>, came: &mut Global<u32>, told: &mut Global<[u32; 3]>) {
    if thread_idx().x == 0 {
        let (block, grid) = (block_idx(), grid_dim());
        let i = (block.z * grid.y + block.y) * grid.x + block.x;
        came[i] = next.atomic_add(0, 1) + 1;
        told[i] = [grid.x as u32, grid.y as u32, grid.z as u32];
    }
}

/// By block, row by row: the number of the one that is started, from 1.
fn started([width, height, layers]: [usize; 3], rows: usize) -> Vec<u32> {
    let mut numbers = vec![0; width * height * layers];
    let mut number = 0;
    for z in 0..layers {
        for band in (0..height).step_by(rows) {
            for x in 0..width {
                for y in band..height.min(band + rows) {
                    number += 1;
                    numbers[(z * height + y) * width + x] = number;
                }
            }
        }
    }
    numbers
}

fn blocks_come_in_order<const R: usize>(device: &Device) {
    for grid in GRIDS {
        let blocks = grid.iter().product();
        let mut next = device.zeros::<u32>(1).unwrap();
        let mut came = device.zeros::<u32>(blocks).unwrap();
        let mut told = device.zeros::<[u32; 3]>(blocks).unwrap();
        let [x, y, z] = grid;
        tickets::<R>(&mut next, &mut came, &mut told).grid((x, y, z)).launch(device).unwrap();
        let mut came = came.download().unwrap();
        // The simulator runs them as they are numbered where atomics show the order; the host twin row by row; others as they like.
        if *device == Device::simulator() {
            assert_eq!(came, started(grid, R), "{R} rows, a grid of {grid:?}");
        }
        came.sort_unstable();
        assert_eq!(came, (1..=blocks as u32).collect::<Vec<_>>(), "{R} rows, a grid of {grid:?} on {device}");
        assert!(told.download().unwrap().iter().all(|told| *told == grid.map(|extent| extent as u32)), "a grid of {grid:?} on {device}");
    }
}

#[test]
fn blocks_of_a_band_come_one_after_another() {
    on_all("raster", |device| {
        blocks_come_in_order::<1>(device);
        blocks_come_in_order::<2>(device);
        blocks_come_in_order::<3>(device);
        blocks_come_in_order::<8>(device);
        blocks_come_in_order::<64>(device);
    });
}

#[test]
fn the_picture_of_the_manual_holds() {
    let device = Device::simulator();
    let [mut next, mut came] = [1, 12].map(|n| device.zeros::<u32>(n).unwrap());
    let mut told = device.zeros::<[u32; 3]>(12).unwrap();
    tickets::<2>(&mut next, &mut came, &mut told).grid((4, 3)).launch(&device).unwrap();
    let came: Vec<u32> = came.download().unwrap().iter().map(|came| came - 1).collect();
    assert_eq!(came, [0, 2, 4, 6, 1, 3, 5, 7, 8, 9, 10, 11]);
}

/// A product of matrices by tiles, whose last blocks are cut off.
#[kernel(block = (16, 4), raster(rows = R))]
fn product<const R: usize>(n: usize, a: &Global<f32>, b: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (row, column) = (block_idx().y * 4 + ty, global_id().x);
    let mut sum = 0.0;
    for k in (0..n).step_by(16) {
        tile[ty][tx] = if row < n && k + tx < n { a[row * n + k + tx] } else { 0.0 };
        sync_threads();
        for i in 0..16 {
            if k + i < n && column < n {
                sum += tile[ty][i] * b[(k + i) * n + column];
            }
        }
        sync_threads();
    }
    if row < n && column < n {
        c[row * n + column] = sum;
    }
}

#[test]
fn a_product_is_what_it_is_without() {
    let n = 45;
    let numbers = |seed: usize| (0..n * n).map(|i| ((i * 7919 + seed) % 31) as f32 - 15.0).collect::<Vec<f32>>();
    let (a, b) = (numbers(1), numbers(5));
    on_all("raster of a product", |device| {
        let [a_there, b_there] = [&a, &b].map(|x| device.upload(x).unwrap());
        let mut c = device.zeros::<f32>(n * n).unwrap();
        product::<5>(n, &a_there, &b_there, &mut c).cover((n, n)).launch(device).unwrap();
        let of = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum::<f32>();
        assert_eq!(c.download().unwrap(), (0..n * n).map(of).collect::<Vec<f32>>(), "{device}");
    });
}

/// What is known before anything runs is that of the kernel without: where a block stands is the same for the block, and its neighbour is a step away.
#[test]
fn analyses_see_the_grid_as_it_was_asked_for() {
    let text = |argument: &str| {
        format!(
            "#[kernel(block = (32, 8){argument})] fn turned(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{ \
             #[shared] let mut tile: [[f32; 32]; 32]; let (c, r) = (global_id().x, block_idx().y * 32 + thread_idx().y); \
             for k in 0..4 {{ tile[thread_idx().y + k * 8][thread_idx().x] = x[(r + k * 8) * n + c]; }} \
             sync_threads(); \
             for k in 0..4 {{ y[(block_idx().x * 32 + thread_idx().y + k * 8) * n + block_idx().y * 32 + thread_idx().x] = \
             tile[thread_idx().x][thread_idx().y + k * 8]; }} if block_idx().x == 0 {{ sync_threads(); }} y[global_id().x * 32] = 1.0; }}"
        )
    };
    let targets = Targets::named(["sm_75", "sm_90"]).gpus;
    let known = |argument: &str| {
        let lowered = compile_text("turned.rs", &text(argument), "turned", &Instance::default()).unwrap();
        estimate(lowered.kernel.legal(), &targets)
    };
    let (plain, raster) = (known(""), known(", raster(rows = 6)"));
    assert_eq!(format!("{:?}", plain.facts.accesses), format!("{:?}", raster.facts.accesses));
    assert_eq!(plain.facts.accesses.len(), 5);
    assert_eq!(format!("{:?}", plain.facts.branches), format!("{:?}", raster.facts.branches));
    assert_eq!(format!("{:?}", plain.threads.mix), format!("{:?}", raster.threads.mix));
}
