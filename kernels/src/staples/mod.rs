//! The staples: functions on buffers that a program calls instead of writing kernels.
//!
//! | module | functions |
//! |---|---|
//! | [`map`] | copy, fill, a · x + y |
//! | [`reduce`] | sum, product, least, greatest, bits |
//! | [`reduction!`](crate::reduction) | any operator of one's own |
//! | [`search`] | place of the least, of the greatest; dot product |
//! | [`scan`] | sums, products, least and greatest of all elements up to each |
//! | [`by_key`] | the same, anew wherever a key changes |
//! | [`select`] | elements that satisfy a predicate, that are flagged, the first of each run |
//! | [`sort`] | keys, keys with values |
//! | [`histogram`] | how often each value occurs |
//! | [`transpose`] | rows to columns |
//! | [`softmax`], [`norm`] | softmax, RMS norm, layer norm of each row |
//! | [`attention`] | softmax(q · kᵀ) · v, head by head |
//! | [`product`] | matrix times matrix by tensor cores; any layout, α, β, bias, activation |
//! | [`gemm`], [`spmv`] | matrix times matrix by multiply-adds, matrix times vector, sparse matrix times vector |
//!
//! ```
//! use warpwright::Device;
//! use warpwright_kernels::staples::{Workspace, reduce};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::simulator();
//! let (stream, mut workspace) = (device.default_stream(), Workspace::new(&device)?);
//! let x = device.upload(&[1.0f32, 2.0, 3.0])?;
//! let mut total = device.zeros::<f32>(1)?;
//! reduce::sum(&stream, &x, &mut total, &mut workspace)?;
//! assert_eq!(total.download()?, [6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! **Calls** put kernels into a stream and return at once, as launches do. A call checks its arguments first: whatever is wrong is an [`Error`] that names
//! the function, the buffer, the figure and the limit, and nothing has been written. Inputs are borrowed and outputs borrowed exclusively, so that rustc
//! refuses an output that is an input as well:
//!
//! ```compile_fail,E0502
//! # use warpwright::Device;
//! # use warpwright_kernels::staples::{Workspace, scan};
//! # let device = Device::simulator();
//! # let (stream, mut workspace) = (device.default_stream(), Workspace::new(&device).unwrap());
//! # let mut x = device.upload(&[1u32, 2]).unwrap();
//! scan::inclusive_sum(&stream, &x, &mut x, &mut workspace);
//! ```
//!
//! **A [`Workspace`]** holds what a function needs beside its arguments. It grows when it must, once for a size, and serves all functions of its device: a
//! repeated call allocates nothing.
//!
//! **Lengths** are those of the buffers and may be anything, 0 and 1 too, and 2³¹ and more, for which kernels with an index of 64 bits run; functions with a limit
//! of their own say it. Where a result has a
//! length of its own, only so many elements of the output are written.
//!
//! **Variants.** A function chooses among variants of its kernel by the length, from [tables](tuned) that are made by measuring.
//!
//! **Kernels** are public beside their functions: their attributes and bodies are what the documentation says of speed.
//!
//! **Devices.** Every function runs on every device. Scans, selections and what looks for places keep 64 bits in one atomic or plain word, so OpenCL devices need
//! 64-bit atomics for them. Bits that are the same on every run are so on one device: another may add in another order.
//!
//! **Element types** are those that a function's trait lists; other types are rustc's error at the call.

pub mod attention;
pub mod by_key;
mod checks;
mod error;
pub mod gemm;
pub mod histogram;
pub mod last_block;
pub mod look_back;
pub mod map;
pub mod norm;
pub mod operator;
pub mod product;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod search;
pub mod select;
pub mod softmax;
pub mod sort;
pub mod spmv;
pub mod transpose;
pub mod tuned;
pub mod word;
mod workspace;

pub use error::{Error, Result};
pub use workspace::Workspace;
