//! What the tests share.

pub mod opencl_tools;
pub mod ptxas;
