//! Passes of a warp's access to shared memory, as the hardware counts them: for the simulator, and for what is known before anything runs.
//!
//! There are 32 banks of one word (4 bytes). A pass gives or takes one word of each bank, to any number of lanes: 128 bytes. Lanes of 4 bytes
//! or less all go together; of 8 bytes half a warp, of 16 a quarter at a time, so that a warp of different words takes 1, 2, 4 passes: the
//! least there can be, *ideal*. Each such part takes as many passes as the bank of which it needs most words; those beyond one are conflicts.
//!
//! Loads of 8 and 16 bytes put two parts together (both halves; the first two quarters, the last two) where each lane reads what the lane
//! beside it (number ^ 1) reads, or each what the one two further (number ^ 2) does; lanes that take no part do not count. Stores never do.
//!
//! The rule was read off Nsight Compute's `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld`, `…_op_st` and
//! `l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_…` on an H200 (22 November 2026): 75 patterns of lanes, loads and stores of 4, 8 and 16 bytes,
//! the 225 of stores as counted here by a script, those of loads compared by eye. The tests have a part of them.

use crate::target::limits::{BANKS, LANES};

/// What a request takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// All of them.
    pub passes: u32,
    /// Those that it would take without conflicts.
    pub ideal: u32,
    /// The most that a part takes which could go in one: 1 is without conflict.
    pub ways: u32,
}

impl Passes {
    /// Passes beyond the ideal ones.
    pub fn conflicts(&self) -> u32 {
        self.passes - self.ideal
    }
}

/// Of a request of the lanes in `mask`: `width` bytes each, `offsets` bytes from the begin of shared memory.
pub fn passes(offsets: &[u64; LANES], mask: u32, width: u64, is_load: bool) -> Passes {
    let words = width.div_ceil(4).max(1);
    let part = (LANES as u64 / words).max(1) as usize;
    let mut found = Passes::default();
    let mut add = |lanes: u32| {
        if lanes != 0 {
            let passes = of_part(offsets, lanes, words);
            found = Passes { passes: found.passes + passes, ideal: found.ideal + 1, ways: found.ways.max(passes) };
        }
    };
    let range = |from: usize, lanes: usize| (u32::MAX >> (LANES - lanes)) << from & mask;
    if part == LANES {
        add(mask);
        return found;
    }
    for from in (0..LANES).step_by(2 * part) {
        let both = range(from, 2 * part);
        if is_load && [1, 2].into_iter().any(|apart| is_shared(offsets, both, apart)) {
            add(both);
        } else {
            add(range(from, part));
            add(range(from + part, part));
        }
    }
    found
}

/// Whether each lane reads what the one `apart` from it reads.
fn is_shared(offsets: &[u64; LANES], mask: u32, apart: usize) -> bool {
    let takes_part = |lane: usize| mask >> lane & 1 == 1;
    (0..LANES).all(|lane| !takes_part(lane) || !takes_part(lane ^ apart) || offsets[lane] == offsets[lane ^ apart])
}

/// Different words of the bank that has most.
fn of_part(offsets: &[u64; LANES], mask: u32, words: u64) -> u32 {
    let mut bank_word = [u64::MAX; BANKS];
    let mut clashes = false;
    for lane in lanes(mask) {
        for word in offsets[lane] / 4..offsets[lane] / 4 + words {
            let slot = &mut bank_word[word as usize % BANKS];
            clashes |= *slot != u64::MAX && *slot != word;
            *slot = word;
        }
    }
    if clashes { conflicting(offsets, mask, words) } else { 1 }
}

#[cold]
fn conflicting(offsets: &[u64; LANES], mask: u32, words: u64) -> u32 {
    let mut all: Vec<u64> = lanes(mask).flat_map(|lane| (0..words).map(move |n| offsets[lane] / 4 + n)).collect();
    all.sort_unstable();
    all.dedup();
    let mut depth = [0; BANKS];
    all.iter().for_each(|word| depth[*word as usize % BANKS] += 1);
    depth.into_iter().max().unwrap_or(1)
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern of slots of the access's width, and what the profiler counted: passes of loads of 16, 8, 4 bytes with the conflicts among them,
    /// and passes of stores of the same.
    type Counted = (&'static str, fn(usize) -> Option<u64>, [(u32, u32); 3], [u32; 3]);

    const COUNTED: &[Counted] = &[
        ("each its own", |l| Some(l as u64), [(4, 0), (2, 0), (1, 0)], [4, 2, 1]),
        ("all one", |_| Some(0), [(2, 0), (1, 0), (1, 0)], [4, 2, 1]),
        ("one for each half", |l| Some(l as u64 / 16), [(2, 0), (1, 0), (1, 0)], [4, 2, 1]),
        ("pairs", |l| Some(l as u64 / 2), [(2, 0), (1, 0), (1, 0)], [4, 2, 1]),
        ("two by turns", |l| Some(l as u64 % 2), [(2, 0), (1, 0), (1, 0)], [4, 2, 1]),
        ("four by turns", |l| Some(l as u64 % 4), [(4, 0), (2, 0), (1, 0)], [4, 2, 1]),
        ("eight by turns", |l| Some(l as u64 % 8), [(4, 0), (2, 0), (1, 0)], [4, 2, 1]),
        ("every second", |l| Some(2 * l as u64), [(8, 4), (4, 2), (2, 1)], [8, 4, 2]),
        ("every third", |l| Some(3 * l as u64), [(4, 0), (2, 0), (1, 0)], [4, 2, 1]),
        ("every eighth", |l| Some(8 * l as u64), [(32, 28), (16, 14), (8, 7)], [32, 16, 8]),
        ("every sixteenth", |l| Some(16 * l as u64), [(32, 28), (32, 30), (16, 15)], [32, 32, 16]),
        ("two rows of sixteen", |l| Some(l as u64 % 16 + l as u64 / 16 * 20), [(4, 0), (2, 0), (2, 1)], [4, 2, 2]),
        ("rows of four", |l| Some(l as u64 % 4 + l as u64 / 4 * 8), [(8, 4), (4, 2), (2, 1)], [8, 4, 2]),
        ("quarters, far apart", |l| Some(l as u64 / 8 * 8), [(4, 2), (2, 1), (1, 0)], [4, 2, 1]),
        ("pairs, far apart", |l| Some(l as u64 / 2 * 8), [(16, 14), (8, 7), (4, 3)], [16, 8, 4]),
        ("two by turns, far apart", |l| Some(l as u64 % 2 * 8), [(4, 2), (1, 0), (1, 0)], [8, 2, 1]),
        ("four by turns, far apart", |l| Some(l as u64 % 4 * 8), [(16, 12), (4, 2), (1, 0)], [16, 4, 1]),
        ("even and odd lanes", |l| Some((l as u64 & 1) * 8 + l as u64 / 2), [(8, 4), (2, 0), (1, 0)], [8, 2, 1]),
        ("one lane", |l| (l == 5).then_some(0), [(1, 0), (1, 0), (1, 0)], [1, 1, 1]),
        ("the first eight", |l| (l < 8).then_some(l as u64), [(1, 0), (1, 0), (1, 0)], [1, 1, 1]),
        ("the first sixteen", |l| (l < 16).then_some(l as u64), [(2, 0), (1, 0), (1, 0)], [2, 1, 1]),
        ("even lanes", |l| l.is_multiple_of(2).then_some(l as u64), [(4, 2), (2, 1), (1, 0)], [4, 2, 1]),
        ("every fourth lane", |l| l.is_multiple_of(4).then_some(l as u64), [(4, 2), (2, 1), (1, 0)], [4, 2, 1]),
        ("first and last", |l| (l == 0 || l == 31).then_some(l as u64), [(2, 0), (1, 0), (1, 0)], [2, 2, 1]),
        ("one in each quarter", |l| l.is_multiple_of(9).then_some(l as u64), [(2, 0), (1, 0), (1, 0)], [4, 2, 1]),
    ];

    #[test]
    fn passes_are_what_a_profiler_counts() {
        for (name, slot, loads, stores) in COUNTED {
            for (n, width) in [16u64, 8, 4].into_iter().enumerate() {
                let mask = (0..LANES).filter(|lane| slot(*lane).is_some()).fold(0, |mask, lane| mask | 1 << lane);
                let offsets = std::array::from_fn(|lane| slot(lane).unwrap_or(0) * width);
                let load = passes(&offsets, mask, width, true);
                assert_eq!((load.passes, load.conflicts()), loads[n], "{name}: loads of {width}");
                assert_eq!(passes(&offsets, mask, width, false).passes, stores[n], "{name}: stores of {width}");
            }
        }
    }

    #[test]
    fn narrow_lanes_share_words() {
        let bytes = std::array::from_fn(|lane| lane as u64);
        assert_eq!(passes(&bytes, u32::MAX, 1, true), Passes { passes: 1, ideal: 1, ways: 1 });
        assert_eq!(passes(&bytes, 0, 4, true), Passes::default());
    }
}
