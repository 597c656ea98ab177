//! Kernels through the devices that have a driver: the first CUDA GPU, the first OpenCL device (PoCL, say).

use super::{NO_TWIN, SAXPY, SHARED, definition};
use crate::arguments::Arguments;
use crate::definition::{GenericArgument, ScalarKind};
use crate::device::{Device, DeviceKind};
use crate::error::Error;
use crate::launch::Launch;
use crate::timing::Clock;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by each test: a fault is told to whoever waits for its stream first, and that must be the test that caused it.
pub(super) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The devices there are, for one test at a time. A line says which are missing.
fn devices(test: &str) -> (MutexGuard<'static, ()>, Vec<Device>) {
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let found = [("CUDA GPU", Device::cuda(0)), ("OpenCL device", Device::opencl(0))];
    let check = |(what, device): (&str, crate::Result<Device>)| match device {
        Ok(device) => Some(device),
        Err(Error::NoDriver { .. } | Error::NoDevice { .. }) => {
            println!("skipped: {test} (no {what})");
            None
        }
        Err(other) => panic!("{other}"),
    };
    (guard, found.into_iter().filter_map(check).collect())
}

#[test]
fn saxpy_runs_in_stream_order() {
    let (_guard, devices) = devices("saxpy_runs_in_stream_order");
    for device in devices {
        let xs: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
        let x = device.upload(&xs).unwrap();
        let mut y = device.upload(&vec![1f32; xs.len()]).unwrap();
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        for i in 0..10 {
            let saxpy = Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&x).global_mut(&mut y)).cover(xs.len());
            saxpy.launch_on(&streams[i % 2]).unwrap();
        }
        drop(streams);
        let expected: Vec<f32> = xs.iter().map(|x| (0..10).fold(1.0, |y, _| 2.0 * x + y)).collect();
        assert_eq!(y.download().unwrap(), expected);
        let empty = device.zeros::<f32>(0).unwrap();
        let mut none = device.zeros::<f32>(0).unwrap();
        Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&empty).global_mut(&mut none))
            .grid(1)
            .launch(&device)
            .unwrap();
        device.synchronize().unwrap();
    }
}

#[test]
fn time_is_the_device_s_own() {
    let (_guard, devices) = devices("time_is_the_device_s_own");
    for device in devices {
        let x = device.zeros::<f32>(100_000).unwrap();
        let mut y = device.zeros::<f32>(100_000).unwrap();
        let timing = Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&x).global_mut(&mut y))
            .cover(100_000)
            .time(&device, 5)
            .unwrap();
        let clock = if device.kind() == DeviceKind::Cuda { Clock::DeviceEvents } else { Clock::DeviceProfiling };
        assert_eq!((timing.runs, timing.clock), (5, clock));
        assert!(timing.min <= timing.median && timing.median <= timing.max && timing.min.as_nanos() > 0, "{timing}");
    }
}

#[test]
fn shared_memory_and_barriers_work() {
    let (_guard, devices) = devices("shared_memory_and_barriers_work");
    for device in devices {
        let mut y = device.zeros::<f32>(64).unwrap();
        let generics = vec![GenericArgument::Const(ScalarKind::Usize, 64)];
        Launch::new(&SHARED, generics, NO_TWIN, Arguments::new().global_mut(&mut y)).grid(1).launch(&device).unwrap();
        assert_eq!(y.download().unwrap(), [1f32; 64]);
    }
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
    let (_guard, devices) = devices("dynamic_shared_memory_and_constants_work");
    for device in devices {
        let mut y = device.zeros::<u32>(8).unwrap();
        for weights in [[1u32, 2, 3], [4, 5, 6]] {
            let constant = device.constant(weights).unwrap();
            Launch::new(&DYNAMIC, &[], NO_TWIN, Arguments::new().constant(&constant).global_mut(&mut y))
                .block(8)
                .grid(1)
                .shared_bytes(32)
                .launch(&device)
                .unwrap();
            let expected: Vec<u32> = (0..8).map(|t| (7 - t) * 100 + weights[t as usize % 3]).collect();
            assert_eq!(y.download().unwrap(), expected);
        }
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
    // On CUDA a fault ends the program's use of the GPU: nothing for a test beside others.
    let (_guard, devices) = devices("a_fault_comes_back_once_and_the_device_stays_usable");
    for device in devices.into_iter().filter(|d| d.kind() == DeviceKind::OpenCl) {
        let stream = device.stream().unwrap();
        let mut y = device.upload(&(0..64u32).collect::<Vec<_>>()).unwrap();
        Launch::new(&ASSERTS, &[], NO_TWIN, Arguments::new().value(40u32).global_mut(&mut y)).cover(64).launch_on(&stream).unwrap();
        let Err(Error::Fault { kernel, message, place, .. }) = y.download() else { panic!("no fault") };
        assert_eq!(kernel, "asserts");
        assert!(message.contains("too large") && place.contains("src/kernels.rs:13"), "{message}{place}");
        device.synchronize().unwrap();
        let mut z = device.zeros::<u32>(64).unwrap();
        Launch::new(&ASSERTS, &[], NO_TWIN, Arguments::new().value(40u32).global_mut(&mut z)).cover(64).launch(&device).unwrap();
        assert_eq!(z.download().unwrap(), [1; 64]);
    }
}

definition!(
    SMALL = "small",
    "#[kernel] fn small(y: &mut Global<u32>) { y[global_id().x] = 1; }",
    ["y": GlobalMut],
    []
);

#[test]
fn a_block_beyond_the_device_is_refused() {
    let (_guard, devices) = devices("a_block_beyond_the_device_is_refused");
    for device in devices {
        let mut y = device.zeros::<u32>(1 << 20).unwrap();
        let error =
            Launch::new(&SMALL, &[], NO_TWIN, Arguments::new().global_mut(&mut y)).block(1usize << 20).grid(1).launch(&device).unwrap_err();
        assert!(matches!(error, Error::Limit { kernel: "small", .. }), "{error}");
    }
}

#[test]
fn constants_of_several_streams_do_not_mix() {
    let (_guard, devices) = devices("constants_of_several_streams_do_not_mix");
    for device in devices {
        let constants: Vec<_> = (0..6u32).map(|i| device.constant([i, 10 + i, 20 + i]).unwrap()).collect();
        let streams: Vec<_> = (0..3).map(|_| device.stream().unwrap()).collect();
        let mut results: Vec<_> = (0..60).map(|_| device.zeros::<u32>(8).unwrap()).collect();
        for (i, y) in results.iter_mut().enumerate() {
            let launch = Launch::new(&DYNAMIC, &[], NO_TWIN, Arguments::new().constant(&constants[i % 6]).global_mut(y));
            launch.block(8).grid(1).shared_bytes(32).launch_on(&streams[i % 3]).unwrap();
        }
        for (i, y) in results.iter().enumerate() {
            let expected: Vec<u32> = (0..8).map(|t| (7 - t) * 100 + (i as u32 % 6) + 10 * (t % 3)).collect();
            assert_eq!(y.download().unwrap(), expected, "{device}, launch {i}");
        }
    }
}

#[test]
fn threads_share_a_device() {
    let (_guard, devices) = devices("threads_share_a_device");
    for device in devices {
        let x = device.upload(&[1f32; 4096]).unwrap();
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (device, x) = (&device, &x);
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let mut y = device.upload(&[worker as f32; 4096]).unwrap();
                    for _ in 0..25 {
                        Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(x).global_mut(&mut y))
                            .cover(4096)
                            .launch_on(&stream)
                            .unwrap();
                    }
                    assert_eq!(y.download().unwrap(), [worker as f32 + 50.0; 4096]);
                });
            }
        });
    }
}

#[test]
fn a_repeated_launch_is_cheap_on_a_gpu_too() {
    let (_guard, devices) = devices("a_repeated_launch_is_cheap_on_a_gpu_too");
    for device in devices {
        let x = device.zeros::<f32>(256).unwrap();
        let mut y = device.zeros::<f32>(256).unwrap();
        let mut launch = || {
            Launch::new(&SAXPY, &[], NO_TWIN, Arguments::new().value(2f32).global(&x).global_mut(&mut y))
                .cover(256)
                .launch(&device)
                .unwrap();
        };
        launch();
        device.synchronize().unwrap();
        let mut best = std::time::Duration::MAX;
        for _ in 0..50 {
            let start = std::time::Instant::now();
            (0..20).for_each(|_| launch());
            best = best.min(start.elapsed() / 20);
            device.synchronize().unwrap();
        }
        println!("{device}: a repeated launch takes {best:?} of host time");
        // A CPU as OpenCL device runs the kernel on the cores that launch it: only a GPU's figure says anything.
        assert!(device.kind() != DeviceKind::Cuda || best.as_micros() < 20, "{best:?}");
    }
}
