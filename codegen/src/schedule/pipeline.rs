//! `#[pipeline(stages = S)]`: while an iteration works on what it copied into shared arrays, the copies of the next S − 1 iterations are on their way.
//!
//! ```text
//! for k in a..b {                 for j in 0..S-1 { if j < trips { copy(a + j, slot j) }; commit }
//!     tile = x[k]                 for k in a..b carrying read = 0 {
//!     sync_threads()                  await(S - 2); sync_threads()
//!     work(tile)             ▶        if left(k) > S - 1 { copy(k + S - 1, slot read - 1) }; commit
//!     sync_threads()                  work(slot read)
//! }                                   read = read + 1 mod S
//!                                 }
//!                                 sync_threads()
//! ```
//!
//! The arrays that the copy section (what stands before the first barrier) stores to become **rings** of S slots (`Kernel::rings`). A target that copies
//! by itself, from sm_80 on, makes `cp.async` of their stores; elsewhere they are stores. `commit` makes a group of a thread's copies, and
//! `await(n)` waits for all of its groups but the last n. The one barrier tells all threads that the slot they read has arrived, and that nobody
//! reads the slot that is filled next, which was read one iteration before. The barrier that closed the body stands behind the loop. There are a prologue
//! and no epilogue: groups at the end are empty.
//!
//! Where collectives make all copies, there is another form for targets that have a copy engine: [`engine`], and [`producer`]; with `by = tma`, the engine makes the work's
//! `store_tile`s, too: [`stores`]. Loops that compute what they write to the array, and only store it behind the barrier, go the other way: [`out`]. When all that is legal,
//! [`rules`] says.

mod apart;
mod engine;
mod fills;
mod multicast;
mod out;
mod producer;
mod rules;
mod slots;
mod stores;

use super::collectives::by_engine;
use super::copy::{loops, parts};
use super::groups::Counted;
use super::loads::visit;
use super::products::Products;
use super::{Refusal, Schedule, roles};
use crate::annotations::{Modifier, PIPELINE, PREFETCH};
use crate::collections::{HashMap, HashSet};
use crate::intrinsics::{by_name, called};
use crate::ir::Copy;
use crate::ir::{
    Asked, BinaryOp, Block, Builder, CompareOp, Engine, Fill, Inst, Kernel, Memory, MemoryOp, Object, ObjectKind, Op, Region, Scalar,
    Scope, Space, StoreStage, Tensor, Terminator, Type, Value,
};
use engine::Barriers;
use multicast::Multicast;
use slots::{Homes, in_slot};
use stores::Stores;

/// What a slot begins at multiples of: the widest access.
const SLOT_ALIGN: u64 = 16;

/// Runs it, on inner loops first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    let mut asked: Vec<(Inst, Asked)> = Vec::new();
    // Accesses of loops that are asked for one stage: these stay as they are.
    let mut plain = HashSet::default();
    for (inst, _) in loops(schedule.kernel, |annotations| annotations.has(&PIPELINE)) {
        let Some(annotations) = schedule.kernel.annotations.get_mut(&inst) else { continue };
        let Some(one) = annotations.take(&PIPELINE) else { continue };
        if one.count() > 1 {
            asked.push((inst, one));
        } else {
            plain.extend(schedule.kernel.insts[inst].op.blocks().iter().flat_map(|block| schedule.kernel.insts_in(*block)));
        }
    }
    // Loops may share arrays. One that stays as it is after all touches its arrays like everybody else.
    let mut refused = false;
    loop {
        let all: HashSet<Inst> =
            asked.iter().flat_map(|(inst, _)| all_in(schedule.kernel, &[*inst])).chain(plain.iter().copied()).collect();
        let check = |(inst, one): &(Inst, Asked)| {
            Plan::of(schedule.kernel, *inst, one).and_then(|plan| plan.check(schedule.kernel, one, &all)).err()
        };
        let found: Vec<Option<Refusal>> = asked.iter().map(check).collect();
        let mut is_settled = true;
        let mut kept = Vec::new();
        for (one, refusal) in asked.into_iter().zip(found) {
            match refusal {
                None => kept.push(one),
                Some(refusal) => {
                    let is_soft = one.1.says(Modifier::BestEffort);
                    is_settled &= !is_soft;
                    refused |= !is_soft;
                    schedule.refuse(&one.1, refusal);
                }
            }
        }
        asked = kept;
        if is_settled {
            break;
        }
    }
    // What has an error is of no use, and its loops may share arrays with those that are left.
    if refused {
        return;
    }
    let mut plans: Vec<(Plan, Asked)> = Vec::new();
    for (inst, one) in asked {
        plans.extend(Plan::of(schedule.kernel, inst, &one).ok().map(|plan| (plan, one)));
    }
    let (choices, refusals) = fills::choose(schedule.kernel, &plans);
    let mut refused = false;
    for (n, refusal) in refusals {
        let asked = &plans[n].1;
        refused |= !asked.says(Modifier::BestEffort);
        schedule.refuse(asked, refusal);
    }
    if refused {
        return;
    }
    schedule.wanted.engine |= choices.iter().any(|choice| choice.by_engine);
    let is_produced = |one: &Asked, choice: &fills::Choice| schedule.form.engine && choice.by_engine && one.says(Modifier::Producer);
    let produced: Vec<&Plan> =
        plans.iter().zip(&choices).filter(|((_, one), choice)| is_produced(one, choice)).map(|((plan, _), _)| plan).collect();
    let multicast = Multicast::of(schedule.kernel, &produced);
    // Several loops part a slot alike.
    let mut seen: HashSet<Object> = HashSet::default();
    let rings = plans.iter().flat_map(|(plan, _)| plan.rings.iter().copied());
    let shared: HashSet<Object> = rings.filter(|ring| !seen.insert(*ring)).collect();
    let is_by_warpgroups = !produced.is_empty() && schedule.form.products == Products::Warpgroup;
    let meets = if multicast.is_some() { called::CLUSTER_SYNC } else { called::SYNC_THREADS };
    let mut homes = Homes { plain, multicast, ..Homes::default() };
    let has_several = producer::has_several(&plans);
    for ((plan, one), choice) in plans.into_iter().zip(choices) {
        let is_engines = schedule.form.engine && choice.by_engine;
        let fill = match (is_engines, plan.is_out) {
            (true, false) => Fill::Engine,
            (true, true) => Fill::EngineOut,
            (false, true) => Fill::Out,
            (false, false) => choice.otherwise,
        };
        // A plan names instructions, and the loops before have moved some.
        let Ok(plan) = Plan::of(schedule.kernel, plan.inst, &one) else { continue };
        let is_produced = one.says(Modifier::Producer);
        let stores = is_engines && one.by() == Some(Modifier::ByTma) && !plan.stores(schedule.kernel).is_empty();
        let until = stores.then(|| {
            let mut affine = schedule.around(plan.inst).affine();
            plan.stores_until(schedule.kernel, &mut affine)
        });
        let way = Way { fill, by: choice.by.or(is_produced.then_some(Modifier::Producer)), until };
        if plan.is_out {
            let is_apart = is_by_warpgroups && until.is_some() && !plan.rings.iter().any(|ring| shared.contains(ring));
            let groups = if is_apart { plan.warpgroups(schedule.kernel) } else { None };
            plan.apply_out(schedule.kernel, &one, way, groups, &mut homes);
        } else if is_produced && fill == Fill::Engine {
            plan.apply_with_producer(schedule.kernel, &one, way, has_several, &mut homes);
        } else {
            plan.apply(schedule.kernel, &one, way, &mut homes);
        }
    }
    roles::part(schedule.kernel, &homes.produced);
    if homes.multicast.is_some() {
        roles::meet_behind(schedule.kernel);
    }
    engine::begin(schedule.kernel, &homes.barriers, &homes.run_again, meets);
}

/// What moves what a loop copies.
#[derive(Clone, Copy)]
struct Way {
    fill: Fill,
    /// What the source asks for.
    by: Option<Modifier>,
    /// If the engine makes the work's stores: what one waits for of those before.
    until: Option<StoreStage>,
}

impl Way {
    /// Waits until all that the engine stores is in memory, behind a loop.
    fn await_all_stores(self, b: &mut Builder<'_>) {
        if self.until.is_some() {
            b.in_first_thread(|b| b.await_stores(0, StoreStage::Done));
        }
    }
}

/// A loop that can be pipelined.
struct Plan {
    inst: Inst,
    walk: Counted,
    stages: u32,
    /// What copies, in order, and what that is computed of.
    section: Vec<Inst>,
    /// The barrier behind it.
    barrier: Inst,
    work: Vec<Inst>,
    /// The barrier at the end.
    closing: Inst,
    /// The arrays that are written by the copies.
    rings: Vec<Object>,
    /// Whether what is copied is what leaves them: the section computes, and the work stores.
    is_out: bool,
}

impl Plan {
    fn of(kernel: &Kernel, inst: Inst, asked: &Asked) -> Result<Plan, Refusal> {
        if kernel.annotations.get(&inst).is_some_and(|annotations| annotations.has(&PREFETCH)) {
            let message = "`pipeline` and `prefetch` on one loop: both are about when its copies are issued";
            return Err(Refusal::new(message, "keep one of them"));
        }
        let walk = Counted::of(kernel, inst)
            .ok_or_else(|| Refusal::new("the iterations of this loop cannot be counted", "write it as `for i in a..b`"))?;
        let (insts, last) = parts(kernel, walk.body);
        rules::goes_round_together(kernel, inst, walk.body)?;
        // Those of a cluster are for other blocks, too, and stay.
        let is_sync = |inst: &Inst| {
            let effects = kernel.effects(*inst);
            effects.is_barrier() && effects.converges == Some(Scope::Block) && kernel.insts[*inst].results.is_empty()
        };
        let first = insts.iter().position(is_sync);
        let no_barrier = |help: &str| match stores(kernel, &insts).first() {
            Some(store) => {
                let message = format!("`pipeline`: the body has no barrier between writing {} and reading it", name(kernel, *store));
                Refusal::new(message, help).label(kernel.insts[*store].loc, "written here")
            }
            None => Refusal::new("`pipeline`: this loop copies nothing into a shared array", "leave `pipeline` out"),
        };
        let (Some(first), Some(closing)) = (first, insts.last().copied()) else {
            return Err(no_barrier("add `sync_threads();` behind the copies, and another one as the body's last statement"));
        };
        if first + 1 == insts.len() {
            return Err(no_barrier("add `sync_threads();` behind the copies"));
        }
        if !is_sync(&closing) {
            let message =
                "`pipeline`: the body does not end with a barrier: the next iteration's copies would overwrite what threads still read";
            let refusal = Refusal::new(message, "add `sync_threads();` as the last statement of the body");
            return Err(refusal.label(kernel.insts[closing].loc, "the body's last statement"));
        }
        if last.is_none_or(|last| !matches!(kernel.insts[last].op, Op::Terminator(Terminator::Yield(_)))) {
            return Err(Refusal::new("`pipeline`: every iteration leaves this loop", "leave `pipeline` out"));
        }
        let (section, barrier, work) = (insts[..first].to_vec(), insts[first], insts[first + 1..insts.len() - 1].to_vec());
        let mut rings: Vec<Object> = Vec::new();
        for store in stores(kernel, &section) {
            let object = kernel.insts[store].op.object().filter(|object| !rings.contains(object));
            rings.extend(object);
        }
        if rings.is_empty() {
            return Err(rules::nothing_is_copied(kernel, &section, barrier, &work));
        }
        let is_out = out::is_out(kernel, &section, &work, &rings);
        Ok(Plan { inst, walk, stages: asked.count(), section, barrier, work, closing, rings, is_out })
    }

    /// Lets the loop carry a value more.
    fn carry(&self, kernel: &mut Kernel, ty: Type, first: Value) -> Value {
        kernel.add_result(self.inst, ty);
        if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[self.inst].op {
            init.push(first);
        }
        kernel.add_param(self.walk.body, ty)
    }

    /// Builds what stands right before the loop, or right behind it.
    fn beside<R>(&self, kernel: &mut Kernel, is_behind: bool, build: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let block = self.block(kernel);
        let at = kernel.blocks[block].insts.iter().position(|other| *other == self.inst).unwrap_or(0) + usize::from(is_behind);
        let rest = kernel.blocks[block].insts.split_off(at);
        let result = build(&mut Builder::new(kernel, block, self.walk.loc));
        kernel.blocks[block].insts.extend(rest);
        result
    }

    /// Makes it one.
    fn apply(self, kernel: &mut Kernel, asked: &Asked, way: Way, homes: &mut Homes) {
        let fill = way.fill;
        let rings = self.make_rings(kernel, asked, way, homes);
        let block = self.block(kernel);
        let (walk, loc, n) = (&self.walk, self.walk.loc, self.stages - 1);
        let barriers = (fill == Fill::Engine).then(|| Barriers::new(kernel, "arrived", (self.stages, 1), asked.place));
        // The barriers of a loop that runs again count on.
        let turn = barriers.filter(|_| self.runs_again(kernel));
        // Before the loop: the first iterations' copies.
        let at = kernel.blocks[block].insts.iter().position(|other| *other == self.inst).unwrap_or(0);
        let behind = kernel.blocks[block].insts.split_off(at);
        let trips = trips(kernel, block, walk);
        let mut b = Builder::new(kernel, block, loc);
        let [zero, one, ahead] = [0, 1, n].map(|number| b.constant(Scalar::u32(number)));
        let trips_type = b.kernel.ty(trips);
        let is_by_one = b.kernel.constant(walk.step).is_some_and(|step| step.as_int() == 1);
        // Where the counter goes up by one, its low bits are a slot: nothing is carried, and in an unrolled loop it is known.
        let of_counter = is_by_one && self.stages.is_power_of_two() && turn.is_none();
        homes.run_again.extend(turn);
        let (first_slot, first_parity) = turn.map_or((zero, zero), |turn| turn.turn(&mut b));
        if let Some(barriers) = barriers {
            homes.barriers.push(barriers);
        }
        let rotates = turn.is_some();
        let init = if rotates { vec![first_slot] } else { Vec::new() };
        b.for_each([zero, ahead, one], &init, |b, number, carried| {
            let wide = b.cast(number, trips_type);
            let some = b.compare(CompareOp::Lt, wide, trips);
            let counter = counter_after(b, walk, wide);
            let slot = match carried.first() {
                Some(slot) => *slot,
                None if of_counter => self.slot_of(b, counter),
                None => number,
            };
            self.issue(b, some, counter, slot, (&rings, fill, barriers));
            if rotates { vec![self.after(b, slot).0] } else { Vec::new() }
        });
        kernel.blocks[block].insts.extend(behind);
        // The loop carries the slot that is read, and how many iterations are left, its own counted in, if the counter does not tell.
        let carried_slot = (!of_counter).then(|| self.carry(kernel, Type::U32, first_slot));
        if let Some(slot) = carried_slot {
            kernel.values[slot].name = Some("slot".into());
        }
        let carried_parity = (barriers.is_some() && !of_counter).then(|| self.carry(kernel, Type::U32, first_parity));
        if let Some(parity) = carried_parity {
            kernel.values[parity].name = Some("parity".into());
        }
        let results = kernel.insts[self.inst].results.clone();
        let carried_left = (!is_by_one).then(|| self.carry(kernel, trips_type, trips));
        let last = kernel.blocks[walk.body].insts.last().copied();
        kernel.blocks[walk.body].insts.clear();
        let mut b = Builder::new(kernel, walk.body, loc);
        let groups = b.constant(Scalar::u32(n - 1));
        match (barriers, fill) {
            (Some(barriers), _) => {
                let slot = carried_slot.unwrap_or_else(|| self.slot_of(&mut b, walk.counter));
                let parity = carried_parity.unwrap_or_else(|| self.parity_of(&mut b, walk.counter));
                barriers.wait(&mut b, slot, parity);
            }
            (None, Fill::Groups) => await_copies(&mut b, groups),
            (None, _) => {}
        }
        b.kernel.blocks[walk.body].insts.push(self.barrier);
        let [zero, one, ahead] = [0, 1, n].map(|number| b.constant(Scalar::u32(number)));
        let far = b.cast(ahead, trips_type);
        let left = carried_left.unwrap_or_else(|| {
            let left = b.binary(BinaryOp::Sub, walk.end, walk.counter);
            b.bitcast(left, trips_type)
        });
        let more = b.compare(CompareOp::Gt, left, far);
        let step_type = b.kernel.ty(walk.step);
        let away = b.bitcast(far, step_type);
        let distance = b.binary(BinaryOp::Mul, away, walk.step);
        let counter = b.binary(BinaryOp::Add, walk.counter, distance);
        let (read, write) = match carried_slot {
            Some(slot) => {
                let is_first = b.compare(CompareOp::Eq, slot, zero);
                let before = b.binary(BinaryOp::Sub, slot, one);
                (slot, b.select(is_first, ahead, before))
            }
            None => (self.slot_of(&mut b, walk.counter), self.slot_of(&mut b, counter)),
        };
        self.issue(&mut b, more, counter, write, (&rings, fill, barriers));
        let kept = self.kept(kernel);
        kernel.blocks[walk.body].insts.extend(kept);
        for access in all_in(kernel, &self.work) {
            in_slot(kernel, access, read, &rings);
        }
        let from = kernel.blocks[walk.body].insts.len();
        kernel.blocks[walk.body].insts.extend(&self.work);
        self.give_stores(kernel, way, from);
        let mut b = Builder::new(kernel, walk.body, loc);
        let mut next: Vec<Value> = Vec::new();
        if let Some(slot) = carried_slot {
            let (after, is_last) = self.after(&mut b, slot);
            next.push(after);
            if let Some(parity) = carried_parity {
                let other = b.binary(BinaryOp::Xor, parity, one);
                next.push(b.select(is_last, other, parity));
            }
        }
        let fewer = carried_left.map(|left| {
            let one = b.cast(one, trips_type);
            b.binary(BinaryOp::Sub, left, one)
        });
        if let Some(last) = last {
            if let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op {
                values.extend(next.into_iter().chain(fewer));
            }
            kernel.blocks[walk.body].insts.push(last);
        }
        // Who writes what the work reads, behind the loop, waits for the last.
        self.beside(kernel, true, |b| {
            way.await_all_stores(b);
            let block = b.block;
            b.kernel.blocks[block].insts.push(self.closing);
            if let (Some(turn), [.., slot, parity]) = (turn, &results[..]) {
                turn.keep_turn(b, *slot, *parity);
            }
        });
    }

    /// Gives the engine the work's stores, if it makes them. The work stands at the end of the body, from an instruction on.
    fn give_stores(&self, kernel: &mut Kernel, way: Way, from: usize) {
        let Some(until) = way.until else { return };
        let body = self.walk.body;
        let mut stores = Stores::of(kernel, &self.work, until, true);
        stores.weave(kernel, body, from);
        // The next barrier is the next iteration's.
        stores.settle(&mut Builder::new(kernel, body, self.walk.loc));
        if stores.are_written_outside(kernel, body) {
            self.beside(kernel, false, |b| {
                b.push(Op::Engine(Engine::Fence), &[]);
            });
        }
    }

    /// What work needs of the section: it is computed with the work, too.
    fn kept(&self, kernel: &Kernel) -> Vec<Inst> {
        let of_copies = self.of_copies(kernel);
        let is_kept = |inst: &Inst| !moves(kernel, *inst) && !kernel.insts[*inst].results.iter().any(|value| of_copies.contains(value));
        self.section.iter().copied().filter(is_kept).collect()
    }

    /// Whether a block may run the loop more than once: it stands in another, or the block runs the body again.
    fn runs_again(&self, kernel: &Kernel) -> bool {
        let mut is_within = kernel.options.persistent;
        kernel.for_each_inst(|kernel, _, inst| {
            is_within |= inst != self.inst
                && kernel.insts[inst].op.is_loop()
                && kernel.insts[inst].op.blocks().into_iter().any(|block| kernel.insts_in(block).any(|inner| inner == self.inst));
        });
        is_within
    }

    /// What the section loads and stores give, and what is computed of it.
    fn of_copies(&self, kernel: &Kernel) -> HashSet<Value> {
        let moved = self.section.iter().filter(|inst| moves(kernel, **inst)).flat_map(|inst| kernel.insts[*inst].results.clone());
        derived(kernel, &self.section, &moved.collect::<Vec<Value>>())
    }

    /// The block that the loop stands in.
    fn block(&self, kernel: &Kernel) -> Block {
        let mut found = kernel.body;
        kernel.for_each_inst(|_, block, inst| {
            if inst == self.inst {
                found = block;
            }
        });
        found
    }

    /// The copies of the iteration with this counter into this slot, if `condition` holds.
    fn issue(
        &self,
        b: &mut Builder<'_>,
        condition: Value,
        counter: Value,
        slot: Value,
        (rings, fill, barriers): (&HashMap<Object, Object>, Fill, Option<Barriers>),
    ) {
        // What addresses are computed of stands outside the condition, where it is an induction like all others.
        let computes = |kernel: &Kernel, inst: Inst, moved: &HashSet<Value>| {
            let op = &kernel.insts[inst].op;
            kernel.effects(inst).is_speculatable() && op.blocks().is_empty() && !op.operands().iter().any(|value| moved.contains(value))
        };
        let mut moved: HashSet<Value> = HashSet::default();
        let (mut computed, mut copied) = (Vec::new(), Vec::new());
        for inst in &self.section {
            if computes(b.kernel, *inst, &moved) {
                computed.push(*inst);
            } else {
                moved.extend(b.kernel.insts[*inst].results.iter().copied());
                copied.push(*inst);
            }
        }
        let mut copy = Copy::default();
        copy.set(self.walk.counter, counter);
        for inst in computed {
            copy.inst(b.kernel, inst, b.block);
        }
        b.if_else(
            condition,
            |b| {
                let copies: Vec<Inst> = copied.iter().map(|inst| copy.inst(b.kernel, *inst, b.block)).collect();
                for store in stores(b.kernel, &copies) {
                    in_slot(b.kernel, store, slot, rings);
                }
                if let Some(barriers) = barriers {
                    let collectives = engine::taken_out(b, &copies);
                    by_engine(b, &collectives, &barriers.of(slot));
                }
                Vec::new()
            },
            |_| Vec::new(),
        );
        if fill == Fill::Groups {
            commit(b);
        }
    }
}

/// Whether an instruction reads a buffer or writes, itself or what it owns; all else computes, and may be done more than once.
fn moves(kernel: &Kernel, inst: Inst) -> bool {
    all_in(kernel, &[inst]).into_iter().any(|inner| {
        let effects = kernel.effects(inner);
        let reads = effects.reads.any(|object| kernel.objects[object].space() == Space::Global);
        reads || effects.writes.is_some()
    })
}

/// Values that are computed of these, in order of the instructions, these included.
fn derived(kernel: &Kernel, insts: &[Inst], from: &[Value]) -> HashSet<Value> {
    let mut found: HashSet<Value> = from.iter().copied().collect();
    for inst in insts {
        let uses = |inner: Inst| kernel.insts[inner].op.operands().iter().any(|value| found.contains(value));
        if all_in(kernel, &[*inst]).into_iter().any(uses) {
            found.extend(kernel.insts[*inst].results.iter().copied());
        }
    }
    found
}

/// These instructions and all in them.
fn all_in(kernel: &Kernel, insts: &[Inst]) -> Vec<Inst> {
    let mut all = Vec::new();
    insts.iter().for_each(|inst| visit(kernel, *inst, &mut |inner| all.push(inner)));
    all
}

/// The stores to shared memory, and collectives that write there, among these instructions.
fn stores(kernel: &Kernel, insts: &[Inst]) -> Vec<Inst> {
    let is_store = |inst: &Inst| {
        let object = kernel.insts[*inst].op.object();
        let op = &kernel.insts[*inst].op;
        let is_collective = matches!(op, Op::Collective(collective) if collective.is_load());
        let is_store = is_collective || matches!(op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }) | Op::Tensor(Tensor::Store { .. }));
        is_store && object.is_some_and(|object| kernel.objects[object].kind == ObjectKind::Shared)
    };
    all_in(kernel, insts).into_iter().filter(is_store).collect()
}

fn name(kernel: &Kernel, access: Inst) -> String {
    kernel.insts[access].op.object().map_or_else(|| "an array".to_owned(), |object| format!("`{}`", kernel.objects[object].name))
}

/// How often a loop runs, as an unsigned number of its counter's width.
fn trips(kernel: &mut Kernel, block: Block, walk: &Counted) -> Value {
    let known = walk.trips(kernel);
    let step = kernel.constant(walk.step).map(|step| step.as_int());
    let unsigned = kernel.ty(walk.counter).to_unsigned();
    let mut b = Builder::new(kernel, block, walk.loc);
    if let Some(known) = known {
        return b.int(unsigned, known.into());
    }
    let zero = b.int(unsigned, 0);
    let is_some = b.compare(CompareOp::Lt, walk.start, walk.end);
    let length = b.binary(BinaryOp::Sub, walk.end, walk.start);
    let length = b.bitcast(length, unsigned);
    if step == Some(1) {
        return b.select(is_some, length, zero);
    }
    let one = b.int(unsigned, 1);
    let step = b.bitcast(walk.step, unsigned);
    let before = b.binary(BinaryOp::Sub, length, one);
    let whole = b.binary(BinaryOp::Div, before, step);
    let all = b.binary(BinaryOp::Add, whole, one);
    b.select(is_some, all, zero)
}

/// The counter of the iteration of this number, an unsigned one of its width.
fn counter_after(b: &mut Builder<'_>, walk: &Counted, number: Value) -> Value {
    let ty = b.kernel.ty(walk.counter);
    let number = b.bitcast(number, ty);
    let distance = b.binary(BinaryOp::Mul, number, walk.step);
    b.binary(BinaryOp::Add, walk.start, distance)
}

fn commit(b: &mut Builder<'_>) {
    if let Some(row) = by_name(called::COMMIT_COPIES, None) {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
}

fn await_copies(b: &mut Builder<'_>, groups: Value) {
    if let Some(row) = by_name(called::AWAIT_COPIES, None) {
        b.push(Op::Intrinsic(row, vec![groups]), &[]);
    }
}
