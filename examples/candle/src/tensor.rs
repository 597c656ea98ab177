//! One kernel on a tensor's memory, without an operation of candle's: for a program that has a `CudaDevice` and `CudaSlice`s, and wants one launch.

use candle_core::op::BackpropOp;
use candle_core::{CudaStorage, Error, Result, Storage, Tensor, bail};
use warpwright::cudarc::with_buffers;
use warpwright::prelude::*;

#[kernel(block = 256)]
fn scaled(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i];
    }
}

/// a · x, of a contiguous tensor of `f32` on a GPU: a tensor of its own, in candle's stream. Backpropagation knows nothing of it.
pub(crate) fn scale(a: f32, x: &Tensor) -> Result<Tensor> {
    let device = x.device().as_cuda_device()?;
    let (storage, layout) = x.storage_and_layout();
    let (Storage::Cuda(storage), Some((start, end))) = (&*storage, layout.contiguous_offsets()) else {
        bail!("scale: {layout:?} is not contiguous; call `.contiguous()?` on the tensor before")
    };
    let x = storage.as_cuda_slice::<f32>()?.slice(start..end);
    let n = x.len();
    let mut y = device.alloc_zeros::<f32>(n)?;
    with_buffers((&x, &mut y), &device.cuda_stream(), |(x, y), stream| scaled(a, x, y).cover(n).launch_on(stream)).map_err(Error::wrap)?;
    let y = CudaStorage::wrap_cuda_slice(y, device.clone());
    Ok(Tensor::from_storage(Storage::Cuda(y), layout.shape().clone(), BackpropOp::none(), false))
}
