//! What a request of a warp costs global memory: sectors. (Passes of shared memory: `warpwright_codegen::analysis::banks`.)

use super::registers::{Mask, lanes};
use warpwright_codegen::target::limits::{self, LANES};

/// Bytes of a sector.
const SECTOR: u64 = limits::SECTOR as u64;

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
}
