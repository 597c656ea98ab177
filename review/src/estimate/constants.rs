//! What loads from constant memory cost beside their issue: addresses that its cache answers one after another, and lines that it does not hold.
//!
//! All lanes of a warp at one address are a broadcast; each further address is another pass. A walk along a table longer than the cache finds nothing in it
//! that was there before: each warp fetches each line anew, one line at a time for the whole multiprocessor.

use super::weights::Weights;
use warpwright_codegen::analysis::access::{AccessFact, Move, Pattern, Range};
use warpwright_codegen::collections::{HashMap, HashSet};
use warpwright_codegen::ir::{Address, Block, Inst, Kernel, Memory, MemoryOp, Object, ObjectKind, Op, Region, Space};
use warpwright_codegen::library;

/// Bytes of a line.
const LINE: i64 = 64;

/// Bytes of a walk from which on the cache holds nothing of it when it begins anew. On an H200 a walk along 4,000 bytes costs nothing (`experiments::constants` of the
/// kernels), one along 64,000 all of it (the samples of MRI, the atoms of CP); between them nothing was timed.
const WALKED: f64 = 32.0 * 1024.0;

/// One load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ConstantLoad {
    /// Addresses beyond the first.
    pub(super) replays: f64,
    /// Lines that it fetches.
    pub(super) lines: f64,
}

/// The loads of one walk: the loop, the object, the part of it, the bytes that a round goes on.
type Walk = (Inst, Object, u32, i64);

/// Every load that costs more than its issue.
pub(super) fn constant_loads(kernel: &Kernel, weights: &Weights, facts: &[Option<&AccessFact>]) -> HashMap<Inst, ConstantLoad> {
    let mut found: HashMap<Inst, ConstantLoad> = HashMap::default();
    // The walk's first load, and the lines that a round goes to.
    let mut walks: HashMap<Walk, (Inst, HashSet<i64>)> = HashMap::default();
    each(kernel, kernel.body, None, &mut |inst, around| {
        let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { object, .. } }) = &kernel.insts[inst].op else { return };
        let Some(fact) = facts[usize::from(inst)].filter(|_| kernel.objects[*object].space() == Space::Constant) else { return };
        let replays = addresses(kernel, fact) - 1.0;
        if replays > 0.0 {
            found.insert(inst, ConstantLoad { replays, lines: 0.0 });
        }
        let round = fact.moves.map(|moves| moves.round);
        if let (Some(around), Some(Move::Bytes(step)), true) = (around, round, replays <= 0.0)
            && weights.most_rounds(around) * step.unsigned_abs() as f64 > WALKED
        {
            let walk = walks.entry((around, *object, fact.part, step)).or_insert_with(|| (inst, HashSet::default()));
            walk.1.insert(fact.offset.div_euclid(LINE));
        }
    });
    for ((.., step), (first, lines)) in walks {
        let lines = (step.unsigned_abs() as f64 / LINE as f64).min(lines.len() as f64);
        found.entry(first).or_default().lines += lines;
    }
    found
}

/// Goes through a block, each instruction with the innermost loop round it.
fn each(kernel: &Kernel, block: Block, around: Option<Inst>, f: &mut impl FnMut(Inst, Option<Inst>)) {
    for inst in &kernel.blocks[block].insts {
        f(*inst, around);
        let op = &kernel.insts[*inst].op;
        let around = if matches!(op, Op::Region(Region::For { .. } | Region::Loop { .. })) { Some(*inst) } else { around };
        op.blocks().into_iter().for_each(|child| each(kernel, child, around, f));
    }
}

/// Where the lanes' places are not known, those that data sends anywhere meet now and then; those that arithmetic sends do not.
fn addresses(kernel: &Kernel, fact: &AccessFact) -> f64 {
    let object = &kernel.objects[fact.object];
    let elements = (object.ty.size(&kernel.structs) / u64::from(fact.bytes.max(1))).max(1) as f64;
    let lanes = f64::from(fact.lanes.most);
    match (&object.kind, &fact.pattern) {
        (_, Pattern::Constant { addresses: Range { least, most } }) => (f64::from(*least) + f64::from(*most)) / 2.0,
        // The library's own tables are for arguments that few lanes have.
        (ObjectKind::Table(_), _) if object.name == library::TABLE => 1.0,
        _ if !fact.by_data => 1.0,
        _ if fact.by_thread => lanes.min(elements),
        _ => elements * (1.0 - (1.0 - 1.0 / elements).powf(lanes)),
    }
}
