//! Kernels that show warpwright at work. Each file holds one kernel or family: the source, and a plain-Rust reference it is tested
//! against on every device.

pub mod aat;
pub mod complex;
pub mod dot;
pub mod histogram;
pub mod life;
pub mod mandelbrot;
pub mod matmul;
pub mod saxpy;
pub mod stencil;
