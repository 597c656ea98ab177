//! Elementwise functions.
//!
//! | function | |
//! |---|---|
//! | [`copy`] | `y[i]` ← `x[i]` |
//! | [`fill`] | `y[i]` ← v |
//! | [`axpy`] | `y[i]` ← a · `x[i]` + `y[i]` |
//!
//! `y` may be longer than `x`; what is behind stays as it is. A function of one's own is a kernel of five lines: see the book's first chapter.
//!
//! **Determinism and error.** The same bits on every run. The sum of [`axpy`] rounds once on GPUs (a fused multiplication and addition), where a device has no such
//! instruction twice: |error| ≤ u · (|a · x| + |y|) · 2, u being half the distance from 1 to the next number.

use super::Result;
use super::checks::{Call, is_long};
use warpwright::Float;
use warpwright::Launch;
use warpwright::prelude::*;

/// `y` ← `x`, `V` elements an access.
#[kernel(block = 128, vectorize = V, index = I)]
pub fn copy_elements<T: Element, const V: usize, const I: usize>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = x[i];
    }
}

/// `y` ← v.
#[kernel(block = 256, vectorize = V, index = I)]
pub fn fill_elements<T: Element, const V: usize, const I: usize>(v: T, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = v;
    }
}

/// `y` ← a · x + y.
#[kernel(block = 256, ilp = ILP, vectorize = V, batch_loads, index = I)]
pub fn axpy_elements<T: Float, const ILP: usize, const V: usize, const I: usize>(a: T, x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < x.len() {
        y[i] = a * x[i] + y[i];
    }
}

/// A type of elements that are copied: every scalar that is a number.
pub trait Copied: Element {
    /// The launch for this type.
    #[doc(hidden)]
    fn copy<'a>(x: &'a Buffer<Self>, y: &'a mut Buffer<Self>) -> Launch<'a>
    where
        Self: Sized;

    /// The launch for this type.
    #[doc(hidden)]
    fn fill(self, y: &mut Buffer<Self>) -> Launch<'_>
    where
        Self: Sized;
}

/// A type of floats: `f16`, `bf16`, `f32`, `f64`.
pub trait Scaled: Element {
    /// The launch for this type.
    #[doc(hidden)]
    fn axpy<'a>(self, x: &'a Buffer<Self>, y: &'a mut Buffer<Self>) -> Launch<'a>
    where
        Self: Sized;
}

macro_rules! elements {
    ($($t:ty: $v:literal;)*) => {$(
        impl Copied for $t {
            fn copy<'a>(x: &'a Buffer<$t>, y: &'a mut Buffer<$t>) -> Launch<'a> {
                let n = x.len();
                let launch = if is_long(n) { copy_elements::<$t, $v, 64>(x, y) } else { copy_elements::<$t, $v, 32>(x, y) };
                launch.cover(n)
            }

            fn fill(self, y: &mut Buffer<$t>) -> Launch<'_> {
                let n = y.len();
                let launch = if is_long(n) { fill_elements::<$t, $v, 64>(self, y) } else { fill_elements::<$t, $v, 32>(self, y) };
                launch.cover(n)
            }
        }
    )*};
}

macro_rules! floats {
    ($($t:ty: $ilp:literal $v:literal;)*) => {$(
        impl Scaled for $t {
            fn axpy<'a>(self, x: &'a Buffer<$t>, y: &'a mut Buffer<$t>) -> Launch<'a> {
                let n = x.len();
                let launch = match is_long(n) {
                    true => axpy_elements::<$t, $ilp, $v, 64>(self, x, y),
                    false => axpy_elements::<$t, $ilp, $v, 32>(self, x, y),
                };
                launch.cover(n)
            }
        }
    )*};
}

elements! {
    u8: 8;
    i8: 8;
    u16: 8;
    i16: 8;
    f16: 8;
    bf16: 8;
    u32: 4;
    i32: 4;
    f32: 4;
    u64: 2;
    i64: 2;
    f64: 2;
}

floats! {
    f16: 1 8;
    bf16: 1 8;
    f32: 4 1;
    f64: 4 1;
}

/// `y[i]` ← `x[i]`.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `y` is shorter than `x`, a buffer lies on another device.
pub fn copy<T: Copied>(stream: &Stream, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
    Call::new("map::copy", stream).takes("x", x)?.fits("y", y, x.len())?;
    if !x.is_empty() {
        T::copy(x, y).launch_on(stream)?;
    }
    Ok(())
}

/// `y[i]` ← v, for all of `y`.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `y` lies on another device.
pub fn fill<T: Copied>(stream: &Stream, v: T, y: &mut Buffer<T>) -> Result<()> {
    Call::new("map::fill", stream).takes("y", y)?;
    if !y.is_empty() {
        v.fill(y).launch_on(stream)?;
    }
    Ok(())
}

/// `y[i]` ← a · `x[i]` + `y[i]`.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `y` is shorter than `x`, a buffer lies on another device.
pub fn axpy<T: Scaled>(stream: &Stream, a: T, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
    Call::new("map::axpy", stream).takes("x", x)?.fits("y", y, x.len())?;
    if !x.is_empty() {
        a.axpy(x, y).launch_on(stream)?;
    }
    Ok(())
}
