//! The runtime under stress: many threads, memory that runs out, a context that is lost in mid-work, launches without end.

#[path = "stress/lost_context.rs"]
mod lost_context;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpwright::prelude::*;
use warpwright::{DeviceKind, Error};

#[kernel(block = 256)]
fn increased(by: u32, x: &mut Global<u32>) {
    let i = global_id().x;
    if i < x.len() {
        x[i] += by;
    }
}

#[kernel(block = 256)]
fn summed(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] += x[i];
    }
}

/// Held by each test, for some measure the memory of the whole GPU. One that failed has left none of it.
static GPU: Mutex<()> = Mutex::new(());

fn gpu() -> MutexGuard<'static, ()> {
    GPU.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Elements of a buffer that is shared, and of each thread's own.
const N: usize = 2000;

#[test]
fn sixty_four_threads_on_as_many_streams_keep_their_order() {
    let _alone = gpu();
    for device in Device::all() {
        let rounds = if device.kind() == DeviceKind::Cuda { 200 } else { 4 };
        let shared = device.upload(&[3u32; N]).unwrap();
        let failures = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..64u32 {
                let (device, shared, failures) = (&device, &shared, &failures);
                scope.spawn(move || {
                    let (own, other) = (device.stream().unwrap(), device.stream().unwrap());
                    let mut y = own.upload(&[thread; N]).unwrap();
                    for round in 0..rounds {
                        increased(1, &mut y).cover(N).launch_on(&own).unwrap();
                        summed(shared, &mut y).cover(N).launch_on(if round % 2 == 0 { &own } else { &other }).unwrap();
                        // One that comes and goes while its work is under way.
                        let mut short = other.zeros::<u32>(N).unwrap();
                        summed(&y, &mut short).cover(N).launch_on(&other).unwrap();
                    }
                    let expected = thread + rounds * 4;
                    failures.fetch_add(usize::from(y.download().unwrap() != [expected; N]), Ordering::Relaxed);
                });
            }
        });
        assert_eq!(failures.load(Ordering::Relaxed), 0, "{device}");
        assert_eq!(shared.download().unwrap(), [3; N], "{device}");
    }
}

#[test]
fn memory_that_runs_out_is_an_error_and_comes_back() {
    let _alone = gpu();
    for device in Device::gpus() {
        let free = device.free_memory().unwrap().unwrap();
        let piece = (free / 8) as usize;
        for round in 0..3 {
            let mut pieces = Vec::new();
            let error = loop {
                match device.zeros::<u8>(piece) {
                    Ok(buffer) => pieces.push(buffer),
                    Err(error) => break error,
                }
                assert!(pieces.len() <= 16, "more was given than there is");
            };
            assert!(matches!(error, Error::OutOfMemory { .. }), "round {round}: {error:?}");
            assert!(error.to_string().contains(&format!("{piece} bytes were asked for; drop buffers")), "{error}");
            // What is there works, and what was dropped is there for the next at once.
            assert!(pieces.len() >= 5, "round {round}: only {} of {piece} bytes", pieces.len());
            let last = pieces.pop().unwrap();
            assert_eq!(last.view::<u64>().map(Buffer::len).unwrap_or(piece / 8), piece / 8);
            drop(last);
            let mut small = device.upload(&[1u32; N]).unwrap();
            increased(1, &mut small).cover(N).launch(&device).unwrap();
            assert_eq!(small.download().unwrap(), [2; N]);
        }
        device.release_unused_memory().unwrap();
        let after = device.free_memory().unwrap().unwrap();
        // The driver loads the code of kernels, and keeps some memory of its own.
        assert!(after + (256 << 20) >= free, "of {free} bytes {after} came back");
    }
    if Device::gpus().is_empty() {
        println!("skipped: memory_that_runs_out_is_an_error_and_comes_back: no CUDA device");
    }
}

/// Bytes of memory that this program has, where the system tells.
fn resident() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(told.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn launches_without_end_take_no_more_memory() {
    let _alone = gpu();
    for device in Device::all() {
        let launches = if device.kind() == DeviceKind::Cuda { 1_000_000u32 } else { 2_000 };
        let mut x = device.zeros::<u32>(64).unwrap();
        let mut graph = device.record(&mut x, |steps, x| steps.launch(increased(2, x).cover(64)).map(|_| ())).unwrap();
        let mut run = |times: u32| {
            for n in 0..times {
                match n % 16 {
                    0 => graph.launch(&mut x).unwrap(),
                    1 => {
                        // A buffer of its own, which is dropped under way.
                        let mut own = device.zeros::<u32>(64).unwrap();
                        increased(1, &mut own).cover(64).launch(&device).unwrap();
                        increased(2, &mut x).cover(64).launch(&device).unwrap();
                    }
                    _ => increased(2, &mut x).cover(64).launch(&device).unwrap(),
                }
            }
            device.synchronize().unwrap();
        };
        run(launches / 10);
        let (before, free_before) = (resident(), device.free_memory().unwrap());
        run(launches);
        let (after, free_after) = (resident(), device.free_memory().unwrap());
        assert_eq!(x.download().unwrap(), [(launches + launches / 10) * 2; 64], "{device}");
        if let (Some(before), Some(after)) = (before, after) {
            // A kernel's report, a page of an allocator: 50 bytes a launch would be seen.
            assert!(after < before + (48 << 20), "{device}: {before} bytes before, {after} after {launches} launches");
        }
        if let (Some(before), Some(after)) = (free_before, free_after) {
            assert!(after + (32 << 20) >= before, "{device}: {before} bytes of the device free before, {after} after {launches} launches");
        }
    }
}
