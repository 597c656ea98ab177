//! Rings that the copy engine fills (sm_90 on): in the form of a kernel for targets that have it, where all copies of a loop are collectives that it makes.
//!
//! ```text
//!                                 // where the kernel begins
//!                                 if t == 0 { barrier_init barriers }
//!                                 sync_threads()
//!                                 …
//! for k in a..b {                 for j in 0..S-1 { if j < trips { copy(a + j, slot j) } }
//!     load_run(tile, x, f(k))     for k in a..b carrying read = 0, parity = 0 {
//!     sync_threads()                  barrier_wait barriers[read], parity; sync_threads()
//!     work(tile)             ▶        if left(k) > S - 1 { copy(k + S - 1, slot read - 1) }
//!     sync_threads()                  work(slot read)
//! }                                   read = read + 1 mod S; parity ^= read == 0
//!                                 }
//!                                 sync_threads()
//! ```
//!
//! Each slot has a barrier, whose phase is over when the bytes of its copies have arrived; `copy` is what [`super::super::collectives::by_engine`] makes. The one barrier of the
//! block in an iteration says that nobody reads the slot that is filled next; no thread but the first does anything about copies. The phases of
//! a loop that runs again go on where they stood ([`Engine::Turn`]): with the slot and the parity behind the last ones. All loops of a `persistent` kernel run again:
//! its barriers are made once, before the loop over blocks (`passes::PLACE`).

use super::super::Refusal;
use super::super::collectives;
use super::{Plan, all_in, moves};
use crate::annotations::Modifier;
use crate::intrinsics::by_name;
use crate::ir::{
    Access, Asked, BARRIER, Builder, Collective, Engine, Inst, Kernel, Loc, MemoryType, Object, ObjectData, ObjectKind, Op, Region, Scalar,
    Scope, Step, Type, Value,
};

/// The barriers of a pipelined loop: one for each slot.
#[derive(Clone, Copy)]
pub(super) struct Barriers {
    array: Object,
    /// How many threads arrive in each phase.
    arrivals: u32,
}

impl Barriers {
    /// New ones, for so many slots.
    pub(super) fn new(kernel: &mut Kernel, name: &str, (stages, arrivals): (u32, u32), loc: Loc) -> Barriers {
        let ty = MemoryType::Array(Box::new(MemoryType::Scalar(BARRIER)), stages.into());
        let array = kernel.objects.push(ObjectData { name: name.into(), kind: ObjectKind::Shared, ty, loc });
        Barriers { array, arrivals }
    }

    /// That of a slot.
    pub(super) fn of(self, slot: Value) -> Access {
        Access { object: self.array, path: vec![Step::Index(slot)] }
    }

    /// Arrives at that of a slot: the block's own, or that of the cluster's block of a rank.
    pub(super) fn arrive(self, b: &mut Builder<'_>, slot: Value, of_block: Option<Value>) {
        b.push(Op::Engine(Engine::Arrive { barrier: self.of(slot), of_block }), &[]);
    }

    /// Waits for a phase of that of a slot.
    pub(super) fn wait(self, b: &mut Builder<'_>, slot: Value, parity: Value) {
        b.push(Op::Engine(Engine::Wait { barrier: self.of(slot), parity }), &[]);
    }

    /// Where the ring stands: the slot and the parity that come next.
    pub(super) fn turn(self, b: &mut Builder<'_>) -> (Value, Value) {
        let turn = b.push(Op::Engine(Engine::Turn(self.array)), &[Type::U32; 2]);
        let results = &b.kernel.insts[turn].results;
        (results[0], results[1])
    }

    /// Leaves it there.
    pub(super) fn keep_turn(self, b: &mut Builder<'_>, slot: Value, parity: Value) {
        b.push(Op::Engine(Engine::KeepTurn { barriers: self.array, slot, parity }), &[]);
    }
}

/// Makes the barriers of all loops, where all threads begin; those of loops that run again count on from here. `meets`: what has others see them.
pub(super) fn begin(kernel: &mut Kernel, barriers: &[Barriers], run_again: &[Barriers], meets: &str) {
    let Some(first) = barriers.first() else { return };
    let (body, loc) = (kernel.body, kernel.objects[first.array].loc);
    let behind = std::mem::take(&mut kernel.blocks[body].insts);
    let mut b = Builder::new(kernel, body, loc);
    let zero = b.constant(Scalar::u32(0));
    run_again.iter().for_each(|barriers| barriers.keep_turn(&mut b, zero, zero));
    let is_first = b.is_first_thread();
    b.if_else(
        is_first,
        |b| {
            for barriers in barriers {
                b.push(Op::Engine(Engine::Init { barriers: barriers.array, arrivals: barriers.arrivals }), &[]);
            }
            Vec::new()
        },
        |_| Vec::new(),
    );
    if let Some(row) = by_name(meets, None) {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
    kernel.blocks[body].insts.extend(behind);
}

impl Plan {
    /// R8: why the engine cannot make the copies of this loop, which `said` asks for.
    pub(super) fn engine_obstacle(&self, kernel: &Kernel, by: Modifier, said: Modifier) -> Option<Refusal> {
        let name = said.name();
        let mut collectives: Vec<&Collective> = Vec::new();
        for inst in self.section.iter().filter(|inst| moves(kernel, **inst)) {
            let Op::Collective(collective) = &kernel.insts[*inst].op else {
                if let Some(refusal) = held_up(kernel, *inst, name) {
                    return Some(refusal);
                }
                let message =
                    format!("`{name}`: before the barrier threads copy elements, each its own, and such a copy is one of the block");
                let how = if by == Modifier::ByTma { "load_tile(&mut tile, a, row, column)" } else { "load_run(&mut run, x, start)" };
                let refusal = Refusal::new(message, format!("copy with `{how}`, or leave `by` out"));
                let moving = all_in(kernel, &[*inst]).into_iter().find(|inner| kernel.effects(*inner).writes.is_some()).unwrap_or(*inst);
                return Some(refusal.label(kernel.insts[moving].loc, "copied here"));
            };
            collectives.push(collective);
        }
        if let Some(refusal) = collectives.iter().find_map(|collective| written(kernel, collective.buffer(), name)) {
            return Some(refusal);
        }
        let of_stores = || if by == Modifier::ByTma { self.store_obstacle(kernel) } else { None };
        collectives::obstacle(kernel, &collectives, by, said).or_else(of_stores)
    }

    /// Whether the engine may make the copies of this loop: it can, and the source does not ask for anything else.
    pub(super) fn is_for_engine(&self, kernel: &Kernel, asked: &Asked) -> bool {
        if self.is_out {
            return asked.by() == Some(Modifier::ByTma) && self.store_obstacle(kernel).is_none();
        }
        // Tiles need matrices whose pitch is a multiple of 16 bytes, which only a launch knows: who writes `by = tma` promises it.
        let by = asked.by().unwrap_or(Modifier::ByBulk);
        matches!(by, Modifier::ByBulk | Modifier::ByTma) && self.engine_obstacle(kernel, by, by).is_none()
    }
}

/// Why the engine cannot make a copy of the block that an `if` or a loop holds: one thread asks for each copy, once an iteration, and all threads wait for its bytes.
fn held_up(kernel: &Kernel, region: Inst, name: &str) -> Option<Refusal> {
    let copy = all_in(kernel, &[region]).into_iter().find(|inner| matches!(kernel.insts[*inner].op, Op::Collective(_)))?;
    let (stands, help) = if matches!(kernel.insts[region].op, Op::Region(Region::If { .. })) {
        ("under a condition", "choose what to copy before, `let row = if … { … } else { … };`, and copy once")
    } else {
        ("in a loop of its own", "write `#[unroll]` on that loop, each copy into an array of its own")
    };
    let message = format!("`{name}`: a copy stands {stands}, and the engine makes each copy once in every iteration");
    Some(Refusal::new(message, format!("{help}, or leave `by` out")).label(kernel.insts[copy].loc, "copied here"))
}

/// Why the engine cannot copy from a buffer: it does not see what threads have just written as they do.
fn written(kernel: &Kernel, buffer: Object, name: &str) -> Option<Refusal> {
    if kernel.objects[buffer].is_read_only() {
        return None;
    }
    let mut found = None;
    kernel.for_each_inst(|kernel, _, inst| {
        let effects = kernel.effects(inst);
        if effects.writes == Some(buffer) || effects.orders >= Some(Scope::Device) {
            found.get_or_insert(inst);
        }
    });
    let array = &kernel.objects[buffer].name;
    let message = format!("`{name}`: the copy engine does not see what this kernel, or another block, writes to `{array}`");
    let refusal = Refusal::new(message, "copy what is written in a kernel of its own, or leave `by` out");
    Some(refusal.label(kernel.insts[found?].loc, "written, or learnt of, here"))
}

/// Takes the collectives among instructions that were just put at the end of a block out of it again, with their places: the engine makes them. What
/// they are computed of stays.
pub(super) fn taken_out(b: &mut Builder<'_>, copies: &[Inst]) -> Vec<(Collective, Loc)> {
    let block = b.block;
    let insts = std::mem::take(&mut b.kernel.blocks[block].insts);
    let is_taken = |inst: &Inst| copies.contains(inst) && matches!(b.kernel.insts[*inst].op, Op::Collective(_));
    b.kernel.blocks[block].insts = insts.into_iter().filter(|inst| !is_taken(inst)).collect();
    let one = |inst: &Inst| {
        let Op::Collective(collective) = &b.kernel.insts[*inst].op else { return None };
        Some((collective.clone(), b.kernel.insts[*inst].loc))
    };
    copies.iter().filter_map(one).collect()
}
