//! Kernels through the first OpenCL device, PoCL say.

use super::{NO_TWIN, SAXPY, SHARED, definition};
use crate::definition::{GenericArgument, ScalarKind};
use crate::device::Device;
use crate::error::Error;
use crate::launch::Launch;
use crate::timing::Clock;

/// The device, or a line that says why the test did not run.
fn device(test: &str) -> Option<Device> {
    match Device::opencl(0) {
        Ok(device) => Some(device),
        Err(Error::NoDriver { .. } | Error::NoDevice { .. }) => {
            println!("skipped: {test} (no OpenCL device)");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn saxpy_runs_in_stream_order() {
    let Some(device) = device("saxpy_runs_in_stream_order") else { return };
    let xs: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let x = device.upload(&xs).unwrap();
    let mut y = device.upload(&vec![1f32; xs.len()]).unwrap();
    let streams = [device.stream().unwrap(), device.stream().unwrap()];
    for i in 0..10 {
        let saxpy = Launch::new(&SAXPY, &[], NO_TWIN).value(2f32).global(&x).global_mut(&mut y).cover(xs.len());
        saxpy.launch_on(&streams[i % 2]).unwrap();
    }
    drop(streams);
    let expected: Vec<f32> = xs.iter().map(|x| (0..10).fold(1.0, |y, _| 2.0 * x + y)).collect();
    assert_eq!(y.download().unwrap(), expected);
    let empty = device.zeros::<f32>(0).unwrap();
    let mut none = device.zeros::<f32>(0).unwrap();
    Launch::new(&SAXPY, &[], NO_TWIN).value(2f32).global(&empty).global_mut(&mut none).grid(1).launch(&device).unwrap();
    device.synchronize().unwrap();
}

#[test]
fn time_is_the_device_s_own() {
    let Some(device) = device("time_is_the_device_s_own") else { return };
    let x = device.zeros::<f32>(100_000).unwrap();
    let mut y = device.zeros::<f32>(100_000).unwrap();
    let timing = Launch::new(&SAXPY, &[], NO_TWIN).value(2f32).global(&x).global_mut(&mut y).cover(100_000).time(&device, 5).unwrap();
    assert_eq!((timing.runs, timing.clock), (5, Clock::DeviceProfiling));
    assert!(timing.min <= timing.median && timing.median <= timing.max && timing.min.as_nanos() > 0, "{timing}");
}

#[test]
fn shared_memory_and_barriers_work() {
    let Some(device) = device("shared_memory_and_barriers_work") else { return };
    let mut y = device.zeros::<f32>(64).unwrap();
    let generics = [GenericArgument::Const(ScalarKind::Usize, 64)];
    Launch::new(&SHARED, &generics, NO_TWIN).global_mut(&mut y).grid(1).launch(&device).unwrap();
    assert_eq!(y.download().unwrap(), [1f32; 64]);
}

definition!(
    DYNAMIC = "dynamic",
    "#[kernel] fn dynamic(weights: &Constant<[u32; 3]>, y: &mut Global<u32>) {
        #[shared(dynamic)] let mut buf: [u32];
        let t = thread_idx().x;
        buf[t] = t as u32;
        sync_threads();
        y[t] = buf[buf.len() - 1 - t] * 100 + weights[t % 3];
    }",
    ["weights": Constant, "y": GlobalMut],
    []
);

#[test]
fn dynamic_shared_memory_and_constants_work() {
    let Some(device) = device("dynamic_shared_memory_and_constants_work") else { return };
    let mut y = device.zeros::<u32>(8).unwrap();
    for weights in [[1u32, 2, 3], [4, 5, 6]] {
        let constant = device.constant(weights).unwrap();
        Launch::new(&DYNAMIC, &[], NO_TWIN)
            .constant(&constant)
            .global_mut(&mut y)
            .block(8)
            .grid(1)
            .shared_bytes(32)
            .launch(&device)
            .unwrap();
        let expected: Vec<u32> = (0..8).map(|t| (7 - t) * 100 + weights[t as usize % 3]).collect();
        assert_eq!(y.download().unwrap(), expected);
    }
}

definition!(
    ASSERTS = "asserts",
    "#[kernel(block = 32)]
fn asserts(limit: u32, y: &mut Global<u32>) {
    let i = global_id().x;
    assert!(y[i] < limit, \"too large\");
    y[i] = 1;
}",
    ["limit": Value, "y": GlobalMut],
    []
);

#[test]
fn a_fault_comes_back_once_and_the_device_stays_usable() {
    let Some(device) = device("a_fault_comes_back_once_and_the_device_stays_usable") else { return };
    let mut y = device.upload(&(0..64u32).collect::<Vec<_>>()).unwrap();
    Launch::new(&ASSERTS, &[], NO_TWIN).value(40u32).global_mut(&mut y).cover(64).launch(&device).unwrap();
    let Err(Error::Fault { kernel, message, place, .. }) = y.download() else { panic!("no fault") };
    assert_eq!(kernel, "asserts");
    assert!(message.contains("too large") && place.contains("src/kernels.rs:13"), "{message}{place}");
    device.synchronize().unwrap();
    let mut z = device.zeros::<u32>(64).unwrap();
    Launch::new(&ASSERTS, &[], NO_TWIN).value(40u32).global_mut(&mut z).cover(64).launch(&device).unwrap();
    assert_eq!(z.download().unwrap(), [1; 64]);
}

definition!(
    SMALL = "small",
    "#[kernel] fn small(y: &mut Global<u32>) { y[global_id().x] = 1; }",
    ["y": GlobalMut],
    []
);

#[test]
fn a_block_beyond_the_device_is_refused() {
    let Some(device) = device("a_block_beyond_the_device_is_refused") else { return };
    let mut y = device.zeros::<u32>(1 << 20).unwrap();
    let error = Launch::new(&SMALL, &[], NO_TWIN).global_mut(&mut y).block(1usize << 20).grid(1).launch(&device).unwrap_err();
    assert!(matches!(error, Error::Limit { kernel: "small", .. }), "{error}");
}
