//! Devices, buffers and launches.
//!
//! [`Device`] is one type over CUDA, OpenCL, the simulator and the host twin; each implements the private traits of `driver` in a
//! folder of its own. A kernel's host function gives a [`Launch`]; its checks are in `check`, its arguments lie in `arguments`, which
//! `repack` lays out as the device has them, and `instance` and `cache` make it something a device runs. `order` keeps streams in order.
//!
//! # Features
//!
//! Those of the crate `warpwright`, which hands them on:
//!
//! * `cudarc`: contexts, streams and slices of the crate `cudarc`: the module `cudarc`.
//! * `ndarray`: arrays of `ndarray` to buffers and back.
//! * `bytemuck`: slices of types that `bytemuck` says are plain bytes.
//! * `inspect`: launches looked at instead of run: the modules `inspect` and `report`.

// docs.rs shows at each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
mod buffer;
mod buffer_range;
#[cfg(feature = "bytemuck")]
mod bytemuck;
mod cache;
mod check;
mod collective;
mod cpu;
mod cuda;
#[cfg(feature = "cudarc")]
pub mod cudarc;
pub mod definition;
mod device;
mod dim3;
mod driver;
pub mod dynamic;
pub mod element;
#[cfg(feature = "cudarc")]
mod end_of_thread;
mod error;
mod followers;
mod foreign;
#[doc(hidden)]
pub mod generated;
mod graph;
#[cfg(feature = "inspect")]
pub mod inspect;
mod instance;
pub mod issue_order;
mod kept;
mod launch;
mod libraries;
mod matrix;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod nvdisasm;
pub mod occupancy;
mod opencl;
pub mod operand_reads;
mod order;
pub mod outside;
mod passing;
mod pinned;
pub mod prelude;
mod properties;
pub mod ptxas;
mod repack;
#[cfg(feature = "inspect")]
pub mod report;
mod sharded;
pub mod sim;
mod simulate;
mod stream;
mod tensor;
#[cfg(test)]
mod tests;
pub mod texture;
mod timed;
mod timing;
pub mod tuned;
pub mod twin;
mod validity;
mod variants;
pub mod warp;

pub use buffer::{Buffer, ConstantBuffer};
pub use buffer_range::{BufferRange, BufferRangeMut};
pub use collective::{CollectiveLaunch, Communicator, Reducible, Reduction, Rendezvous, launch_together};
pub use device::{Device, DeviceKind};
pub use dim3::{Dim3, Extent};
pub use element::Element;
pub use error::{Error, Result};
pub use foreign::Keep;
pub use graph::{Graph, GraphBuffers, GraphStep, Recording};
pub use launch::Launch;
pub use matrix::{BufferMatrix, BufferMatrixBatch, BufferMatrixBatchMut, BufferMatrixMut};
pub use pinned::PinnedBuffer;
pub use prelude::numeric::{Float, Int, Num};
pub use properties::DeviceProperties;
pub use sharded::{LaunchPlace, Replicated, Shard, ShardPlace, Sharded, ShardedBuffers, launch_sharded};
pub use simulate::Simulation;
pub use stream::{Event, Stream};
pub use texture::{Addressing, Filter, Sampling, Texture};
pub use timed::TimedRun;
pub use timing::{Clock, Timing};
pub use tuned::{Tuned, TunedError};
pub use variants::{Variant, Variants};
