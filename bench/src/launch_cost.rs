//! What a launch costs the host.

#![expect(unsafe_code, reason = "launches by the driver's own call, too")]

use crate::Outcome;
use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg, result, sys};
use cudarc::nvrtc::Ptx;
use std::ffi::{CString, c_void};
use std::time::{Duration, Instant};
use warpwright::cudarc::{stream_of, with_buffers};
use warpwright::prelude::*;
use warpwright_kernels::saxpy::saxpy;
use warpwright_kernels::staples::Workspace;
use warpwright_kernels::staples::product::{self, Product};

/// Launches of a round: fewer than a stream holds before the host has to wait.
const LAUNCHES: u32 = 100;

/// Rounds of each way, in turn.
const ROUNDS: usize = 400;

/// Host time of a repeated launch of a kernel with almost no work, the same PTX in the same stream each time: by the driver's own call, on buffers, on slices of `cudarc`'s, and by the driver's call on
/// these slices, asked for their addresses as `cudarc`'s own launches ask. Medians of rounds, since what the driver takes varies by more than what is added to it.
pub(crate) fn print(device: &Device) -> Outcome<()> {
    let x = device.upload(&[1.0f32; 32])?;
    let mut y = device.upload(&[1.0f32; 32])?;
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let (x_slice, mut y_slice) = (stream.clone_htod(&[1.0f32; 32])?, stream.alloc_zeros::<f32>(32)?);
    let ptx = saxpy(1.0, &x, &mut y).ptx(device.target())?;
    let of_cudarc = context.load_module(Ptx::from_src(ptx.as_str()))?.load_function("saxpy")?;
    let text = CString::new(ptx)?;
    // SAFETY: a text that ends with a zero byte; the context is current.
    let module = unsafe { result::module::load_data(text.as_ptr().cast()) }?;
    // SAFETY: the module was just loaded.
    let function = unsafe { result::module::get_function(module, c"saxpy".to_owned()) }?;
    let (mut a, mut of_x, mut of_y, mut len) = (1.0f32, x.as_raw().unwrap_or(0), y.as_raw().unwrap_or(0), 32u32);
    // The kernel does not ask how long `x` is.
    let mut parameters: [*mut c_void; 4] = [(&raw mut a).cast(), (&raw mut of_x).cast(), (&raw mut of_y).cast(), (&raw mut len).cast()];
    let mut times: [Vec<Duration>; 7] = Default::default();
    // One launch first: what the way before has left is its own.
    let mut timed = |way: usize, launch: &mut dyn FnMut(u32) -> Outcome<()>| -> Outcome<()> {
        launch(1)?;
        let start = Instant::now();
        launch(LAUNCHES)?;
        times[way].push(start.elapsed() / LAUNCHES);
        Ok(stream.synchronize()?)
    };
    for _ in 0..ROUNDS {
        timed(0, &mut |count| {
            // SAFETY: the kernel and parameters of its types.
            let mut launch = || unsafe { result::launch_kernel(function, (1, 1, 1), (256, 1, 1), 0, stream.cu_stream(), &mut parameters) };
            Ok((0..count).try_for_each(|_| launch())?)
        })?;
        let own = stream_of(&stream)?;
        timed(1, &mut |count| Ok((0..count).try_for_each(|_| saxpy(1.0, &x, &mut y).cover(32).launch_on(&own))?))?;
        let mut lend_to_each = |count: u32| {
            let mut launch = || with_buffers((&x_slice, &mut y_slice), &stream, |(x, y), on| saxpy(1.0, x, y).cover(32).launch_on(on));
            Ok((0..count).try_for_each(|_| launch())?)
        };
        timed(5, &mut lend_to_each)?;
        drop(own);
        timed(2, &mut lend_to_each)?;
        timed(3, &mut |count| {
            Ok(with_buffers((&x_slice, &mut y_slice), &stream, |(x, y), on| {
                (0..count).try_for_each(|_| saxpy(1.0, x, y).cover(32).launch_on(on))
            })?)
        })?;
        timed(4, &mut |count| {
            let mut launch = || {
                // What comes with an address waits for the slice's other streams now, and tells them of this one when it is dropped.
                let ((mut of_x, _reads), (mut of_y, _writes)) = (x_slice.device_ptr(&stream), y_slice.device_ptr_mut(&stream));
                let mut parameters: [*mut c_void; 4] =
                    [(&raw mut a).cast(), (&raw mut of_x).cast(), (&raw mut of_y).cast(), (&raw mut len).cast()];
                // SAFETY: the kernel and parameters of its types.
                unsafe { result::launch_kernel(function, (1, 1, 1), (256, 1, 1), 0, stream.cu_stream(), &mut parameters) }
            };
            Ok((0..count).try_for_each(|_| launch())?)
        })?;
        timed(6, &mut |count| {
            let place = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
            let mut launch = || {
                let mut launch = stream.launch_builder(&of_cudarc);
                launch.arg(&1.0f32).arg(&x_slice).arg(&mut y_slice).arg(&32u32);
                // SAFETY: the kernel and parameters of its types.
                unsafe { launch.launch(place) }.map(drop)
            };
            Ok((0..count).try_for_each(|_| launch())?)
        })?;
    }
    let [driver, buffers, slices, lent, of_slices, held, of_builder] = times.each_mut().map(|times| median(times));
    println!(
        "host time of a repeated launch, medians of {ROUNDS} rounds of {LAUNCHES} in turn: {driver:.2} us by cuLaunchKernel alone, {buffers:.2} us on buffers, {slices:.2} us on slices lent to each, \
         {held:.2} us the same while the stream is held, {lent:.2} us on slices lent to all, {of_slices:.2} us by cuLaunchKernel on slices, \
         {of_builder:.2} us by cudarc's launches"
    );
    // The driver alone: a graph of as many launches, captured.
    let on = stream.cu_stream();
    // SAFETY: what is launched on the stream until the capture ends becomes the graph.
    let graph = unsafe {
        result::stream::begin_capture(on, sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
        (0..RECORDED).try_for_each(|_| result::launch_kernel(function, (1, 1, 1), (256, 1, 1), 0, on, &mut parameters))?;
        result::graph::instantiate(result::stream::end_capture(on)?, sys::CUgraphInstantiate_flags(0))
    }?;
    // SAFETY: the graph was just made, and stays.
    let mut by_driver = || Ok(unsafe { result::graph::launch(graph, on) }?);
    print_graph::<false>(device, &mut by_driver, &|| Ok(stream.synchronize()?))?;
    print_graph::<true>(device, &mut by_driver, &|| Ok(stream.synchronize()?))?;
    print_first(device)
}

/// In microseconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// Launches that a graph replays at once.
const RECORDED: u32 = 100;

/// `saxpy`, which may begin before the kernel before it has ended, if `P`.
#[kernel(block = 256, overlap = P)]
fn step<const P: bool>(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// Host time and device time of small launches one by one, and of a graph of them, each of which needs the one before.
fn print_graph<const P: bool>(device: &Device, by_driver: &mut dyn FnMut() -> Outcome<()>, wait: &dyn Fn() -> Outcome<()>) -> Outcome<()> {
    let mut x = device.upload(&[1.0f32; 1024])?;
    let mut y = device.upload(&[1.0f32; 1024])?;
    let mut graph = device.record((&mut x, &mut y), |steps, (x, y)| {
        for _ in 0..RECORDED / 2 {
            steps.launch(step::<P>(1.0, x, y).cover(1024))?;
            steps.launch(step::<P>(-1.0, y, x).cover(1024))?;
        }
        Ok::<(), warpwright::Error>(())
    })?;
    let start = Instant::now();
    graph.launch((&mut x, &mut y))?;
    let first = start.elapsed();
    device.synchronize()?;
    let mut times: [[Vec<Duration>; 2]; 3] = Default::default();
    let mut timed = |way: usize, run: &mut dyn FnMut() -> Outcome<()>| -> Outcome<()> {
        let start = Instant::now();
        run()?;
        let host = start.elapsed();
        device.synchronize()?;
        wait()?;
        let whole = start.elapsed();
        times[way][0].push(host);
        times[way][1].push(whole);
        Ok(())
    };
    for round in 0..ROUNDS * 10 {
        timed(0, &mut || {
            for _ in 0..RECORDED / 2 {
                step::<P>(1.0, &x, &mut y).cover(1024).launch(device)?;
                step::<P>(-1.0, &y, &mut x).cover(1024).launch(device)?;
            }
            Ok(())
        })?;
        // Whoever comes first finds in the caches what the launches left.
        for way in if round % 2 == 0 { [1, 2] } else { [2, 1] } {
            if way == 1 { timed(1, &mut || Ok(graph.launch((&mut x, &mut y))?))? } else { timed(2, by_driver)? }
        }
    }
    let [[launches, all], [replay, replayed], [driver, by_driver]] =
        times.each_mut().map(|ways| ways.each_mut().map(|times| median(times)));
    println!(
        "{RECORDED} small launches{}, medians of {} in turn: one by one {launches:.1} us of host time, {all:.1} us until all have run; as a graph {replay:.2} us and {replayed:.1} us, ratio {:.3} and {:.3}; cuGraphLaunch of as many that do not overlap {driver:.2} us and {by_driver:.1} us; its first replay {:.1} us",
        if P { " that overlap" } else { "" },
        ROUNDS * 10,
        replay / launches,
        replayed / all,
        first.as_secs_f64() * 1e6
    );
    Ok(())
}

/// Host time of a product's first launch, which compiles the kernel and has the driver assemble it, and of the next. The driver keeps what it assembled in a folder, if `CUDA_CACHE_DISABLE=1` does not
/// forbid it.
fn print_first(device: &Device) -> Outcome<()> {
    let side = 1024;
    let x = device.zeros::<bf16>(side * side)?;
    let mut z = device.zeros::<bf16>(side * side)?;
    let (stream, mut workspace) = (device.default_stream(), Workspace::new(device)?);
    let product = Product::new(device.matrix(&x, side, side)?, device.matrix(&x, side, side)?).transposed(false, true);
    let mut timed = || -> Outcome<f64> {
        device.synchronize()?;
        let start = Instant::now();
        product::multiply(&stream, &product, device.matrix_mut(&mut z, side, side)?, &mut workspace)?;
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (first, next) = (timed()?, timed()?);
    println!("a product's first launch: {:.1} ms; the next: {:.1} us, with the wait for it", first * 1e3, next * 1e6);
    Ok(())
}
