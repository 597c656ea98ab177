//! Pipelined loops whose copies threads of their own issue (`producer`): for all counts of iterations, in loops that run again, one behind another in one ring, under conditions and behind exits;
//! where the work writes memory; blocks of one to three dimensions; what it becomes in PTX and in machine code. The simulator runs the form with the engine, which its own checks hold to the rules.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]
#![allow(clippy::manual_is_multiple_of, clippy::reversed_empty_ranges, reason = "kernels, and loops of no iteration are asked about")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptxas::{self, Counts};
use warpwright_tests::sass::Judge;

/// Numbers that sums of a few hundred hold exactly.
fn numbers(len: usize, salt: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919 + salt * 13 + 5) % 61) as f32 - 20.0).collect()
}

/// `x[i]`, zero beyond its end.
fn at(x: &[f32], i: usize) -> f32 {
    x.get(i).copied().unwrap_or(0.0)
}

/// Two buffers in runs of unequal length; every thread reads what others would have copied. The producer is four planes more.
#[kernel(block = (8, 4, 2))]
fn weighted<const S: usize, const P: bool>(
    first: usize,
    last: usize,
    step: usize,
    x: &Global<f32>,
    w: &Global<[f32; 2]>,
    y: &mut Global<f32>,
) {
    #[shared]
    let mut run: [f32; 192];
    #[shared]
    let mut weights: [[f32; 2]; 48];
    let t = thread_idx().x + block_dim().x * (thread_idx().y + block_dim().y * thread_idx().z);
    let mut sum = 0.0;
    #[pipeline(stages = S, producer = P)]
    for chunk in (first..last).step_by(step) {
        load_run(&mut run, x, chunk * 192);
        load_run(&mut weights, w, chunk * 48);
        sync_threads();
        for k in 0..3 {
            let i = (t * 5 + k * 64 + 3) % 192;
            sum = sum * 0.5 + run[i] * weights[i / 4][k % 2];
        }
        sync_threads();
    }
    y[block_idx().x * 64 + t] = sum;
}

fn weighted_in_rust(first: usize, last: usize, step: usize, x: &[f32], w: &[[f32; 2]]) -> Vec<f32> {
    let of = |t: usize| {
        (first..last).step_by(step).fold(0.0, |sum, chunk| {
            (0..3).fold(sum, |sum, k| {
                let i = (t * 5 + k * 64 + 3) % 192;
                let weight = w.get(chunk * 48 + i / 4).map_or(0.0, |pair| pair[k % 2]);
                sum * 0.5 + at(x, chunk * 192 + i) * weight
            })
        })
    };
    (0..64).map(of).collect()
}

fn weighted_agrees<const S: usize, const P: bool>(device: &Device) {
    let trips = 0..=2 * S + 1;
    for (n, first, step) in trips.flat_map(|n| [(n, 0, 1), (n, 3, 1), (n, 2, 3)]) {
        let last = first + n * step;
        for short in [0, 1, 100, 192 * 2] {
            let x = numbers((last * 192).saturating_sub(short), n);
            let w: Vec<[f32; 2]> = numbers((last * 48).saturating_sub(short / 4), n + 1).iter().map(|n| [*n, n * 0.25]).collect();
            let mut y = device.zeros::<f32>(128).unwrap();
            let (x_there, w_there) = (device.upload(&x).unwrap(), device.upload(&w).unwrap());
            weighted::<S, P>(first, last, step, &x_there, &w_there, &mut y).grid(2).launch(device).unwrap();
            let expected = weighted_in_rust(first, last, step, &x, &w);
            assert_eq!(y.download().unwrap(), [&expected[..], &expected].concat(), "{S} stages, {first}..{last} by {step}, {short} short");
        }
    }
}

#[test]
fn every_count_of_iterations() {
    on_all("weighted", |device| {
        weighted_agrees::<2, true>(device);
        weighted_agrees::<3, true>(device);
        weighted_agrees::<4, true>(device);
        weighted_agrees::<2, false>(device);
    });
}

/// Loops that run again and again, a second one in the ring of the first, and one of other stages in a ring of its own.
#[kernel(block = 32, index = 64)]
fn again<const A: usize, const B: usize>(rounds: usize, runs: usize, x: &Global<u16>, y: &mut Global<u32>) {
    #[shared]
    let mut run: [u16; 64];
    #[shared]
    let mut other: [u16; 128];
    let t = thread_idx().x;
    let mut sum = 0;
    for round in 0..rounds {
        #[pipeline(stages = A, producer)]
        for chunk in 0..runs {
            load_run(&mut run, x, (chunk + round) * 64);
            sync_threads();
            sum = sum * 3 + run[63 - t] as u32 + run[t] as u32;
            sync_threads();
        }
        #[pipeline(stages = B, producer)]
        for chunk in round..runs {
            load_run(&mut other, x, chunk * 128);
            sync_threads();
            sum = sum * 5 + other[127 - t] as u32;
            sync_threads();
        }
    }
    #[pipeline(stages = A, producer)]
    for chunk in 1..runs {
        load_run(&mut run, x, chunk * 64);
        sync_threads();
        sum = sum * 7 + run[(t * 3) % 64] as u32;
        sync_threads();
    }
    y[t] = sum;
}

fn again_agrees<const A: usize, const B: usize>(device: &Device) {
    for (rounds, runs) in [(0, 3), (1, 0), (1, 1), (2, 2), (3, 1), (3, 5), (4, 2 * A + 1)] {
        let x: Vec<u16> = (0..runs * 64 + 20).map(|i| (i * 7919 % 1021) as u16).collect();
        let mut y = device.zeros::<u32>(32).unwrap();
        again::<A, B>(rounds, runs, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let at = |i: usize| u32::from(x.get(i).copied().unwrap_or(0));
        let of = |t: usize| {
            let mut sum = 0u32;
            for round in 0..rounds {
                for chunk in 0..runs {
                    let first = (chunk + round) * 64;
                    sum = sum.wrapping_mul(3).wrapping_add(at(first + 63 - t) + at(first + t));
                }
                for chunk in round..runs {
                    sum = sum.wrapping_mul(5).wrapping_add(at(chunk * 128 + 127 - t));
                }
            }
            (1..runs).fold(sum, |sum, chunk| sum.wrapping_mul(7).wrapping_add(at(chunk * 64 + (t * 3) % 64)))
        };
        assert_eq!(y.download().unwrap(), (0..32).map(of).collect::<Vec<u32>>(), "{A} and {B} stages, {rounds} rounds, {runs} runs");
    }
}

#[test]
fn loops_that_run_again_and_share_rings() {
    on_all("again", |device| {
        again_agrees::<2, 3>(device);
        again_agrees::<3, 2>(device);
        again_agrees::<4, 4>(device);
    });
}

/// What is copied depends on a buffer that nobody writes, on the block and on branches that all threads take together; blocks leave early, before the loop and out of the loop round it.
#[kernel(block = (32, 3))]
fn steered<const S: usize>(starts: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 96];
    let t = thread_idx().x + 32 * thread_idx().y;
    let block = block_idx().x;
    if block + 1 >= starts.len() {
        return;
    }
    let (first, last) = (starts[block] as usize, starts[block + 1] as usize);
    let mut sum = 0.0;
    let mut round = 0;
    let mut from = first;
    while round < 4 {
        round += 1;
        if from > last {
            break;
        }
        if (from + block) % 3 != 1 {
            #[pipeline(stages = S, producer)]
            for chunk in from..last {
                load_run(&mut run, x, chunk * 96);
                sync_threads();
                sum = sum * 0.5 + run[95 - t];
                sync_threads();
            }
        } else {
            sum += 1.0;
        }
        from += if block % 2 == 0 { 1 } else { round };
    }
    y[block * 96 + t] = sum;
}

fn steered_agrees<const S: usize>(device: &Device) {
    let starts: Vec<u32> = vec![0, 3, 3, 8, 9, 20, 21];
    let x = numbers(20 * 96 + 7, 3);
    let mut y = device.zeros::<f32>(8 * 96).unwrap();
    steered::<S>(&device.upload(&starts).unwrap(), &device.upload(&x).unwrap(), &mut y).grid(8).launch(device).unwrap();
    let of = |i: usize| {
        let (block, t) = (i / 96, i % 96);
        if block + 1 >= starts.len() {
            return 0.0;
        }
        let (mut from, last) = (starts[block] as usize, starts[block + 1] as usize);
        let mut sum = 0.0;
        for round in 1..=4 {
            if from > last {
                break;
            }
            if (from + block) % 3 != 1 {
                sum = (from..last).fold(sum, |sum, chunk| sum * 0.5 + at(&x, chunk * 96 + 95 - t));
            } else {
                sum += 1.0;
            }
            from += if block % 2 == 0 { 1 } else { round };
        }
        sum
    };
    assert_eq!(y.download().unwrap(), (0..8 * 96).map(of).collect::<Vec<f32>>(), "{S} stages");
}

#[test]
fn conditions_loops_and_exits_are_found_out_again() {
    on_all("steered", |device| {
        steered_agrees::<2>(device);
        steered_agrees::<3>(device);
    });
}

/// Loops whose counts are known: none, one, and more than there are slots, written out.
#[kernel(block = 32)]
fn known_counts(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut none: [f32; 32];
    #[shared]
    let mut one: [f32; 32];
    #[shared]
    let mut six: [f32; 32];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3, producer)]
    for k in 0..0 {
        load_run(&mut none, x, k * 32);
        sync_threads();
        sum += none[31 - t];
        sync_threads();
    }
    #[pipeline(stages = 3, producer)]
    for k in 2..3 {
        load_run(&mut one, x, k * 32);
        sync_threads();
        sum = sum * 0.5 + one[31 - t];
        sync_threads();
    }
    #[pipeline(stages = 4, producer)]
    #[unroll]
    for k in 0..6 {
        load_run(&mut six, x, k * 32);
        sync_threads();
        sum = sum * 0.5 + six[31 - t];
        sync_threads();
    }
    y[t] = sum;
}

#[test]
fn counts_that_are_known_before_the_launch() {
    on_all("known_counts", |device| {
        let x = numbers(6 * 32 - 5, 1);
        let mut y = device.zeros::<f32>(32).unwrap();
        known_counts(&device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let of = |t: usize| [2, 0, 1, 2, 3, 4, 5].iter().fold(0.0, |sum, k| sum * 0.5 + at(&x, k * 32 + 31 - t));
        assert_eq!(y.download().unwrap(), (0..32).map(of).collect::<Vec<f32>>());
    });
}

/// The work writes what other threads read in the next iteration, in shared memory and in a buffer, and reads what was written before the loop.
#[kernel(block = 64)]
fn passed_on<const S: usize>(runs: usize, x: &Global<f32>, y: &mut Global<f32>, last: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    #[shared]
    let mut table: [f32; 64];
    #[shared]
    let mut own: [f32; 64];
    let t = thread_idx().x;
    table[t] = (t % 5) as f32;
    own[t] = 0.0;
    #[pipeline(stages = S, producer)]
    for k in 0..runs {
        load_run(&mut run, x, k * 64);
        sync_threads();
        let before = own[(t + 1) % 64];
        sync_threads();
        own[t] = before * 0.5 + run[63 - t] * table[(t * 3) % 64];
        y[k * 64 + t] = own[t];
        sync_threads();
    }
    last[t] = own[63 - t];
}

fn passed_on_agrees<const S: usize>(device: &Device) {
    for runs in 0..=2 * S + 1 {
        let x = numbers(runs * 64, runs);
        let mut y = device.zeros::<f32>(runs * 64 + 1).unwrap();
        let mut last = device.zeros::<f32>(64).unwrap();
        passed_on::<S>(runs, &device.upload(&x).unwrap(), &mut y, &mut last).grid(1).launch(device).unwrap();
        let (mut own, mut expected) = (vec![0.0f32; 64], Vec::new());
        for k in 0..runs {
            let before = own.clone();
            own = (0..64).map(|t| before[(t + 1) % 64] * 0.5 + x[k * 64 + 63 - t] * ((t * 3) % 64 % 5) as f32).collect();
            expected.extend(own.clone());
        }
        expected.push(0.0);
        assert_eq!(y.download().unwrap(), expected, "{S} stages, {runs} runs");
        own.reverse();
        assert_eq!(last.download().unwrap(), own, "{S} stages, {runs} runs");
    }
}

#[test]
fn what_the_work_writes_is_read_in_the_next_iteration() {
    on_all("passed_on", |device| {
        passed_on_agrees::<2>(device);
        passed_on_agrees::<4>(device);
    });
}

/// A product of matrices by tiles of both, for two columns of tiles; sums of the block at the end. Two warpgroups work, with all shared memory of a multiprocessor.
#[kernel(block = 256, targets = [sm_90], raster(rows = 2))]
fn product<const S: usize, const P: bool>(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>, total: &mut Global<f32>) {
    #[shared]
    let mut a_tile: [[f32; 32]; 128];
    #[shared]
    let mut b_tile: [[f32; 128]; 32];
    let t = thread_idx().x;
    let (tx, ty) = (t % 16, t / 16);
    let row = block_idx().y * 128;
    let mut all = 0.0f32;
    for half in 0..2 {
        let column = (block_idx().x * 2 + half) * 128;
        let mut sum = [[0.0f32; 8]; 8];
        #[pipeline(stages = S, by = tma, producer = P)]
        for k in 0..a.columns().div_ceil(32) {
            load_tile(&mut a_tile, a, row, k * 32);
            load_tile(&mut b_tile, b, k * 32, column);
            sync_threads();
            for l in 0..32usize {
                #[unroll]
                for i in 0..8 {
                    #[unroll]
                    for j in 0..8 {
                        sum[i][j] += a_tile[ty + 16 * i][l] * b_tile[l][tx + 16 * j];
                    }
                }
            }
            sync_threads();
        }
        #[unroll]
        for i in 0..8 {
            #[unroll]
            for j in 0..8 {
                c[(row + ty + 16 * i, column + tx + 16 * j)] = sum[i][j];
                all += sum[i][j];
            }
        }
    }
    let all = block_sum(all);
    if t == 0 {
        total.atomic_add(0, all);
    }
}

fn product_agrees<const S: usize, const P: bool>(device: &Device) {
    let needed = (128 + 128) * 32 * 4 * S as u64;
    if device.properties().shared_bytes_per_block < needed {
        return println!("skipped: products of {S} stages on {} ({needed} bytes of shared memory)", device.name());
    }
    for k in [0, 32 * S + 13] {
        let (m, n) = (70, 140);
        let small = |i: usize| ((i * 7919 + 13) % 5) as f32 - 2.0;
        let (pitch_a, pitch_b) = (k.next_multiple_of(4).max(4), 144);
        let a: Vec<f32> = (0..m * pitch_a).map(small).collect();
        let b: Vec<f32> = (0..k.max(1) * pitch_b).map(|i| small(i + 5)).collect();
        let mut c = device.zeros::<f32>(m * n).unwrap();
        let mut total = device.zeros::<f32>(1).unwrap();
        let (a_there, b_there) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let a_matrix = device.matrix(&a_there, m, k).unwrap().pitch(pitch_a).unwrap();
        let b_matrix = device.matrix(&b_there, k, n).unwrap().pitch(pitch_b).unwrap();
        let c_matrix = device.matrix_mut(&mut c, m, n).unwrap();
        product::<S, P>(a_matrix, b_matrix, c_matrix, &mut total).grid((n.div_ceil(256), m.div_ceil(128))).launch(device).unwrap();
        let of = |i: usize| (0..k).map(|l| a[i / n * pitch_a + l] * b[l * pitch_b + i % n]).sum::<f32>();
        let expected: Vec<f32> = (0..m * n).map(of).collect();
        assert_eq!(c.download().unwrap(), expected, "{S} stages, {k} products");
        // Sums of small whole numbers.
        assert_eq!(total.download().unwrap(), [expected.iter().sum::<f32>()], "{S} stages, {k} products");
    }
}

#[test]
fn products_of_tiles_that_a_producer_asks_for() {
    on_all("product", |device| {
        if device.properties().compute_capability.is_none_or(|capability| capability >= (9, 0)) {
            product_agrees::<2, true>(device);
            product_agrees::<4, true>(device);
        }
    });
}

/// Tiles go in by a producer and out by the work, behind one another.
#[kernel(block = (16, 4), targets = [sm_90])]
fn doubled<const S: usize>(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    #[shared]
    let mut out: [[f32; 16]; 8];
    let (x, y) = (thread_idx().x, thread_idx().y);
    let column = block_idx().x * 16;
    #[pipeline(stages = S, by = tma, producer)]
    for k in 0..c.rows().div_ceil(8) {
        load_tile(&mut tile, a, k * 8, column);
        sync_threads();
        for r in 0..2 {
            out[y * 2 + r][x] = tile[y * 2 + r][15 - x] * 2.0;
        }
        sync_threads();
        store_tile(c, k * 8, column, &out);
        sync_threads();
    }
}

#[test]
fn the_work_stores_tiles() {
    on_all("doubled", |device| {
        if device.properties().compute_capability.is_some_and(|capability| capability < (9, 0)) {
            return;
        }
        // The engine stores rows of whole 16 bytes.
        for (rows, columns) in [(1usize, 4usize), (8, 16), (9, 36), (61, 40)] {
            let pitch = columns + 4;
            let data = numbers(rows * pitch, 2);
            let there = device.upload(&data).unwrap();
            let mut out = device.zeros::<f32>(rows * columns).unwrap();
            let a = device.matrix(&there, rows, columns).unwrap().pitch(pitch).unwrap();
            let c = device.matrix_mut(&mut out, rows, columns).unwrap();
            doubled::<3>(a, c).grid(columns.div_ceil(16)).launch(device).unwrap();
            let of = |i: usize| {
                let (row, column) = (i / columns, i % columns);
                let from = column / 16 * 16 + 15 - column % 16;
                if from < columns { data[row * pitch + from] * 2.0 } else { 0.0 }
            };
            assert_eq!(out.download().unwrap(), (0..rows * columns).map(of).collect::<Vec<f32>>(), "{rows} x {columns}");
        }
    });
}

#[test]
fn figures_count_the_threads_that_the_launch_adds() {
    let device = Device::host();
    let (x, mut total) = (device.zeros::<f32>(4096).unwrap(), device.zeros::<f32>(1).unwrap());
    let mut c = device.zeros::<f32>(4096).unwrap();
    let [a, b] = [(); 2].map(|()| device.matrix(&x, 64, 64).unwrap());
    let launch = product::<4, true>(a, b, device.matrix_mut(&mut c, 64, 64).unwrap(), &mut total);
    // Two warpgroups that work, and one that does not; all registers begin with a third each, and move on sm_90a, which is what a device of 9.0 is given.
    for target in ["sm_90", "sm_90a"] {
        let estimated = launch.report(target).unwrap().estimated;
        let demand = estimated.occupancy.expect("the block is fixed").demand;
        assert_eq!((demand.threads, demand.barriers), (384, 2), "{target}");
        assert_eq!(demand.registers, 168, "{target}");
    }
    let plain = launch.report("sm_90").map(|report| report.estimated.memory.shared).unwrap();
    // Two barriers of 8 bytes for each of four slots, and a sum of each warp.
    assert_eq!(plain, 4 * 2 * 16 * 1024 + 2 * 4 * 8 + 8 * 4, "rings and their barriers");
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("producer.rs"), kernel).replace(", targets = [sm_90]", "");
    ptx(&source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn assemblers_take_producers() {
    let test = "assemblers_take_producers";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_90", 90), ("sm_90a", 90), ("sm_100", 100), ("sm_120", 120)] {
        let large = if capability == 120 { "2" } else { "4" };
        let texts = [
            ("weighted", text("weighted", &["3", "true"], target), "256"),
            ("again", text("again", &["3", "2"], target), "32"),
            ("steered", text("steered", &["2"], target), "96"),
            ("passed_on", text("passed_on", &["4"], target), "64"),
            ("product", text("product", &[large, "true"], target), "256"),
        ];
        for (name, text, _) in &texts {
            assert!(text.contains("mbarrier.arrive.shared::cta.b64 _"), "{name} for {target}: {text}");
            assert_eq!(text.matches("bar.sync 0;").count(), 1, "{name} for {target}: {text}");
            assert_eq!(text.contains("setmaxnreg"), *name == "product" && target == "sm_90a", "{name} for {target}: {text}");
            assemblers.iter().for_each(|ptxas| counts.ask(ptxas, text, name, capability));
        }
    }
    counts.report(test);
}

#[test]
fn older_targets_have_the_plain_loop() {
    for target in ["sm_75", "sm_80", "sm_89"] {
        for (kernel, generics) in [("weighted", &["3", "true"][..]), ("again", &["3", "2"]), ("steered", &["2"])] {
            let text = text(kernel, generics, target);
            assert!(!text.contains("mbarrier") && !text.contains("bar.sync 1"), "{kernel} for {target}: {text}");
        }
        // The same with and without.
        let plain = text("weighted", &["3", "false"], target);
        assert_eq!(text("weighted", &["3", "true"], target), plain, "{target}");
    }
}

#[test]
fn machine_code_has_no_barrier_of_the_block_in_the_loop() {
    let test = "machine_code_has_no_barrier_of_the_block_in_the_loop";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    for (target, moved) in [("sm_90", 0), ("sm_90a", 2)] {
        let sass = judge.sass(&text("product", &["4", "true"], target), 90).unwrap_or_else(|error| panic!("{error}"));
        let count = |word: &str| sass.matches(word).count();
        // The one barrier of all threads stands behind the making, before anything is waited for.
        assert_eq!(count("BAR.SYNC.DEFER_BLOCKING 0x0"), 1, "{target}: {sass}");
        assert!(sass.find("BAR.SYNC.DEFER_BLOCKING 0x0") < sass.find("SYNCS.PHASECHK"), "{target}: {sass}");
        // Those of the work: before the loop, behind it, in `block_sum`.
        assert_eq!(count("BAR.SYNC.DEFER_BLOCKING 0x1, 0x100"), 3, "{target}: {sass}");
        assert_eq!(count("BAR.SYNC"), 4, "{target}: {sass}");
        assert!(count("UTMALDG.2D") >= 2, "{target}: {sass}");
        assert_eq!(count("USETMAXREG"), moved, "{target}: {sass}");
        assert_eq!(["MEMBAR.ALL.GPU", "MEMBAR.SC", "CCTL.IVALL", "LDGSTS"].map(count), [0; 4], "{target}: {sass}");
    }
    println!("ran: {test}");
}
