//! Rings that the copy engine fills (sm_90 on): in the form of a kernel for targets that have it, where all copies of a loop are collectives that it makes.
//!
//! ```text
//! for k in a..b {                 if t == 0 { barrier_init barriers }
//!     load_run(tile, x, f(k))     for j in 0..S-1 { if j < trips { copy(a + j, slot j) } }
//!     sync_threads()              sync_threads()
//!     work(tile)             ▶    for k in a..b carrying read = 0, parity = 0 {
//!     sync_threads()                  barrier_wait barriers[read], parity; sync_threads()
//! }                                   if left(k) > S - 1 { copy(k + S - 1, slot read - 1) }
//!                                     work(slot read)
//!                                     read = read + 1 mod S; parity ^= read == 0
//!                                 }
//!                                 sync_threads(); if t == 0 { barrier_end barriers }
//! ```
//!
//! Each slot has a barrier, whose phase is over when the bytes of its copies have arrived; `copy` is what [`super::super::collectives::by_engine`] makes. The one barrier of the
//! block in an iteration says that nobody reads the slot that is filled next; no thread but the first does anything about copies. The barriers are made
//! for one run of the loop, whose first phase is 0: a loop that runs again makes them again, so that no phase is counted beyond it.

use super::super::Refusal;
use super::super::collectives;
use super::{Plan, all_in, moves};
use crate::annotations::Modifier;
use crate::intrinsics::{by_name, called};
use crate::ir::{
    Access, Asked, Axis, BARRIER, Builder, Collective, CompareOp, Engine, Inst, Kernel, Loc, MemoryType, Object, ObjectData, ObjectKind, Op,
    Scalar, Special, Step, Value,
};

/// The barriers of a pipelined loop: one for each slot.
#[derive(Clone, Copy)]
pub(super) struct Barriers(Object);

impl Barriers {
    /// New ones, for so many slots.
    pub(super) fn new(kernel: &mut Kernel, stages: u32, loc: Loc) -> Barriers {
        let ty = MemoryType::Array(Box::new(MemoryType::Scalar(BARRIER)), stages.into());
        Barriers(kernel.objects.push(ObjectData { name: "arrived".into(), kind: ObjectKind::Shared, ty, loc }))
    }

    /// That of a slot.
    pub(super) fn of(self, slot: Value) -> Access {
        Access { object: self.0, path: vec![Step::Index(slot)] }
    }

    /// Makes them.
    pub(super) fn init(self, b: &mut Builder<'_>) {
        by_first_thread(b, Engine::Init(self.0));
    }

    /// Ends them, so that they can be made again.
    pub(super) fn end(self, b: &mut Builder<'_>) {
        by_first_thread(b, Engine::End(self.0));
    }

    /// Waits for what was copied into a slot.
    pub(super) fn wait(self, b: &mut Builder<'_>, slot: Value, parity: Value) {
        b.push(Op::Engine(Engine::Wait { barrier: self.of(slot), parity }), &[]);
    }
}

/// All threads of the block wait for each other.
pub(super) fn sync_threads(b: &mut Builder<'_>) {
    if let Some(row) = by_name(called::SYNC_THREADS, None) {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
}

/// The first thread of the block does it.
fn by_first_thread(b: &mut Builder<'_>, engine: Engine) {
    let zero = b.constant(Scalar::u32(0));
    let mut all: Option<Value> = None;
    for (axis, _) in Axis::ALL.iter().copied() {
        // An axis of one thread has no other.
        if b.kernel.options.block.is_some_and(|block| block[axis as usize] == 1) {
            continue;
        }
        let at = b.special(Special::ThreadIdx, axis);
        all = Some(all.map_or(at, |all| b.binary(crate::ir::BinaryOp::Or, all, at)));
    }
    let at = all.unwrap_or(zero);
    let is_first = b.compare(CompareOp::Eq, at, zero);
    b.if_else(
        is_first,
        |b| {
            b.push(Op::Engine(engine), &[]);
            Vec::new()
        },
        |_| Vec::new(),
    );
}

impl Plan {
    /// R8: why the engine cannot make the copies of this loop.
    pub(super) fn engine_obstacle(&self, kernel: &Kernel) -> Option<Refusal> {
        let mut collectives: Vec<&Collective> = Vec::new();
        for inst in self.section.iter().filter(|inst| moves(kernel, **inst)) {
            let Op::Collective(collective) = &kernel.insts[*inst].op else {
                let message = "`by = bulk`: before the barrier threads copy elements, each its own, and a bulk copy is one run";
                let refusal = Refusal::new(message, "copy with `load_run(&mut run, x, start)`, or leave `by` out");
                let moving = all_in(kernel, &[*inst]).into_iter().find(|inner| kernel.effects(*inner).writes.is_some()).unwrap_or(*inst);
                return Some(refusal.label(kernel.insts[moving].loc, "copied here"));
            };
            collectives.push(collective);
        }
        collectives::obstacle(kernel, &collectives)
    }

    /// Whether the engine may make the copies of this loop: it can, and the source does not ask for anything else.
    pub(super) fn is_for_engine(&self, kernel: &Kernel, asked: &Asked) -> bool {
        matches!(asked.by(), None | Some(Modifier::ByBulk)) && self.engine_obstacle(kernel).is_none()
    }
}

/// Takes collectives that were just put at the end of a block out of it again, with their places: the engine makes them.
pub(super) fn taken_out(b: &mut Builder<'_>, copies: &[Inst]) -> Vec<(Collective, Loc)> {
    let block = b.block;
    b.kernel.blocks[block].insts.retain(|inst| !copies.contains(inst));
    let one = |inst: &Inst| match &b.kernel.insts[*inst].op {
        Op::Collective(collective) => Some((collective.clone(), b.kernel.insts[*inst].loc)),
        _ => None,
    };
    copies.iter().filter_map(one).collect()
}
