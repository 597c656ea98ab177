//! Section 4 of Ryoo et al. (PPoPP 2008): versions of the multiplication of matrices.

use super::library::Named;

/// A version.
pub(super) struct Version {
    /// What it is.
    pub(super) name: &'static str,
    /// Registers of a thread, in the document.
    pub(super) registers: u32,
    /// Threads of a multiprocessor, in the document.
    pub(super) threads: u32,
    /// Multiply-adds among the instructions of its PTX, in the document.
    pub(super) share: &'static str,
    /// The GFLOP/s that this allows, in the document.
    pub(super) allows: &'static str,
    /// Ours.
    pub(super) named: Named,
}

const fn tiled(generics: &'static str) -> Named {
    Named { file: "matmul.rs", kernel: "matmul_tiled", generics }
}

/// In the document's order.
pub(super) const VERSIONS: &[Version] = &[
    Version {
        name: "not tiled",
        registers: 10,
        threads: 768,
        share: "1/8",
        allows: "43.2 GFLOP/s",
        named: Named { file: "matmul.rs", kernel: "matmul_direct", generics: "UNROLL=1" },
    },
    Version { name: "16 × 16", registers: 10, threads: 768, share: "", allows: "", named: tiled("T=16 UNROLL=1 PREFETCH=false") },
    Version {
        name: "unrolled",
        registers: 9,
        threads: 768,
        share: "16/59",
        allows: "93.72 GFLOP/s",
        named: tiled("T=16 UNROLL=16 PREFETCH=false"),
    },
    Version { name: "prefetched", registers: 11, threads: 512, share: "", allows: "", named: tiled("T=16 UNROLL=16 PREFETCH=true") },
];
