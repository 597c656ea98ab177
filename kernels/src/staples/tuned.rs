//! Which variant is best for which size: the figures that functions choose by. `warpwright-bench --staples --tune` times the candidates on a GPU and prints
//! these tables.

/// A row of the table of reductions: up to so many elements, this block and so many blocks of it a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceChoice {
    /// The row holds up to this length.
    pub upto: usize,
    /// Threads of a block.
    pub block: usize,
    /// Blocks on a multiprocessor, at most.
    pub per_multiprocessor: usize,
}

/// Measured on an H200 (132 multiprocessors, sm_90).
pub const REDUCE: &[ReduceChoice] = &[
    ReduceChoice { upto: 1 << 22, block: 256, per_multiprocessor: 2 },
    ReduceChoice { upto: 1 << 25, block: 512, per_multiprocessor: 2 },
    ReduceChoice { upto: usize::MAX, block: 512, per_multiprocessor: 4 },
];

pub(super) fn reduce(n: usize) -> ReduceChoice {
    let row = REDUCE.iter().find(|row| n <= row.upto);
    row.copied().unwrap_or(ReduceChoice { upto: usize::MAX, block: 512, per_multiprocessor: 4 })
}

/// Vectors of a thread of scans, up to so many elements.
pub const SCAN: &[(usize, usize)] = &[(1 << 18, 1), (1 << 24, 4), (usize::MAX, 10)];

pub(super) fn scan(n: usize) -> usize {
    SCAN.iter().find(|(upto, _)| n <= *upto).map_or(10, |(_, vectors)| *vectors)
}

/// Vectors of a thread of selections, up to so many elements.
pub const SELECT: &[(usize, usize)] = &[(1 << 22, 4), (usize::MAX, 8)];

pub(super) fn select(n: usize) -> usize {
    SELECT.iter().find(|(upto, _)| n <= *upto).map_or(8, |(_, vectors)| *vectors)
}

/// Warps of a block and keys of a thread of sorts, up to so many elements.
pub const SORT: &[(usize, usize, usize)] = &[(1 << 21, 8, 8), (usize::MAX, 16, 16)];

pub(super) fn sort(n: usize) -> (usize, usize) {
    SORT.iter().find(|(upto, ..)| n <= *upto).map_or((16, 16), |(_, warps, keys)| (*warps, *keys))
}
