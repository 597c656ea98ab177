//! A context that a fault has ended: every call that reaches the driver is an error, the same one each time; nothing hangs, and all of it can be dropped.
//!
//! These give no error, since they ask the driver nothing. Each is asked as well, and what it gives is an error as soon as it is used:
//!
//! * `Device::cuda(0)`: a device is opened once in a program; asked for again, it is the same.
//! * `Device::matrix`, `Buffer::view`: values of the host, which say how a buffer is read.
//! * `Device::record` and `Graph::replace` with kernels that are compiled: both write down what a later replay tells the driver. A kernel that is not compiled yet is an error of `record`.

use super::{GPU, N, increased, summed};
use std::process::Command;
use std::sync::PoisonError;
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{Error, Result, Sampling};
use warpwright_tests::ptx_interpreter;

#[kernel(block = 128)]
fn refused(wanted: u32, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        assert!(x[i] == wanted, "not what was wanted");
        y[i] = x[i];
    }
}

#[kernel(block = 64)]
fn looked_up(table: &Constant<[u32; 4]>, texels: &Texture2d<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = table[block_idx().x % 4] + texels.fetch((i % 4) as i32, 0);
    }
}

#[kernel(block = 64)]
fn first_row(m: &Matrix<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = m[(0, i)];
    }
}

/// Compiled by nobody before the context is lost.
#[kernel(block = 64)]
fn never_compiled(y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 1;
    }
}

/// What each call gave.
#[derive(Default)]
struct Told(Vec<(&'static str, Option<Error>)>);

impl Told {
    fn ask<T>(&mut self, call: &'static str, given: Result<T>) {
        self.0.push((call, given.err()));
    }

    /// How many there were, if each gave an error.
    fn all_errors(&self) -> usize {
        let well: Vec<&str> = self.0.iter().filter(|(_, error)| error.is_none()).map(|(call, _)| *call).collect();
        assert!(well.is_empty(), "the context is lost, and these calls gave no error: {well:#?}");
        // "Any further CUDA work will return the same error" (CUDA Driver API, `CUresult`, of each code of a fault). Who stands in for the driver keeps to that; of a driver
        // it is printed, since the tests are not the driver's.
        let code = |error: &Error| match error {
            Error::Driver { code, .. } => code.clone(),
            Error::Fault { message, .. } => message.split(',').next().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        };
        let mut codes: Vec<String> = self.0.iter().filter_map(|(_, error)| error.as_ref()).map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        println!("{} calls, errors {codes:?}", self.0.len());
        assert!(codes.len() == 1 || !ptx_interpreter::is_here(), "{:#?}", self.0);
        self.0.len()
    }
}

/// What the program of the next test does: this one again, with the variable set.
const LOST: &str = "WARPWRIGHT_TEST_LOST";
const DROPPED: &str = "all of it was an error, and was dropped";

#[test]
fn role_of_a_program_whose_context_is_lost() {
    if std::env::var(LOST).is_err() {
        return;
    }
    let device = Device::cuda(0).unwrap();
    let own = device.default_stream();
    // All that there is, each used while all is well.
    let (stream, event, later) = (device.stream().unwrap(), own.record().unwrap(), own.record().unwrap());
    let (x, mut y, mut z) = (device.upload(&[1u32; N]).unwrap(), device.zeros::<u32>(N).unwrap(), device.zeros::<u32>(N).unwrap());
    let mut step = None;
    let mut graph = device
        .record((&x, &mut z), |steps, (x, z)| {
            step = Some(steps.launch(summed(x, z).cover(N))?);
            Ok::<_, Error>(())
        })
        .unwrap();
    graph.launch((&x, &mut z)).unwrap();
    let four = device.upload(&[1u32; 4]).unwrap();
    let mut table = device.constant([1u32, 2, 3, 4]).unwrap();
    let mut texels = device.texture((4, 1), &[5u32, 6, 7, 8], Sampling::default()).unwrap();
    looked_up(&table, &texels, &mut z).cover(N).launch(&device).unwrap();
    first_row(device.matrix(&x, 1, N).unwrap(), &mut z).cover(N).launch(&device).unwrap();
    increased(1, &mut z).cover(N).launch(&device).unwrap();
    let (mut pinned, mut under_way) = (device.pinned::<u32>(N).unwrap(), device.pinned::<u32>(N).unwrap());
    x.read_async(&mut under_way, &own).unwrap();
    device.synchronize().unwrap();

    refused(2, &x, &mut y).cover(N).launch_on(&stream).unwrap();
    // Behind the kernel that faults; where that has ended by now, an error already.
    let behind = stream.record();
    let error = stream.synchronize().unwrap_err();
    assert!(matches!(error, Error::Fault { kernel: "refused", .. }), "{error:?}");

    let mut told = Told::default();
    told.ask("Stream::synchronize", stream.synchronize());
    match behind {
        Ok(behind) => {
            told.ask("Event::is_complete, behind the fault", behind.is_complete());
            told.ask("Event::synchronize, behind the fault", behind.synchronize());
            told.ask("Event::since, behind the fault", behind.since(&event));
            told.ask("Stream::wait, behind the fault", own.wait(&behind));
        }
        Err(error) => told.ask("Stream::record, behind the fault", Err::<(), _>(error)),
    }
    told.ask("Event::is_complete", event.is_complete());
    told.ask("Event::synchronize", event.synchronize());
    told.ask("Event::since", later.since(&event));
    told.ask("Stream::record", stream.record());
    told.ask("Stream::record, of another stream", own.record());
    told.ask("Stream::wait", stream.wait(&event));
    told.ask("Stream::upload", stream.upload(&[1u32; N]));
    told.ask("Stream::zeros", stream.zeros::<u32>(N));

    told.ask("Buffer::download", y.download());
    told.ask("Buffer::download, of one that no fault wrote", x.download());
    told.ask("Buffer::read_into", x.read_into(&mut [0; N]));
    told.ask("Buffer::write", y.write(&[1; N]));
    told.ask("Buffer::clear", y.clear());
    told.ask("Buffer::copy_from", y.copy_from(&x));
    told.ask("Buffer::copy_range_from", z.copy_range_from(1, &x, 0..N - 1));
    told.ask("Buffer::write_async", z.write_async(&pinned, &own));
    told.ask("Buffer::read_async", x.read_async(&mut pinned, &own));
    told.ask("PinnedBuffer::as_slice, of a copy", under_way.as_slice().map(<[u32]>::len));
    told.ask("Buffer::view and download", x.view::<[u32; 2]>().and_then(Buffer::download));

    told.ask("Device::upload", device.upload(&[1u32; N]));
    told.ask("Device::zeros", device.zeros::<u32>(N));
    told.ask("Device::constant", device.constant([1u32; 4]));
    told.ask("Device::constant_from_slice", device.constant_from_slice::<u32, 4>(&[1; 4]));
    told.ask("Device::texture", device.texture((4, 1), &[1u32; 4], Sampling::default()));
    told.ask("Device::pinned", device.pinned::<u32>(N));
    told.ask("Device::stream", device.stream());
    told.ask("Device::synchronize", device.synchronize());
    told.ask("Device::free_memory", device.free_memory());
    told.ask("Device::release_unused_memory", device.release_unused_memory());
    told.ask("Device::record, of a kernel that is not compiled", {
        device.record(&mut z, |steps, z| steps.launch(never_compiled(z).cover(N)).map(|_| ()))
    });
    told.ask("Device::time", device.time(2, |run| run.launch(increased(1, &mut z).cover(N))));
    told.ask("ConstantBuffer::download", table.download());
    told.ask("ConstantBuffer::write", table.write(&[1; 4]));
    told.ask("Texture::download", texels.download());
    told.ask("Texture::write", texels.write(&[1; 4]));
    told.ask("Texture::copy_from", texels.copy_from(&four));

    told.ask("Launch::launch", increased(1, &mut z).cover(N).launch(&device));
    told.ask("Launch::launch, of a kernel that is not compiled", never_compiled(&mut z).cover(N).launch(&device));
    told.ask("Launch::launch, with a constant and a texture", looked_up(&table, &texels, &mut z).cover(N).launch(&device));
    told.ask("Launch::launch_on", increased(1, &mut z).cover(N).launch_on(&stream));
    told.ask("Launch::time", increased(1, &mut z).cover(N).time(&device, 2));
    told.ask("Launch::simulate, of the device's buffers", summed(&x, &mut z).cover(N).simulate());
    told.ask("on another thread", std::thread::scope(|scope| scope.spawn(|| device.zeros::<u32>(N)).join().unwrap()));

    told.ask("Graph::launch", graph.launch((&x, &mut z)));
    told.ask("Graph::launch_on", graph.launch_on(&stream, (&x, &mut z)));
    // What asks the driver nothing.
    let again = Device::cuda(0).unwrap();
    assert_eq!(again, device);
    told.ask("Device::cuda and zeros", again.zeros::<u32>(N));
    let matrix = device.matrix(&x, 1, N).unwrap();
    told.ask("Device::matrix and Launch::launch", first_row(matrix, &mut z).cover(N).launch(&device));
    graph.replace(step.unwrap(), summed(&x, &mut z).cover(N)).unwrap();
    told.ask("Graph::replace and launch", graph.launch((&x, &mut z)));
    let mut recorded = device.record((&x, &mut z), |steps, (x, z)| steps.launch(summed(x, z).cover(N)).map(|_| ())).unwrap();
    told.ask("Device::record and Graph::launch", recorded.launch((&x, &mut z)));
    let calls = told.all_errors();

    // The other devices are as they were; and all of it is dropped.
    let simulator = Device::simulator();
    let mut here = simulator.upload(&[1u32; N]).unwrap();
    increased(1, &mut here).cover(N).launch(&simulator).unwrap();
    assert_eq!(here.download().unwrap(), [2; N]);
    drop((x, y, z, four, graph, recorded, table));
    drop((texels, pinned, under_way, stream, event, later));
    println!("ran: a_context_that_is_lost ({calls} calls on {})", device.name());
    println!("{DROPPED}");
}

#[test]
fn a_context_that_is_lost_is_an_error_of_every_call_and_nothing_hangs() {
    if Device::gpus().is_empty() {
        println!("skipped: a_context_that_is_lost_is_an_error_of_every_call_and_nothing_hangs: no CUDA device");
        return;
    }
    let _alone = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    let start = Instant::now();
    // Into a file: a driver says of each thread what went wrong, which is more than a pipe takes that nobody reads meanwhile.
    let path = std::env::temp_dir().join(format!("warpwright-lost-context-{}.txt", std::process::id()));
    let said = std::fs::File::create(&path).unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(["lost_context::role_of_a_program_whose_context_is_lost", "--exact", "--nocapture"])
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
    assert!(status.success() && text.contains(DROPPED), "after {:?}: {text}", start.elapsed());
    text.lines().filter(|line| line.starts_with("ran: ") || line.contains(" calls, errors ")).for_each(|line| println!("{line}"));
}

#[test]
fn on_the_ptx_interpreter() {
    let name = "lost_context::a_context_that_is_lost_is_an_error_of_every_call_and_nothing_hangs";
    let Some(answer) = ptx_interpreter::again("stress", &[name], "8.0") else { return };
    let ran = answer.lines().find(|line| line.starts_with("ran: ")).expect("it says how many calls there were");
    println!("{ran}");
}
