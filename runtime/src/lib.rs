//! Devices, buffers and launches.

mod dim3;
mod error;

pub use dim3::Dim3;
pub use error::{Error, Result};
