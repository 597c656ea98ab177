//! Which variant is best for which length: the tables that functions choose by, and the candidates that they choose from.
//!
//! `warpwright-bench --staples --tune` times every candidate of every table on a GPU and prints its rows. A device that no rows were made on takes the first ones, of an
//! H200.

use warpwright::Device;

/// A row: up to so many elements, this candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The row holds up to this length.
    pub upto: usize,
    /// The number of the candidate.
    pub candidate: usize,
}

const fn row(upto: usize, candidate: usize) -> Row {
    Row { upto, candidate }
}

/// The rows of a device.
#[derive(Clone, Copy, Debug)]
pub struct Tuned {
    /// What the names of such devices have in them.
    pub device: &'static str,
    /// By length; the last holds for all that are longer.
    pub rows: &'static [Row],
}

/// A table: what is chosen from, in words, and the rows.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name here.
    pub name: &'static str,
    /// The candidates in words, by number.
    pub candidates: &'static [&'static str],
    /// The rows of each device that they were made on.
    pub tuned: &'static [Tuned],
}

impl Table {
    /// The candidate for a length on a device; the one that is asked for, if there is one of that number.
    pub(super) fn choose(&self, device: &Device, n: usize, forced: Option<usize>) -> usize {
        let asked = forced.filter(|candidate| *candidate < self.candidates.len());
        asked.unwrap_or_else(|| self.choice(device.name(), n))
    }

    /// The candidate for a length on a device of this name.
    pub fn choice(&self, device: &str, n: usize) -> usize {
        let own = self.tuned.iter().find(|tuned| device.contains(tuned.device)).or(self.tuned.first());
        let rows = own.map_or(&[][..], |tuned| tuned.rows);
        rows.iter().find(|row| n <= row.upto).or(rows.last()).map_or(0, |row| row.candidate)
    }
}

/// How a reduction's blocks take elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunks {
    /// Vector by vector.
    None,
    /// By chunks that are copied ahead, a grid's width apart.
    Apart,
    /// By chunks that are copied ahead, one behind another.
    Run,
}

/// Reductions: threads of a block, blocks a multiprocessor, stages of copies that run ahead.
pub const REDUCE: Table = Table {
    name: "REDUCE",
    candidates: &[
        "256 threads, 1 block",
        "256 threads, 2 blocks",
        "256 threads, 4 blocks",
        "256 threads, 8 blocks",
        "512 threads, 1 block",
        "512 threads, 2 blocks",
        "512 threads, 4 blocks",
        "256 threads, 2 blocks, 5 stages",
        "256 threads, 2 blocks, 5 stages, a run of chunks a block",
    ],
    tuned: &[
        Tuned { device: "H200", rows: &[row(623486, 2), row(881743, 4), row(7053950, 0), row(usize::MAX, 8)] },
        Tuned {
            device: "H100",
            rows: &[
                row(19483, 3),
                row(27554, 1),
                row(55108, 2),
                row(110217, 0),
                row(1763487, 5),
                row(3526974, 0),
                row(4987895, 6),
                row(7053950, 4),
                row(39903168, 5),
                row(usize::MAX, 7),
            ],
        },
    ],
};

/// Threads, blocks and chunks of the candidates of [`REDUCE`].
pub(super) const REDUCE_SHAPES: [(usize, usize, Chunks); 9] = [
    (256, 1, Chunks::None),
    (256, 2, Chunks::None),
    (256, 4, Chunks::None),
    (256, 8, Chunks::None),
    (512, 1, Chunks::None),
    (512, 2, Chunks::None),
    (512, 4, Chunks::None),
    (256, 2, Chunks::Apart),
    (256, 2, Chunks::Run),
];

/// Scans: vectors of a thread.
pub const SCAN: Table = Table {
    name: "SCAN",
    candidates: &["1 vector", "2 vectors", "4 vectors", "6 vectors", "8 vectors", "10 vectors", "12 vectors"],
    tuned: &[
        Tuned {
            device: "H200",
            rows: &[row(370727, 4), row(741455, 3), row(2965820, 6), row(5931641, 4), row(23726566, 3), row(usize::MAX, 4)],
        },
        Tuned {
            device: "H100",
            rows: &[
                row(4870, 3),
                row(6888, 4),
                row(38967, 6),
                row(55108, 3),
                row(110217, 5),
                row(440871, 4),
                row(623486, 3),
                row(881743, 4),
                row(3526974, 6),
                row(4987895, 4),
                row(14107900, 2),
                row(usize::MAX, 4),
            ],
        },
    ],
};

/// Vectors of the candidates of [`SCAN`].
pub(super) const SCAN_VECTORS: [usize; 7] = [1, 2, 4, 6, 8, 10, 12];

/// Selections: warps of a block, vectors of a thread.
pub const SELECT: Table = Table {
    name: "SELECT",
    candidates: &["8 warps, 4 vectors", "8 warps, 8 vectors", "4 warps, 4 vectors", "4 warps, 8 vectors"],
    tuned: &[
        Tuned { device: "H200", rows: &[row(2965820, 1), row(94906265, 3), row(usize::MAX, 1)] },
        Tuned { device: "H100", rows: &[row(881743, 3), row(3526974, 1), row(usize::MAX, 3)] },
    ],
};

/// Sorts: warps of a block, keys of a thread, how lanes of one digit find each other, how many tiles a look-back looks at at a time, resident blocks.
pub const SORT: Table = Table {
    name: "SORT",
    candidates: SORTS,
    tuned: &[
        Tuned { device: "H200", rows: &[row(92681, 0), row(370727, 1), row(94906265, 7), row(usize::MAX, 8)] },
        Tuned {
            device: "H100",
            rows: &[
                row(1217, 1),
                row(1722, 7),
                row(2435, 2),
                row(4870, 0),
                row(27554, 1),
                row(155871, 0),
                row(311743, 1),
                row(881743, 8),
                row(1763487, 7),
                row(usize::MAX, 8),
            ],
        },
    ],
};

/// The same for pairs.
pub const SORT_PAIRS: Table = Table {
    name: "SORT_PAIRS",
    candidates: SORTS,
    tuned: &[
        Tuned { device: "H200", rows: &[row(185363, 0), row(370727, 2), row(623486, 3), row(23726566, 7), row(usize::MAX, 8)] },
        Tuned {
            device: "H100",
            rows: &[
                row(13777, 0),
                row(19483, 2),
                row(220435, 0),
                row(623486, 2),
                row(881743, 8),
                row(1763487, 7),
                row(56431602, 8),
                row(usize::MAX, 4),
            ],
        },
    ],
};

const SORTS: &[&str] = &[
    "8 warps, 8 keys, votes, 1 tile looked at, 4 blocks",
    "8 warps, 16 keys, votes, 1 tile looked at, 3 blocks",
    "8 warps, 16 keys, votes, 1 tile looked at, 4 blocks",
    "16 warps, 12 keys, votes, 1 tile looked at, 2 blocks",
    "16 warps, 16 keys, votes, 1 tile looked at, 2 blocks",
    "16 warps, 16 keys, match, 1 tile looked at, 2 blocks",
    "8 warps, 16 keys, match, 1 tile looked at, 3 blocks",
    "16 warps, 16 keys, votes, 4 tiles looked at, 2 blocks",
    "16 warps, 16 keys, votes, 2 tiles looked at, 2 blocks",
];

/// Warps and keys of the candidates of [`SORT`] and [`SORT_PAIRS`].
pub(super) const SORT_SHAPES: [(usize, usize); 9] = [(8, 8), (8, 16), (8, 16), (16, 12), (16, 16), (16, 16), (8, 16), (16, 16), (16, 16)];

/// Every table.
pub const TABLES: &[Table] = &[REDUCE, SCAN, SELECT, SORT, SORT_PAIRS];

/// Whether every row names a candidate, the rows of each device go up, and the last holds for all lengths.
#[allow(dead_code, reason = "Rust 1.88 does not count what a constant without a name uses")]
const fn is_whole(table: &Table) -> bool {
    let mut device = 0;
    while device < table.tuned.len() {
        let rows = table.tuned[device].rows;
        let mut n = 0;
        while n < rows.len() {
            if rows[n].candidate >= table.candidates.len() || n > 0 && rows[n - 1].upto >= rows[n].upto {
                return false;
            }
            n += 1;
        }
        if rows.is_empty() || rows[rows.len() - 1].upto != usize::MAX {
            return false;
        }
        device += 1;
    }
    !table.tuned.is_empty()
}

const _: () = {
    let mut n = 0;
    while n < TABLES.len() {
        assert!(is_whole(&TABLES[n]), "a table's rows");
        n += 1;
    }
    assert!(REDUCE_SHAPES.len() == REDUCE.candidates.len() && SCAN_VECTORS.len() == SCAN.candidates.len(), "a shape for each candidate");
    assert!(SORT_SHAPES.len() == SORT.candidates.len() && SORT_SHAPES.len() == SORT_PAIRS.candidates.len(), "a shape for each candidate");
};
