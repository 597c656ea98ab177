//! `#[shared(pad = …)]` and `#[shared(swizzle)]`: the conflicts they remove, as the simulator counts them, and that nothing else changes: results on
//! every device, bounds, lengths.

#![allow(clippy::needless_range_loop, reason = "kernels index")]

use warpwright::prelude::*;

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
    for device in Device::all() {
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
