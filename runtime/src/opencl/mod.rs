//! OpenCL devices, with the feature `opencl`: it links the system's loader, which must be there to build and to start.
//!
//! The functions are called as `ocl-core` declares them. Its own wrappers are not used: where no platform is installed they wait ten
//! seconds, and their destructors panic.

mod api;
mod device;
mod fault;
mod kernel;
mod owned;
mod program;
mod queue;
mod sub_groups;
mod texture;

pub(crate) use device::{count, open};
