//! Launches that a hurried host program gets wrong, on every device there is: an `Err` that says what to write, and everything still
//! works afterwards.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use std::hint::black_box;
use warpwright::prelude::*;
use warpwright::{Buffer, Error, Launch};

/// Any block will do.
#[kernel]
pub fn any_block(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32 + 1;
    }
}

/// Four elements a thread.
#[kernel(block = 256, ilp = 2, vectorize = 2)]
pub fn in_fours(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = i as u32 + 1;
    }
}

/// The block's elements in reverse.
#[kernel(block = 64)]
pub fn reversed(y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut buf: [f32];
    let t = thread_idx().x;
    if t < buf.len() {
        buf[t] = y[t];
    }
    sync_threads();
    if t < buf.len() {
        y[t] = buf[buf.len() - 1 - t];
    }
}

/// One store too far.
#[kernel(block = 32, bounds = trap)]
pub fn beyond(y: &mut Global<f32>) {
    y[thread_idx().x + 1] = 1.0;
}

/// The launch is refused with this text, and the device runs the next one.
#[track_caller]
fn refused(device: &Device, launch: Launch<'_>, text: &str) {
    let error = launch.launch(device).expect_err(text).to_string();
    assert!(error.contains(text), "{device}: {text:?} is not in {error:?}");
    works(device);
}

#[track_caller]
fn works(device: &Device) {
    let mut y = device.zeros::<u32>(100).unwrap();
    any_block(&mut y).block(32).cover(100).launch(device).unwrap();
    assert!(y.download().unwrap().iter().copied().eq(1..=100), "{device}");
}

#[test]
fn geometry() {
    for device in Device::all() {
        let mut y = device.zeros::<u32>(100).unwrap();
        let too_many = "the elements of the grid, 4 for each thread, number 4294967296";
        refused(&device, in_fours(&mut y).grid(1 << 22), too_many);
        refused(&device, any_block(&mut y).block(32), "without a grid");
        refused(&device, any_block(&mut y).grid(4), "fixes no block");
        refused(&device, any_block(&mut y).block(32).grid(0), "a grid of (0, 1, 1)");
        refused(&device, any_block(&mut y).block(32).cover(0), "every extent must be at least 1");
        refused(&device, any_block(&mut y).block(32).grid(-1), "a grid of (-1, 1, 1)");
        refused(&device, any_block(&mut y).block(-32).grid(1), "a block of (-32, 1, 1)");
        refused(&device, any_block(&mut y).block((1, 0, 1)).grid(1), "a block of (1, 0, 1)");
        refused(&device, any_block(&mut y).block(1 << 20).grid(1), "1048576 threads in");
        refused(&device, any_block(&mut y).block(32).grid(usize::MAX), "`any_block`");
        refused(&device, any_block(&mut y).block(32).cover(usize::MAX), "`any_block`");
        refused(&device, any_block(&mut y).block(32).grid((1 << 16, 1 << 16, 1 << 16)), "`any_block`");
        // What is not a number of elements becomes none, as `as` has it.
        refused(&device, any_block(&mut y).block(32).cover(black_box(f32::NAN) as usize), "every extent must be at least 1");
        refused(&device, any_block(&mut y).block(32).cover(-3.5f32 as i32), "(-3, 1, 1)");
        let mut z = device.zeros::<f32>(64).unwrap();
        refused(&device, reversed(&mut z).block(32).grid(1).shared_bytes(256), "fixes its block at (64, 1, 1)");
    }
}

#[test]
fn dynamic_shared_memory() {
    for device in Device::all() {
        let values: Vec<f32> = (0..64).map(|i| i as f32).collect();
        let mut y = device.upload(&values).unwrap();
        refused(
            &device,
            reversed(&mut y).grid(1),
            "the length of `buf`, its dynamic shared memory, is not given: call `.shared_bytes(bytes)`",
        );
        refused(&device, reversed(&mut y).grid(1).shared_bytes(-4), "must not be negative");
        refused(&device, reversed(&mut y).grid(1).shared_bytes(1 << 30), "1073741824 bytes");
        refused(&device, reversed(&mut y).grid(1).shared_bytes(usize::MAX), "`reversed`");
        assert_eq!(y.download().unwrap(), values, "{device}: nothing of a refused launch has run");
        reversed(&mut y).grid(1).shared_bytes(256).launch(&device).unwrap();
        assert!(y.download().unwrap().iter().rev().eq(&values), "{device}");
    }
}

#[test]
fn buffers() {
    for device in Device::all() {
        for other in Device::all().into_iter().filter(|other| *other != device) {
            let mut y = other.zeros::<u32>(100).unwrap();
            refused(&device, any_block(&mut y).block(32).grid(4), "lies on");
            assert_eq!(y.download().unwrap(), [0; 100]);
        }
        // A dropped stream's work is done all the same; a stream outlives its name.
        let mut y = device.zeros::<u32>(100).unwrap();
        let stream = device.stream().unwrap();
        any_block(&mut y).block(32).cover(100).launch_on(&stream).unwrap();
        drop(stream);
        assert!(y.download().unwrap().iter().copied().eq(1..=100), "{device}");
        let mut none: Buffer<u32> = device.zeros(0).unwrap();
        any_block(&mut none).block(32).grid(1).launch(&device).unwrap();
        assert_eq!(none.download().unwrap(), [0; 0]);
        assert!(matches!(device.zeros::<f64>(1 << 53), Err(Error::OutOfMemory { .. })), "{device}");
        assert!(matches!(device.zeros::<f64>(usize::MAX), Err(Error::TooLarge { .. })), "{device}");
        works(&device);
    }
}

#[test]
fn faults_leave_the_device_usable() {
    // A trap on a GPU takes the process's context with it: only the devices of the CPU promise more.
    for device in [Device::simulator(), Device::host()] {
        let mut y = device.zeros::<f32>(32).unwrap();
        let launched = beyond(&mut y).grid(1).launch(&device).and_then(|()| device.synchronize());
        let error = launched.expect_err("an index out of range").to_string();
        assert!(error.contains("`beyond`") && error.contains("32"), "{device}: {error}");
        works(&device);
    }
}
