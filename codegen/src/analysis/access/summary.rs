//! What was seen of each instruction, gathered.

use super::condition::Uncertainty;
use super::evaluate::Evaluator;
use super::lanes::{Atom, AtomSource, LaneSum, Lanes, Sum};
use super::parts::Places;
use super::traffic::{self, slope};
use super::walk::{BranchRecord, Record, Walk};
use super::{
    AccessFact, AccessKind, AccessPatterns, BranchFact, Divergence, Move, Moves, Pattern, Races, Range, Total, Warps, Ways, races,
};
use crate::analysis::dependence::{DATA, Dependence};
use crate::collections::{HashMap, HashSet};
use crate::ir::{Address, Inst, Kernel, Memory, MemoryOp, MemoryType, Op, Region, Space, Special};
use crate::target::limits::LANES;

/// Gathers everything.
pub(super) fn summary(walk: &Walk<'_>, warps: Option<Warps>, races: Races) -> AccessPatterns {
    let mut seen: HashMap<Inst, Vec<usize>> = HashMap::default();
    for (n, record) in walk.records.iter().enumerate().filter(|(_, record)| record.again.is_empty()) {
        seen.entry(record.inst).or_default().push(n);
    }
    let mut branches: HashMap<Inst, Vec<&BranchRecord>> = HashMap::default();
    walk.branches.iter().for_each(|record| branches.entry(record.inst).or_default().push(record));
    let mut patterns = AccessPatterns::default();
    let mut places = Places::default();
    let mut order = Vec::new();
    note_order(walk.kernel, walk.kernel.body, &mut Vec::new(), &mut order);
    for (inst, loops, innermost) in order {
        if matches!(&walk.kernel.insts[inst].op, Op::Region(Region::If { .. } | Region::For { .. })) {
            patterns.branches.push(branch(walk, inst, branches.get(&inst).map_or(&[], Vec::as_slice)));
        } else {
            let records: Vec<&Record> = seen.get(&inst).into_iter().flatten().map(|n| &walk.records[*n]).collect();
            if let Some(fact) = access(walk, inst, (loops, innermost), &records, warps) {
                places.add(&walk.values.atoms, fact.object, records.first().and_then(|record| record.address.as_ref().ok()));
                patterns.accesses.push(fact);
            }
        }
    }
    patterns.accesses.iter_mut().zip(places.parts()).for_each(|(fact, place)| (fact.part, fact.is_ahead) = place);
    if races == Races::Sought {
        patterns.races = races::races(walk, warps);
    }
    patterns
}

/// Accesses and branches in program order, with the loops round them: how many, and the innermost.
fn note_order(kernel: &Kernel, block: crate::ir::Block, loops: &mut Vec<Inst>, order: &mut Vec<(Inst, u32, Option<Inst>)>) {
    for inst in &kernel.blocks[block].insts {
        let op = &kernel.insts[*inst].op;
        if matches!(op, Op::Memory(Memory { at: Address::Path(_), .. }) | Op::Region(Region::If { .. } | Region::For { .. })) {
            order.push((*inst, loops.len() as u32, loops.last().copied()));
        }
        let is_loop = kernel.insts[*inst].op.is_loop();
        if is_loop {
            loops.push(*inst);
        }
        op.blocks().into_iter().for_each(|child| note_order(kernel, child, loops, order));
        if is_loop {
            loops.pop();
        }
    }
}

/// How an address goes on, if it is one in all records.
fn moves(walk: &Walk<'_>, (inst, innermost): (Inst, Option<Inst>), records: &[&Record]) -> Option<Moves> {
    let addresses: Option<Vec<&Sum>> = records.iter().map(|record| record.address.as_ref().ok()).collect();
    let addresses = addresses.filter(|addresses| !addresses.is_empty())?;
    let element = element_bytes(walk.kernel, inst);
    let Evaluator { atoms, dependence, .. } = &walk.values;
    let of = |address: &Sum| {
        let reasons = atoms.reasons_of(address);
        let mut moves = Moves { round: Move::Stays, block: [Move::Stays; 3], in_loops: Dependence::has_any_loop(reasons) };
        for (product, lanes) in address.unknown() {
            // Lanes that part are at most as far as the first.
            let factor = match lanes {
                Lanes::Same(factor) => *factor,
                Lanes::Each(_) => lanes.of(0),
            };
            let rows = factor.unsigned_abs().div_ceil(element.unsigned_abs()) as i64 * factor.signum();
            let by = if product.len() == 1 { Move::Bytes(factor) } else { Move::Rows(rows) };
            for atom in product {
                if let AtomSource::Geometry(Special::BlockIdx, axis) = atoms.source(*atom) {
                    moves.block[*axis as usize] = by;
                } else if matches!(atoms.source(*atom), AtomSource::Iteration(inst) if innermost == Some(*inst)) {
                    moves.round = by;
                }
            }
        }
        // What no term says of its own, an unknown number in it may.
        for (axis, step) in moves.block.iter_mut().enumerate() {
            if *step == Move::Stays && Dependence::has_axis(reasons, axis) {
                *step = Move::Somehow;
            }
        }
        if moves.round == Move::Stays && innermost.is_some_and(|inst| reasons & dependence.rounds(inst) != 0) {
            moves.round = Move::Somehow;
        }
        moves
    };
    let first = of(addresses[0]);
    // Rounds that were gone through one by one are no rounds of this kind.
    let one_by_one = innermost.is_some() && records.len() > 1 && first.round == Move::Stays;
    (!one_by_one && addresses.iter().all(|address| of(address) == first)).then_some(first)
}

fn branch(walk: &Walk<'_>, inst: Inst, records: &[&BranchRecord]) -> BranchFact {
    let rank = |divergence: &Divergence| match divergence {
        Divergence::Uniform => 0,
        Divergence::Boundary => 1,
        Divergence::Unknown => 2,
        Divergence::Splits => 3,
    };
    let ways: Vec<Ways> = records.iter().filter(|record| record.divergence == Divergence::Splits).map(|record| record.ways).collect();
    BranchFact {
        inst,
        loc: walk.kernel.insts[inst].loc,
        divergence: records.iter().map(|record| record.divergence).max_by_key(rank).unwrap_or(Divergence::Uniform),
        splits: (ways.len() as u32, records.len() as u32),
        ways,
        uncertainty: records.iter().map(|record| record.uncertainty).max().unwrap_or_default(),
        is_rare: records.iter().all(|record| record.is_rare),
    }
}

/// Bytes of a lane, and of what its address is a multiple.
pub(super) fn widths(kernel: &Kernel, inst: Inst) -> (u32, u32) {
    let data = &kernel.insts[inst];
    let Op::Memory(memory) = &data.op else { return (0, 0) };
    let bytes = memory.scalars(&data.results).iter().map(|value| kernel.ty(*value).bytes()).sum();
    (bytes, bytes)
}

fn access(
    walk: &Walk<'_>,
    inst: Inst,
    (loops, innermost): (u32, Option<Inst>),
    records: &[&Record],
    warps: Option<Warps>,
) -> Option<AccessFact> {
    let kernel = walk.kernel;
    let Op::Memory(Memory { op, at: Address::Path(place) }) = &kernel.insts[inst].op else { return None };
    let object = place.object;
    let space = kernel.objects[object].space();
    if !matches!(space, Space::Global | Space::Shared | Space::Constant) {
        return None;
    }
    let lanes = records.iter().map(|record| record.mask.count_ones());
    let (pattern, total) = pattern(walk, inst, space, records);
    let cache = |record: &&Record| {
        let (width, _) = widths(kernel, inst);
        record.address.as_ref().ok().map(|address| traffic::in_cache(&walk.values.atoms, address, record.mask, u64::from(width)))
    };
    let (lines, bank_passes) = match space {
        Space::Global => records.iter().find_map(cache).unwrap_or((0, 0)),
        Space::Shared => {
            (0, records.iter().find_map(|record| Some(traffic::if_wide(record.address.as_ref().ok()?, record.mask))).unwrap_or(0))
        }
        Space::Param | Space::Constant | Space::Cluster | Space::Local => (0, 0),
    };
    let by_data = records.iter().any(|record| record.address.as_ref().is_err_and(|why| why.is_data));
    Some(AccessFact {
        inst,
        loc: kernel.insts[inst].loc,
        object,
        space,
        kind: AccessKind::of(op),
        bytes: widths(kernel, inst).0,
        pattern,
        by_data,
        by_thread: by_data && walk.values.dependence.of_place(place) & DATA == 0,
        offset: records.first().and_then(|record| record.address.as_ref().ok()).map_or(0, |sum| sum.constant_term().of(0)),
        lanes: Range { least: lanes.clone().min().unwrap_or(0), most: lanes.max().unwrap_or(0) },
        uncertainty: records.iter().map(|record| record.uncertainty).max().unwrap_or(Uncertainty::Data),
        is_rare: records.iter().all(|record| record.is_rare),
        loops,
        total,
        sharing: warps.and_then(|warps| sharing(walk, records, warps)),
        moves: moves(walk, (inst, innermost), records),
        part: 0,
        is_ahead: false,
        lines,
        bank_passes,
    })
}

fn pattern(walk: &Walk<'_>, inst: Inst, space: Space, records: &[&Record]) -> (Pattern, Total) {
    let unknown = (Pattern::Unknown, Total::default());
    let addresses: Option<Vec<&Sum>> = records.iter().map(|record| record.address.as_ref().ok()).collect();
    let Some((addresses, first)) = addresses.and_then(|all| all.first().copied().map(|first| (all, first))) else { return unknown };
    let atoms = &walk.values.atoms;
    let (width, align) = widths(walk.kernel, inst);
    let (width, align) = (u64::from(width), u64::from(align));
    let mut total = Total { requests: records.len() as u32, ..Total::default() };
    let mut seen: Option<Range> = None;
    let mut bytes: Option<Range> = None;
    for (record, address) in records.iter().zip(&addresses) {
        let figure = match space {
            Space::Global => {
                let traffic = traffic::global(atoms, address, record.mask, width, align);
                add(&mut total.figure, traffic.sectors);
                add(&mut total.bytes, traffic.bytes);
                widen(&mut bytes, traffic.bytes);
                traffic.apart
            }
            Space::Shared => {
                let is_load = matches!(walk.kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }));
                let traffic = traffic::shared(atoms, address, record.mask, width, align, is_load);
                add(&mut total.figure, traffic.replays);
                add(&mut total.passes, traffic.passes);
                traffic.degree
            }
            Space::Param | Space::Constant | Space::Cluster | Space::Local => {
                let addresses = traffic::addresses(atoms, address, record.mask);
                add(&mut total.figure, addresses);
                addresses
            }
        };
        widen(&mut seen, figure);
    }
    let figure = seen.unwrap_or_default();
    let row = row(walk.kernel);
    let stride = traffic::stride(first, row).filter(|stride| addresses.iter().all(|other| traffic::stride(other, row) == Some(*stride)));
    let pattern = match space {
        Space::Global => Pattern::Global {
            sectors: figure,
            bytes: bytes.unwrap_or_default(),
            stride,
            step: step(walk, first, element_bytes(walk.kernel, inst)),
        },
        Space::Shared => Pattern::Shared { degree: figure, stride },
        Space::Param | Space::Constant | Space::Cluster | Space::Local => Pattern::Constant { addresses: figure },
    };
    (pattern, total)
}

/// Neighbouring lanes that are neighbours in `thread_idx().x`.
fn row(kernel: &Kernel) -> usize {
    let width = kernel.options.block.map_or(LANES, |block| block[0] as usize);
    if LANES.is_multiple_of(width.max(1)) { width } else { LANES }
}

fn add(sum: &mut Range, more: Range) {
    *sum = Range { least: sum.least + more.least, most: sum.most + more.most };
}

fn widen(range: &mut Option<Range>, other: Range) {
    *range = Some(match *range {
        None => other,
        Some(own) => Range { least: own.least.min(other.least), most: own.most.max(other.most) },
    });
}

/// Warps of a block that are compared where none was looked at by itself: what they share, the others do.
const COMPARED_WARPS: u32 = 8;

/// Warps that touch the same addresses.
fn sharing(walk: &Walk<'_>, records: &[&Record], warps: Warps) -> Option<u32> {
    let mut different: HashSet<LaneSum> = HashSet::default();
    let mut requests = 0;
    for record in records {
        let address = record.address.as_ref().ok()?;
        let of_warps = if warps.one_by_one { 1 } else { warps.number.min(COMPARED_WARPS) };
        for warp in 0..of_warps {
            let address = walk.values.atoms.in_warp(address, warp as usize);
            requests += 1;
            if !walk.values.atoms.is_of_block(&address) {
                // What is one in a warp need not be one in the block: `rows[global_id().x / 32]`.
                return Some(1);
            }
            different.insert(address);
        }
    }
    match different.len() {
        0 => None,
        1 if !warps.one_by_one => Some(warps.number),
        n => Some((requests / n) as u32),
    }
}

/// Bytes of an element of what is accessed, as the source declares it: of a vector the element, not the vector.
fn element_bytes(kernel: &Kernel, inst: Inst) -> i64 {
    let ty = kernel.insts[inst].op.object().map(|object| &kernel.objects[object].ty);
    let bytes = match ty {
        Some(MemoryType::Slice(element)) => element.size(&kernel.structs),
        _ => u64::from(widths(kernel, inst).0),
    };
    bytes.max(1) as i64
}

/// `n`, where lanes are that many elements apart.
fn step(walk: &Walk<'_>, address: &Sum, width: i64) -> Option<String> {
    let mut varying = address.unknown().filter(|(_, lanes)| slope(lanes, row(walk.kernel)) != Some(0));
    let (product, lanes) = varying.next()?;
    if varying.next().is_some() {
        return None;
    }
    let elements = slope(lanes, row(walk.kernel)).filter(|bytes| bytes % width == 0)? / width;
    let names: Option<Vec<String>> = product.iter().map(|atom| name(walk, *atom)).collect();
    let product = names?.join(" * ");
    Some(if elements == 1 { product } else { format!("{elements} * {product}") })
}

fn name(walk: &Walk<'_>, atom: Atom) -> Option<String> {
    let (object, is_length) = walk.values.object_of(atom)?;
    let name = &walk.kernel.objects[object].name;
    Some(if is_length { format!("{name}.len()") } else { name.clone() })
}
