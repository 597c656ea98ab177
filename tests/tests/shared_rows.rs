//! `#[shared(pad = …)]` and `#[shared(swizzle)]`, of fixed and of dynamic arrays: the conflicts they remove, as the simulator counts them, and that
//! nothing else changes: results on every device, bounds, lengths.

#![allow(clippy::needless_range_loop, reason = "kernels index")]

use warpwright::prelude::*;
use warpwright_tests::devices;
use warpwright_tests::ptxas::{Counts, found_or_skip};

/// Transposes a square of 32 × 32 elements for each block through one tile.
#[kernel(block = (32, 32), allow(bank_conflict), variants(PAD in [0, 1, 2], SWIZZLE in [false]))]
fn transpose<const PAD: usize, const SWIZZLE: bool>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[f32; 32]; 32];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    tile[ty][tx] = x[(block_idx().y * 32 + ty) * n + block_idx().x * 32 + tx];
    sync_threads();
    y[(block_idx().x * 32 + ty) * n + block_idx().y * 32 + tx] = tile[tx][ty];
}

/// The transposed tile of AAᵀ: 16 × 16, a warp is two rows of threads.
#[kernel(block = (16, 16), allow(bank_conflict), variants(PAD in [0, 1, 2], SWIZZLE in [false]))]
fn aat<const PAD: usize, const SWIZZLE: bool>(a: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut rows: [[f32; 16]; 16];
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut columns: [[f32; 16]; 16];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    rows[ty][tx] = a[(block_idx().y * 16 + ty) * 16 + tx];
    columns[tx][ty] = a[(block_idx().x * 16 + ty) * 16 + tx];
    sync_threads();
    let mut sum = 0.0;
    for k in 0..16 {
        sum += rows[ty][k] * columns[k][tx];
    }
    c[global_id().y * 32 + global_id().x] = sum;
}

/// A device function, rows of `f64` in three dimensions, atomics, and whole rows at once.
#[device]
fn gathered(tile: &mut [[[f64; 8]; 4]; 2], t: usize) -> f64 {
    let row = tile[t % 2][t / 2 % 4];
    let mut sum = 0.0;
    for k in 0..8 {
        sum += row[k] * (k + 1) as f64;
    }
    sum + tile.len() as f64 * 100.0 + tile[0].len() as f64 * 10.0 + tile[0][0].len() as f64
}

#[kernel(block = 64, variants(PAD in [0, 1, 3], SWIZZLE in [false]), allow(bank_conflict))]
fn cubes<const PAD: usize, const SWIZZLE: bool>(y: &mut Global<f64>, h: &mut Global<u32>) {
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[[f64; 8]; 4]; 2];
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut counts: [[u32; 4]; 4];
    let t = thread_idx().x;
    tile[t / 32][t / 8 % 4][t % 8] = (t * t % 97) as f64;
    if t < 16 {
        counts[t / 4][t % 4] = 0;
    }
    sync_threads();
    counts[t % 4].atomic_add(t / 4 % 4, t as u32);
    y[t] = gathered(&mut tile, t);
    sync_threads();
    if t < 16 {
        h[t] = counts[t / 4][t % 4];
    }
}

/// Requests to shared memory, and how many more times banks were asked because threads met at one: the degree of a conflict less one.
fn replays(launch: Launch<'_>) -> (u64, u64) {
    let simulation = launch.simulate().expect("the simulator runs it");
    let total = &simulation.counters().total;
    (total.shared_requests, total.shared_replays)
}

#[test]
fn a_column_of_32_rows_conflicts_32_times_unless_it_is_padded_or_swizzled() {
    let device = Device::simulator();
    let x = device.upload(&(0..64 * 64).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let mut y = device.zeros::<f32>(64 * 64).unwrap();
    // Four blocks of 32 warps, each with one store and one load.
    assert_eq!(replays(transpose::<0, false>(64, &x, &mut y).grid((2, 2))), (256, 128 * 31));
    assert_eq!(replays(transpose::<1, false>(64, &x, &mut y).grid((2, 2))), (256, 0));
    assert_eq!(replays(transpose::<0, true>(64, &x, &mut y).grid((2, 2))), (256, 0));
    // Rows 34 words apart: two threads to a bank.
    assert_eq!(replays(transpose::<2, false>(64, &x, &mut y).grid((2, 2))), (256, 128));
}

#[test]
fn the_transposed_tile_of_aat_conflicts_unless_it_is_padded_or_swizzled() {
    let device = Device::simulator();
    let a = device.upload(&(0..32 * 16).map(|i| (i % 7) as f32).collect::<Vec<_>>()).unwrap();
    let mut c = device.zeros::<f32>(32 * 32).unwrap();
    let (requests, plain) = replays(aat::<0, false>(&a, &mut c).grid((2, 2)));
    // Two stores and 32 loads by each of 8 warps of 4 blocks. A warp's transposed store meets 8 elements of each of 4 banks.
    assert_eq!((requests, plain), (4 * 8 * 34, 4 * 8 * 7));
    // Rows 17 words apart are right for 16 lanes at a time; of 32, the last of the second row of threads meets the first of the first.
    assert_eq!(replays(aat::<1, false>(&a, &mut c).grid((2, 2))), (requests, 4 * 8));
    assert_eq!(replays(aat::<2, false>(&a, &mut c).grid((2, 2))), (requests, 0));
    assert_eq!(replays(aat::<0, true>(&a, &mut c).grid((2, 2))), (requests, 0));
}

#[test]
fn results_are_the_same_on_every_device() {
    for device in devices::all() {
        let x: Vec<f32> = (0..64 * 64).map(|i| (i * 7919 % 1009) as f32).collect();
        let input = device.upload(&x).unwrap();
        let transposed: Vec<f32> = (0..64 * 64).map(|at| x[at % 64 * 64 + at / 64]).collect();
        let check = |launch: fn(usize, &Buffer<f32>, &mut Buffer<f32>, &Device) -> warpwright::Result<()>| {
            let mut y = device.zeros::<f32>(64 * 64).unwrap();
            launch(64, &input, &mut y, &device).unwrap();
            assert_eq!(y.download().unwrap(), transposed, "{device}");
        };
        check(|n, x, y, device| transpose::<0, false>(n, x, y).grid((2, 2)).launch(device));
        check(|n, x, y, device| transpose::<1, false>(n, x, y).grid((2, 2)).launch(device));
        check(|n, x, y, device| transpose::<2, false>(n, x, y).grid((2, 2)).launch(device));
        check(|n, x, y, device| transpose::<0, true>(n, x, y).grid((2, 2)).launch(device));

        let run = |launch: fn(&mut Buffer<f64>, &mut Buffer<u32>, &Device) -> warpwright::Result<()>| {
            let (mut y, mut h) = (device.zeros::<f64>(64).unwrap(), device.zeros::<u32>(16).unwrap());
            launch(&mut y, &mut h, &device).unwrap();
            (y.download().unwrap(), h.download().unwrap())
        };
        let plain = run(|y, h, device| cubes::<0, false>(y, h).grid(1).launch(device));
        let element = |t: usize| ((0..8).map(|k| ((t % 2 * 32 + t / 2 % 4 * 8 + k).pow(2) % 97 * (k + 1)) as f64).sum::<f64>()) + 248.0;
        assert_eq!(plain.0, (0..64).map(element).collect::<Vec<_>>(), "{device}");
        assert_eq!(plain.1.iter().sum::<u32>(), 64 * 63 / 2, "{device}");
        assert_eq!(run(|y, h, device| cubes::<1, false>(y, h).grid(1).launch(device)), plain, "{device}");
        assert_eq!(run(|y, h, device| cubes::<3, false>(y, h).grid(1).launch(device)), plain, "{device}");
        assert_eq!(run(|y, h, device| cubes::<0, true>(y, h).grid(1).launch(device)), plain, "{device}");
    }
}

/// Stores one column too far.
#[kernel(block = 32)]
fn beyond<const PAD: usize, const SWIZZLE: bool>(column: usize, y: &mut Global<f32>) {
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx().x;
    tile[t][column] = 1.0;
    y[t] = tile[t][column];
}

/// The same, stopped by the kernel itself.
#[kernel(block = 32, bounds = trap)]
fn trapped<const PAD: usize, const SWIZZLE: bool>(column: usize, y: &mut Global<f32>) {
    #[shared(pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx().x;
    tile[t][column] = 1.0;
    y[t] = tile[t][column];
}

#[test]
fn the_room_behind_a_row_is_out_of_bounds() {
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(32).unwrap();
    beyond::<1, false>(31, &mut y).grid(1).launch(&device).unwrap();
    beyond::<0, true>(31, &mut y).grid(1).launch(&device).unwrap();
    trapped::<1, false>(31, &mut y).grid(1).launch(&device).unwrap();
    let refused = |launch: Launch<'_>| launch.launch(&device).and_then(|()| device.synchronize()).expect_err("out of bounds").to_string();
    for error in [refused(beyond::<1, false>(32, &mut y).grid(1)), refused(beyond::<0, true>(32, &mut y).grid(1))] {
        assert!(error.contains("tile") && error.contains("32"), "{error}");
    }
    for error in [refused(trapped::<1, false>(32, &mut y).grid(1)), refused(trapped::<0, true>(32, &mut y).grid(1))] {
        assert!(error.contains("index 32 is out of range for `tile` of length 32"), "{error}");
    }
}

#[test]
fn static_shared_memory_includes_the_room() {
    let bytes = |launch: Launch<'_>| {
        let text = launch.ptx("sm_90").unwrap();
        let line = text.lines().find(|line| line.contains(".shared") && line.contains("tile")).unwrap().to_owned();
        line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(bytes, _)| bytes.parse::<u32>().unwrap())
    };
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(32).unwrap();
    assert_eq!(bytes(beyond::<0, false>(0, &mut y)), Some(32 * 32 * 4));
    assert_eq!(bytes(beyond::<1, false>(0, &mut y)), Some(32 * 33 * 4));
    assert_eq!(bytes(beyond::<0, true>(0, &mut y)), Some(32 * 32 * 4));
}

/// Runs a kernel that reads one buffer and writes another.
type Run<'a> = dyn Fn(&Buffer<f32>, &mut Buffer<f32>) -> warpwright::Result<()> + 'a;

/// The launch of one.
type Make<'m> = dyn for<'a> Fn(&'a Buffer<f32>, &'a mut Buffer<f32>) -> Launch<'a> + 'm;

/// Transposes strips of 32 columns, each of as many rows as the launch's memory holds.
#[kernel(block = (32, 4), allow(bank_conflict), variants(PAD in [0, 1, 2], SWIZZLE in [false]))]
fn strips<const PAD: usize, const SWIZZLE: bool>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[f32; 32]];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (rows, strip) = (tile.len(), block_idx().x);
    for r in (ty..rows).step_by(4) {
        tile[r][tx] = x[(strip * rows + r) * 32 + tx];
    }
    sync_threads();
    for c in (ty..32).step_by(4) {
        for r in (tx..rows).step_by(32) {
            y[(strip * 32 + c) * rows + r] = tile[r][c];
        }
    }
}

/// Slabs of rows, and how many there are.
#[device]
fn weighted(slabs: &mut [[[f64; 8]; 4]], t: usize) -> f64 {
    let row = slabs[t % slabs.len()][t / 2 % 4];
    let mut sum = 0.0;
    for k in 0..8 {
        sum += row[k] * (k + 1) as f64;
    }
    sum + slabs.len() as f64 * 100.0 + slabs[0].len() as f64 * 10.0 + slabs[0][0].len() as f64
}

/// Three dimensions, fixed arrays before and behind.
#[kernel(block = 64, variants(PAD in [0, 1, 3], SWIZZLE in [false]), allow(bank_conflict))]
fn slabs<const PAD: u32, const SWIZZLE: bool>(y: &mut Global<f64>) {
    #[shared]
    let mut before: [u8; 5];
    #[shared(dynamic, pad = PAD, swizzle = SWIZZLE)]
    let mut all: [[[f64; 8]; 4]];
    #[shared]
    let mut behind: [f64; 64];
    let t = thread_idx().x;
    behind[t] = t as f64;
    if t < 5 {
        before[t] = 7;
    }
    for at in (t..all.len() * 32).step_by(64) {
        all[at / 32][at / 8 % 4][at % 8] = (at * at % 97) as f64;
    }
    sync_threads();
    y[t] = weighted(&mut all, t) + behind[63 - t] + before[t % 5] as f64;
}

/// Rows of vectors, turned round.
#[kernel(block = 32, variants(PAD in [0, 4, 8]), allow(small_block, bank_conflict))]
fn vectors<const PAD: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, pad = PAD)]
    let mut tile: [[f32; 16]];
    let t = thread_idx().x;
    let n = tile.len();
    for at in (t..n * 4).step_by(32) {
        tile[at / 4].store::<4>(at % 4 * 4, x.load::<4>(4 * at));
    }
    sync_threads();
    for at in (t..n * 4).step_by(32) {
        y.store::<4>(4 * at, tile[n - 1 - at / 4].load::<4>(12 - at % 4 * 4));
    }
}

/// Counters, 8 to a row.
#[kernel(block = 64, variants(PAD in [0, 1], SWIZZLE in [false]), allow(slow_integer_division, bank_conflict))]
fn counted<const PAD: usize, const SWIZZLE: bool>(h: &mut Global<u32>) {
    #[shared(dynamic, pad = PAD, swizzle = SWIZZLE)]
    let mut counts: [[u32; 8]];
    let t = thread_idx().x;
    let n = counts.len() * 8;
    for at in (t..n).step_by(64) {
        counts[at / 8][at % 8] = 0;
    }
    sync_threads();
    for k in 0..t {
        counts[k % n / 8].atomic_add(k % 8, 1);
    }
    sync_threads();
    for at in (t..n).step_by(64) {
        h[at] = counts[at / 8][at % 8];
    }
}

#[test]
fn a_dynamic_tile_conflicts_unless_it_is_padded_or_swizzled() {
    let device = Device::simulator();
    let x = device.upload(&(0..64 * 32).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let mut y = device.zeros::<f32>(64 * 32).unwrap();
    // Two blocks, each of 32 rows: a store and a load of each.
    assert_eq!(replays(strips::<0, false>(&x, &mut y).grid(2).shared_bytes(32 * 128)), (128, 64 * 31));
    assert_eq!(replays(strips::<1, false>(&x, &mut y).grid(2).shared_bytes(32 * 132)), (128, 0));
    assert_eq!(replays(strips::<2, false>(&x, &mut y).grid(2).shared_bytes(32 * 136)), (128, 64));
    assert_eq!(replays(strips::<0, true>(&x, &mut y).grid(2).shared_bytes(32 * 128)), (128, 0));
}

#[test]
fn dynamic_rows_hold_what_plain_rust_does_on_every_device() {
    for device in devices::all() {
        // Whole rows only: what is left of the bytes is nobody's.
        for (rows, rest) in [(1, 0), (7, 100), (32, 3), (45, 127)] {
            let x: Vec<f32> = (0..3 * rows * 32).map(|i| (i * 7919 % 1009) as f32).collect();
            let input = device.upload(&x).unwrap();
            let expected: Vec<f32> = (0..3 * rows * 32).map(|at| x[(at / (32 * rows) * rows + at % rows) * 32 + at / rows % 32]).collect();
            let run = |name: &str, make: &Make<'_>| {
                let mut y = device.zeros::<f32>(x.len()).unwrap();
                make(&input, &mut y).grid(3).launch(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(y.download().unwrap(), expected, "{name}, {rows} rows, {device}");
            };
            run("plain", &|x, y| strips::<0, false>(x, y).shared_bytes(rows * 128 + rest));
            run("pad = 1", &|x, y| strips::<1, false>(x, y).shared_bytes(rows * 132 + rest));
            run("pad = 2", &|x, y| strips::<2, false>(x, y).shared_bytes(rows * 136 + rest));
            run("swizzle", &|x, y| strips::<0, true>(x, y).shared_bytes(rows * 128 + rest));
        }
    }
}

#[test]
fn dynamic_slabs_vectors_and_counters_hold_what_plain_rust_does_on_every_device() {
    for device in devices::all() {
        for n in [1, 2, 5] {
            let element = |t: usize| {
                let slab = t % n * 32 + t / 2 % 4 * 8;
                let sum = (0..8).map(|k| ((slab + k).pow(2) % 97 * (k + 1)) as f64).sum::<f64>();
                sum + n as f64 * 100.0 + 48.0 + (63 - t) as f64 + 7.0
            };
            let expected: Vec<f64> = (0..64).map(element).collect();
            let run = |make: &dyn Fn(&mut Buffer<f64>) -> warpwright::Result<()>| {
                let mut y = device.zeros::<f64>(64).unwrap();
                make(&mut y).unwrap();
                assert_eq!(y.download().unwrap(), expected, "{n} slabs, {device}");
            };
            run(&|y| slabs::<0, false>(y).grid(1).shared_bytes(n * 256).launch(&device));
            run(&|y| slabs::<1, false>(y).grid(1).shared_bytes(n * 288 + 287).launch(&device));
            run(&|y| slabs::<3, false>(y).grid(1).shared_bytes(n * 352 + 351).launch(&device));
            run(&|y| slabs::<0, true>(y).grid(1).shared_bytes(n * 256 + 8).launch(&device));

            let x: Vec<f32> = (0..n * 16).map(|i| i as f32 + 0.5).collect();
            let input = device.upload(&x).unwrap();
            let part = |at: usize| (0..4).map(move |k| (n - 1 - at / 4) * 16 + 12 - at % 4 * 4 + k);
            let expected: Vec<f32> = (0..n * 4).flat_map(part).map(|at| x[at]).collect();
            let run = |make: &Run<'_>| {
                let mut y = device.zeros::<f32>(x.len()).unwrap();
                make(&input, &mut y).unwrap();
                assert_eq!(y.download().unwrap(), expected, "{n} rows, {device}");
            };
            run(&|x, y| vectors::<0>(x, y).grid(1).shared_bytes(n * 64).launch(&device));
            run(&|x, y| vectors::<4>(x, y).grid(1).shared_bytes(n * 80 + 79).launch(&device));
            run(&|x, y| vectors::<8>(x, y).grid(1).shared_bytes(n * 96 + 4).launch(&device));

            let mut expected = vec![0u32; n * 8];
            (0..64).for_each(|t| (0..t).for_each(|k: usize| expected[k % (n * 8) / 8 * 8 + k % 8] += 1));
            let run = |make: &dyn Fn(&mut Buffer<u32>) -> warpwright::Result<()>| {
                let mut h = device.zeros::<u32>(n * 8).unwrap();
                make(&mut h).unwrap();
                assert_eq!(h.download().unwrap(), expected, "{n} rows, {device}");
            };
            run(&|h| counted::<0, false>(h).grid(1).shared_bytes(n * 32).launch(&device));
            run(&|h| counted::<1, false>(h).grid(1).shared_bytes(n * 36 + 35).launch(&device));
            run(&|h| counted::<0, true>(h).grid(1).shared_bytes(n * 32).launch(&device));
        }
    }
}

/// Two rows with constant indices, and a column that the launch chooses.
#[kernel(block = 32)]
fn constant_rows<const PAD: usize, const SWIZZLE: bool>(column: usize, y: &mut Global<f32>) {
    #[shared(dynamic, pad = PAD, swizzle = SWIZZLE)]
    let mut tile: [[f32; 32]];
    let t = thread_idx().x;
    tile[0][t] = 1.0;
    tile[1][t] = 2.0;
    sync_threads();
    y[t] = tile[1][column] + tile[0][t];
}

#[test]
fn dynamic_rows_that_the_launch_does_not_give_and_the_room_behind_them_are_out_of_bounds() {
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(32).unwrap();
    constant_rows::<0, false>(31, &mut y).grid(1).shared_bytes(256).launch(&device).unwrap();
    constant_rows::<1, false>(31, &mut y).grid(1).shared_bytes(264).launch(&device).unwrap();
    constant_rows::<0, true>(31, &mut y).grid(1).shared_bytes(256).launch(&device).unwrap();
    let mut refused = |bytes: usize, expected: &str, make: &dyn Fn(&mut Buffer<f32>, usize) -> warpwright::Result<()>| {
        let error = make(&mut y, bytes).and_then(|()| device.synchronize()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{bytes} bytes: {expected:?} is not in {error:?}");
    };
    // One byte less than two rows is one row: the padding counts.
    let short = "index 1 is out of bounds of `tile`, which has 1 elements";
    refused(255, short, &|y, bytes| constant_rows::<0, false>(31, y).grid(1).shared_bytes(bytes).launch(&device));
    refused(263, short, &|y, bytes| constant_rows::<1, false>(31, y).grid(1).shared_bytes(bytes).launch(&device));
    refused(255, short, &|y, bytes| constant_rows::<0, true>(31, y).grid(1).shared_bytes(bytes).launch(&device));
    let wide = "index 32 is out of bounds of `tile[_]`, which has 32 elements";
    refused(512, wide, &|y, bytes| constant_rows::<1, false>(32, y).grid(1).shared_bytes(bytes).launch(&device));
    // The column of row 1 that the swizzle makes of 32.
    let moved = "index 33 is out of bounds of `tile[_]`, which has 32 elements";
    refused(512, moved, &|y, bytes| constant_rows::<0, true>(32, y).grid(1).shared_bytes(bytes).launch(&device));
}

#[test]
fn a_launch_beyond_a_devices_shared_memory_is_refused_with_both_figures() {
    for device in devices::all() {
        let limit = device.properties().shared_bytes_per_block as usize;
        let mut y = device.zeros::<f64>(64).unwrap();
        let error = slabs::<1, false>(&mut y).grid(1).shared_bytes(limit).launch(&device).expect_err("too much").to_string();
        // 5 bytes, then 64 numbers from the next multiple of 16 on.
        let expected = format!(
            "{} bytes of shared memory, 528 of fixed arrays and {limit} of the launch's own, but {device} has a limit of {limit}",
            528 + limit
        );
        assert!(error.contains(&expected), "{expected:?} is not in {error:?}");
        let mut y = device.zeros::<f32>(32).unwrap();
        let error = constant_rows::<0, false>(0, &mut y).grid(1).shared_bytes(limit + 1).launch(&device).expect_err("too much").to_string();
        let expected = format!("{} bytes of dynamic shared memory, but {device} has a limit of {limit}", limit + 1);
        assert!(error.contains(&expected), "{expected:?} is not in {error:?}");
        let error = constant_rows::<0, false>(0, &mut y).grid(1).launch(&device).expect_err("no length").to_string();
        assert!(error.contains("the length of `tile`, its dynamic shared memory, is not given"), "{error}");
    }
}

/// Rows behind 64 KiB of a fixed array, which older targets do not have.
#[kernel(block = 128, targets = [sm_70, sm_80, sm_90, sm_120])]
fn behind_a_region<const PAD: usize, const SWIZZLE: bool>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut wide: [[f32; 128]; 128];
    #[shared(dynamic, pad = PAD, swizzle = SWIZZLE)]
    let mut rows: [[f32; 32]];
    let t = thread_idx().x;
    for i in 0..128usize {
        wide[i][t] = x[t + 128 * i];
    }
    for r in (t / 32..rows.len()).step_by(4) {
        rows[r][t % 32] = x[r * 32 + t % 32];
    }
    sync_threads();
    y[t] = wide[127 - t][t] + rows[t % rows.len()][t % 32];
}

#[test]
fn rows_behind_a_region_are_where_they_should_be() {
    for device in devices::all() {
        let x: Vec<f32> = (0..128 * 128).map(|i| (i * 31 % 1009) as f32).collect();
        let input = device.upload(&x).unwrap();
        let rows = 9;
        let expected: Vec<f32> = (0..128).map(|t| x[t + 128 * (127 - t)] + x[t % rows * 32 + t % 32]).collect();
        let run = |make: &Run<'_>| {
            let mut y = device.zeros::<f32>(128).unwrap();
            match make(&input, &mut y) {
                Ok(()) => assert_eq!(y.download().unwrap(), expected, "{device}"),
                // More than 48 KiB is not for every device: NVIDIA's OpenCL has no more.
                Err(error) => assert!(
                    matches!(error, warpwright::Error::Limit { limit: 49152, .. }) && device.target().starts_with("opencl"),
                    "{device}: {error}"
                ),
            }
        };
        run(&|x, y| behind_a_region::<0, false>(x, y).grid(1).shared_bytes(rows * 128).launch(&device));
        run(&|x, y| behind_a_region::<3, false>(x, y).grid(1).shared_bytes(rows * 140 + 139).launch(&device));
        run(&|x, y| behind_a_region::<0, true>(x, y).grid(1).shared_bytes(rows * 128 + 127).launch(&device));
    }
}

#[test]
fn assemblers_take_dynamic_rows() {
    let Some(assemblers) = found_or_skip("dynamic_rows") else { return };
    let device = Device::simulator();
    let x = device.zeros::<f32>(1).unwrap();
    let (mut y, mut z, mut h) = (device.zeros::<f32>(1).unwrap(), device.zeros::<f64>(1).unwrap(), device.zeros::<u32>(1).unwrap());
    let counts = Counts::default();
    for (target, capability) in [("sm_70", 70), ("sm_80", 80), ("sm_90", 90), ("sm_120", 120)] {
        let texts = [
            ("strips, padded", strips::<1, false>(&x, &mut y).ptx(target)),
            ("strips, swizzled", strips::<0, true>(&x, &mut y).ptx(target)),
            ("slabs, padded", slabs::<3, false>(&mut z).ptx(target)),
            ("slabs, swizzled", slabs::<0, true>(&mut z).ptx(target)),
            ("vectors, padded", vectors::<4>(&x, &mut y).ptx(target)),
            ("counters, padded", counted::<1, false>(&mut h).ptx(target)),
            ("behind 64 KiB, padded", behind_a_region::<1, false>(&x, &mut y).ptx(target)),
            ("behind 64 KiB, swizzled", behind_a_region::<0, true>(&x, &mut y).ptx(target)),
        ];
        for (name, text) in texts {
            let text = text.unwrap();
            assert!(text.contains(".extern .shared .align 16 .b8 "), "{name} for {target}:\n{text}");
            assemblers.iter().for_each(|assembler| counts.ask(assembler, &text, name, capability));
        }
        let vectors = vectors::<4>(&x, &mut y).ptx(target).unwrap();
        assert!(vectors.contains("st.shared.v4.f32") && vectors.contains("ld.shared.v4.f32"), "{target}:\n{vectors}");
    }
    counts.report("dynamic_rows");
}
