//! OpenCL devices. The system's loader of OpenCL is itself loaded when somebody first asks for a device: nothing is linked.

mod api;
mod device;
mod fault;
mod kernel;
mod owned;
mod program;
mod queue;
mod sub_groups;
mod sys;
mod texture;

pub(crate) use device::{count, open};
