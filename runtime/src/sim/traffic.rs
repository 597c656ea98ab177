//! What a request of a warp costs the memory: sectors of global memory, passes of shared memory.

use super::registers::{LANES, Mask, lanes};

/// Bytes of a sector.
const SECTOR: u64 = 32;

/// Banks of shared memory, each one word of 4 bytes wide.
const BANKS: usize = 32;

/// Sectors that a request touches, and how many different bytes of them it uses. `offsets` are bytes from a sector's begin, `width` the bytes
/// that each lane accesses.
pub(super) fn sectors(offsets: &[u64; LANES], mask: Mask, width: u64) -> (u64, u64) {
    if mask == Mask::MAX && (0..LANES).all(|lane| offsets[lane] == offsets[0].wrapping_add(lane as u64 * width)) {
        let end = offsets[LANES - 1] + width - 1;
        return (end / SECTOR - offsets[0] / SECTOR + 1, LANES as u64 * width);
    }
    let mut sorted = [0; LANES];
    let count = gather(&mut sorted, offsets, mask);
    let sorted = &mut sorted[..count];
    if !sorted.is_sorted() {
        sorted.sort_unstable();
    }
    let (mut sectors, mut bytes, mut next_sector, mut next_byte) = (0, 0, 0, 0);
    for &offset in sorted.iter() {
        let end = offset + width;
        bytes += end - offset.max(next_byte).min(end);
        next_byte = next_byte.max(end);
        let (first, last) = ((offset / SECTOR).max(next_sector), (end - 1) / SECTOR);
        if last >= first {
            sectors += last - first + 1;
            next_sector = last + 1;
        }
    }
    (sectors, bytes)
}

/// Passes of a shared-memory request beyond the least for its width. `offsets` are bytes from the start of shared memory.
///
/// Up to 4 bytes per lane all 32 lanes go in one pass, with 8 bytes halves of the warp, with 16 quarters. Within such a group a pass
/// serves one word of each bank, to any number of lanes.
pub(super) fn replays(offsets: &[u64; LANES], mask: Mask, width: u64) -> u64 {
    let words = width.div_ceil(4).max(1);
    let group = (LANES as u64 / words).max(1) as usize;
    let mut replays = 0;
    for start in (0..LANES).step_by(group) {
        let group_mask = (Mask::MAX >> (LANES - group)) << start & mask;
        if group_mask != 0 {
            replays += passes(offsets, group_mask, words) - 1;
        }
    }
    replays
}

/// Passes that a group of lanes needs.
fn passes(offsets: &[u64; LANES], mask: Mask, words: u64) -> u64 {
    let mut bank_word = [u64::MAX; BANKS];
    let mut clashes = false;
    for lane in lanes(mask) {
        for word in offsets[lane] / 4..offsets[lane] / 4 + words {
            let slot = &mut bank_word[word as usize % BANKS];
            clashes |= *slot != u64::MAX && *slot != word;
            *slot = word;
        }
    }
    if clashes { conflicting_passes(offsets, mask, words) } else { 1 }
}

#[cold]
fn conflicting_passes(offsets: &[u64; LANES], mask: Mask, words: u64) -> u64 {
    let mut all: Vec<u64> = lanes(mask).flat_map(|lane| (0..words).map(move |n| offsets[lane] / 4 + n)).collect();
    all.sort_unstable();
    all.dedup();
    let mut depth = [0; BANKS];
    all.iter().for_each(|word| depth[*word as usize % BANKS] += 1);
    depth.into_iter().max().unwrap_or(1)
}

fn gather(sorted: &mut [u64; LANES], offsets: &[u64; LANES], mask: Mask) -> usize {
    let mut count = 0;
    for lane in lanes(mask) {
        sorted[count] = offsets[lane];
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(stride: u64) -> [u64; LANES] {
        std::array::from_fn(|lane| lane as u64 * stride)
    }

    #[test]
    fn sectors_follow_stride_offset_and_mask() {
        assert_eq!(sectors(&strided(4), Mask::MAX, 4), (4, 128));
        assert_eq!(sectors(&strided(8), Mask::MAX, 4), (8, 128));
        assert_eq!(sectors(&strided(8), Mask::MAX, 8), (8, 256));
        assert_eq!(sectors(&strided(128), Mask::MAX, 4), (32, 128));
        assert_eq!(sectors(&strided(0), Mask::MAX, 4), (1, 4));
        assert_eq!(sectors(&strided(4).map(|o| o + 4), Mask::MAX, 4), (5, 128));
        assert_eq!(sectors(&strided(4), 0xff, 4), (1, 32));
        assert_eq!(sectors(&strided(16), Mask::MAX, 16), (16, 512));
        let mut reversed = strided(4);
        reversed.reverse();
        assert_eq!(sectors(&reversed, Mask::MAX, 4), (4, 128));
    }

    #[test]
    fn replays_follow_banks() {
        assert_eq!(replays(&strided(4), Mask::MAX, 4), 0);
        assert_eq!(replays(&strided(0), Mask::MAX, 4), 0);
        assert_eq!(replays(&strided(1), Mask::MAX, 1), 0);
        assert_eq!(replays(&strided(8), Mask::MAX, 4), 1);
        assert_eq!(replays(&strided(128), Mask::MAX, 4), 31);
        assert_eq!(replays(&strided(132), Mask::MAX, 4), 0);
        assert_eq!(replays(&strided(8), Mask::MAX, 8), 0);
        assert_eq!(replays(&strided(16), Mask::MAX, 8), 2);
        assert_eq!(replays(&strided(16), Mask::MAX, 16), 0);
        assert_eq!(replays(&strided(128), 0b11, 4), 1);
    }
}
