//! Contexts, streams and memory of `cudarc`: each example has a child of its own, with the stand-in for the driver.

#![allow(unsafe_code, reason = "streams are lent to other libraries by their handles")]

use cudarc::driver::{CudaContext, CudaView};
use std::sync::Arc;
use warpwright::Error;
use warpwright::cudarc::{as_cudarc, with_buffers, with_slices};
use warpwright::prelude::*;

fn context() -> Arc<CudaContext> {
    CudaContext::new(0).expect("there is a GPU")
}

super::examples! {
    /// A simulator's stream
    fn stream(device) {
        // SAFETY: refused.
        unsafe { as_cudarc(&device.default_stream(), &context()) }.map(drop)
    }

    /// A slice of another context
    fn slice(_device) {
        let other = CudaContext::new_non_primary(0, 0).expect("there is a GPU");
        let x = other.default_stream().alloc_zeros::<f32>(64).expect("there is memory");
        with_buffers(&x, &context().default_stream(), |_, _| Ok::<(), Error>(()))
    }

    /// A simulator's buffer
    fn buffer(device) {
        let x = device.zeros::<f32>(64)?;
        with_slices(&x, &context().default_stream(), |_: CudaView<'_, f32>| Ok::<(), Error>(()))
    }

    /// A stream of another GPU
    fn other_stream(_device) {
        // where PTX_INTERPRETER_DEVICES=2
        let second = CudaContext::new(1).expect("there are two GPUs");
        // SAFETY: refused.
        unsafe { as_cudarc(&Device::cuda(0)?.default_stream(), &second) }.map(drop)
    }

    /// A slice of another GPU
    fn other_gpu(_device) {
        // where PTX_INTERPRETER_DEVICES=2
        let second = CudaContext::new(1).expect("there are two GPUs");
        let x = second.default_stream().alloc_zeros::<f32>(64).expect("there is memory");
        with_buffers(&x, &context().default_stream(), |_, _| Ok::<(), Error>(()))
    }

    /// A buffer that is kept longer than it is lent
    fn kept(device) {
        let mut x = context().default_stream().alloc_zeros::<f32>(64).expect("there is memory");
        let mut kept = device.zeros::<f32>(64)?;
        with_buffers(&mut x, &context().default_stream(), |x, _| {
            std::mem::swap(x, &mut kept);
            Ok::<(), Error>(())
        })
    }

    /// What went wrong in `cudarc` before
    fn failed_before(_device) {
        // where cuStreamDestroy_v2=999
        let context = context();
        drop(context.new_stream());
        let x = Device::cuda(0)?.zeros::<f32>(64)?;
        with_slices(&x, &context.default_stream(), |_: CudaView<'_, f32>| Ok::<(), Error>(()))
    }
}
