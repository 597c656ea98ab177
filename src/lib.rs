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

pub use warpwright_macros::{device, kernel, module};
pub use warpwright_runtime::{
    Buffer, Clock, ConstantBuffer, Device, DeviceKind, Dim3, Element, Error, Event, Extent, Launch, PinnedBuffer, Result, Simulation,
    Stream, Timing, Tuned, TunedError,
};
pub use warpwright_runtime::{ptxas, tuned};

/// What [`Launch::report`] says.
pub mod report {
    pub use warpwright_runtime::report::*;
}

/// The simulator's own types: counters and faults.
pub mod sim {
    pub use warpwright_runtime::sim::*;
}

/// How many blocks a multiprocessor of any compute capability holds, what limits them, and how far the next step is.
pub mod occupancy {
    pub use warpwright_runtime::occupancy::*;
}

/// Everything a kernel's source names, and what a simple host program needs.
pub mod prelude {
    pub use warpwright_macros::{device, kernel};
    pub use warpwright_runtime::prelude::*;
    pub use warpwright_runtime::{Buffer, ConstantBuffer, Device, Launch, PinnedBuffer, Stream};
}

#[doc(hidden)]
pub use warpwright_runtime::generated as __private;

/// Every Rust block of the README and of the book is compiled and run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[doc = include_str!("../docs/check.md")]
    mod check {}
    #[doc = include_str!("../docs/language.md")]
    mod language {}
    #[doc = include_str!("../docs/tuning.md")]
    mod tuning {}
    #[doc = include_str!("../docs/occupancy.md")]
    mod occupancy {}
}
