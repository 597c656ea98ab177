//! silu(gate) · up as one operation of candle's.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, CustomOp2, DType, Error, Layout, Result, Shape, WithDType, bail};
use std::ops::Range;
use warpwright::prelude::*;
use warpwright::{Float, Launch};

/// out ← gate / (1 + exp(-gate)) · up: computed in `f32`, rounded once.
#[kernel(block = 256, vectorize = V)]
fn gated<T: Float, const V: usize>(gate: &Global<T>, up: &Global<T>, out: &mut Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        let x = gate[i] as f32;
        out[i] = (x / (1.0 + (-x).exp()) * up[i] as f32) as T;
    }
}

/// `gate.apply_op2_no_bwd(&up, &SwiGlu)?`, of tensors of `f32` or `bf16`: on a GPU in candle's stream on candle's memory, on the CPU by the same function as rustc compiled it.
pub(crate) struct SwiGlu;

/// A type of elements that [`SwiGlu`] takes.
trait Gated: WithDType + Element {
    fn launch<'a>(gate: &'a Buffer<Self>, up: &'a Buffer<Self>, out: &'a mut Buffer<Self>) -> Launch<'a>;
}

macro_rules! gated {
    ($($t:ty: $v:literal;)*) => {$(
        impl Gated for $t {
            fn launch<'a>(gate: &'a Buffer<$t>, up: &'a Buffer<$t>, out: &'a mut Buffer<$t>) -> Launch<'a> {
                let len = out.len();
                gated::<$t, $v>(gate, up, out).cover(len)
            }
        }
    )*};
}

// As many elements as are loaded at once: 16 bytes.
gated! {
    f32: 4;
    bf16: 8;
}

impl CustomOp2 for SwiGlu {
    fn name(&self) -> &'static str {
        "swiglu"
    }

    fn cpu_fwd(&self, gate: &CpuStorage, gate_at: &Layout, up: &CpuStorage, up_at: &Layout) -> Result<(CpuStorage, Shape)> {
        let places = places(gate_at, up_at)?;
        let out = match gate {
            CpuStorage::F32(gate) => on_cpu(gate, up, places)?,
            CpuStorage::BF16(gate) => on_cpu(gate, up, places)?,
            other => return Err(no_such(other.dtype())),
        };
        Ok((out, gate_at.shape().clone()))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        gate: &candle_core::CudaStorage,
        gate_at: &Layout,
        up: &candle_core::CudaStorage,
        up_at: &Layout,
    ) -> Result<(candle_core::CudaStorage, Shape)> {
        use candle_core::cuda_backend::CudaStorageSlice;
        let places = places(gate_at, up_at)?;
        let device = &gate.device;
        let out = match &gate.slice {
            CudaStorageSlice::F32(gate) => on_cuda(device, gate, up, places)?,
            CudaStorageSlice::BF16(gate) => on_cuda(device, gate, up, places)?,
            _ => return Err(no_such(gate.dtype())),
        };
        Ok((out, gate_at.shape().clone()))
    }
}

/// Where the elements of both lie, each behind the other.
fn places(gate: &Layout, up: &Layout) -> Result<[Range<usize>; 2]> {
    if gate.shape() != up.shape() {
        return Err(Error::ShapeMismatchBinaryOp { lhs: gate.shape().clone(), rhs: up.shape().clone(), op: "swiglu" }.bt());
    }
    let place = |what, layout: &Layout| match layout.contiguous_offsets() {
        Some((start, end)) => Ok(start..end),
        None => {
            let (shape, strides) = (layout.dims(), layout.stride());
            bail!("swiglu: `{what}` of shape {shape:?} has strides {strides:?} and is not contiguous; call `.contiguous()?` on it before")
        }
    };
    Ok([place("gate", gate)?, place("up", up)?])
}

fn no_such(given: DType) -> Error {
    Error::msg(format!("swiglu: takes `f32` and `bf16`, and `gate` has `{}`", given.as_str())).bt()
}

/// The host twin runs the kernel on candle's own memory where that begins at a multiple of 16 bytes, as kernels ask, else on a copy.
#[expect(unsafe_code, reason = "memory of another library is lent by its address")]
fn on_cpu<T: Gated>(gate: &[T], up: &CpuStorage, [gate_at, up_at]: [Range<usize>; 2]) -> Result<CpuStorage> {
    let (gate, up) = (&gate[gate_at], &up.as_slice::<T>()?[up_at]);
    if gate.is_empty() {
        return Ok(T::to_cpu_storage_owned(Vec::new()));
    }
    let device = Device::host();
    let lent = |elements: &[T]| {
        let address = elements.as_ptr() as u64;
        if !address.is_multiple_of(16) {
            return device.upload(elements);
        }
        // SAFETY: the elements are borrowed for longer than the buffer lives, which is in this function alone, and no kernel writes them.
        unsafe { Buffer::from_raw_parts(&device, address, elements.len(), Box::new(())) }
    };
    let run = || {
        let (gate, up) = (lent(gate)?, lent(up)?);
        let mut out = device.zeros(gate.len())?;
        T::launch(&gate, &up, &mut out).launch(&device)?;
        out.download()
    };
    Ok(T::to_cpu_storage_owned(run().map_err(Error::wrap)?))
}

/// In candle's stream, on candle's memory: nothing is copied, and nobody waits.
#[cfg(feature = "cuda")]
#[expect(unsafe_code, reason = "memory is allocated that the kernel fills")]
fn on_cuda<T: Gated + candle_core::cuda_backend::CudaDType + candle_core::cuda_backend::cudarc::driver::DeviceRepr>(
    device: &candle_core::CudaDevice,
    gate: &candle_core::cuda_backend::cudarc::driver::CudaSlice<T>,
    up: &candle_core::CudaStorage,
    [gate_at, up_at]: [Range<usize>; 2],
) -> Result<candle_core::CudaStorage> {
    let (gate, up) = (gate.slice(gate_at), up.as_cuda_slice::<T>()?.slice(up_at));
    let len = gate.len();
    // SAFETY: the kernel writes every element before anybody reads one.
    let mut out = unsafe { device.alloc::<T>(len)? };
    if len > 0 {
        let launched = warpwright::cudarc::with_buffers((&gate, &up, &mut out), &device.cuda_stream(), |(gate, up, out), stream| {
            T::launch(gate, up, out).launch_on(stream)
        });
        launched.map_err(Error::wrap)?;
    }
    Ok(candle_core::CudaStorage::wrap_cuda_slice(out, device.clone()))
}
