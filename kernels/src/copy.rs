//! The copy of "Thread- and Instruction-Level Parallelism in CUDA Fortran" (2012): one plain source for all six kernels of that
//! experiment and its vector forms. How many elements a thread copies, whether their loads stand together and how wide an access is are
//! its generics.
//!
//! `.shared_bytes(n)` at a launch takes shared memory that the kernel does not use: a brake on how many blocks run at once, with which
//! the article separates what threads hide of the memory's latency from what independent loads hide.

use warpwright::prelude::*;

/// out ← inp, `ILP` groups of `V` elements per thread.
///
/// | article's kernel | generics |
/// |---|---|
/// | `copy` | `ILP = 1` |
/// | `copy_ILP`, a load and a store at a time | `ILP = 4` |
/// | `copy_ILP2`, loads batched | `ILP = 4` or `8`, `BATCH` |
/// | (16 bytes an access) | `V = 2` for `f64` |
#[kernel(
    block = B, ilp = ILP, batch_loads = BATCH, vectorize = V,
    variants(T in [f64], B in [32, 128, 1024], ILP in [1, 4, 8], BATCH in [false, true], V in [1, 2]),
    // The article's table begins with blocks of 32, and shows what batches cost.
    allow(small_block, costly_batch),
)]
pub fn copy<T: Element, const B: usize, const ILP: usize, const BATCH: bool, const V: usize>(out: &mut Global<T>, inp: &Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}

/// Reference.
pub fn reference<T: Clone>(inp: &[T]) -> Vec<T> {
    inp.to_vec()
}
