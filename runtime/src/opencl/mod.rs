//! OpenCL devices, with the feature `opencl`: it links the system's loader, which must be there to build and to start.
//!
//! The functions are called as `ocl-core` declares them. Its own wrappers are not used: where no platform is installed they wait ten
//! seconds, and their destructors panic.

#[cfg(feature = "opencl")]
mod api;
#[cfg(feature = "opencl")]
mod device;
#[cfg(feature = "opencl")]
mod fault;
#[cfg(feature = "opencl")]
mod kernel;
#[cfg(feature = "opencl")]
mod program;
#[cfg(feature = "opencl")]
mod queue;
#[cfg(feature = "opencl")]
mod sub_groups;
#[cfg(feature = "opencl")]
mod texture;

#[cfg(feature = "opencl")]
pub(crate) use device::{count, open};

/// Without the feature there is no device.
#[cfg(not(feature = "opencl"))]
pub(crate) fn open(_index: usize) -> crate::error::Result<Box<dyn crate::driver::DeviceDriver>> {
    Err(crate::error::Error::NoDriver {
        api: "OpenCL",
        reason: "this program was built without the feature `opencl`".into(),
        help: "write `warpwright = { …, features = [\"opencl\"] }` in Cargo.toml, or use `Device::simulator()`",
    })
}

/// Without the feature there is no device.
#[cfg(not(feature = "opencl"))]
pub(crate) fn count() -> usize {
    0
}
