//! The precise functions that PTX has no instruction for, written in the language of kernels.
//!
//! A file of `f32/` or `f64/` is read twice: by rustc, for constant folding and the simulator, and by this compiler, whose result is
//! checked in as [`crate::library`] for kernels that are printed as PTX. Every operation in it is correctly rounded on both (there is no `a * b + c` that may or may not be fused: fused is what says
//! `mul_add`), so a function gives the same bits everywhere, on devices of every generation, and an error measured on the processor is the error on
//! the device. Devices whose language has such functions (OpenCL C) use those, and the host twin has std's.
//!
//! **Rules for the files**: free functions and constants of scalars, no two files of a type name anything alike; what reads a table is a path for rare arguments (estimates
//! take it as not run: [`crate::library::TABLE`]), and all else is as straight as it can be, because 32 lanes go through it together. The polynomials are fitted by
//! `tests/math_fit`. A function's comment says how it works and its greatest error in ulp; the row of `intrinsics/transcendental.rs` is what it
//! promises, and `tests/tests/math.rs` holds it to that.

#[allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal, reason = "constants as they were fitted")]
pub mod f32;
#[allow(clippy::excessive_precision, clippy::approx_constant, clippy::unreadable_literal, reason = "constants as they were fitted")]
pub mod f64;
