//! Forms that the documents advise against, each with the lint that says what its document says, and the forms that they advise.

use super::library::Named;

/// A form, and what is found in it where it allows nothing.
pub(super) struct Advised {
    /// Which document says so.
    pub(super) document: &'static str,
    /// Which kernel.
    pub(super) named: Named,
    /// The lints, in alphabetical order.
    pub(super) lints: &'static [&'static str],
}

const LECTURE: &str = "VSCSE 2009, lecture 5";
const RYOO: &str = "Ryoo et al., 2008";
const GUIDE: &str = "OpenCL best practices guide 1.0";

const fn row(
    document: &'static str,
    file: &'static str,
    kernel: &'static str,
    generics: &'static str,
    lints: &'static [&'static str],
) -> Advised {
    Advised { document, named: Named { file, kernel, generics }, lints }
}

/// Those of the experiments; the applications have their own table.
pub(super) const ADVICE: &[Advised] = &[
    row(LECTURE, "experiments/divergence.rs", "split_by_thread", "", &["divergent_branch"]),
    row(LECTURE, "experiments/divergence.rs", "split_by_warp", "", &[]),
    row(LECTURE, "reduce.rs", "reduce_interleaved", "B=256", &["divergent_branch"]),
    row(LECTURE, "reduce.rs", "reduce_contiguous", "B=256", &[]),
    row(LECTURE, "experiments/walks.rs", "along_rows", "", &["uncoalesced_access"]),
    row(LECTURE, "experiments/walks.rs", "along_columns", "", &[]),
    row(LECTURE, "experiments/cliff.rs", "held", "LIVE=64 MOST=32", &["register_spill"]),
    row(LECTURE, "experiments/cliff.rs", "held", "LIVE=64 MOST=255", &[]),
    row(RYOO, "matmul.rs", "matmul_direct", "UNROLL=1", &["redundant_global_loads"]),
    row(RYOO, "matmul.rs", "matmul_tiled", "T=4 UNROLL=1 PREFETCH=false", &["partial_warp", "rolled_loop", "small_block"]),
    row(RYOO, "matmul.rs", "matmul_tiled", "T=12 UNROLL=1 PREFETCH=false", &["partial_warp", "rolled_loop"]),
    row(RYOO, "matmul.rs", "matmul_tiled", "T=16 UNROLL=1 PREFETCH=false", &["rolled_loop"]),
    row(RYOO, "matmul.rs", "matmul_tiled", "T=16 UNROLL=4 PREFETCH=false", &[]),
    row(GUIDE, "access.rs", "stride_copy", "", &["uncoalesced_access"]),
    row(GUIDE, "access.rs", "offset_copy", "", &[]),
    row(GUIDE, "transpose.rs", "transpose_direct", "", &["uncoalesced_access"]),
    row(GUIDE, "transpose.rs", "transpose_tiled", "PAD=0 SWIZZLE=false", &["bank_conflict"]),
    row(GUIDE, "transpose.rs", "transpose_tiled", "PAD=1 SWIZZLE=false", &[]),
    row(GUIDE, "ab.rs", "ab", "A_SHARED=false B_SHARED=false", &["redundant_global_loads"]),
    row(GUIDE, "ab.rs", "ab", "A_SHARED=true B_SHARED=true", &[]),
    row(GUIDE, "aat.rs", "aat_direct", "", &["redundant_global_loads", "uncoalesced_access"]),
    row(GUIDE, "aat.rs", "aat", "PAD=0 SWIZZLE=false", &["bank_conflict"]),
    row(GUIDE, "aat.rs", "aat", "PAD=2 SWIZZLE=false", &[]),
    row(GUIDE, "experiments/brake.rs", "streamed_static", "WORDS=12032", &["low_occupancy"]),
    row(GUIDE, "experiments/brake.rs", "streamed_static", "WORDS=256", &[]),
    row(GUIDE, "experiments/instructions.rs", "halves", "HOW=0", &["slow_integer_division"]),
    row(GUIDE, "experiments/instructions.rs", "halves", "HOW=1", &[]),
    row(GUIDE, "experiments/instructions.rs", "halves", "HOW=2", &[]),
    row(GUIDE, "experiments/instructions.rs", "scaled", "STRAY=true", &["double_in_single"]),
    row(GUIDE, "experiments/instructions.rs", "scaled", "STRAY=false", &[]),
    row(GUIDE, "experiments/constants.rs", "from_constant", "SPREAD=true", &["constant_divergence"]),
    row(GUIDE, "experiments/constants.rs", "from_constant", "SPREAD=false", &[]),
];
