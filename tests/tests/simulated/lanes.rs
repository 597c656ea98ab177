//! Shuffles from lanes that a partial warp does not have, or that have returned, on the simulator and the host twin.

use super::{fault_on, says};
use warpwright::prelude::*;
use warpwright::warp::{all, any, ballot, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor};

#[kernel(block = 64)]
fn returned(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i % 32 == 5 {
        return;
    }
    y[i] = shuffle(x[i], 5u32);
}

#[kernel(block = 40)]
fn missing(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle(x[i], 20u32) + shuffle_xor(x[i], 8u32);
}

#[kernel(block = 40)]
fn missing_across(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle_xor(x[i], 8u32);
}

#[kernel]
fn down(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle_down(x[i], n);
}

#[kernel]
fn up(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = shuffle_up(x[i], n);
}

/// Wide values go in two halves, and short ones widened.
#[kernel(block = 48)]
fn of_other_widths(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = if warp_id() == 0 { shuffle(x[i] as f64, 31) } else { shuffle(x[i] as f64, 16 + i % 2) };
    y[i] = v as f32;
}

/// The threads beyond the end return, as they do in many kernels, and those before sum over the warp.
#[kernel(block = 64)]
fn sum_of_those_that_stayed(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= x.len() {
        return;
    }
    y[i] = warp_sum(x[i]);
}

#[device]
fn mean(v: f32) -> f32 {
    warp_sum(v) / 32.0
}

/// From a device function, of some lanes.
#[kernel(block = 64)]
fn sum_of_some(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if lane_id() < 10 {
        y[i] = mean(x[i]);
    }
}

#[kernel(block = 64)]
fn most_of_some(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if lane_id() < 10 {
        y[i] = warp_max(x[i]);
    }
}

#[kernel(block = 64)]
fn wide_of_some(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if lane_id() < 10 {
        y[i] = shuffle_xor(x[i] as f64, 1) as f32;
    }
}

/// The same, as it must be written.
#[kernel(block = 64)]
fn sum_of_all(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = if i < x.len() { x[i] } else { 0.0 };
    let sum = warp_sum(v);
    if i < x.len() {
        y[i] = sum;
    }
}

/// Votes are over those that are there; whole warps that return disturb no other.
#[kernel(block = 72)]
fn votes_of_those_that_stayed(x: &Global<f32>, y: &mut Global<f32>) {
    let i = thread_idx().x;
    if i % 3 == 1 || warp_id() == 1 {
        return;
    }
    let votes = ballot(x[i] > 0.0).count_ones() + match_any(7u32).count_ones() * 100;
    y[i] = if any(x[i] > 0.0) && all(x[i] > 0.0) { votes as f32 } else { 0.0 };
}

#[kernel]
fn partial_reductions(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = warp_sum(x[i]) + 1000.0 * warp_max(x[i]) + 100_000.0 * warp_min(x[i]);
}

fn numbers(n: usize) -> Vec<f32> {
    (1..=n).map(|i| i as f32).collect()
}

/// Runs on the simulator and the host twin; gives what both find, and that must be the same.
#[track_caller]
fn both(
    n: usize,
    threads: usize,
    launch: impl Fn(&Device, &Buffer<f32>, &mut Buffer<f32>) -> warpwright::Result<()>,
) -> Result<Vec<f32>, [String; 2]> {
    let found = [Device::simulator(), Device::host()].map(|device| {
        let mut y = device.zeros::<f32>(threads).unwrap();
        let x = device.upload(&numbers(n)).unwrap();
        launch(&device, &x, &mut y).map_err(|error| error.to_string())?;
        Ok(y.download().unwrap())
    });
    match found {
        [Ok(simulated), Ok(host)] => {
            assert_eq!(simulated, host);
            Ok(simulated)
        }
        [Err(simulated), Err(host)] => Err([simulated, host]),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn both_say(n: usize, launch: impl Fn(&Device, &Buffer<f32>, &mut Buffer<f32>) -> warpwright::Result<()>, texts: &[&str]) {
    let errors = both(n, n, launch).expect_err("both are at fault");
    errors.iter().for_each(|error| says(error, texts));
}

#[test]
fn a_lane_that_has_returned_is_not_asked() {
    let device = Device::simulator();
    let (x, mut y) = (device.upload(&numbers(64)).unwrap(), device.zeros::<f32>(64).unwrap());
    let error = fault_on(&device, returned(&x, &mut y).grid(1));
    says(
        &error,
        &[
            "lanes.rs:13:12: kernel `returned`, block (0, 0, 0), thread (0, 0, 0): `shuffle` asks lane 5, which has returned; help: let all threads",
        ],
    );
    both_say(64, |device, x, y| returned(x, y).grid(1).launch(device), &["`shuffle` asks lane 5, which has returned"]);
}

#[test]
fn a_lane_that_does_not_exist_is_not_asked() {
    let device = Device::simulator();
    let (x, mut y) = (device.upload(&numbers(40)).unwrap(), device.zeros::<f32>(40).unwrap());
    let error = fault_on(&device, missing(&x, &mut y).grid(1));
    says(
        &error,
        &[
            "lanes.rs:19:12: ",
            "thread (32, 0, 0): `shuffle` asks lane 20, which does not exist: this warp has 8 threads, lanes 0 to 7; help: ",
        ],
    );
    both_say(40, |device, x, y| missing(x, y).grid(1).launch(device), &["asks lane 20, which does not exist: this warp has 8 threads"]);
    both_say(40, |device, x, y| missing_across(x, y).grid(1).launch(device), &["`shuffle_xor` asks lane 8, which does not exist"]);
    both_say(33, |device, x, y| down(1, x, y).block(33).grid(1).launch(device), &["`shuffle_down` asks lane 1", "has one thread"]);
    both_say(48, |device, x, y| of_other_widths(x, y).grid(1).launch(device), &["`shuffle` asks lane 16, which does not exist"]);
}

#[test]
fn beyond_the_ends_of_a_warp_is_the_own_value() {
    let own = |n: usize, up_by: usize| both(n, n, |device, x, y| up(up_by as u32, x, y).block(n as u32).grid(1).launch(device)).unwrap();
    for n in [8, 32, 40, 64] {
        for by in [1, 5, 31] {
            let expected: Vec<f32> = (0..n).map(|i| (if i % 32 >= by { i + 1 - by } else { i + 1 }) as f32).collect();
            assert_eq!(own(n, by), expected, "{by} up in {n}");
        }
    }
    let down = both(64, 64, |device, x, y| down(3, x, y).block(64).grid(1).launch(device)).unwrap();
    assert_eq!(down[26..34], [30.0, 31.0, 32.0, 30.0, 31.0, 32.0, 36.0, 37.0]);
    // By nothing, or by 32, is by nothing in any warp.
    assert_eq!(own(40, 32), numbers(40));
}

#[test]
fn warp_sums_want_whole_warps_or_partial_ones_but_nobody_gone() {
    both_say(
        50,
        |device, x, y| sum_of_those_that_stayed(x, y).grid(1).launch(device),
        &["`warp_sum` asks lane ", ", which has returned", "; help: let all threads of the warp come here"],
    );
    let whole = both(50, 50, |device, x, y| sum_of_all(x, y).grid(1).launch(device)).unwrap();
    assert_eq!((whole[0], whole[49]), (528.0, (33..=50).sum::<i32>() as f32));
    for n in [1u32, 7, 33, 40, 63, 64] {
        let found = both(n as usize, n as usize, |device, x, y| partial_reductions(x, y).block(n).grid(1).launch(device)).unwrap();
        for (i, got) in (0..n).zip(found) {
            let (first, last) = (i / 32 * 32 + 1, (i / 32 * 32 + 32).min(n));
            assert_eq!(got, ((first..=last).sum::<u32>() + 1000 * last + 100_000 * first) as f32, "thread {i} of {n}");
        }
    }
}

#[test]
fn what_is_called_is_named_whatever_it_is_made_of() {
    let device = Device::simulator();
    let (x, mut y) = (device.upload(&numbers(64)).unwrap(), device.zeros::<f32>(64).unwrap());
    let some = "is reached by 10 of the warp's 32 living threads";
    says(&fault_on(&device, sum_of_some(&x, &mut y).grid(1)), &["`warp_sum` ", some]);
    says(&fault_on(&device, most_of_some(&x, &mut y).grid(1)), &["`warp_max` ", some]);
    says(&fault_on(&device, wide_of_some(&x, &mut y).grid(1)), &["`shuffle_xor` ", some]);
}

#[test]
fn votes_are_of_those_that_are_there() {
    let found = both(72, 72, |device, x, y| votes_of_those_that_stayed(x, y).grid(1).launch(device)).unwrap();
    // Lanes 1, 4, … of the first warp are gone: eleven; of the third, which has eight, threads 64, 67 and 70: three.
    assert_eq!((found[0], found[1], found[65], found[64]), (2121.0, 0.0, 505.0, 0.0));
}
