//! What the tests share: the table of kernels every device runs, random inputs, and other people's tools as judges.

pub mod built;
pub mod chains;
pub mod chromium;
pub mod command;
pub mod corpus;
pub mod devices;
pub mod emitted;
pub mod faults;
pub mod front_end;
pub mod marked;
pub mod matrices;
pub mod messages;
pub mod opencl_tools;
pub mod package;
pub mod printed;
pub mod ptx_interpreter;
pub mod ptxas;
pub mod sass;
pub mod sizes;
pub mod table;

pub use warpwright_fuzz::{random, random_kernels};
