//! How often loops go round.

use crate::numbers;
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// Each block goes round as often as its number says.
#[kernel(block = 64)]
fn as_often_as<const S: usize>(less: i32, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 128];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for k in 0..block_idx().x as i32 - less {
        load_run(&mut run, x, k as usize * 128);
        sync_threads();
        sum = sum * 0.5 + run[127 - t] - run[t];
        sync_threads();
    }
    y[block_idx().x * 64 + t] = sum;
}

fn as_often_as_agrees<const S: usize>(device: &Device) {
    for less in [0, 1, 3] {
        let blocks = 2 * S + 2 + less;
        let x = numbers(blocks * 128, less);
        let mut y = device.zeros::<f32>(blocks * 64).unwrap();
        as_often_as::<S>(less as i32, &device.upload(&x).unwrap(), &mut y).grid(blocks).launch(device).unwrap();
        let of =
            |i: usize| (0..(i / 64).saturating_sub(less)).fold(0.0, |sum, k| sum * 0.5 + x[k * 128 + 127 - i % 64] - x[k * 128 + i % 64]);
        assert_eq!(y.download().unwrap(), (0..blocks * 64).map(of).collect::<Vec<f32>>(), "{S} stages, {less} less, {device:?}");
    }
}

/// TileLang 2566: a loop of one iteration waited for ever: its copy announced bytes, and no thread arrived. Here blocks go round 0 times (or fewer: the end may lie before
/// the start), once, and so on to more than twice the stages.
#[test]
fn no_iteration_and_one_are_ordinary() {
    on_all("as often as", |device| {
        as_often_as_agrees::<1>(device);
        as_often_as_agrees::<2>(device);
        as_often_as_agrees::<3>(device);
        as_often_as_agrees::<4>(device);
        as_often_as_agrees::<5>(device);
    });
}

/// A loop known to go round so often: the compiler unrolls what it likes.
#[kernel(block = 64)]
fn known<const N: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for k in 0..N {
        load_run(&mut run, x, k * 64);
        sync_threads();
        sum = sum * 0.5 + run[63 - t];
        sync_threads();
    }
    y[t] = sum;
}

#[test]
fn counts_that_the_compiler_knows_are_ordinary() {
    on_all("known", |device| {
        let x = numbers(64 * 7, 3);
        let there = device.upload(&x).unwrap();
        let check = |n: usize, run: &dyn Fn(&mut Buffer<f32>)| {
            let mut y = device.zeros::<f32>(64).unwrap();
            run(&mut y);
            let of = |t: usize| (0..n).fold(0.0, |sum, k| sum * 0.5 + x[k * 64 + 63 - t]);
            assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{n} iterations, {device:?}");
        };
        check(0, &|y| known::<0>(&there, y).grid(1).launch(device).unwrap());
        check(1, &|y| known::<1>(&there, y).grid(1).launch(device).unwrap());
        check(2, &|y| known::<2>(&there, y).grid(1).launch(device).unwrap());
        check(3, &|y| known::<3>(&there, y).grid(1).launch(device).unwrap());
        check(7, &|y| known::<7>(&there, y).grid(1).launch(device).unwrap());
    });
}
