//! What a launch costs the host.

#![expect(unsafe_code, reason = "launches by the driver's own call, too")]

use crate::Outcome;
use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg, result};
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
pub(crate) const ROUNDS: usize = 400;

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
    print_first(device)
}

/// In microseconds.
pub(crate) fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
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
