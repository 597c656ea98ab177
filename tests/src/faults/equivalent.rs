//! Mutants that are no faults: they give the same in every order, for a reason.

use super::mistakes::Mistake::{self, *};

/// Mutants that leave what the kernel leaves.
pub struct Equivalent {
    /// The kernel.
    pub kernel: &'static str,
    /// The mistake that is none here.
    pub mistake: Mistake,
    /// At how many places.
    pub places: usize,
    /// Why.
    pub reason: &'static str,
}

const fn same(kernel: &'static str, mistake: Mistake, places: usize, reason: &'static str) -> Equivalent {
    Equivalent { kernel, mistake, places, reason }
}

const ONE_WARP: &str = "the block is one warp, so its barrier is `sync_warp()`";
const WITHIN_WARP: &str = "only lanes of one warp exchange values there";
const ZEROS: &str = "one turn more copies what is beyond the end, which is zeros";
const ONE_TURN: &str = "the loop has one turn in this variant, and nothing comes behind its last barrier";
const ONE_KEY: &str = "one key is right, so one thread writes";
const OUTSIDE: &str = "one turn more stores to what is outside of the matrix, which is not written";
const CLUSTER_END: &str = "the compiler puts a `cluster_sync()` at the end of a kernel that uses `shared_of`";

/// All of them, of the kernels of this folder and of the tree's.
pub const EQUIVALENT: &[Equivalent] = &[
    same("look_back", WeakBarrier, 2, ONE_WARP),
    same("run_sums", LateEnd, 1, ZEROS),
    same("tile_sums", LateEnd, 1, ZEROS),
    same("strips", LateEnd, 1, OUTSIDE),
    same("cluster_sums", DroppedBarrier, 1, CLUSTER_END),
    same("cluster_sums", WeakBarrier, 1, CLUSTER_END),
    same("matmul_tiled", WeakBarrier, 2, ONE_WARP),
    same("matmul_tiled", Divergent, 2, "the block is half a warp"),
    same("convolve", DroppedBarrier, 1, ONE_TURN),
    same("convolve", WeakBarrier, 1, ONE_TURN),
    same("search_direct", PlainForAtomic, 1, ONE_KEY),
    same("search", PlainForAtomic, 1, ONE_KEY),
    same("streamed_static", WeakBarrier, 1, WITHIN_WARP),
];
