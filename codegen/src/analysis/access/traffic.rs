//! What a request of a warp costs: sectors and bytes of global memory, passes of shared memory, addresses of constant memory. Counted as the
//! simulator counts, over every place where the unknown part of the addresses can lie.

use super::Range;
use super::lanes::{Atoms, Lanes, Mask, Sum, gcd, residues};
use crate::analysis::banks;
use crate::target::limits::{self, LANES};

/// Bytes of a sector.
const SECTOR: i64 = limits::SECTOR as i64;

/// Lanes whose distances are known.
struct Row {
    /// Lane and bytes from the unknown part.
    offsets: Vec<(usize, i64)>,
    /// What divides the unknown part; 0: it is 0.
    step: u64,
}

/// The lanes of a request in rows; from row to row the distance is unknown.
fn rows(atoms: &Atoms, address: &Sum, mask: Mask) -> Vec<Row> {
    let known = address.constant_term();
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
    /// All passes.
    pub(super) passes: Range,
    /// Passes beyond the least its width needs, as the simulator counts them.
    pub(super) replays: Range,
}

/// Of a request to shared memory, as [`banks`] counts. Rows at unknown distance meet everywhere or nowhere.
pub(super) fn shared(atoms: &Atoms, address: &Sum, mask: Mask, width: u64, align: u64, is_load: bool) -> SharedTraffic {
    let rows = rows(atoms, address, mask);
    let of_row = |row: &Row| {
        let lowest = row.offsets.iter().map(|(_, offset)| *offset).min().unwrap_or(0);
        let lanes = row.offsets.iter().fold(0, |mask, (lane, _)| mask | 1 << lane);
        // What lanes of other rows read decides whether parts go together.
        let together: &[bool] = if rows.len() > 1 && is_load { &[true, false] } else { &[is_load] };
        let at = |(place, is_load): (i64, bool)| {
            let mut offsets = [0u64; LANES];
            // From a multiple of all banks on, the lowest lane where it is in its bank.
            let begin = (lowest + place).rem_euclid(128) - lowest;
            row.offsets.iter().for_each(|(lane, offset)| offsets[*lane] = (begin + offset) as u64);
            banks::passes(&offsets, lanes, width, is_load)
        };
        let places = row.places(4, align.min(4)).into_iter();
        let all: Vec<banks::Passes> = places.flat_map(|place| together.iter().map(move |is_load| (place, *is_load))).map(at).collect();
        let range = |of: &dyn Fn(&banks::Passes) -> u32| range(all.iter().map(of));
        [range(&|p| p.ways), range(&|p| p.passes), range(&banks::Passes::conflicts)]
    };
    let each: Vec<[Range; 3]> = rows.iter().map(of_row).collect();
    let [degree, passes, replays] = [0, 1, 2].map(|n| together(each.iter().map(|row| row[n])).0);
    let least = |range: Range, least: u32| Range { least: range.least.max(least), most: range.most.max(least) };
    SharedTraffic { degree: least(degree, 1), passes: least(passes, 1), replays }
}

/// Lines of 128 bytes that a request to global memory touches, where they begin at one, and passes through the L1 cache for its banks, which
/// are those of shared memory.
///
/// Rows at unknown distance have lines of their own, and do not meet in banks.
pub(super) fn in_cache(atoms: &Atoms, address: &Sum, mask: Mask, width: u64) -> (u32, u32) {
    let of_row = |row: &Row| {
        let lowest = row.offsets.iter().map(|(_, offset)| *offset).min().unwrap_or(0);
        let mut offsets = [0u64; LANES];
        row.offsets.iter().for_each(|(lane, offset)| offsets[*lane] = (offset - lowest) as u64);
        let lanes = row.offsets.iter().fold(0, |mask, (lane, _)| mask | 1 << lane);
        let mut lines: Vec<u64> =
            row.offsets.iter().flat_map(|(lane, _)| [offsets[*lane] / 128, (offsets[*lane] + width - 1) / 128]).collect();
        lines.sort_unstable();
        lines.dedup();
        (lines.len() as u32, banks::passes(&offsets, lanes, width, true).passes)
    };
    let each = rows(atoms, address, mask);
    each.iter().map(of_row).fold((0, 1), |(lines, passes), row| (lines + row.0, passes.max(row.1)))
}

/// Passes of a load of the 16 aligned bytes round each lane's place in shared memory; 0 if lanes are at unknown distance.
pub(super) fn if_wide(address: &Sum, mask: Mask) -> u32 {
    if !address.has_one_base() {
        return 0;
    }
    let known = address.constant_term();
    let lowest = (0..LANES).filter(|lane| mask >> lane & 1 == 1).map(|lane| known.of(lane)).min().unwrap_or(0);
    let begin = lowest.div_euclid(128) * 128;
    let offsets = std::array::from_fn(|lane| (known.of(lane) - begin).max(0) as u64 / 16 * 16);
    banks::passes(&offsets, mask, 16, true).passes
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
    slope(&address.constant_term(), row)
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
    use crate::analysis::access::lanes::AtomSource;
    use crate::ir::{Axis, Special};

    fn strided(stride: i64) -> Sum {
        Sum::known(64, &Lanes::each(std::array::from_fn(|lane| lane as i64 * stride)))
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
        let n = Sum::atom(64, atoms.get(AtomSource::Geometry(Special::GridDim, Axis::X), 1, None, 0));
        let begin = |factor: i64| Sum::number(64, factor).times(&n).unwrap();
        let shifted = global(&atoms, &strided(4).plus(&begin(4), 1), Mask::MAX, 4, 4);
        assert_eq!(shifted.sectors, Range { least: 4, most: 5 });
        assert_eq!(global(&atoms, &strided(4).plus(&begin(32), 1), Mask::MAX, 4, 4).sectors, exactly(4));
        // A vector begins at its own multiple: half as many places.
        assert_eq!(global(&atoms, &strided(16).plus(&begin(4), 1), Mask::MAX, 16, 16).sectors, Range { least: 16, most: 17 });
        // Two rows of 16 lanes.
        let halves = Sum::known(64, &Lanes::each(std::array::from_fn(|lane| 4 * (lane as i64 / 16)))).times(&n).unwrap();
        let inside = Sum::known(64, &Lanes::each(std::array::from_fn(|lane| 4 * (lane as i64 % 16))));
        let rows = global(&atoms, &halves.plus(&inside, 1), Mask::MAX, 4, 4);
        assert_eq!((rows.sectors, rows.apart), (Range { least: 2, most: 5 }, Range { least: 4, most: 5 }));
        assert_eq!(rows.bytes, Range { least: 64, most: 128 });
    }

    #[test]
    fn passes_follow_the_banks() {
        let atoms = Atoms::default();
        let of = |stride, width| shared(&atoms, &strided(stride), Mask::MAX, width, width, true).replays.exact();
        let strides = [(4, 4), (0, 4), (1, 1), (8, 4), (128, 4), (132, 4), (8, 8), (16, 8), (16, 16)];
        let replays = strides.map(|(stride, width)| of(stride, width).unwrap());
        assert_eq!(replays, [0, 0, 0, 1, 31, 0, 0, 2, 0]);
        assert_eq!(shared(&atoms, &strided(128), 0b11, 4, 4, true).degree, exactly(2));
    }
}
