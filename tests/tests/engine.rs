//! Rings that the copy engine fills: in loops that run again, side by side and one in another's ring, for all counts of iterations; what it becomes in PTX; and
//! what `by` promises. The simulator runs the form with the engine, which its own checks hold to the rules.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptx_interpreter::executed;
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

/// Two buffers in runs of unequal length, one barrier for both; every thread reads what others copied.
#[kernel(block = (8, 4, 2))]
fn weighted<const S: usize>(first: usize, last: usize, step: usize, x: &Global<f32>, w: &Global<[f32; 2]>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 192];
    #[shared]
    let mut weights: [[f32; 2]; 48];
    let t = thread_idx().x + 8 * (thread_idx().y + 4 * thread_idx().z);
    let mut sum = 0.0;
    #[pipeline(stages = S, by = bulk)]
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

fn weighted_agrees<const S: usize>(device: &Device) {
    let trips = 0..=2 * S + 1;
    for (n, first, step) in trips.flat_map(|n| [(n, 0, 1), (n, 3, 1), (n, 2, 3)]) {
        let last = first + n * step;
        for short in [0, 1, 4, 100, 192 * 2] {
            let x = numbers((last * 192).saturating_sub(short), n);
            let w: Vec<[f32; 2]> = numbers((last * 48).saturating_sub(short / 4), n + 1).iter().map(|n| [*n, n * 0.25]).collect();
            let mut y = device.zeros::<f32>(128).unwrap();
            let (x_there, w_there) = (device.upload(&x).unwrap(), device.upload(&w).unwrap());
            weighted::<S>(first, last, step, &x_there, &w_there, &mut y).grid(2).launch(device).unwrap();
            let expected = weighted_in_rust(first, last, step, &x, &w);
            assert_eq!(y.download().unwrap(), [&expected[..], &expected].concat(), "{S} stages, {first}..{last} by {step}, {short} short");
        }
    }
}

#[test]
fn runs_of_several_buffers_share_a_barrier() {
    on_all("weighted", |device| {
        weighted_agrees::<2>(device);
        weighted_agrees::<3>(device);
        weighted_agrees::<4>(device);
        weighted_agrees::<5>(device);
    });
}

/// A pipelined loop that runs again and again, and two others of unequal stages, the last in the ring of the first.
#[kernel(block = 32, index = 64)]
fn again<const A: usize, const B: usize>(rounds: usize, runs: usize, x: &Global<u16>, y: &mut Global<u32>) {
    #[shared]
    let mut run: [u16; 64];
    #[shared]
    let mut other: [u16; 128];
    let t = thread_idx().x;
    let mut sum = 0;
    for round in 0..rounds {
        #[pipeline(stages = A)]
        for chunk in 0..runs {
            load_run(&mut run, x, (chunk + round) * 64);
            sync_threads();
            sum = sum * 3 + run[63 - t] as u32 + run[t] as u32;
            sync_threads();
        }
        #[pipeline(stages = 2)]
        for chunk in round..runs {
            load_run(&mut other, x, chunk * 128);
            sync_threads();
            sum = sum * 5 + other[127 - t] as u32;
            sync_threads();
        }
    }
    #[pipeline(stages = B)]
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
        again_agrees::<2, 2>(device);
        again_agrees::<3, 2>(device);
        again_agrees::<2, 4>(device);
        again_agrees::<4, 3>(device);
    });
}

/// The same loop, whatever copies.
macro_rules! summed_by {
    ($name:ident, $($by:tt)*) => {
        #[kernel(block = 64)]
        fn $name<const S: usize>(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
            #[shared]
            let mut run: [f32; 256];
            let t = thread_idx().x;
            let mut sum = 0.0;
            #[pipeline(stages = S $($by)*)]
            for chunk in 0..runs {
                load_run(&mut run, x, chunk * 256);
                sync_threads();
                for k in 0..4 {
                    sum = sum * 0.5 + run[(t * 7 + k * 64 + 5) % 256];
                }
                sync_threads();
            }
            y[t] = sum;
        }
    };
}
summed_by!(by_default,);
summed_by!(by_bulk, , by = bulk);
summed_by!(by_groups, , by = cp_async);
summed_by!(by_registers, , by = registers);

#[test]
fn whatever_copies_gives_the_same() {
    on_all("by", |device| {
        for runs in 0..=7 {
            for short in [0, 3, 300] {
                let x = numbers((runs * 256usize).saturating_sub(short), runs);
                let there = device.upload(&x).unwrap();
                let expected: Vec<f32> = (0..64)
                    .map(|t| {
                        (0..runs)
                            .fold(0.0, |sum, chunk| (0..4).fold(sum, |sum, k| sum * 0.5 + at(&x, chunk * 256 + (t * 7 + k * 64 + 5) % 256)))
                    })
                    .collect();
                let check = |name: &str, run: &dyn Fn(&mut Buffer<f32>)| {
                    let mut y = device.zeros::<f32>(64).unwrap();
                    run(&mut y);
                    assert_eq!(y.download().unwrap(), expected, "{name}, {runs} runs, {short} short");
                };
                check("default", &|y| by_default::<3>(runs, &there, y).grid(1).launch(device).unwrap());
                check("bulk", &|y| by_bulk::<2>(runs, &there, y).grid(1).launch(device).unwrap());
                check("cp_async", &|y| by_groups::<4>(runs, &there, y).grid(1).launch(device).unwrap());
                check("registers", &|y| by_registers::<3>(runs, &there, y).grid(1).launch(device).unwrap());
            }
        }
    });
}

/// A run that begins where the caller says, copied ahead; past L2 as soon as it was read.
#[kernel(block = 64)]
fn shifted<const S: usize>(shift: usize, runs: usize, #[cache(evict_first)] x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for k in 0..runs {
        load_run(&mut run, x, k * 64 + shift);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

#[test]
fn runs_begin_at_multiples_of_sixteen_bytes() {
    let device = Device::simulator();
    let x = device.upload(&numbers(400, 3)).unwrap();
    let mut y = device.zeros::<f32>(64).unwrap();
    shifted::<3>(8, 4, &x, &mut y).grid(1).launch(&device).unwrap();
    let error = shifted::<3>(3, 4, &x, &mut y).grid(1).launch(&device).expect_err("element 3 is at byte 12").to_string();
    assert!(error.contains("access of 16 bytes at byte 12 of `x` is misaligned"), "{error}");
}

#[test]
fn hints_for_l2_are_the_copies_too() {
    let text = text("shifted", &["2"], "sm_90");
    assert!(text.contains("createpolicy.fractional.L2::evict_first"), "{text}");
    assert!(text.contains("mbarrier::complete_tx::bytes.L2::cache_hint ["), "{text}");
}

/// Padded elements, and padded rows that are runs: the engine copies neither, and threads do.
#[kernel(block = 64)]
fn padded<const S: usize>(runs: usize, w: &Global<[f32; 2]>, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 2)]
    let mut pairs: [[f32; 2]; 48];
    #[shared(pad = 4)]
    let mut rows: [[f32; 32]; 2];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for k in 0..runs {
        load_run(&mut pairs, w, k * 48);
        load_run(&mut rows[0], x, k * 64);
        load_run(&mut rows[1], x, k * 64 + 32);
        sync_threads();
        sum = sum * 0.5 + pairs[(t * 5) % 48][1] + rows[1 - t / 32][t % 32];
        sync_threads();
    }
    y[t] = sum;
}

#[test]
fn rooms_behind_rows_are_left_alone() {
    on_all("padded", |device| {
        for runs in 0..=4 {
            let w: Vec<[f32; 2]> = numbers(runs * 48, 1).iter().map(|n| [*n, n * 2.0]).collect();
            let x = numbers(runs * 64, 2);
            let mut y = device.zeros::<f32>(64).unwrap();
            padded::<2>(runs, &device.upload(&w).unwrap(), &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
            let of =
                |t: usize| (0..runs).fold(0.0, |sum, k| sum * 0.5 + w[k * 48 + (t * 5) % 48][1] + x[k * 64 + (1 - t / 32) * 32 + t % 32]);
            assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{runs} runs");
        }
    });
}

/// Copies what the block wrote before; a loop in a branch that whole blocks take, behind a return of whole blocks; a ring of registers that another loop uses, too.
#[kernel(block = 64)]
fn mixed<const S: usize>(runs: usize, x: &mut Global<f32>, w: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    #[shared]
    let mut ring: [f32; 64];
    let t = thread_idx().x;
    let first = block_idx().x * runs * 64;
    for k in 0..runs {
        x[first + k * 64 + t] = w[k * 64 + t] * 2.0;
    }
    sync_threads();
    if block_idx().x == 1 {
        return;
    }
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for k in 0..runs {
        load_run(&mut run, x, first + k * 64);
        sync_threads();
        sum = sum * 0.5 + run[63 - t];
        sync_threads();
    }
    if block_idx().x == 2 {
        #[pipeline(stages = S)]
        for k in 0..runs {
            load_run(&mut run, w, k * 64);
            sync_threads();
            sum = sum * 0.25 + run[63 - t];
            sync_threads();
        }
    }
    #[pipeline(stages = 3, by = registers)]
    for k in 0..runs {
        ring[t] = w[k * 64 + t];
        sync_threads();
        sum = sum * 0.5 - ring[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..runs {
        ring[t] = w[k * 64 + t];
        sync_threads();
        sum = sum * 0.5 + ring[63 - t];
        sync_threads();
    }
    y[block_idx().x * 64 + t] = sum;
}

#[test]
fn what_the_kernel_wrote_and_branches_of_blocks() {
    on_all("mixed", |device| {
        for runs in 0..=5 {
            let w = numbers(runs * 64, 4);
            let mut x = device.zeros::<f32>((3 * runs * 64).max(1)).unwrap();
            let mut y = device.zeros::<f32>(192).unwrap();
            mixed::<3>(runs, &mut x, &device.upload(&w).unwrap(), &mut y).grid(3).launch(device).unwrap();
            let of = |i: usize| {
                let (block, t) = (i / 64, i % 64);
                let at = |k: usize| w[k * 64 + 63 - t];
                let over = |sum: f32, by: f32, of: f32| (0..runs).fold(sum, |sum, k| sum * by + at(k) * of);
                let sum = over(0.0, 0.5, 2.0);
                let sum = if block == 2 { over(sum, 0.25, 1.0) } else { sum };
                let sum = over(over(sum, 0.5, -1.0), 0.5, 1.0);
                if block == 1 { 0.0 } else { sum }
            };
            assert_eq!(y.download().unwrap(), (0..192).map(of).collect::<Vec<f32>>(), "{runs} runs");
        }
    });
}

#[test]
fn barriers_give_way_to_arrays_that_take_all_there_is() {
    // Two slots of half a block's 227 KiB each.
    let source = "#[kernel(block = 64)]
fn full(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; LENGTH];
    let mut sum = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        load_run(&mut run, x, k * LENGTH);
        sync_threads();
        sum += run[thread_idx().x];
        sync_threads();
    }
    y[thread_idx().x] = sum;
}";
    let text =
        |length: &str| ptx(&source.replace("LENGTH", length), "full", &[], "sm_90").unwrap_or_else(|error| panic!("{error}")).to_string();
    assert!(text("29048").contains("cp.async.bulk"));
    assert!(text("29056").contains("cp.async.cg") && !text("29056").contains("cp.async.bulk"));
    let asked = source.replace("LENGTH", "29056").replace("stages = 2", "stages = 2, by = bulk");
    let error = ptx(&asked, "full", &[], "sm_90").expect_err("there is no room for barriers");
    assert!(error.contains("barriers of the slots do not fit a block's shared memory of 232448 bytes"), "{error}");
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("engine.rs"), kernel);
    ptx(source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn assemblers_take_bulk_copies() {
    let test = "assemblers_take_bulk_copies";
    let Some(assemblers) = ptxas::found_or_skip(test) else { return };
    let counts = Counts::default();
    for (target, capability) in [("sm_90", 90), ("sm_100", 100), ("sm_120", 120)] {
        for stages in ["2", "3", "4", "5"] {
            for text in [text("weighted", &[stages], target), text("again", &[stages, "2"], target)] {
                assert!(text.contains("cp.async.bulk.shared::cluster.global"), "{target}: {text}");
                assemblers.iter().for_each(|ptxas| counts.ask(ptxas, &text, "a ring of the engine", capability));
            }
        }
    }
    counts.report(test);
}

#[test]
fn machine_code_waits_once_an_iteration() {
    let test = "machine_code_waits_once_an_iteration";
    let Some(judge) = Judge::found_or_skip(test) else { return };
    let sass = judge.sass(&text("weighted", &["4"], "sm_90"), 90).unwrap_or_else(|error| panic!("{error}"));
    let count = |word: &str| sass.matches(word).count();
    // Barriers behind the making, in the loop and behind it. Two runs in the loop, and two before it, which the assembler may write out three times.
    assert_eq!(count("BAR.SYNC"), 3, "{sass}");
    assert!([4, 8].contains(&count("UBLKCP")), "{sass}");
    // One wait, whose second try stands apart.
    assert!((1..=2).contains(&count("SYNCS.PHASECHK")), "{sass}");
    // Nothing waits for the whole device, and nothing is copied by threads but what is left at an end.
    assert_eq!(["MEMBAR.ALL.GPU", "MEMBAR.SC", "CCTL.IVALL", "LDGSTS"].map(count), [0; 4], "{sass}");
    println!("ran: {test}");
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed(
        "engine",
        &[
            "loops_that_run_again_and_share_rings",
            "rooms_behind_rows_are_left_alone",
            "what_the_kernel_wrote_and_branches_of_blocks",
            "whatever_copies_gives_the_same",
            "runs_of_several_buffers_share_a_barrier",
        ],
        "9.0",
    );
}
