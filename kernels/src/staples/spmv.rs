//! The product of a sparse matrix and a vector, in compressed rows (CSR): y ← A · x.
//!
//! Row r has the elements `values[k]` in columns `columns[k]` for k from `starts[r]` to below `starts[r + 1]`; there is one start more than rows. Columns are below the length of `x`;
//! a column or a start that is not makes the result undefined on a device, a fault in the simulator.
//!
//! **Determinism.** The same bits on every run: the order of a row's additions depends on the number of rows and elements only.
//!
//! **Error.** |error of y\[r\]| ≤ (elements of the row / lanes + 6) · u · Σ|a · x| to first order, u being half the distance from 1 to the next number; lanes are 2 to 32, near the mean length
//! of a row.
//!
//! **How.** Some lanes of a warp to a row, as many as a row has elements on average (Bell and Garland, "Efficient Sparse Matrix-Vector Multiplication on CUDA", 2008: the vector kernel).

use super::Result;
use super::checks::Call;
use warpwright::Float;
use warpwright::Launch;
use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;

/// `L` lanes to a row.
#[kernel(block = 256)]
pub fn spmv_rows<T: Float, const L: usize>(
    rows: usize,
    starts: &Global<u32>,
    columns: &Global<u32>,
    values: &Global<T>,
    x: &Global<T>,
    y: &mut Global<T>,
) {
    let row = global_id().x / L;
    let lane = lane_id() % L;
    let mut sum = T::ZERO;
    if row < rows {
        let end = starts[row + 1] as usize;
        #[unroll(2)]
        #[batch_loads]
        for k in (starts[row] as usize + lane..end).step_by(L) {
            sum += values[k] * x[columns[k] as usize];
        }
    }
    #[unroll]
    for level in 0..L.ilog2() {
        sum += shuffle_xor(sum, (L >> (level + 1)) as u32);
    }
    if row < rows && lane == 0 {
        y[row] = sum;
    }
}

/// A matrix in compressed rows, on a device.
#[derive(Clone, Copy, Debug)]
pub struct CompressedRows<'a, T: Element> {
    /// Where rows start, and where the last ends: one more than there are rows.
    pub starts: &'a Buffer<u32>,
    /// The column of each element.
    pub columns: &'a Buffer<u32>,
    /// Each element.
    pub values: &'a Buffer<T>,
}

/// A type of elements of sparse matrices: `f32`, `f64`.
pub trait SparseElement: Element {
    /// The launch for this type.
    #[doc(hidden)]
    fn launch<'a>(rows: usize, matrix: CompressedRows<'a, Self>, x: &'a Buffer<Self>, y: &'a mut Buffer<Self>) -> Launch<'a>
    where
        Self: Sized;
}

macro_rules! sparse {
    ($($t:ty)*) => {$(
        impl SparseElement for $t {
            fn launch<'a>(rows: usize, matrix: CompressedRows<'a, $t>, x: &'a Buffer<$t>, y: &'a mut Buffer<$t>) -> Launch<'a> {
                let CompressedRows { starts, columns, values } = matrix;
                let (launch, lanes) = match values.len() / rows {
                    ..=2 => (spmv_rows::<$t, 2>(rows, starts, columns, values, x, y), 2),
                    ..=5 => (spmv_rows::<$t, 4>(rows, starts, columns, values, x, y), 4),
                    ..=11 => (spmv_rows::<$t, 8>(rows, starts, columns, values, x, y), 8),
                    ..=23 => (spmv_rows::<$t, 16>(rows, starts, columns, values, x, y), 16),
                    _ => (spmv_rows::<$t, 32>(rows, starts, columns, values, x, y), 32),
                };
                launch.grid(rows.div_ceil(256 / lanes))
            }
        }
    )*};
}

sparse! { f32 f64 }

/// `y` ← A · `x`, for each row of the matrix.
///
/// # Errors
/// [`Error`](super::Error), before anything is written: `starts` is empty, `columns` is shorter than `values`, `y` than the rows are many, a buffer lies on another device.
pub fn spmv<T: SparseElement>(stream: &Stream, matrix: CompressedRows<'_, T>, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
    let call = Call::new("spmv::spmv", stream).fits("starts", matrix.starts, 1)?.takes("values", matrix.values)?;
    let rows = matrix.starts.len() - 1;
    call.fits("columns", matrix.columns, matrix.values.len())?.takes("x", x)?.fits("y", y, rows)?;
    if rows > 0 {
        T::launch(rows, matrix, x, y).launch_on(stream)?;
    }
    Ok(())
}
