//! Copies that the threads of a block make together: each thread moves its share.

use super::geometry::{block_dim, thread_idx};
use super::global::Global;
use super::matrix::Matrix;
use crate::element::Element;
use warpwright_codegen::target::limits::VECTOR_BYTES;

/// The elements of `0..count` that this thread moves.
fn share(count: usize) -> impl Iterator<Item = usize> {
    let (at, size) = (thread_idx(), block_dim());
    let thread = (at.z * size.y + at.y) * size.x + at.x;
    (thread..count).step_by((size.x * size.y * size.z).max(1))
}

/// Copies `from[start..start + N]` into a shared array, zero where `from` has no such element. All threads of the block come to the same call with the
/// same `start`, and none reads `to` before the next barrier. `start` begins at a multiple of 16 bytes.
#[inline]
#[track_caller]
pub fn load_run<T: Element, const N: usize>(to: &mut [T; N], from: &Global<T>, start: usize) {
    assert!(
        start.wrapping_mul(size_of::<T>()).is_multiple_of(VECTOR_BYTES),
        "`load_run` begins at multiples of {VECTOR_BYTES} bytes, and element {start} of {} bytes does not",
        size_of::<T>()
    );
    for i in share(N) {
        let at = start.checked_add(i).filter(|at| *at < from.len());
        to[i] = at.map_or_else(crate::validity::zero, |at| from[at]);
    }
}

/// Copies `from[(row + r, column + c)]` into `to[r][c]` of a shared array of rows, zero outside of the matrix. All threads of the block come to the same
/// call with the same `row` and `column`, and none reads `to` before the next barrier.
#[inline]
#[track_caller]
pub fn load_tile<T: Element, const R: usize, const C: usize>(to: &mut [[T; C]; R], from: &Matrix<T>, row: usize, column: usize) {
    for i in share(R * C) {
        let (r, c) = (i / C, i % C);
        // Nothing is inside at the greatest number, and nothing wraps.
        to[r][c] = from[(row.saturating_add(r), column.saturating_add(c))];
    }
}

/// Copies `from[r][c]` of a shared array of rows into `to[(row + r, column + c)]`, except what would be outside of the matrix. All threads of the block
/// come to the same call with the same `row` and `column`, and none reads these elements of `to` before the next barrier.
#[inline]
#[track_caller]
pub fn store_tile<T: Element, const R: usize, const C: usize>(to: &mut Matrix<T>, row: usize, column: usize, from: &[[T; C]; R]) {
    for i in share(R * C) {
        let (r, c) = (i / C, i % C);
        to[(row.saturating_add(r), column.saturating_add(c))] = from[r][c];
    }
}
