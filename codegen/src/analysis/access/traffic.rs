//! What a request of a warp costs: sectors and bytes of global memory, passes of shared memory, addresses of constant memory. Counted as the
//! simulator counts, over every place where the unknown part of the addresses can lie.

use super::Range;
use super::lanes::{Atoms, LANES, Lanes, Mask, Sum, gcd, residues};

/// Bytes of a sector.
const SECTOR: i64 = 32;

/// Banks of shared memory, each one word of 4 bytes wide.
const BANKS: usize = 32;

/// Lanes whose distances are known.
struct Row {
    /// Lane and bytes from the unknown part.
    offsets: Vec<(usize, i64)>,
    /// What divides the unknown part; 0: it is 0.
    step: u64,
}

/// The lanes of a request in rows; from row to row the distance is unknown.
fn rows(atoms: &Atoms, address: &Sum, mask: Mask) -> Vec<Row> {
    let known = address.constant();
    if address.has_one_base() {
        let offsets = (0..LANES).filter(|lane| mask >> lane & 1 == 1).map(|lane| (lane, known.of(lane))).collect();
        return vec![Row { offsets, step: atoms.divisor(address) }];
    }
    let mut rows: Vec<(Vec<i64>, Row)> = Vec::new();
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
        let factors: Vec<i64> = address.unknown().map(|(_, lanes)| lanes.of(lane)).collect();
        let place = (lane, known.of(lane));
        match rows.iter_mut().find(|(own, _)| *own == factors) {
            Some((_, row)) => row.offsets.push(place),
            None => {
                let parts = address.unknown().zip(&factors);
                let step = parts.fold(0, |d, ((product, _), n)| gcd(d, atoms.product_divisor(product).saturating_mul(n.unsigned_abs())));
                rows.push((factors, Row { offsets: vec![place], step }));
            }
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

impl Row {
    /// Every place modulo `modulus` where the unknown part can be, if accesses are multiples of `align`.
    fn places(&self, modulus: u64, align: u64) -> Vec<i64> {
        let first = self.offsets.first().map_or(0, |(_, offset)| *offset);
        let all = residues(self.step, modulus).unwrap_or_default().into_iter().map(|n| n as i64);
        let aligned: Vec<i64> = all.clone().filter(|n| (n + first).rem_euclid(align as i64) == 0).collect();
        if aligned.is_empty() { all.collect() } else { aligned }
    }

    fn sorted(&self) -> Vec<i64> {
        let mut sorted: Vec<i64> = self.offsets.iter().map(|(_, offset)| *offset).collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted
    }
}

/// Ranges of several parts, whose sum is known and of which some may coincide.
fn together(parts: impl Iterator<Item = Range> + Clone) -> (Range, Range) {
    let apart = Range { least: parts.clone().map(|part| part.least).sum(), most: parts.clone().map(|part| part.most).sum() };
    (Range { least: parts.map(|part| part.least).max().unwrap_or(0), most: apart.most }, apart)
}

fn range(numbers: impl Iterator<Item = u32>) -> Range {
    numbers.fold(Range { least: u32::MAX, most: 0 }, |range, n| Range { least: range.least.min(n), most: range.most.max(n) })
}

/// A request to global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GlobalTraffic {
    /// Sectors.
    pub(super) sectors: Range,
    /// Sectors if rows at unknown distance have none in common.
    pub(super) apart: Range,
    /// Different bytes.
    pub(super) bytes: Range,
}

/// Of a request to global memory: `width` bytes a lane, each at a multiple of `align`.
pub(super) fn global(atoms: &Atoms, address: &Sum, mask: Mask, width: u64, align: u64) -> GlobalTraffic {
    let rows = rows(atoms, address, mask);
    let width = width as i64;
    let sorted: Vec<Vec<i64>> = rows.iter().map(Row::sorted).collect();
    let sectors: Vec<Range> = rows
        .iter()
        .zip(&sorted)
        .map(|(row, sorted)| range(row.places(SECTOR as u64, align).into_iter().map(|place| sectors(sorted, place, width))))
        .collect();
    let bytes = sorted.iter().map(|sorted| distinct_bytes(sorted, width)).map(|n| Range { least: n, most: n });
    let (all, apart) = together(sectors.iter().copied());
    GlobalTraffic { sectors: all, apart, bytes: together(bytes).0 }
}

fn sectors(sorted: &[i64], place: i64, width: i64) -> u32 {
    let (mut sectors, mut next) = (0, i64::MIN);
    for offset in sorted {
        let (first, last) = ((offset + place).div_euclid(SECTOR).max(next), (offset + place + width - 1).div_euclid(SECTOR));
        if last >= first {
            sectors += (last - first + 1) as u32;
            next = last + 1;
        }
    }
    sectors
}

fn distinct_bytes(sorted: &[i64], width: i64) -> u32 {
    let (mut bytes, mut next) = (0, i64::MIN);
    for offset in sorted {
        bytes += (offset + width - (*offset).max(next)).max(0) as u32;
        next = next.max(offset + width);
    }
    bytes
}

/// A request to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedTraffic {
    /// Passes over the least its width needs, of the worst part of the warp.
    pub(super) degree: Range,
    /// Passes beyond the least its width needs, as the simulator counts them.
    pub(super) replays: Range,
}

/// Of a request to shared memory: up to 4 bytes a lane all lanes go in one pass, with 8 halves of the warp, with 16 quarters; a pass serves
/// one word of each bank, to any number of lanes.
pub(super) fn shared(atoms: &Atoms, address: &Sum, mask: Mask, width: u64, align: u64) -> SharedTraffic {
    let words = width.div_ceil(4).max(1);
    let group = (LANES as u64 / words).max(1) as usize;
    let (mut degree, mut replays) = (Range { least: 1, most: 1 }, Range { least: 0, most: 0 });
    for start in (0..LANES).step_by(group) {
        let lanes = (Mask::MAX >> (LANES - group)) << start & mask;
        let rows = rows(atoms, address, lanes);
        let passes: Vec<Range> = rows
            .iter()
            .map(|row| {
                let sorted = row.sorted();
                range(row.places(4, align.min(4)).into_iter().map(|place| passes(&sorted, place, words as i64)))
            })
            .collect();
        if lanes != 0 {
            let passes = together(passes.iter().copied()).0;
            degree = Range { least: degree.least.max(passes.least), most: degree.most.max(passes.most) };
            replays = Range { least: replays.least + passes.least - 1, most: replays.most + passes.most - 1 };
        }
    }
    SharedTraffic { degree, replays }
}

fn passes(sorted: &[i64], place: i64, words: i64) -> u32 {
    let mut depth = [0u32; BANKS];
    let mut next = i64::MIN;
    for offset in sorted {
        let first = (offset + place).div_euclid(4);
        for word in first.max(next)..first + words {
            depth[word.rem_euclid(BANKS as i64) as usize] += 1;
        }
        next = next.max(first + words);
    }
    depth.into_iter().max().unwrap_or(1).max(1)
}

/// Different addresses of a request.
pub(super) fn addresses(atoms: &Atoms, address: &Sum, mask: Mask) -> Range {
    let rows = rows(atoms, address, mask);
    together(rows.iter().map(|row| row.sorted().len() as u32).map(|n| Range { least: n, most: n })).0
}

/// Bytes from lane to lane of a row of `row` lanes, if that is one number.
pub(super) fn stride(address: &Sum, row: usize) -> Option<i64> {
    if !address.unknown().all(|(_, lanes)| slope(lanes, row) == Some(0)) {
        return None;
    }
    slope(&address.constant(), row)
}

/// From lane to lane of a row of `row` lanes, if that is one number.
pub(super) fn slope(lanes: &Lanes, row: usize) -> Option<i64> {
    let all = lanes.all();
    let mut steps = (0..LANES - 1).filter(|lane| (lane + 1) % row != 0).map(|lane| all[lane + 1] - all[lane]);
    let first = steps.next()?;
    steps.all(|step| step == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::access::lanes::Source;
    use crate::ir::{Axis, Special};

    fn strided(stride: i64) -> Sum {
        Sum::known(64, Lanes::each(std::array::from_fn(|lane| lane as i64 * stride)))
    }

    fn exactly(n: u32) -> Range {
        Range { least: n, most: n }
    }

    #[test]
    fn sectors_and_bytes_follow_the_stride() {
        let atoms = Atoms::default();
        let of = |address: &Sum, width| {
            let traffic = global(&atoms, address, Mask::MAX, width, width);
            (traffic.sectors.exact(), traffic.bytes.exact())
        };
        assert_eq!(of(&strided(4), 4), (Some(4), Some(128)));
        assert_eq!(of(&strided(-4), 4), (Some(5), Some(128)));
        assert_eq!(of(&strided(8), 4), (Some(8), Some(128)));
        assert_eq!(of(&strided(128), 4), (Some(32), Some(128)));
        assert_eq!(of(&strided(0), 4), (Some(1), Some(4)));
        assert_eq!(of(&strided(16), 16), (Some(16), Some(512)));
    }

    #[test]
    fn an_unknown_begin_is_anywhere_and_unknown_rows_are_apart() {
        let mut atoms = Atoms::default();
        let n = Sum::atom(64, atoms.get(Source::Geometry(Special::GridDim, Axis::X), 1, None, 0));
        let begin = |factor: i64| Sum::number(64, factor).times(&n).unwrap();
        let shifted = global(&atoms, &strided(4).plus(&begin(4), 1), Mask::MAX, 4, 4);
        assert_eq!(shifted.sectors, Range { least: 4, most: 5 });
        assert_eq!(global(&atoms, &strided(4).plus(&begin(32), 1), Mask::MAX, 4, 4).sectors, exactly(4));
        // A vector begins at its own multiple: half as many places.
        assert_eq!(global(&atoms, &strided(16).plus(&begin(4), 1), Mask::MAX, 16, 16).sectors, Range { least: 16, most: 17 });
        // Two rows of 16 lanes.
        let halves = Sum::known(64, Lanes::each(std::array::from_fn(|lane| 4 * (lane as i64 / 16)))).times(&n).unwrap();
        let inside = Sum::known(64, Lanes::each(std::array::from_fn(|lane| 4 * (lane as i64 % 16))));
        let rows = global(&atoms, &halves.plus(&inside, 1), Mask::MAX, 4, 4);
        assert_eq!((rows.sectors, rows.apart), (Range { least: 2, most: 5 }, Range { least: 4, most: 5 }));
        assert_eq!(rows.bytes, Range { least: 64, most: 128 });
    }

    #[test]
    fn passes_follow_the_banks() {
        let atoms = Atoms::default();
        let of = |stride, width| shared(&atoms, &strided(stride), Mask::MAX, width, width).replays.exact();
        let strides = [(4, 4), (0, 4), (1, 1), (8, 4), (128, 4), (132, 4), (8, 8), (16, 8), (16, 16)];
        let replays = strides.map(|(stride, width)| of(stride, width).unwrap());
        assert_eq!(replays, [0, 0, 0, 1, 31, 0, 0, 2, 0]);
        assert_eq!(shared(&atoms, &strided(128), 0b11, 4, 4).degree, exactly(2));
    }
}
