//! What it takes to replay a graph of short kernels, beside launching them one by one and beside the driver's own graph of the same kernels.

use crate::Outcome;
use crate::launch_cost::{ROUNDS, median};
use cudarc::driver::{CudaContext, result, sys};
use std::ffi::{CString, c_void};
use std::time::{Duration, Instant};
use warpwright::prelude::*;

/// Launches that a graph replays at once.
const RECORDED: usize = 100;

/// Elements of each launch: four blocks.
const LEN: usize = 1024;

/// `saxpy`, which may begin before the kernel before it has ended, if `P`.
#[kernel(block = 256, overlap = P)]
fn step<const P: bool>(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// Times rows of kernels without `overlap` and with it.
pub(crate) fn print(device: &Device) -> Outcome<()> {
    print_row::<false>(device)?;
    print_row::<true>(device)
}

/// The driver's own graph of a kernel to and fro between two buffers, captured from a stream, as `cudaStreamBeginCapture` does it.
fn captured(stream: sys::CUstream, text: &str, [x, y]: [u64; 2]) -> Outcome<sys::CUgraphExec> {
    // Older GPUs have kernels that wait for nothing, and take no launch that says they do.
    let overlaps = text.contains("griddepcontrol.wait");
    let entry = text.split(".entry ").nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default();
    let (entry, text) = (CString::new(entry)?, CString::new(text)?);
    // SAFETY: a text that ends with a zero byte; the context is current.
    let module = unsafe { result::module::load_data(text.as_ptr().cast()) }?;
    // SAFETY: the module was just loaded.
    let function = unsafe { result::module::get_function(module, entry) }?;
    let launch = |mut a: f32, mut from: u64, mut to: u64| {
        let mut len = LEN as u32;
        // The kernel does not ask how long what it reads is.
        let mut parameters: [*mut c_void; 4] = [(&raw mut a).cast(), (&raw mut from).cast(), (&raw mut to).cast(), (&raw mut len).cast()];
        let mut attribute = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { pad: [0; 64] },
        };
        attribute.value.programmaticStreamSerializationAllowed = 1;
        let config = sys::CUlaunchConfig {
            gridDimX: (LEN / 256) as u32,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 256,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: stream,
            attrs: &raw mut attribute,
            numAttrs: u32::from(overlaps),
        };
        // SAFETY: the kernel and parameters of its types, which are copied before the call returns.
        unsafe { sys::cuLaunchKernelEx(&raw const config, function, parameters.as_mut_ptr(), std::ptr::null_mut()) }.result()
    };
    // SAFETY: what is launched on the stream until the capture ends becomes the graph.
    unsafe {
        result::stream::begin_capture(stream, sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
        (0..RECORDED / 2).try_for_each(|_| launch(1.0, x, y).and_then(|()| launch(-1.0, y, x)))?;
        Ok(result::graph::instantiate(result::stream::end_capture(stream)?, sys::CUgraphInstantiate_flags(0))?)
    }
}

/// Host time and device time of short launches one by one, each of which needs the one before, and of a graph of them.
fn print_row<const P: bool>(device: &Device) -> Outcome<()> {
    let buffer = || device.upload(&[1.0f32; LEN]);
    let (mut x, mut y, of_x, of_y) = (buffer()?, buffer()?, buffer()?, buffer()?);
    let ptx = step::<P>(1.0, &x, &mut y).ptx(device.target())?;
    let mut graph = device.record((&mut x, &mut y), |steps, (x, y)| {
        for _ in 0..RECORDED / 2 {
            steps.launch(step::<P>(1.0, x, y).cover(LEN))?;
            steps.launch(step::<P>(-1.0, y, x).cover(LEN))?;
        }
        Ok::<(), warpwright::Error>(())
    })?;
    let start = Instant::now();
    graph.launch((&mut x, &mut y))?;
    let first = start.elapsed();
    device.synchronize()?;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let on = stream.cu_stream();
    let of_driver = captured(on, &ptx, [of_x.as_raw().unwrap_or(0), of_y.as_raw().unwrap_or(0)])?;
    let mut times: [[Vec<Duration>; 2]; 3] = Default::default();
    let mut timed = |way: usize, run: &mut dyn FnMut() -> Outcome<()>| -> Outcome<()> {
        let start = Instant::now();
        run()?;
        let host = start.elapsed();
        device.synchronize()?;
        stream.synchronize()?;
        times[way][0].push(host);
        times[way][1].push(start.elapsed());
        Ok(())
    };
    for round in 0..ROUNDS * 10 {
        timed(0, &mut || {
            for _ in 0..RECORDED / 2 {
                step::<P>(1.0, &x, &mut y).cover(LEN).launch(device)?;
                step::<P>(-1.0, &y, &mut x).cover(LEN).launch(device)?;
            }
            Ok(())
        })?;
        // Whoever comes first finds in the caches what the launches left.
        for way in if round % 2 == 0 { [1, 2] } else { [2, 1] } {
            if way == 1 {
                timed(1, &mut || Ok(graph.launch((&mut x, &mut y))?))?;
            } else {
                // SAFETY: the graph was instantiated, and stays; its buffers are kept until the stream was waited for.
                timed(2, &mut || Ok(unsafe { result::graph::launch(of_driver, on) }?))?;
            }
        }
    }
    let [[launches, all], [replay, replayed], [driver, driven]] = times.each_mut().map(|ways| ways.each_mut().map(|times| median(times)));
    println!(
        "{RECORDED} small launches {} overlap, medians of {} in turn: one by one {launches:.1} us of host time, {all:.1} us until all have run; as a graph {replay:.2} us and {replayed:.1} us, ratio {:.3} and {:.3}; \
         the driver's own graph of them {driver:.2} us and {driven:.1} us; a graph's first replay {:.1} us",
        if P { "with" } else { "without" },
        ROUNDS * 10,
        replay / launches,
        replayed / all,
        first.as_secs_f64() * 1e6
    );
    Ok(())
}
