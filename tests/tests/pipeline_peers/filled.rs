//! Arrays that threads fill before the copy engine does, and the fences between.

use crate::{at, numbers, refusal, text};
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// TileLang 666 and 2443: shared memory that threads cleared or filled before the loop was wrong on targets whose copy engine then
/// filled it, since nothing ordered its writes behind theirs. Here nobody touches an array before the loop that copies into it.
#[test]
fn an_array_is_not_cleared_before_its_loop() {
    let cleared = refusal(
        "tile[t] = 0.0;
        sync_threads();
        #[pipeline(stages = 3)]
        for k in 0..n {
            load_run(&mut tile, x, k * 64);
            sync_threads();
            sum += tile[63 - t];
            sync_threads();
        }",
    );
    assert_eq!(
        cleared,
        "`pipeline`: `tile` is touched outside the loop, where it has 3 slots | tile[t] = 0.0;: here | leave this out: each iteration writes all of `tile`; or use another array here"
    );
}

/// An array that threads fill in a loop of one stage and the engine in the next, again and again. Where a run goes over the buffer's end, threads fill a slot, and in the next
/// round the engine's bytes go there.
#[kernel(block = 64)]
fn filled_before<const S: usize>(rounds: usize, n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..rounds {
        #[pipeline(stages = 1)]
        for k in round..n {
            tile[t] = x[k * 64 + t];
            tile[t + 64] = -1.0;
            sync_threads();
            sum = sum * 0.5 + tile[63 - t] + tile[127 - t];
            sync_threads();
        }
        #[pipeline(stages = S)]
        for k in 0..n {
            load_run(&mut tile, x, (k + round) * 128);
            sync_threads();
            sum = sum * 0.5 + tile[127 - t] - tile[t];
            sync_threads();
        }
    }
    y[t] = sum;
}

/// The same, the first loop written out: it stays a loop that may fill another's ring.
#[kernel(block = 64)]
fn filled_before_unrolled<const S: usize>(rounds: usize, n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..rounds {
        #[unroll]
        #[pipeline(stages = 1)]
        for k in 0..2usize {
            tile[t] = x[(round + k) * 64 + t];
            tile[t + 64] = -1.0;
            sync_threads();
            sum = sum * 0.5 + tile[63 - t] + tile[127 - t];
            sync_threads();
        }
        #[pipeline(stages = S)]
        for k in 0..n {
            load_run(&mut tile, x, (k + round) * 128);
            sync_threads();
            sum = sum * 0.5 + tile[127 - t] - tile[t];
            sync_threads();
        }
    }
    y[t] = sum;
}

#[test]
fn a_loop_that_is_written_out_fills_the_ring_of_another() {
    on_all("filled before, written out", |device| {
        for n in 0..6 {
            let x = numbers(1024, n);
            let mut y = device.zeros::<f32>(64).unwrap();
            filled_before_unrolled::<3>(3, n, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
            let of = |t: usize| {
                (0..3).fold(0.0, |sum, round| {
                    let plain = (0..2).fold(sum, |sum, k| sum * 0.5 + at(&x, (round + k) * 64 + 63 - t) - 1.0);
                    (0..n).fold(plain, |sum, k| {
                        let run = |i: usize| at(&x, (k + round) * 128 + i);
                        sum * 0.5 + run(127 - t) - run(t)
                    })
                })
            };
            assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{n} iterations on {device:?}");
        }
    });
}

fn filled_before_agrees<const S: usize>(device: &Device) {
    for n in 0..=2 * S + 1 {
        for short in [0, 4, 130] {
            let x = numbers(((n + 2) * 128).saturating_sub(short), n);
            let mut y = device.zeros::<f32>(64).unwrap();
            filled_before::<S>(3, n, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
            let of = |t: usize| {
                (0..3).fold(0.0, |sum, round| {
                    let plain = (round..n).fold(sum, |sum, k| sum * 0.5 + at(&x, k * 64 + 63 - t) - 1.0);
                    let run = |k: usize, i: usize| at(&x, (k + round) * 128 + i);
                    (0..n).fold(plain, |sum, k| sum * 0.5 + run(k, 127 - t) - run(k, t))
                })
            };
            assert_eq!(
                y.download().unwrap(),
                (0..64).map(of).collect::<Vec<f32>>(),
                "{S} stages, {n} iterations, {short} short, {device:?}"
            );
        }
    }
}

#[test]
fn the_engine_fills_what_threads_have_filled_before() {
    on_all("filled before", |device| {
        filled_before_agrees::<2>(device);
        filled_before_agrees::<3>(device);
        filled_before_agrees::<4>(device);
    });
}

/// Pallas, pull request 27868: the fence between a thread's stores and the engine's is left to the program, for its price. Here the compiler writes it, behind the stores
/// of a run that goes over the buffer's end, and nowhere else: whole runs pay nothing.
#[test]
fn fences_stand_behind_stores_and_nowhere_else() {
    for stages in ["2", "3", "4"] {
        let text = text(include_str!("filled.rs"), "filled_before", &[stages]);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.starts_with(".loc")).collect();
        let is_fence = |line: &&str| line.starts_with("fence.proxy.async");
        // Behind the making of the barriers, before the loop and in it.
        assert_eq!(lines.iter().filter(|line| is_fence(line)).count(), 3, "{text}");
        for (n, _) in lines.iter().enumerate().filter(|(_, line)| is_fence(line)).skip(1) {
            let store = lines[..n].iter().rposition(|line| line.contains("st.shared")).expect("a store");
            assert!(lines[store..n].iter().all(|line| !line.starts_with("bar.sync") && !line.contains("cp.async.bulk")), "{text}");
        }
    }
    // Where threads copy, nobody needs one.
    assert!(!text(include_str!("conditions.rs"), "zeros_outside", &["3"]).contains("fence.proxy.async"));
}
