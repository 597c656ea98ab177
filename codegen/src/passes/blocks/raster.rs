//! `#[kernel(raster(rows = R))]`: blocks that the device starts one after another stand below each other, in bands of R block rows.
//!
//! ```text
//! rows = 2, a grid of 4 × 3:      0 2 4  6
//!                                 1 3 5  7
//!                                 8 9 10 11         the last band has what rows are left
//! ```
//!
//! Devices start the blocks of a grid row by row. A block of a product of matrices reads a band of rows of one matrix and a band of columns of the other, and what
//! runs at the same time shares them through the L2 cache: N blocks of a row share one band of rows and need N bands of columns; N blocks of R rows need R bands of
//! rows, and N / R of columns.
//!
//! ```text
//! band = y / R * R                         its first row
//! height = min(R, grid_dim.y - band)       of the last band: what is left
//! number = (y - band) * grid_dim.x + x     within the band
//! block_idx = (number / height, band + number % height)
//! ```
//!
//! That is a bijection: `number` counts the `height × grid_dim.x` blocks of the band. It stays below 2³², since a grid of a kernel with `raster` has fewer blocks:
//! a launch of more is refused. `height` is never zero, since `band` is at most `y`. z stays as it is.

use crate::ir::{BinaryOp, Builder, CompareOp, Type, Value};

/// Where the block stands, x and y, that the device has at `place`; `grid` is the grid's extent along x and y. `rows` is at least 2.
pub(super) fn permuted(b: &mut Builder<'_>, rows: u32, place: [Value; 2], grid: [Value; 2]) -> [Value; 2] {
    let ([x, y], [width, grid_rows]) = (place, grid);
    let most = b.int(Type::U32, i128::from(rows));
    let below = if rows.is_power_of_two() {
        let mask = b.int(Type::U32, i128::from(rows - 1));
        b.binary(BinaryOp::And, y, mask)
    } else {
        b.binary(BinaryOp::Rem, y, most)
    };
    let band = b.binary(BinaryOp::Sub, y, below);
    let left = b.binary(BinaryOp::Sub, grid_rows, band);
    let height = b.binary(BinaryOp::Min, left, most);
    let number = b.mul_add(below, width, x);
    let divided = |b: &mut Builder<'_>| b.binary(BinaryOp::Div, number, height);
    let column = if rows.is_power_of_two() {
        // Bands of all rows need no division.
        let is_whole = b.compare(CompareOp::Eq, height, most);
        let count = b.int(Type::U32, rows.trailing_zeros().into());
        b.if_else(is_whole, |b| vec![b.binary(BinaryOp::Shr, number, count)], |b| vec![divided(b)])[0]
    } else {
        divided(b)
    };
    let whole = b.binary(BinaryOp::Mul, column, height);
    let row = b.binary(BinaryOp::Sub, number, whole);
    let row = b.binary(BinaryOp::Add, band, row);
    [column, row]
}
