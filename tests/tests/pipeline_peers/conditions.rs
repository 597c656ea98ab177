//! Copies and loops under conditions.

use crate::{at, numbers, refusal};
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// TileLang 3137: a copy inside a condition: where it did not hold, nobody arrived, and everybody waited. Here a copy that is left out in an iteration would leave the work
/// with an older tile, and a copy that only some threads come to is none.
#[test]
fn copies_that_some_iterations_or_threads_leave_out_are_refused() {
    let some_iterations = refusal(
        "#[pipeline(stages = 3)]
        for k in 0..n {
            if k % 2 == 0 {
                load_run(&mut tile, x, k * 64);
            }
            sync_threads();
            sum += tile[63 - t];
            sync_threads();
        }",
    );
    assert_eq!(
        some_iterations,
        "`pipeline`: the copies do not always write `tile[0]`, so that work would see an older iteration's | write every element in each iteration: `tile[…] = if inside { x[…] } else { 0.0 };`"
    );
    let some_threads = refusal(
        "#[pipeline(stages = 3)]
        for k in 0..n {
            if t < 32 {
                load_run(&mut tile, x, k * 64);
            }
            sync_threads();
            sum += tile[63 - t];
            sync_threads();
        }",
    );
    assert_eq!(
        some_threads,
        "`load_run` is for all threads of the block, and some may not come here | call it outside of the `if`, the loop or behind the `return` that threads part at: outside of a buffer it is zero"
    );
}

/// Either of two buffers, as the iteration says: a condition that all threads see alike.
#[kernel(block = 64)]
fn either<const S: usize>(n: usize, third: usize, x: &Global<f32>, w: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for k in 0..n {
        if k % 3 == third {
            load_run(&mut tile, w, k * 128);
        } else {
            load_run(&mut tile, x, k * 128);
        }
        sync_threads();
        sum = sum * 0.5 + tile[127 - t] - tile[t];
        sync_threads();
    }
    y[t] = sum;
}

fn either_agrees<const S: usize>(device: &Device) {
    for (n, third) in (0..=2 * S + 1).flat_map(|n| [(n, 0), (n, 2)]) {
        let (x, w) = (numbers(n * 128, 1), numbers((n * 128).saturating_sub(70), 2));
        let mut y = device.zeros::<f32>(64).unwrap();
        let (x_there, w_there) = (device.upload(&x).unwrap(), device.upload(&w).unwrap());
        either::<S>(n, third, &x_there, &w_there, &mut y).grid(1).launch(device).unwrap();
        let of = |t: usize| {
            (0..n).fold(0.0, |sum, k| {
                let from = if k % 3 == third { &w } else { &x };
                sum * 0.5 + at(from, k * 128 + 127 - t) - at(from, k * 128 + t)
            })
        };
        assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{S} stages, {n} iterations, {third}, {device:?}");
    }
}

/// A condition of each thread's own: where it does not hold, zero is copied.
#[kernel(block = 64)]
fn zeros_outside<const S: usize>(n: usize, width: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for k in 0..n {
        tile[t] = if t < width && t != k { x[k * width + t] } else { 0.0 };
        sync_threads();
        sum = sum * 0.5 + tile[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

fn zeros_outside_agrees<const S: usize>(device: &Device) {
    for (n, width) in (0..=2 * S + 1).flat_map(|n| [(n, 0), (n, 1), (n, 33), (n, 64)]) {
        let x = numbers(n * width, n);
        let mut y = device.zeros::<f32>(64).unwrap();
        zeros_outside::<S>(n, width, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let copied = |k: usize, i: usize| if i < width && i != k { x[k * width + i] } else { 0.0 };
        let of = |t: usize| (0..n).fold(0.0, |sum, k| sum * 0.5 + copied(k, 63 - t));
        assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{S} stages, {n} iterations, {width}, {device:?}");
    }
}

/// The whole loop under a condition, in a loop: its barriers count on from where they stood when it last ran.
#[kernel(block = 64)]
fn now_and_then<const S: usize>(rounds: usize, often: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    for round in 0..rounds {
        if (round + block_idx().x) % 3 != 1 {
            #[pipeline(stages = S)]
            for k in 0..often + round {
                load_run(&mut tile, x, k * 64);
                sync_threads();
                sum = sum * 0.5 + tile[63 - t];
                sync_threads();
            }
        } else {
            sum += 1.0;
        }
    }
    y[block_idx().x * 64 + t] = sum;
}

fn now_and_then_agrees<const S: usize>(device: &Device) {
    for (rounds, often) in [(1, 0), (2, 1), (5, 0), (7, S), (4, 2 * S + 1)] {
        let x = numbers((rounds + often) * 64, often);
        let mut y = device.zeros::<f32>(192).unwrap();
        now_and_then::<S>(rounds, often, &device.upload(&x).unwrap(), &mut y).grid(3).launch(device).unwrap();
        let of = |i: usize| {
            (0..rounds).fold(0.0, |sum, round| {
                let runs = (round + i / 64) % 3 != 1;
                if runs { (0..often + round).fold(sum, |sum, k| sum * 0.5 + x[k * 64 + 63 - i % 64]) } else { sum + 1.0 }
            })
        };
        assert_eq!(y.download().unwrap(), (0..192).map(of).collect::<Vec<f32>>(), "{S} stages, {rounds} rounds of {often}, {device:?}");
    }
}

#[test]
fn conditions_that_leave_nothing_out_are_ordinary() {
    on_all("conditions", |device| {
        either_agrees::<2>(device);
        either_agrees::<3>(device);
        zeros_outside_agrees::<2>(device);
        zeros_outside_agrees::<4>(device);
        now_and_then_agrees::<2>(device);
        now_and_then_agrees::<3>(device);
        now_and_then_agrees::<4>(device);
    });
}
