//! Several pipelined loops in a kernel.

use crate::{at, numbers, text};
use warpwright::prelude::*;
use warpwright_tests::devices::on_all;

/// Loops of unequal stages one behind another, and one in another's work.
#[kernel(block = 32)]
fn three_loops<const A: usize, const B: usize, const C: usize>(n: usize, x: &Global<f32>, w: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut one: [f32; 64];
    #[shared]
    let mut other: [f32; 32];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = A)]
    for k in 0..n {
        load_run(&mut one, x, k * 64);
        sync_threads();
        #[pipeline(stages = B)]
        for j in k..n {
            load_run(&mut other, w, j * 32);
            sync_threads();
            sum = sum * 0.5 + one[63 - t] - other[31 - t];
            sync_threads();
        }
        sum += one[t];
        sync_threads();
    }
    #[pipeline(stages = C)]
    for k in 1..n {
        load_run(&mut one, w, k * 64);
        sync_threads();
        sum = sum * 0.5 + one[(t * 3) % 64];
        sync_threads();
    }
    #[pipeline(stages = B)]
    for k in 0..n {
        other[31 - t] = x[k * 32 + t];
        sync_threads();
        sum = sum * 0.5 + other[(t * 5) % 32];
        sync_threads();
    }
    y[t] = sum;
}

fn three_loops_agree<const A: usize, const B: usize, const C: usize>(device: &Device) {
    for n in 0..=2 * A.max(C) + 1 {
        let (x, w) = (numbers(n * 64, 1), numbers((n * 64).saturating_sub(9), 2));
        let mut y = device.zeros::<f32>(32).unwrap();
        let (x_there, w_there) = (device.upload(&x).unwrap(), device.upload(&w).unwrap());
        three_loops::<A, B, C>(n, &x_there, &w_there, &mut y).grid(1).launch(device).unwrap();
        let of = |t: usize| {
            let nested = (0..n).fold(0.0, |sum, k| {
                (k..n).fold(sum, |sum, j| sum * 0.5 + at(&x, k * 64 + 63 - t) - at(&w, j * 32 + 31 - t)) + at(&x, k * 64 + t)
            });
            let third = (1..n).fold(nested, |sum, k| sum * 0.5 + at(&w, k * 64 + (t * 3) % 64));
            (0..n).fold(third, |sum, k| sum * 0.5 + at(&x, k * 32 + 31 - (t * 5) % 32))
        };
        assert_eq!(y.download().unwrap(), (0..32).map(of).collect::<Vec<f32>>(), "{A}, {B}, {C} stages, {n} iterations, {device:?}");
    }
}

/// TileLang 2249 and 2309: of several loops only the first was pipelined, and two with unequal stages crashed the compiler. Here each has slots and barriers of its own, and
/// an array that two share has as many slots as the longer needs.
#[test]
fn each_of_several_loops_is_pipelined() {
    on_all("three loops", |device| {
        three_loops_agree::<2, 3, 4>(device);
        three_loops_agree::<4, 2, 3>(device);
        three_loops_agree::<3, 4, 2>(device);
        three_loops_agree::<1, 3, 2>(device);
        three_loops_agree::<3, 1, 3>(device);
    });
    let text = text(include_str!("several.rs"), "three_loops", &["2", "3", "4"]);
    // The third shares its array with one whose threads copy, and so copies that way, too.
    assert_eq!(text.matches("mbarrier.init").count(), 2 + 4, "{text}");
    assert!(text.contains("cp.async.ca.shared.global"), "{text}");
}
