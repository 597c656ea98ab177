//! Arrays that are read and overwritten.

use crate::{numbers, refusal};
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// TileLang 2668: a loop that reads a shared array and overwrites it gave another result as soon as it was pipelined: the copy was moved ahead of the read, and nobody
/// waited for it. Here the read is the error, or the write, whichever the rules forbid.
#[test]
fn what_is_read_and_then_overwritten_is_refused() {
    let read_first = refusal(
        "#[pipeline(stages = 2)]
        for k in 0..n {
            sum += tile[63 - t];
            sync_threads();
            load_run(&mut tile, x, k * 64);
            sync_threads();
        }",
    );
    assert_eq!(
        read_first,
        "`pipeline`: `tile` is read before it is written, so that an iteration sees what the one before has copied | sum += tile[63 - t];: read here | load_run(&mut tile, x, k * 64);: written here | write `tile` at the top of the loop, before the first barrier, and read it behind"
    );
    let read_in_front_of_the_copy = refusal(
        "#[pipeline(stages = 2)]
        for k in 0..n {
            sum += tile[t];
            load_run(&mut tile, x, k * 64);
            sync_threads();
            sum += tile[63 - t];
            sync_threads();
        }",
    );
    assert_eq!(
        read_in_front_of_the_copy,
        "`pipeline`: before the barrier there are copies from buffers only | sum += tile[t];: a read of shared memory or of an array of the thread | read this array behind the barrier"
    );
    let written_behind = refusal(
        "#[pipeline(stages = 2)]
        for k in 0..n {
            load_run(&mut tile, x, k * 64);
            sync_threads();
            sum += tile[63 - t];
            sync_threads();
            tile[t] = sum;
            sync_threads();
        }",
    );
    assert_eq!(
        written_behind,
        "`pipeline`: `tile` is written behind the barrier, where its slot is this iteration's alone: the next one would not see it | tile[t] = sum;: here | write `tile` before the barrier only, or keep what the work writes in another array"
    );
    // The same of the buffer that is copied from, and of an array that is read when the loop is over (TileLang 3039).
    let written_to_the_buffer = refusal(
        "#[pipeline(stages = 2)]
        for k in 0..n {
            tile[t] = y[k * 64 + t];
            sync_threads();
            y[k * 64 + 64 + t] = tile[63 - t];
            sync_threads();
        }",
    );
    assert_eq!(
        written_to_the_buffer,
        "`pipeline` copies from `y` ahead of the work, which writes it | tile[t] = y[k * 64 + t];: copied from here | y[k * 64 + 64 + t] = tile[63 - t];: written here | write to another buffer, or promise `#[pipeline(stages = 2, assume_disjoint)]`"
    );
    let read_after_the_loop = refusal(
        "#[pipeline(stages = 2)]
        for k in 0..n {
            load_run(&mut tile, x, k * 64);
            sync_threads();
            sum += tile[63 - t];
            sync_threads();
        }
        sum += tile[t];",
    );
    assert_eq!(
        read_after_the_loop,
        "`pipeline`: `tile` is touched outside the loop, where it has 2 slots | sum += tile[t];: here | read `tile` in the loop, and keep elsewhere what is needed of it; or use another array here"
    );
}

/// Another array may be read and overwritten in each iteration, behind the barrier: only what is copied runs ahead.
#[kernel(block = 64)]
fn overwritten<const S: usize>(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    #[shared]
    let mut kept: [f32; 64];
    let t = thread_idx().x;
    kept[t] = t as f32;
    #[pipeline(stages = S)]
    for k in 0..n {
        load_run(&mut tile, x, k * 64);
        sync_threads();
        let old = kept[63 - t];
        sync_threads();
        kept[t] = old * 0.5 + tile[(t + 1) % 64];
        sync_threads();
    }
    y[t] = kept[t];
}

fn overwritten_agrees<const S: usize>(device: &Device) {
    for n in 0..=2 * S + 1 {
        let x = numbers(n * 64, n);
        let mut y = device.zeros::<f32>(64).unwrap();
        overwritten::<S>(n, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
        let first: Vec<f32> = (0..64).map(|t| t as f32).collect();
        let expected = (0..n).fold(first, |old, k| (0..64).map(|t| old[63 - t] * 0.5 + x[k * 64 + (t + 1) % 64]).collect());
        assert_eq!(y.download().unwrap(), expected, "{S} stages, {n} iterations, {device:?}");
    }
}

#[test]
fn an_array_that_nobody_copies_to_may_be_overwritten() {
    on_all("overwritten", |device| {
        overwritten_agrees::<1>(device);
        overwritten_agrees::<2>(device);
        overwritten_agrees::<3>(device);
        overwritten_agrees::<4>(device);
    });
}
