//! Which block runs when: `raster` numbers the blocks of a grid anew, and every one runs once, on every device there is.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::DeviceKind;
use warpwright::prelude::*;
use warpwright::warp::ballot;
use warpwright_codegen::pipeline::compile_text;
use warpwright_codegen::syntax::Instance;
use warpwright_codegen::target::Targets;
use warpwright_review::estimate::estimate;
use warpwright_tests::devices::on_all;

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
    let plain = known("");
    assert_eq!(plain.facts.accesses.len(), 5);
    for argument in [", raster(rows = 6)", ", persistent", ", persistent, raster(rows = 6)"] {
        let other = known(argument);
        assert_eq!(format!("{:?}", plain.facts.accesses), format!("{:?}", other.facts.accesses), "{argument}");
        assert_eq!(format!("{:?}", plain.facts.branches), format!("{:?}", other.facts.branches), "{argument}");
        assert_eq!(format!("{:?}", plain.threads.mix), format!("{:?}", other.threads.mix), "{argument}");
        // The registers are those of the code that runs.
        assert!(plain.targets[0].registers.needed <= other.targets[0].registers.needed, "{argument}");
    }
}

/// Blocks as they are asked for: each element of the grid once, and what every block is told.
#[kernel(block = B, persistent = P, raster(rows = R))]
fn told<const B: usize, const P: bool, const R: usize>(times: &mut Global<u32>, grid: &mut Global<[u32; 3]>, place: &mut Global<[u32; 3]>) {
    let (block, blocks) = (block_idx(), grid_dim());
    let i = ((block.z * blocks.y + block.y) * blocks.x + block.x) * B + thread_idx().x;
    if i % 5 == 4 {
        times[i] += 7;
        return;
    }
    times[i] += 1;
    grid[i] = [blocks.x as u32, blocks.y as u32, blocks.z as u32];
    place[i] = [block.x as u32, block.y as u32, block.z as u32];
}

fn every_block_runs_once<const R: usize>(device: &Device) {
    for grid in GRIDS {
        let [width, height, layers] = grid;
        let threads = width * height * layers * 32;
        let mut times = device.zeros::<u32>(threads).unwrap();
        let [mut told_grid, mut place] = [(); 2].map(|()| device.zeros::<[u32; 3]>(threads).unwrap());
        told::<32, true, R>(&mut times, &mut told_grid, &mut place).grid((width, height, layers)).launch(device).unwrap();
        let (times, told_grid, place) = (times.download().unwrap(), told_grid.download().unwrap(), place.download().unwrap());
        for i in 0..threads {
            let block = i / 32;
            let here = [block % width, block / width % height, block / width / height].map(|n| n as u32);
            let expected = if i % 5 == 4 { (7, [0; 3], [0; 3]) } else { (1, grid.map(|n| n as u32), here) };
            assert_eq!((times[i], told_grid[i], place[i]), expected, "thread {i} of a grid of {grid:?} on {device}, {R} rows");
        }
    }
}

#[test]
fn persistent_blocks_run_the_grid_that_was_asked_for() {
    on_all("persistent", |device| {
        every_block_runs_once::<1>(device);
        every_block_runs_once::<3>(device);
    });
}

/// The rounds of a block come in the order in which the device would start them: the blocks of the simulator run one after another, each to its end.
#[kernel(block = 32, persistent = P)]
fn rounds<const P: bool>(next: &mut Global<u32>, came: &mut Global<u32>) {
    if thread_idx().x == 0 {
        came[block_idx().x] = next.atomic_add(0, 1);
    }
}

#[test]
fn the_simulator_has_rounds() {
    let device = Device::simulator();
    let came = |blocks: usize, is_persistent: bool| {
        let [mut next, mut came] = [1, blocks].map(|n| device.zeros::<u32>(n).unwrap());
        match is_persistent {
            true => rounds::<true>(&mut next, &mut came).grid(blocks).launch(&device).unwrap(),
            false => rounds::<false>(&mut next, &mut came).grid(blocks).launch(&device).unwrap(),
        };
        came.download().unwrap()
    };
    assert_eq!(came(7, true), [0, 3, 5, 1, 4, 6, 2]);
    assert_eq!(came(3, true), [0, 1, 2]);
    assert_eq!(came(2, true), [0, 1]);
    assert_eq!(came(7, false), [0, 1, 2, 3, 4, 5, 6]);
    // Eight rounds at most.
    assert_eq!(came(80, true)[..12], [0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 1, 9]);
}

/// Shared arrays of a fixed and of a dynamic length, sums of the thread, and threads that return before barriers and behind them.
#[kernel(block = 64, persistent = P)]
fn reversed<const P: bool>(n: usize, x: &Global<u32>, y: &mut Global<u32>, total: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    #[shared(dynamic)]
    let mut more: [u32];
    let (t, i) = (thread_idx().x, global_id().x);
    let mut own = [0u32; 4];
    if block_idx().x % 4 == 3 {
        // All of them.
        return;
    }
    if t >= 48 {
        // These do not come to the barrier.
        return;
    }
    tile[t] = if i < n { x[i] } else { 0 };
    more[t] = i as u32;
    sync_threads();
    if i >= n {
        return;
    }
    own[t % 4] += tile[47 - t];
    own[(t + 1) % 4] += more[47 - t];
    let sum = own[0] + own[1] + own[2] + own[3];
    y[i] = sum;
    total.atomic_add(0, sum % 97);
}

#[test]
fn shared_arrays_and_returns_of_a_round_are_its_own() {
    let n = 64 * 41 - 10;
    let x: Vec<u32> = (0..n).map(|i| (i * 7919 % 1000) as u32).collect();
    let of = |i: usize| {
        let (block, t) = (i / 64, i % 64);
        let other = block * 64 + 47 - t.min(47);
        if block % 4 == 3 || t >= 48 { 0 } else { x.get(other).copied().unwrap_or(0) + other as u32 }
    };
    let expected: Vec<u32> = (0..n).map(of).collect();
    let sum: u32 = expected.iter().map(|sum| sum % 97).sum();
    on_all("persistent with shared arrays and returns", |device| {
        let x = device.upload(&x).unwrap();
        let [mut y, mut total] = [n, 1].map(|n| device.zeros::<u32>(n).unwrap());
        reversed::<true>(n, &x, &mut y, &mut total).cover(n).shared_bytes(64 * 4).launch(device).unwrap();
        assert_eq!(y.download().unwrap(), expected, "{device}");
        assert_eq!(total.download().unwrap(), [sum], "{device}");
    });
}

/// Whole warps that return before an exchange, and lanes that do.
#[kernel(block = 96, persistent = P)]
fn sums_of_warps<const P: bool>(rows: usize, columns: usize, x: &Global<u32>, y: &mut Global<u32>, votes: &mut Global<u32>) {
    let (row, lane) = (global_id().x / 32, lane_id());
    if row >= rows {
        return;
    }
    let mut sum = 0;
    for k in (lane..columns).step_by(32) {
        sum += x[row * columns + k];
    }
    sum = warp_sum(sum);
    if lane == 0 {
        y[row] = sum;
    }
    if lane % 3 == 2 {
        return;
    }
    votes[row * 32 + lane] = ballot(lane % 2 == 0);
}

#[test]
fn exchanges_are_among_those_who_have_not_returned() {
    let (rows, columns) = (3 * 17 - 2, 45);
    let x: Vec<u32> = (0..rows * columns).map(|i| (i * 31 % 101) as u32).collect();
    let sums: Vec<u32> = x.chunks(columns).map(|row| row.iter().sum()).collect();
    let ballot: u32 = (0..32).filter(|lane| lane % 3 != 2 && lane % 2 == 0).map(|lane| 1u32 << lane).sum();
    let votes: Vec<u32> = (0..rows * 32).map(|i| if i % 32 % 3 == 2 { 0 } else { ballot }).collect();
    on_all("persistent with exchanges", |device| {
        let x = device.upload(&x).unwrap();
        let mut y = device.zeros::<u32>(rows).unwrap();
        let mut there = device.zeros::<u32>(rows * 32).unwrap();
        sums_of_warps::<true>(rows, columns, &x, &mut y, &mut there).cover(rows * 32).launch(device).unwrap();
        assert_eq!(y.download().unwrap(), sums, "{device}");
        assert_eq!(there.download().unwrap(), votes, "{device}");
    });
}

/// A pipelined loop, whose ring is each round's own.
#[kernel(block = 64, persistent = P)]
fn sums_of_rows<const P: bool, const S: usize>(rows: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let (t, block) = (thread_idx().x, block_idx().x);
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for row in 0..rows + block % 3 {
        #[vectorize(4)]
        for k in 0..4 {
            tile[t * 4 + k] = x[row * 256 + t * 4 + k];
        }
        sync_threads();
        for k in 0..4 {
            sum += tile[(t + k * 65) % 256] * (row + 1 + block) as f32;
        }
        sync_threads();
    }
    y[global_id().x] = sum;
}

#[test]
fn pipelined_loops_run_anew_in_each_round() {
    let (rows, blocks) = (5, 23);
    let x: Vec<f32> = (0..(rows + 2) * 256).map(|i| ((i * 7919 + 13) % 31) as f32 - 15.0).collect();
    let of = |i: usize| {
        let (block, t) = (i / 64, i % 64);
        let of_row = |row: usize| (0..4).map(|k| x[row * 256 + (t + k * 65) % 256] * (row + 1 + block) as f32).sum::<f32>();
        (0..rows + block % 3).map(of_row).sum::<f32>()
    };
    let expected: Vec<f32> = (0..blocks * 64).map(of).collect();
    on_all("persistent with pipelines", |device| {
        let x = device.upload(&x).unwrap();
        let mut y = device.zeros::<f32>(blocks * 64).unwrap();
        sums_of_rows::<true, 3>(rows, &x, &mut y).grid(blocks).launch(device).unwrap();
        assert_eq!(y.download().unwrap(), expected, "{device}");
        sums_of_rows::<false, 1>(rows, &x, &mut y).grid(blocks).launch(device).unwrap();
        assert_eq!(y.download().unwrap(), expected, "{device}");
    });
}

/// A thread that stops while others of its block stand at a barrier, in its second round.
#[kernel(block = 64, persistent = P)]
fn stopping<const P: bool>(y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let (t, i) = (thread_idx().x, global_id().x);
    assert!(i != 64 * 9 + 5, "that one");
    tile[t] = i as u32;
    sync_threads();
    y[i] = tile[63 - t];
}

/// The same without a barrier of its own.
#[kernel(block = 64, persistent = P)]
fn stopping_apart<const P: bool>(y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let (t, i) = (thread_idx().x, global_id().x);
    assert!(i != 64 * 9 + 5, "that one");
    tile[t] = i as u32;
    y[i] = tile[t];
}

#[test]
fn a_thread_that_stops_is_told_of_and_waited_for_by_nobody() {
    on_all("persistent with assertions", |device| {
        // A failed assertion costs the context, and with it all other tests of this process.
        if device.kind() == DeviceKind::Cuda {
            return;
        }
        let mut y = device.zeros::<u32>(64 * 20).unwrap();
        let run = |result: warpwright::Result<()>| {
            let error = result.and_then(|()| device.synchronize()).expect_err("an assertion fails");
            assert!(error.to_string().contains("that one"), "{error} on {device}");
        };
        run(stopping::<true>(&mut y).grid(20).launch(device).map(drop));
        run(stopping_apart::<true>(&mut y).grid(20).launch(device).map(drop));
    });
}
