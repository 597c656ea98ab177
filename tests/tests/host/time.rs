//! Timing of several launches as one, with work before each run.

use warpwright::prelude::*;
use warpwright::{Clock, DeviceKind, Error};

#[kernel(block = 64)]
fn double(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] *= 2;
    }
}

#[kernel(block = 64)]
fn spin(rounds: u32, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut value = y[i];
        for round in 0..rounds {
            value = value.wrapping_mul(1_664_525).wrapping_add(round);
        }
        y[i] = value;
    }
}

#[test]
fn each_run_begins_as_the_first_did() {
    for device in Device::all() {
        let first = device.upload(&[3u32; 500]).unwrap();
        let mut y = device.zeros::<u32>(500).unwrap();
        let mut calls = 0;
        let timing = device.time(5, |run| {
            calls += 1;
            y.copy_from(&first)?;
            run.launch(double(&mut y).cover(500))?;
            run.launch(double(&mut y).cover(500))
        });
        let timing = timing.unwrap();
        assert_eq!((calls, timing.runs), (6, 5), "one that is not timed comes first");
        assert_eq!(y.download().unwrap(), [12; 500], "{device}");
        assert!(timing.min <= timing.median && timing.median <= timing.max, "{timing}");
        let clock = match device.kind() {
            DeviceKind::Cuda => Clock::DeviceEvents,
            DeviceKind::OpenCl => Clock::DeviceProfiling,
            _ => Clock::Host,
        };
        assert_eq!(timing.clock, clock, "{device}");
    }
}

#[test]
fn launches_count_and_what_is_before_them_does_not() {
    for device in Device::all() {
        let mut y = device.zeros::<u32>(64).unwrap();
        // Some milliseconds, or more than what a launch itself takes.
        let rounds = if matches!(device.kind(), DeviceKind::Cuda | DeviceKind::OpenCl) { 200_000 } else { 1000 };
        let mut time = |launches: usize, pause: bool| {
            let timing = device.time(3, |run| {
                if pause {
                    y.clear()?;
                    device.synchronize()?;
                    std::thread::sleep(std::time::Duration::from_millis(60));
                }
                (0..launches).try_for_each(|_| run.launch(spin(rounds, &mut y).cover(64)))
            });
            timing.unwrap().min
        };
        let (one, six) = (time(1, false), time(6, false));
        assert!(six > one * 2, "{device}: six launches take {six:?}, one {one:?}");
        // The pause is longer than any margin: had it been timed, nothing would be below it.
        if one.as_millis() < 20 {
            let paused = time(1, true);
            assert!(paused.as_millis() < 60, "{device}: {paused:?} with a pause, {one:?} without");
        }
    }
}

#[test]
fn what_cannot_be_timed_is_said() {
    let device = Device::simulator();
    let mut y = device.zeros::<u32>(64).unwrap();
    let error = device.time(0, |run| run.launch(double(&mut y).cover(64))).unwrap_err();
    assert_eq!(error.to_string(), "nothing was timed: `device.time(0, …)` has no runs; give 1 or more");
    let error = device.time(3, |_| double(&mut y).cover(64).launch(&device)).unwrap_err();
    let text = "nothing was timed: no kernel was launched by way of the run; write `run.launch(kernel(…).cover(n))?`";
    assert_eq!(error.to_string(), text);
    let error = device.time(3, |run| run.launch(double(&mut y))).unwrap_err();
    assert!(matches!(error, Error::NoGrid { kernel: "double" }), "{error}");
    let error = device.time(3, |_| Err(Error::NoGrid { kernel: "own" })).unwrap_err();
    assert!(matches!(error, Error::NoGrid { kernel: "own" }), "an error of the closure is given back: {error}");
    let mut elsewhere = Device::host().zeros::<u32>(64).unwrap();
    let error = device.time(3, |run| run.launch(double(&mut elsewhere).cover(64))).unwrap_err();
    assert!(matches!(error, Error::OtherDevice { .. }), "{error}");
}
