//! Products of matrices, row-major, by tensor cores where there are any: any extents and pitches, each factor as it is or transposed, one product or a batch of them.
//!
//! ```
//! use warpwright::{Device, prelude::bf16};
//! use warpwright_kernels::staples::{Workspace, product};
//! use warpwright_kernels::staples::product::{Activation, Product};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A linear layer: c = relu(x · wᵀ + bias), of 2 rows of 3, and 4 columns that are the rows of w.
//! let device = Device::simulator();
//! let (stream, mut workspace) = (device.default_stream(), Workspace::new(&device)?);
//! let x = device.upload(&[1.0, 2.0, 3.0, -1.0, -2.0, -3.0].map(bf16::from_f32))?;
//! let w = device.upload(&[bf16::ONE; 12])?;
//! let bias = device.upload(&[0.5f32, 0.0, 0.0, 0.0])?;
//! let mut c = device.zeros::<f32>(8)?;
//! let layer = Product::new(device.matrix(&x, 2, 3)?, device.matrix(&w, 4, 3)?)
//!     .transposed(false, true)
//!     .bias(&bias)
//!     .activation(Activation::Relu);
//! product::multiply(&stream, &layer, device.matrix_mut(&mut c, 2, 4)?, &mut workspace)?;
//! assert_eq!(c.download()?, [6.5, 6.0, 6.0, 6.0, 0.0, 0.0, 0.0, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! A batch is the products of matrices that lie a stride apart, all of the same extents ([`BufferMatrix::batch`]); a stride of 0 gives all products the same factor:
//!
//! ```
//! # use warpwright::{Device, prelude::bf16};
//! # use warpwright_kernels::staples::{Workspace, product::{self, Product}};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let device = Device::simulator();
//! # let (stream, mut workspace) = (device.default_stream(), Workspace::new(&device)?);
//! let x = device.upload(&[1.0, 2.0, 3.0, 4.0].map(bf16::from_f32))?;
//! let w = device.upload(&[bf16::ONE; 2])?;
//! let mut c = device.zeros::<f32>(2)?;
//! // Two products of 1 × 2 and 2 × 1.
//! let all = Product::new(device.matrix(&x, 1, 2)?.batch(2, 2)?, device.matrix(&w, 2, 1)?.batch(2, 0)?);
//! product::multiply(&stream, &all, device.matrix_mut(&mut c, 1, 1)?.batch(2, 1)?, &mut workspace)?;
//! assert_eq!(c.download()?, [3.0, 7.0]);
//! # Ok(())
//! # }
//! ```
//!
//! | factors | sums, α and β | c | what multiplies |
//! |---|---|---|---|
//! | `bf16`, `f16` | `f32` | the same, or `f32` | tensor cores |
//! | `f32` | `f32` | `f32` | multiply-adds; with [`Product::tf32`] tensor cores, of 10 bits behind the point |
//! | `f64` | `f64` | `f64` | tensor cores |
//! | `e4m3`, `e5m2` | `f32` | `f32`, `bf16` or `f16` | tensor cores from `sm_89` on |
//! | `i8`, `u8` | `i32` | `i32` | tensor cores |
//!
//! Where a device has no tensor cores, multiply-adds do it all.
//!
//! **Determinism.** A device gives the same bits on every run.
//!
//! **Error.** Of floats, |error| ≤ (k + 1) · u · |α| · (|op(a)| · |op(b)|) to first order before β, bias and activation, u = 2⁻²⁴ of `f32` sums and 2⁻⁵³ of `f64`, and the rounding to c's type. Products
//! of 16-bit factors are exact; tensor cores add them in an order of their own and may cut bits where others are rounded, for which u is 2⁻²³. With `tf32`, 2⁻¹⁰ · (|op(a)| · |op(b)|) comes to
//! it for each factor. Sums of `i32` are exact, modulo 2³².
//!
//! **Speed.** Rows of the factors at multiples of 16 bytes let the copy engine of `sm_90` bring the tiles, best at multiples of 32: else a row of a tile begins and ends in half a sector. `tf32` and 8-bit products read both factors along the inner extent: one that lies across is turned into the workspace first.

mod kernels;

use super::checks::Call;
use super::workspace::{Parts, Slot, seen};
use super::{Error, Result, Workspace, gemm};
use warpwright::prelude::*;
use warpwright::{Buffer, BufferMatrix, BufferMatrixBatch, BufferMatrixBatchMut, Launch};

pub use kernels::*;

/// What is done to each result last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    #[default]
    Identity,
    /// max(x, 0).
    Relu,
    /// x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2: the usual approximation of x · Φ(x).
    Gelu,
    /// x / (1 + exp(−x)).
    Silu,
}

/// A product of two matrices, or the products of two batches of as many, and what is done to each: activation(α · op(a) · op(b) + β · c + bias).
#[derive(Clone, Copy, Debug)]
pub struct Product<'a, T: MultipliesInto<U>, U: Element> {
    factors: [BufferMatrixBatch<'a, T>; 2],
    are_transposed: [bool; 2],
    alpha: T::Sum,
    beta: T::Sum,
    bias: Option<&'a Buffer<U>>,
    activation: Activation,
    is_tf32: bool,
}

impl<'a, T: MultipliesInto<U>, U: Element> Product<'a, T, U> {
    /// a · b, of m × k and k × n: a [`BufferMatrix`] each, or a [`BufferMatrixBatch`] each.
    pub fn new(a: impl Into<BufferMatrixBatch<'a, T>>, b: impl Into<BufferMatrixBatch<'a, T>>) -> Self {
        let (alpha, beta) = (T::ONE, T::ZERO);
        Product {
            factors: [a.into(), b.into()],
            are_transposed: [false; 2],
            alpha,
            beta,
            bias: None,
            activation: Activation::Identity,
            is_tf32: false,
        }
    }

    /// Which of the factors are given by their columns: `a` as k × m, `b` as n × k.
    #[must_use]
    pub fn transposed(self, a: bool, b: bool) -> Self {
        Product { are_transposed: [a, b], ..self }
    }

    /// α, by which the product is multiplied, and β, by which what is in `c` is; 1 and 0 where nothing is said. What is in `c` is not read where β is 0.
    #[must_use]
    pub fn scaled(self, alpha: T::Sum, beta: T::Sum) -> Self {
        Product { alpha, beta, ..self }
    }

    /// An element for each column of `c`, added to all of the column; the same in each product of a batch.
    #[must_use]
    pub fn bias(self, bias: &'a Buffer<U>) -> Self {
        Product { bias: Some(bias), ..self }
    }

    /// What is done to each result last.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Product { activation, ..self }
    }

    /// Lets tensor cores multiply `f32`, whose factors then have 10 bits behind the point (`tf32`). Of other types it changes nothing.
    #[must_use]
    pub fn tf32(self) -> Self {
        Product { is_tf32: true, ..self }
    }

    /// Whether anything is done to the product but α.
    fn has_end(&self) -> bool {
        self.beta != T::ZERO || self.bias.is_some() || self.activation != Activation::Identity
    }
}

/// The tile of a block, and how it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows and columns.
    pub tile: (usize, usize),
    /// What brings the factors' tiles and writes the results.
    pub by: By,
    /// Blocks of a cluster, below each other: they share the tile of b.
    pub down: usize,
    /// Of 1000 of what tensor cores do with the best tile, on an H200: where rows of both factors begin at multiples of 32 bytes, sectors of the level-2 cache, and else. Then a row of a tile begins and
    /// ends within one, and the cache is asked for more than is used.
    rates: [usize; 2],
}

/// What brings tiles and writes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Threads, with `cp.async` where there is such.
    Threads,
    /// The copy engine brings, threads write.
    Engine,
    /// The copy engine does both, and goes on to the next tile meanwhile.
    EngineAhead,
}

const fn shape(tile: (usize, usize), by: By, down: usize, rates: [usize; 2]) -> Shape {
    Shape { tile, by, down, rates }
}

/// The candidates of all types but `f64`: numbers that [`Workspace::force`] takes.
pub const SHAPES: [Shape; 10] = [
    shape((128, 256), By::Engine, 1, [985, 650]),
    shape((128, 128), By::Engine, 1, [900, 480]),
    shape((64, 64), By::Engine, 1, [500, 260]),
    shape((128, 128), By::Threads, 1, [1000, 1000]),
    shape((64, 64), By::Threads, 1, [600, 600]),
    shape((128, 256), By::EngineAhead, 1, [1000, 660]),
    shape((128, 192), By::EngineAhead, 1, [985, 600]),
    shape((128, 256), By::EngineAhead, 2, [985, 870]),
    shape((128, 192), By::EngineAhead, 2, [970, 750]),
    shape((128, 128), By::EngineAhead, 1, [955, 480]),
];

/// The candidates of `f64`. What one of them does of the rate of the best is measured on an H200, too.
pub const DOUBLE_SHAPES: [Shape; 4] = [
    shape((128, 64), By::Engine, 1, [1000, 900]),
    shape((64, 64), By::Engine, 1, [1000, 900]),
    shape((128, 64), By::Threads, 1, [1000, 1000]),
    shape((64, 64), By::Threads, 1, [950, 950]),
];

/// Shared memory of a block that tiles of 128 × 128 take whose tiles threads bring, bytes.
const LARGE: u64 = 96 * 1024;

/// The tile for so many results of so many products: that with which the fullest multiprocessor is done first.
fn choose(
    call: Call<'_>,
    shapes: &[Shape],
    (count, m, n): (usize, usize, usize),
    (by, in_sectors): (By, bool),
    forced: Option<usize>,
) -> usize {
    let properties = call.stream.device().properties();
    let fits = |shape: &Shape| match by {
        By::Threads => shape.by == by && (shape.tile.0 == 64 || properties.shared_bytes_per_block >= LARGE),
        By::Engine => shape.by == by,
        By::EngineAhead => shape.by != By::Threads,
    };
    if let Some(asked) = forced.filter(|asked| shapes.get(*asked).is_some_and(fits)) {
        return asked;
    }
    let multiprocessors = call.multiprocessors();
    let cost = |shape: &Shape| {
        let (rows, columns) = shape.tile;
        let tiles = count * m.div_ceil(rows).next_multiple_of(shape.down) * n.div_ceil(columns);
        let rate = shape.rates[usize::from(!in_sectors)];
        // With nothing to go on to, going ahead costs what it takes to begin.
        let rate = if shape.by == By::EngineAhead && tiles <= multiprocessors { rate * 19 / 20 } else { rate };
        tiles.div_ceil(multiprocessors) * rows * columns * 1000 / rate
    };
    (0..shapes.len()).filter(|number| fits(&shapes[*number])).min_by_key(|number| cost(&shapes[*number])).unwrap_or(shapes.len() - 1)
}

/// What a launch is made of.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parameters<'a, T: MultipliesInto<U>, U: Element> {
    product: &'a Product<'a, T, U>,
    factors: [BufferMatrixBatch<'a, T>; 2],
    are_transposed: [bool; 2],
    bias: (usize, &'a Buffer<U>),
    c: BufferMatrixBatchMut<'a, U>,
    shape: usize,
}

/// A type of factors whose products are written as `U`.
pub trait MultipliesInto<U: Element>: Element {
    /// What products are added in: the type of α and β.
    type Sum: Element + PartialEq + std::fmt::Debug;
    #[doc(hidden)]
    const ONE: Self::Sum;
    #[doc(hidden)]
    const ZERO: Self::Sum;
    /// Whether tensor cores have products of it.
    #[doc(hidden)]
    const BY_TENSOR_CORES: Tensor;
    /// The tiles that a block can have. The last that threads bring fits every device.
    #[doc(hidden)]
    const SHAPES: &'static [Shape] = &SHAPES;
    /// The launch.
    #[doc(hidden)]
    fn launch<'a>(parameters: Parameters<'a, Self, U>) -> Launch<'a>
    where
        Self: Sized;
    /// The product by a kernel of its own, where there is a faster one: whether it did it.
    #[doc(hidden)]
    fn faster(
        _: Call<'_>,
        _: &Product<'_, Self, U>,
        _: (usize, usize, usize),
        _: &mut BufferMatrixBatchMut<'_, U>,
        _: &mut Workspace,
    ) -> Result<bool>
    where
        Self: Sized,
    {
        Ok(false)
    }
}

/// What tensor cores do with a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Multiply it, whichever way it lies.
    Any,
    /// Multiply it where both factors lie along the inner extent.
    Along,
    /// The same, if [`Product::tf32`] lets them.
    IfTf32,
}

/// The launch of one of the kernels: tiles, elements of a row of 128 bytes along the inner extent, columns of a strip of the result (and, where they differ, of sums that are finished one by one), stages.
macro_rules! launch {
    ($kernel:ident::<$T:ty, $S:ty, $U:ty, $b:literal, $bm:literal, $bn:literal, $bk:literal, $bc:literal, $stages:literal, $($how:literal),+>, $p:ident) => {
        launch!($kernel::<$T, $S, $U, $b, $bm, $bn, $bk, [$bc, $bc], $stages, $($how),+>, $p)
    };
    ($kernel:ident::<$T:ty, $S:ty, $U:ty, $b:literal, $bm:literal, $bn:literal, $bk:literal, [$bc:literal, $of_sums:literal], $stages:literal, $($how:literal),+>, $p:ident) => {{
        let Parameters { product, factors: [a, b], bias: (of_bias, bias), c, .. } = $p;
        let (alpha, beta, activation) = (product.alpha, product.beta, product.activation as u32);
        // Whole clusters.
        let down = <$T as MultipliesInto<$U>>::SHAPES[$p.shape].down;
        let grid = (c.columns().div_ceil($bn), c.rows().div_ceil($bm).next_multiple_of(down), c.count());
        let launch = match product.has_end() {
            false => $kernel::<$T, $S, $U, $b, $bm, $bn, $bk, $bc, $stages, $($how,)+ false>(alpha, beta, activation, of_bias, a, b, bias, c),
            true => {
                $kernel::<$T, $S, $U, $b, $bm, $bn, $bk, $of_sums, $stages, $($how,)+ true>(alpha, beta, activation, of_bias, a, b, bias, c)
            }
        };
        launch.grid(grid)
    }};
}

/// One of both ways to bring tiles, and one of the tiles. `$bc` columns of the result are 128 bytes. Where tiles of 256 columns come ahead, strips have `$strip` columns, and there are `$ahead` stages: of elements of
/// 16 bits all four strips of a tile have room behind three stages, so that none waits until another is stored. So have half of those of `tf32`, of which three stages take 2 to 3 % less time than four at 8192 on an H200 whose power is the limit.
macro_rules! shapes {
    ($by_engine:ident, $by_threads:ident, $T:ty, $S:ty, $U:ty, $bk:literal, ($bc:literal, $strip:literal, $ahead:literal), $p:ident) => {
        match $p.shape {
            0 => launch!($by_engine::<$T, $S, $U, 256, 128, 256, $bk, $bc, 4, 1, false, 1, true>, $p),
            1 => launch!($by_engine::<$T, $S, $U, 256, 128, 128, $bk, $bc, 3, 2, false, 1, true>, $p),
            2 => launch!($by_engine::<$T, $S, $U, 128, 64, 64, $bk, $bc, 4, 1, false, 1, true>, $p),
            5 => launch!($by_engine::<$T, $S, $U, 256, 128, 256, $bk, [$strip, $bc], $ahead, 1, true, 1, true>, $p),
            6 => launch!($by_engine::<$T, $S, $U, 256, 128, 192, $bk, [$strip, $bc], 4, 1, true, 1, true>, $p),
            7 => launch!($by_engine::<$T, $S, $U, 256, 128, 256, $bk, [$strip, $bc], $ahead, 1, true, 2, true>, $p),
            8 => launch!($by_engine::<$T, $S, $U, 256, 128, 192, $bk, [$strip, $bc], 4, 1, true, 2, true>, $p),
            9 => launch!($by_engine::<$T, $S, $U, 256, 128, 128, $bk, [$strip, $bc], 5, 1, true, 1, true>, $p),
            3 => launch!($by_threads::<$T, $S, $U, 256, 128, 128, $bk, $bc, 2, true>, $p),
            _ => launch!($by_threads::<$T, $S, $U, 128, 64, 64, $bk, $bc, 2, true>, $p),
        }
    };
}

/// The same of doubles.
macro_rules! doubles {
    ($by_engine:ident, $by_threads:ident, $p:ident) => {
        match $p.shape {
            0 => launch!($by_engine::<f64, f64, f64, 128, 128, 64, 16, 16, 3, 2, false, 1, true>, $p),
            1 => launch!($by_engine::<f64, f64, f64, 128, 64, 64, 32, 16, 2, 3, false, 1, true>, $p),
            2 => launch!($by_threads::<f64, f64, f64, 128, 128, 64, 16, 16, 3, true>, $p),
            _ => launch!($by_threads::<f64, f64, f64, 128, 64, 64, 16, 16, 2, true>, $p),
        }
    };
}

/// `f32` by multiply-adds.
macro_rules! exact {
    ($p:ident) => {
        match $p.are_transposed {
            [false, false] => launch!(multiply_nn::<f32, f32, f32, 256, 64, 64, 32, 32, 2, false>, $p),
            [false, true] => launch!(multiply_nt::<f32, f32, f32, 256, 64, 64, 32, 32, 2, false>, $p),
            [true, false] => launch!(multiply_tn::<f32, f32, f32, 256, 64, 64, 32, 32, 2, false>, $p),
            [true, true] => launch!(multiply_tt::<f32, f32, f32, 256, 64, 64, 32, 32, 2, false>, $p),
        }
    };
}

macro_rules! halves {
    ($($T:ty, $U:ty, $strips:tt;)*) => {$(
        impl MultipliesInto<$U> for $T {
            type Sum = f32;
            const ONE: f32 = 1.0;
            const ZERO: f32 = 0.0;
            const BY_TENSOR_CORES: Tensor = Tensor::Any;

            fn launch<'a>(p: Parameters<'a, $T, $U>) -> Launch<'a> {
                match p.are_transposed {
                    [false, false] => shapes!(multiply_nn_engine, multiply_nn, $T, f32, $U, 64, $strips, p),
                    [false, true] => shapes!(multiply_nt_engine, multiply_nt, $T, f32, $U, 64, $strips, p),
                    [true, false] => shapes!(multiply_tn_engine, multiply_tn, $T, f32, $U, 64, $strips, p),
                    [true, true] => shapes!(multiply_tt_engine, multiply_tt, $T, f32, $U, 64, $strips, p),
                }
            }
        }
    )*};
}

halves! {
    bf16, bf16, (64, 64, 3);
    bf16, f32, (32, 16, 4);
    f16, f16, (64, 64, 3);
    f16, f32, (32, 16, 4);
}

macro_rules! bytes {
    ($($T:ty, $S:ty, $U:ty, $strips:tt, $one:expr, $zero:expr;)*) => {$(
        impl MultipliesInto<$U> for $T {
            type Sum = $S;
            const ONE: $S = $one;
            const ZERO: $S = $zero;
            const BY_TENSOR_CORES: Tensor = Tensor::Along;

            fn launch<'a>(p: Parameters<'a, $T, $U>) -> Launch<'a> {
                shapes!(multiply_nt_engine, multiply_nt, $T, $S, $U, 128, $strips, p)
            }
        }
    )*};
}

bytes! {
    i8, i32, i32, (32, 16, 4), 1, 0;
    u8, i32, i32, (32, 16, 4), 1, 0;
    e4m3, f32, f32, (32, 16, 4), 1.0, 0.0;
    e4m3, f32, bf16, (64, 64, 3), 1.0, 0.0;
    e4m3, f32, f16, (64, 64, 3), 1.0, 0.0;
    e5m2, f32, f32, (32, 16, 4), 1.0, 0.0;
    e5m2, f32, bf16, (64, 64, 3), 1.0, 0.0;
    e5m2, f32, f16, (64, 64, 3), 1.0, 0.0;
}

impl MultipliesInto<f32> for f32 {
    type Sum = f32;
    const ONE: f32 = 1.0;
    const ZERO: f32 = 0.0;
    const BY_TENSOR_CORES: Tensor = Tensor::IfTf32;

    fn launch<'a>(p: Parameters<'a, f32, f32>) -> Launch<'a> {
        match p.product.is_tf32 {
            true => shapes!(multiply_nt_engine, multiply_nt, f32, f32, f32, 32, (32, 32, 3), p),
            false => exact!(p),
        }
    }

    fn faster(
        call: Call<'_>,
        product: &Product<'_, f32, f32>,
        extent: (usize, usize, usize),
        c: &mut BufferMatrixBatchMut<'_, f32>,
        workspace: &mut Workspace,
    ) -> Result<bool> {
        let [a, b] = &product.factors;
        let are_whole = a.row_pitch() == a.columns() && b.row_pitch() == b.columns() && c.row_pitch() == c.columns();
        if product.is_tf32 || c.count() != 1 || product.has_end() || product.are_transposed != [false; 2] || !are_whole {
            return Ok(false);
        }
        gemm::gemm(call.stream, extent, product.alpha, a.buffer(), b.buffer(), c.buffer_mut(), workspace).map(|()| true)
    }
}

impl MultipliesInto<f64> for f64 {
    type Sum = f64;
    const ONE: f64 = 1.0;
    const ZERO: f64 = 0.0;
    const BY_TENSOR_CORES: Tensor = Tensor::Any;
    const SHAPES: &'static [Shape] = &DOUBLE_SHAPES;

    fn launch<'a>(p: Parameters<'a, f64, f64>) -> Launch<'a> {
        match p.are_transposed {
            [false, false] => doubles!(multiply_nn_engine, multiply_nn, p),
            [false, true] => doubles!(multiply_nt_engine, multiply_nt, p),
            [true, false] => doubles!(multiply_tn_engine, multiply_tn, p),
            [true, true] => doubles!(multiply_tt_engine, multiply_tt, p),
        }
    }
}

/// The most elements from the first of a batch of matrices to its last: kernels count them in 32 bits.
const MOST: usize = 1 << 31;

/// The most products of a batch: layers of a grid.
const MOST_PRODUCTS: usize = 65_535;

/// c ← activation(α · op(a) · op(b) + β · c + bias); of batches, `c[i]` ← activation(α · op(`a[i]`) · op(`b[i]`) + β · `c[i]` + bias). `c` is a [`BufferMatrixMut`](warpwright::BufferMatrixMut) or a
/// [`BufferMatrixBatchMut`].
///
/// # Errors
/// [`Error`], before anything is written: extents that do not fit each other, batches of different lengths or of more than 65,535, a bias that is shorter than a row of `c`, matrices of more than 2³¹ elements
/// with their pitch and stride, a buffer or the workspace that lies on another device, a frozen workspace that is too small.
pub fn multiply<'c, T: MultipliesInto<U>, U: Element>(
    stream: &Stream,
    product: &Product<'_, T, U>,
    c: impl Into<BufferMatrixBatchMut<'c, U>>,
    workspace: &mut Workspace,
) -> Result<()> {
    let mut c = c.into();
    let call = Call::new("product::multiply", stream);
    let (m, n, k) = extents(call, product, &c)?;
    call.takes("a", product.factors[0].buffer())?.takes("b", product.factors[1].buffer())?.takes("c", c.buffer())?.workspace(workspace)?;
    if let Some(bias) = product.bias {
        call.fits("bias", bias, n)?;
    }
    if c.count() == 0 || m == 0 || n == 0 || T::faster(call, product, (m, n, k), &mut c, workspace)? {
        return Ok(());
    }
    let by_tensor_cores = match T::BY_TENSOR_CORES {
        Tensor::IfTf32 => product.is_tf32,
        Tensor::Any | Tensor::Along => true,
    };
    // What lies across the inner extent where nothing multiplies it so.
    let only_along = by_tensor_cores && T::BY_TENSOR_CORES != Tensor::Any;
    let [turns_a, turns_b] = [only_along && product.are_transposed[0], only_along && !product.are_transposed[1]];
    let pitch = k.next_multiple_of(VECTOR / size_of::<T>().min(VECTOR));
    let room = |turns: bool, rows: usize, which: usize| match turns {
        true => different(&product.factors[which]) * rows * pitch * size_of::<T>(),
        false => 0,
    };
    let slots = [(Slot::Sums, size_of::<U>()), (Slot::Elements, room(turns_a, m, 0)), (Slot::Values, room(turns_b, n, 1))];
    let (forced, mut chosen) = (workspace.forced(), workspace.chosen());
    let mut run = workspace.begin(call.function, &slots)?;
    run.launch(0, |_, _, parts| {
        let Parts { sums, elements, values, .. } = parts;
        let a = turned(call, product.factors[0], (m, k, pitch), elements, turns_a)?;
        let b = turned(call, product.factors[1], (n, k, pitch), values, turns_b)?;
        let are_transposed = if only_along { [false, true] } else { product.are_transposed };
        let by_engine = by_tensor_cores && k > 0 && call.has_copy_engine() && [&a, &b].iter().all(|factor| begins_at(factor, VECTOR));
        let by = match by_engine {
            false => By::Threads,
            true if writes_in_vectors(&c) => By::EngineAhead,
            true => By::Engine,
        };
        let in_sectors = [&a, &b].iter().all(|factor| begins_at(factor, SECTOR));
        let question = [T::SHAPES.as_ptr().addr(), c.count(), m, n, by as usize, in_sectors.into()];
        let shape = match chosen {
            Some((known, shape)) if forced.is_none() && known == question => shape,
            _ => choose(call, T::SHAPES, (c.count(), m, n), (by, in_sectors), forced),
        };
        if forced.is_none() {
            chosen = Some((question, shape));
        }
        let bias = product.bias.map_or(Ok::<_, Error>((0, &*seen::<U>(sums)?)), |bias| Ok((n, bias)))?;
        let parameters = Parameters { product, factors: [a, b], are_transposed, bias, c: c.reborrow(), shape };
        Ok(T::launch(parameters).launch_on(call.stream)?)
    })?;
    workspace.keep_chosen(chosen);
    Ok(())
}

/// Bytes at whose multiples the copy engine begins rows.
const VECTOR: usize = 16;

/// Bytes of a sector of the level-2 cache.
const SECTOR: usize = 32;

/// m, n and k.
fn extents<T: MultipliesInto<U>, U: Element>(
    call: Call<'_>,
    product: &Product<'_, T, U>,
    c: &BufferMatrixBatchMut<'_, U>,
) -> Result<(usize, usize, usize)> {
    let argument = |argument, value, help| Err(Error::Argument { function: call.function, argument, value, help });
    let [(m, of_a), (n, of_b)] = [(0, false), (1, true)].map(|(which, flips)| {
        let factor = &product.factors[which];
        let (rows, columns) = (factor.rows(), factor.columns());
        if product.are_transposed[which] == flips { (rows, columns) } else { (columns, rows) }
    });
    if of_a != of_b {
        let value = format!("a matrix with an inner extent of {of_b}, and that of `a` is {of_a}");
        return argument("b", value, "give both the same, or say by `transposed` which is given by its columns");
    }
    if (c.rows(), c.columns()) != (m, n) {
        let value = format!("a matrix of {} × {}, and the product is one of {m} × {n}", c.rows(), c.columns());
        return argument("c", value, "give it the product's extents");
    }
    let named = [("a", &product.factors[0]), ("b", &product.factors[1])];
    for (name, factor) in named {
        if factor.count() != c.count() {
            let value = format!("{}, and `c` is {}", matrices(factor.count()), matrices(c.count()));
            return argument(name, value, "give all as many; `.batch(n, 0)` is the same matrix `n` times");
        }
    }
    if c.count() > MOST_PRODUCTS {
        return argument("c", format!("{}, and a launch makes {MOST_PRODUCTS}", matrices(c.count())), "multiply parts of the batch");
    }
    let of_all = |count: usize, stride: usize, rows: usize, pitch: usize| {
        count.saturating_sub(1).saturating_mul(stride).saturating_add(rows * pitch)
    };
    let sizes = named.map(|(name, of)| (name, of_all(of.count(), of.stride(), of.rows(), of.row_pitch())));
    for (buffer, has) in sizes.into_iter().chain([("c", of_all(c.count(), c.stride(), c.rows(), c.row_pitch()))]) {
        if has > MOST {
            return Err(Error::TooLong { function: call.function, buffer, has, most: MOST });
        }
    }
    Ok((m, n, of_a))
}

/// So many matrices, as a message says it.
fn matrices(count: usize) -> String {
    if count == 1 { "one matrix".to_owned() } else { format!("a batch of {count} matrices") }
}

/// How many matrices of a batch there are in memory.
fn different<T: Element>(factor: &BufferMatrixBatch<'_, T>) -> usize {
    if factor.stride() == 0 { factor.count().min(1) } else { factor.count() }
}

/// A factor, or its transpose in a slot of the workspace.
fn turned<'a, T: Element>(
    call: Call<'_>,
    factor: BufferMatrixBatch<'a, T>,
    (rows, columns, pitch): (usize, usize, usize),
    slot: &'a mut Buffer<u64>,
    turns: bool,
) -> Result<BufferMatrixBatch<'a, T>> {
    if !turns || columns == 0 {
        return Ok(factor);
    }
    let device = call.stream.device();
    let there = seen::<T>(slot)?;
    let (different, stride) = (different(&factor), rows * pitch);
    let to = device.matrix_mut(there, rows, columns)?.pitch(pitch)?.batch(different, stride)?;
    turn::<T>(factor, to).grid((rows.div_ceil(32), columns.div_ceil(32), different)).launch_on(call.stream)?;
    let turned: BufferMatrix<'a, T> = device.matrix(there, rows, columns)?.pitch(pitch)?;
    Ok(turned.batch(factor.count(), if different == factor.count() { stride } else { 0 })?)
}

/// Whether all rows begin at multiples of so many bytes.
fn begins_at<T: Element>(factor: &BufferMatrixBatch<'_, T>, bytes: usize) -> bool {
    let stride = if factor.count() > 1 { factor.stride() } else { 0 };
    [factor.row_pitch(), stride].iter().all(|elements| (elements * size_of::<T>()).is_multiple_of(bytes))
}

/// Whether all rows begin at multiples of 16 bytes, and end there.
fn writes_in_vectors<T: Element>(c: &BufferMatrixBatchMut<'_, T>) -> bool {
    let stride = if c.count() > 1 { c.stride() } else { 0 };
    [c.row_pitch(), stride, c.columns()].iter().all(|elements| (elements * size_of::<T>()).is_multiple_of(VECTOR))
}
