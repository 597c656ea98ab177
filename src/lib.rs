//! GPU kernels in Rust syntax, inline in any crate, on stable Rust, with no CUDA toolkit.
//!
//! ```
//! use warpwright::prelude::*;
//!
//! /// y ← a·x + y
//! #[kernel(block = 256)]
//! pub fn saxpy(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
//!     let i = global_id().x;
//!     if i < y.len() {
//!         y[i] = a * x[i] + y[i];
//!     }
//! }
//!
//! fn main() -> warpwright::Result<()> {
//!     let device = Device::simulator();
//!     let x = device.upload(&[1.0, 2.0, 3.0])?;
//!     let mut y = device.upload(&[10.0, 20.0, 30.0])?;
//!     saxpy(2.0, &x, &mut y).cover(3).launch(&device)?;
//!     assert_eq!(y.download()?, [12.0, 24.0, 36.0]);
//!     Ok(())
//! }
//! ```
//!
//! A kernel is compiled by the crate `warpwright-codegen` when it is first launched; the macro checks it while the crate compiles. On
//! the host a kernel's name is a function with the same parameters that returns a [`Launch`].
//!
//! # Features
//!
//! None is on by default. CUDA, OpenCL and NCCL need none: their libraries are loaded when they are first asked for.
//!
//! * `cudarc`: contexts, streams and slices of the crate [`cudarc`](https://docs.rs/cudarc), which `candle` and others have: the module `cudarc`.
//! * `ndarray`: arrays of [`ndarray`](https://docs.rs/ndarray) to buffers and back: `Device::upload_array`, `Buffer::download_array`.
//! * `bytemuck`: slices of types that [`bytemuck`](https://docs.rs/bytemuck) says are plain bytes: `Device::upload_as`, `Buffer::download_as`, `Buffer::write_as`.
//! * `inspect`: launches looked at instead of run, for tests: the modules `inspect` and `report`, and `compare!`. For `[dev-dependencies]`.
//! * `cli`: the command `warpwright`. Nothing for programs.

// docs.rs shows at each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use warpwright_macros::{device, kernel, module};
pub use warpwright_runtime::{
    Addressing, Buffer, BufferMatrix, BufferMatrixBatch, BufferMatrixBatchMut, BufferMatrixMut, BufferRange, BufferRangeMut, Clock,
    CollectiveLaunch, Communicator, ConstantBuffer, Device, DeviceKind, DeviceProperties, Dim3, Element, Error, Event, Extent, Filter,
    Float, Graph, GraphBuffers, GraphStep, Int, Keep, Launch, LaunchPlace, Num, PinnedBuffer, Recording, Reducible, Reduction, Rendezvous,
    Replicated, Result, Sampling, Shard, ShardPlace, Sharded, ShardedBuffers, Simulation, Stream, Texture, TimedRun, Timing, Tuned,
    TunedError, Variant, Variants, launch_sharded, launch_together,
};
pub use warpwright_runtime::{issue_order, nvdisasm, operand_reads, ptxas, tuned};

/// What [`Launch::report`] says. With the feature `inspect`.
#[cfg(feature = "inspect")]
pub mod report {
    pub use warpwright_runtime::report::*;
}

/// Launches looked at instead of run: what [`Launch::inspect`] and [`compare!`] give. With the feature `inspect`.
#[cfg(feature = "inspect")]
pub mod inspect {
    pub use warpwright_runtime::inspect::*;
}

/// Looks at launches side by side, without running them: an [`inspect::Comparison`], whose items are to be asserted on and whose text is a
/// table. With the feature `inspect`.
///
/// ```
/// use warpwright::prelude::*;
///
/// #[kernel(block = 256, ilp = ILP, batch_loads = BATCH)]
/// fn copy<const ILP: usize, const BATCH: bool>(out: &mut Global<f32>, inp: &Global<f32>) {
///     let i = global_id().x;
///     if i < out.len() {
///         out[i] = inp[i];
///     }
/// }
///
/// # fn main() -> warpwright::Result<()> {
/// let device = Device::simulator();
/// let (mut out, inp) = (device.zeros(1024)?, device.zeros(1024)?);
/// let compared = warpwright::compare!("sm_90"; copy::<4, false>(&mut out, &inp), copy::<4, true>(&mut out, &inp))?;
/// let [plain, batched] = &compared[..] else { unreachable!() };
/// assert_eq!(plain.count("ld.global"), batched.count("ld.global"));
/// assert!(batched.order().to_string().contains("ld.global.32 x4, st.global.32 x4"), "{compared}");
/// assert!(batched.registers() <= plain.registers() + 4, "{compared}");
/// # Ok(())
/// # }
/// ```
///
/// The launches may borrow the same buffers: each is let go before the next is made.
#[cfg(feature = "inspect")]
#[macro_export]
macro_rules! compare {
    ($target:expr; $($launch:expr),+ $(,)?) => {
        // Each in a block of its own: its borrows end there.
        [$({ let launch = $launch; launch.inspect($target) }),+]
            .into_iter()
            .collect::<$crate::Result<::std::vec::Vec<$crate::inspect::Inspection>>>()
            .map($crate::inspect::Comparison)
    };
}

/// The simulator's own types: counters and faults.
pub mod sim {
    pub use warpwright_runtime::sim::*;
}

/// How many blocks a multiprocessor of any compute capability holds, what limits them, and how far the next step is.
pub mod occupancy {
    pub use warpwright_runtime::occupancy::*;
}

/// Contexts, streams and slices of `cudarc`, in and out. With the feature `cudarc`.
///
/// ```no_run
/// use cudarc::driver::CudaContext;
/// use warpwright::cudarc::with_buffers;
/// use warpwright::prelude::*;
///
/// #[kernel(block = 256)]
/// fn scaled(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
///     let i = global_id().x;
///     if i < y.len() {
///         y[i] = a * x[i];
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stream = CudaContext::new(0)?.new_stream()?;
/// let x = stream.clone_htod(&[1.0f32; 1000])?;
/// let mut y = stream.alloc_zeros::<f32>(1000)?;
/// with_buffers((&x, &mut y), &stream, |(x, y), stream| scaled(2.0, x, y).cover(1000).launch_on(stream))?;
/// assert_eq!(stream.clone_dtoh(&y)?, [2.0; 1000]);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "cudarc")]
pub mod cudarc {
    pub use warpwright_runtime::cudarc::*;
}

/// What the lanes of a warp tell each other: votes, matches, and values that they exchange.
///
/// ```
/// use warpwright::prelude::*;
/// use warpwright::warp::any;
///
/// /// Whether each warp has a negative number.
/// #[kernel(block = 32)]
/// fn negative(x: &Global<f32>, y: &mut Global<bool>) {
///     let negative = any(x[global_id().x] < 0.0);
///     if lane_id() == 0 {
///         y[block_idx().x] = negative;
///     }
/// }
/// # negative(&Device::simulator().zeros(32)?, &mut Device::simulator().zeros(1)?).grid(1).launch(&Device::simulator())?;
/// # Ok::<(), warpwright::Error>(())
/// ```
pub mod warp {
    pub use warpwright_runtime::warp::*;
}

/// What nearly every kernel's source names, and what a simple host program needs.
///
/// What many other crates have names for, too, is imported by name: bounds of type parameters, [`Float`], [`Int`] and
/// [`Num`]; `any`, `all`, `ballot` and the shuffles of [`warp`]; and std's own `std::sync::atomic::Ordering` and
/// `std::hint::black_box`. Kernels and what launches them often stand in one file, so this has both halves, [`kernel_prelude`] and
/// [`host_prelude`]. Beside other globs it takes no name away:
///
/// ```
/// use others::*;
/// use warpwright::prelude::*;
///
/// /// As `num_traits`, `rayon` and a crate of iterators have them.
/// mod others {
///     pub use std::cmp::{max, min};
///     pub use std::hint::black_box;
///     pub use std::sync::atomic::{Ordering, fence};
///     pub trait Float {}
///     pub trait Int {}
///     pub trait Num {}
///     pub fn all(values: &[bool]) -> bool { values.iter().all(|v| *v) }
///     pub fn any(values: &[bool]) -> bool { values.iter().any(|v| *v) }
///     pub fn ballot() {}
///     pub fn shuffle<T>(values: &mut [T]) { values.reverse() }
///     pub struct Error;
///     pub type Result<T> = std::result::Result<T, Error>;
/// }
///
/// fn both<T: Float + Int + Num>(values: &mut [bool], of: fn() -> T) -> Result<T> {
///     shuffle(values);
///     ballot();
///     fence(Ordering::SeqCst);
///     if any(values) && !all(values) && max(1, 2) > min(1, 2) { Ok(black_box(of())) } else { Err(Error) }
/// }
///
/// #[kernel(block = 32)]
/// fn double(y: &mut Global<f32>) {
///     y[global_id().x] *= 2.0;
/// }
/// ```
pub mod prelude {
    pub use crate::{host_prelude::*, kernel_prelude::*};
}

/// The half of the [`prelude`] for files that have kernels and launch none: the attributes, and what is named within kernels.
///
/// ```
/// mod kernels {
///     use warpwright::kernel_prelude::*;
///
///     /// The host's types are free: this is no `warpwright::Stream`.
///     pub struct Stream;
///
///     #[kernel(block = 32)]
///     pub fn double(y: &mut Global<f32>) {
///         y[global_id().x] *= 2.0;
///     }
/// }
///
/// use warpwright::host_prelude::*;
///
/// /// The names of kernels are free: this is no `warpwright::prelude::warp_sum`, and `global_id` is any variable.
/// fn warp_sum(values: &[f32]) -> f32 {
///     let global_id = values.iter();
///     global_id.sum()
/// }
///
/// let device = Device::simulator();
/// let mut y: Buffer<f32> = device.upload(&[1.5; 32])?;
/// kernels::double(&mut y).grid(1).launch(&device)?;
/// assert_eq!(warp_sum(&y.download()?), 96.0);
/// # Ok::<(), warpwright::Error>(())
/// ```
pub mod kernel_prelude {
    pub use warpwright_macros::{device, kernel};
    pub use warpwright_runtime::prelude::*;
}

/// The half of the [`prelude`] for files that launch kernels and have none: devices, and what lies on them. An example stands at [`kernel_prelude`].
pub mod host_prelude {
    pub use warpwright_runtime::{Buffer, ConstantBuffer, Device, Launch, PinnedBuffer, Stream, Texture};
}

#[doc(hidden)]
pub use warpwright_runtime::generated as __private;

// The command names what it uses as any program does.
#[cfg(feature = "cli")]
extern crate self as warpwright;

/// The command: its program runs it, and tests read command lines in process.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

/// Every Rust block of the README and of the book is compiled and run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../docs/book/1-first-kernel.md")]
    mod first_kernel {}
    #[doc = include_str!("../docs/book/2-memory.md")]
    mod memory {}
    #[doc = include_str!("../docs/book/3-shared-tiles.md")]
    mod shared_tiles {}
    #[doc = include_str!("../docs/book/4-ilp-and-batching.md")]
    mod ilp_and_batching {}
    #[doc = include_str!("../docs/book/5-occupancy.md")]
    mod occupancy_chapter {}
    #[doc = include_str!("../docs/book/6-tuning.md")]
    mod tuning_chapter {}
    #[doc = include_str!("../docs/book/7-on-a-gpu.md")]
    mod on_a_gpu {}
    #[doc = include_str!("../docs/from-cuda.md")]
    mod from_cuda {}
    #[doc = include_str!("../docs/several-gpus.md")]
    mod several_gpus {}
    #[cfg(feature = "cudarc")]
    #[doc = include_str!("../docs/using-cudarc.md")]
    mod using_cudarc {}
    #[doc = include_str!("../docs/check.md")]
    mod check {}
    #[doc = include_str!("../docs/compare.md")]
    mod compare {}
    #[doc = include_str!("../docs/language.md")]
    mod language {}
    #[doc = include_str!("../docs/tuning.md")]
    mod tuning {}
    #[doc = include_str!("../docs/occupancy.md")]
    mod occupancy {}
}
