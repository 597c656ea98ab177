//! The runtime under stress: many threads, memory that runs out, a context that is lost in mid-work, launches without end.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{DeviceKind, Error};
use warpwright_tests::ptx_interpreter::executed;

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

#[kernel(block = 128)]
fn refused(wanted: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        assert!(x[i] == wanted, "not what was wanted");
        y[i] = x[i];
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

/// What the program of the next test does: this one again, with the variable set.
const LOST: &str = "WARPWRIGHT_TEST_LOST";

#[test]
fn role_of_a_program_whose_context_is_lost() {
    if std::env::var(LOST).is_err() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    let (stream, event) = (device.stream().unwrap(), device.default_stream().record().unwrap());
    let (x, mut y, mut z) = (device.upload(&[1u32; N]).unwrap(), device.zeros::<u32>(N).unwrap(), device.zeros::<u32>(N).unwrap());
    let mut graph = device.record((&x, &mut z), |steps, (x, z)| steps.launch(summed(x, z).cover(N)).map(|_| ())).unwrap();
    graph.launch((&x, &mut z)).unwrap();
    let mut pinned = device.pinned::<u32>(N).unwrap();
    refused(2, &x, &mut y).cover(N).launch_on(&stream).unwrap();
    let error = stream.synchronize().unwrap_err();
    assert!(matches!(error, Error::Fault { kernel: "refused", .. }), "{error:?}");
    // Every call after it is an error.
    assert!(y.download().is_err());
    assert!(y.write(&[1; N]).is_err());
    assert!(y.clear().is_err());
    assert!(y.copy_from(&x).is_err());
    assert!(device.upload(&[1u32; N]).is_err());
    assert!(device.zeros::<u32>(N).is_err());
    assert!(device.stream().is_err());
    assert!(stream.record().is_err());
    assert!(stream.wait(&event).is_err());
    assert!(event.synchronize().is_err() || event.is_complete().is_err() || event.is_complete().unwrap());
    assert!(increased(1, &mut z).cover(N).launch(&device).is_err());
    assert!(graph.launch((&x, &mut z)).is_err());
    assert!(x.read_async(&mut pinned, &stream).is_err());
    assert!(device.synchronize().is_err());
    assert!(device.free_memory().is_err());
    assert!(device.release_unused_memory().is_err());
    // The other devices are as they were; and all of it is dropped.
    let simulator = Device::simulator();
    let mut here = simulator.upload(&[1u32; N]).unwrap();
    increased(1, &mut here).cover(N).launch(&simulator).unwrap();
    assert_eq!(here.download().unwrap(), [2; N]);
    drop((x, y, z, graph, pinned, stream, event));
    println!("all of it was an error, and was dropped");
}

#[test]
fn a_context_that_is_lost_is_an_error_of_every_call_and_nothing_hangs() {
    if Device::gpus().is_empty() {
        println!("skipped: a_context_that_is_lost_is_an_error_of_every_call_and_nothing_hangs: no CUDA device");
        return;
    }
    let _alone = gpu();
    let start = Instant::now();
    // Into a file: a driver says of each thread what went wrong, which is more than a pipe takes that nobody reads meanwhile.
    let path = std::env::temp_dir().join(format!("warpwright-lost-context-{}.txt", std::process::id()));
    let said = std::fs::File::create(&path).unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["role_of_a_program_whose_context_is_lost", "--exact", "--nocapture"])
        .env(LOST, "1")
        .stdout(said.try_clone().unwrap())
        .stderr(said)
        .spawn()
        .unwrap();
    let status = loop {
        if let Some(status) = program.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > Duration::from_secs(60) {
            program.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    std::fs::remove_file(&path).unwrap();
    assert!(status.success() && text.contains("all of it was an error, and was dropped"), "after {:?}: {text}", start.elapsed());
}

#[test]
fn on_the_ptx_interpreter() {
    executed("stress", &["a_context_that_is_lost_is_an_error_of_every_call_and_nothing_hangs"], "8.0");
}
