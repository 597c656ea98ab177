//! The transpose of a matrix, row-major.
//!
//! **Determinism.** The same bits on every run.

use super::checks::Call;
use super::{Error, Result};
use warpwright::Int;
use warpwright::Launch;
use warpwright::prelude::*;

/// `out` ← `inp`ᵀ, a tile of 64 × 64 a block, 16 bytes an access on both sides: both extents are multiples of 4. Shared memory is accessed by words, two to a bank
/// at worst. Tiles are numbered along rows.
#[kernel(block = (16, 16), index = I)]
pub fn transpose_wide<const I: usize>(across: usize, width: usize, height: usize, inp: &Global<u32>, out: &mut Global<u32>) {
    #[shared(pad = 1)]
    let mut tile: [[u32; 64]; 64];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (left, top) = (block_idx().x % across * 64, block_idx().x / across * 64);
    let mut v = [[0u32; 4]; 4];
    if left + 64 <= width && top + 64 <= height {
        #[unroll]
        #[batch_loads]
        for s in 0..4usize {
            v[s] = inp.load::<4>((top + ty + 16 * s) * width + left + 4 * tx);
        }
    } else {
        #[unroll]
        for s in 0..4usize {
            if top + ty + 16 * s < height && left + 4 * tx < width {
                v[s] = inp.load::<4>((top + ty + 16 * s) * width + left + 4 * tx);
            }
        }
    }
    #[unroll]
    for s in 0..4usize {
        #[unroll]
        for j in 0..4usize {
            tile[ty + 16 * s][4 * tx + j] = v[s][j];
        }
    }
    sync_threads();
    #[unroll]
    for s in 0..4usize {
        let c = ty + 16 * s;
        if left + c < width && top + 4 * tx < height {
            out.store::<4>(
                (left + c) * height + top + 4 * tx,
                [tile[4 * tx][c], tile[4 * tx + 1][c], tile[4 * tx + 2][c], tile[4 * tx + 3][c]],
            );
        }
    }
}

/// The same for any extents and elements, an element an access, a tile of 32 × 32 a block of 32 × 8.
#[kernel(block = (32, 8), index = I)]
pub fn transpose_elements<T: Element, const I: usize>(across: usize, width: usize, height: usize, inp: &Global<T>, out: &mut Global<T>) {
    #[shared(pad = 1)]
    let mut tile: [[T; 32]; 32];
    let (tx, ty) = (thread_idx().x, thread_idx().y);
    let (left, top) = (block_idx().x % across * 32, block_idx().x / across * 32);
    #[unroll]
    #[batch_loads]
    for step in 0..4usize {
        let y = ty + step * 8;
        if left + tx < width && top + y < height {
            tile[y][tx] = inp[(top + y) * width + left + tx];
        }
    }
    sync_threads();
    #[unroll]
    for step in 0..4usize {
        let y = ty + step * 8;
        if top + tx < height && left + y < width {
            out[(left + y) * height + top + tx] = tile[tx][y];
        }
    }
}

/// A type of elements that are moved: every scalar of 1, 2, 4 or 8 bytes that is a number.
pub trait Movable: Element {
    /// The launch for this type.
    #[doc(hidden)]
    fn transpose<'a>(extent: (usize, usize), inp: &'a Buffer<Self>, out: &'a mut Buffer<Self>) -> Result<Launch<'a>>
    where
        Self: Sized;
}

/// The launch of the kernel that moves elements.
fn by_elements<'a, T: Int>((height, width): (usize, usize), inp: &'a Buffer<T>, out: &'a mut Buffer<T>) -> Launch<'a> {
    let (across, down) = (width.div_ceil(32), height.div_ceil(32));
    let launch = match super::checks::is_long(width * height) {
        false => transpose_elements::<T, 32>(across, width, height, inp, out),
        true => transpose_elements::<T, 64>(across, width, height, inp, out),
    };
    launch.grid(across * down)
}

macro_rules! movable {
    ($($t:ty: $word:ty;)*) => {$(
        impl Movable for $t {
            fn transpose<'a>(extent: (usize, usize), inp: &'a Buffer<$t>, out: &'a mut Buffer<$t>) -> Result<Launch<'a>> {
                Ok(by_elements::<$word>(extent, inp.view()?, out.view_mut()?))
            }
        }
    )*};
}

macro_rules! movable_words {
    ($($t:ty)*) => {$(
        impl Movable for $t {
            fn transpose<'a>((height, width): (usize, usize), inp: &'a Buffer<$t>, out: &'a mut Buffer<$t>) -> Result<Launch<'a>> {
                let (inp, out) = (inp.view::<u32>()?, out.view_mut::<u32>()?);
                if height % 4 != 0 || width % 4 != 0 {
                    return Ok(by_elements::<u32>((height, width), inp, out));
                }
                let (across, down) = (width.div_ceil(64), height.div_ceil(64));
                let launch = match super::checks::is_long(width * height) {
                    false => transpose_wide::<32>(across, width, height, inp, out),
                    true => transpose_wide::<64>(across, width, height, inp, out),
                };
                Ok(launch.grid(across * down))
            }
        }
    )*};
}

movable! {
    u8: u8;
    i8: u8;
    u16: u16;
    i16: u16;
    f16: u16;
    bf16: u16;
    u64: u64;
    i64: u64;
    f64: u64;
}

movable_words! { u32 i32 f32 }

/// `out` ← the transpose of `inp`, which has `height` rows of `width` elements: `out[column * height + row]` ← `inp[row * width + column]`.
///
/// # Errors
/// [`Error`], before anything is written: `inp` or `out` is shorter than `height · width`, a buffer lies on another device.
pub fn transpose<T: Movable>(stream: &Stream, (height, width): (usize, usize), inp: &Buffer<T>, out: &mut Buffer<T>) -> Result<()> {
    let function = "transpose::transpose";
    let help = "its product with the other extent must be a length that a buffer can have; give the extents of the matrix that `inp` holds";
    let n = height.checked_mul(width).ok_or_else(|| Error::Argument { function, argument: "height", value: height.to_string(), help })?;
    Call::new(function, stream).fits("inp", inp, n)?.fits("out", out, n)?;
    if n > 0 {
        T::transpose((height, width), inp, out)?.launch_on(stream)?;
    }
    Ok(())
}
