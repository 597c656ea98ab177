//! Coalescing, VSCSE 2009, lecture 5: two ways for threads to walk over a matrix that lies row by row. Both read each element once and do one addition with it.
//! A thread a column has neighbours at neighbouring addresses in each step. A thread a row has them a row apart: each fetches a sector of 32 bytes for
//! the 4 it needs, and whether the rest is still there when it comes to it is up to the cache.
//!
//! Either needs many threads to be about bandwidth: of a square matrix of 8,192 there are too few, and both wait.
//!
//! Sums along rows need not be slow: [`crate::rows::rows_by_warp`] gives a row to a warp.

use warpwright::prelude::*;

/// `sums[r]` ← Σ of row r, a thread a row: neighbours are `columns` elements apart.
#[kernel(block = 128, allow(uncoalesced_access))]
pub fn along_rows(columns: usize, x: &Global<f32>, sums: &mut Global<f32>) {
    let row = global_id().x;
    if row < sums.len() {
        let mut sum = 0.0;
        #[unroll(4)]
        for k in 0..columns {
            sum += x[row * columns + k];
        }
        sums[row] = sum;
    }
}

/// `sums[c]` ← Σ of column c, a thread a column: neighbours are neighbours.
#[kernel(block = 128)]
pub fn along_columns(rows: usize, x: &Global<f32>, sums: &mut Global<f32>) {
    let column = global_id().x;
    let columns = sums.len();
    if column < columns {
        let mut sum = 0.0;
        #[unroll(4)]
        for k in 0..rows {
            sum += x[k * columns + column];
        }
        sums[column] = sum;
    }
}

/// Reference of [`along_rows`].
pub fn rows_reference(columns: usize, x: &[f32]) -> Vec<f64> {
    x.chunks(columns).map(|row| row.iter().map(|x| f64::from(*x)).sum()).collect()
}

/// Reference of [`along_columns`].
pub fn columns_reference(columns: usize, x: &[f32]) -> Vec<f64> {
    (0..columns).map(|c| x.iter().skip(c).step_by(columns).map(|x| f64::from(*x)).sum()).collect()
}
