//! Copies that the threads of a block make together: each thread moves its share.

use super::geometry::{block_dim, thread_idx};
use super::global::Global;
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
