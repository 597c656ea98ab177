//! Devices, buffers and launches.

pub mod definition;
mod dim3;
pub mod element;
mod error;
pub mod sim;

pub use dim3::Dim3;
pub use error::{Error, Result};
