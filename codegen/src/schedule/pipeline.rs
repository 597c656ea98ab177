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
//! **Legal**, and refused otherwise at the annotation:
//! * R1: the body has a barrier between its copies and its work, and one at its end, all on its top level.
//! * R2: the copies write every element of each ring, in each iteration ([`super::covers`]).
//! * R3: nobody touches a ring outside the loop, but for other pipelined loops.
//! * R4: the copy section does nothing but copy: loads of global memory that are stored as they are, under conditions and in counted loops too.
//! * R5: nobody writes what the copies read while the loop runs.
//! * R6: the slots fit a block's shared memory.
//! * R7: all threads of the block go round equally often, and nobody leaves the loop early.
//!
//! How wide a copy is shows only once accesses are joined: what is narrower than 4 bytes, the PTX back end refuses.

use super::copy::{Copy, loops, parts};
use super::covers::{self, Gap};
use super::groups::Counted;
use super::{Refusal, Schedule};
use crate::analysis::uniformity::Uniformity;
use crate::annotations::{Modifier, PIPELINE, PREFETCH};
use crate::collections::{HashMap, HashSet};
use crate::intrinsics::{by_name, called};
use crate::ir::{
    Address, Asked, BinaryOp, Block, Builder, CompareOp, Compute, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op,
    Region, Ring, Scalar, Space, Step, Terminator, Type, Value,
};
use crate::target::limits::MOST_SHARED_BYTES;

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
    let mut homes = Homes { plain, of: HashMap::default() };
    for (inst, one) in asked {
        if let Ok(plan) = Plan::of(schedule.kernel, inst, &one) {
            plan.apply(schedule.kernel, &one, &mut homes);
        }
    }
}

/// Where the slots of an array are.
struct Homes {
    /// Accesses of loops that stay as they are.
    plain: HashSet<Inst>,
    of: HashMap<Object, Object>,
}

impl Homes {
    /// The ring that an array becomes: it itself, but for one that plain loops use, too.
    fn of(&mut self, kernel: &mut Kernel, array: Object) -> Object {
        if let Some(home) = self.of.get(&array) {
            return *home;
        }
        let is_shared = self.plain.iter().any(|inst| kernel.insts[*inst].op.object() == Some(array));
        let home = if is_shared { kernel.objects.push(kernel.objects[array].clone()) } else { array };
        self.of.insert(array, home);
        home
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
        goes_round_together(kernel, inst, walk.body)?;
        let is_sync = |inst: &Inst| kernel.effects(*inst).is_barrier() && kernel.insts[*inst].results.is_empty();
        let first = insts.iter().position(is_sync);
        let (Some(first), Some(closing)) = (first, insts.last().copied()) else {
            return Err(match stores(kernel, &insts).first() {
                Some(store) => {
                    let message = format!("`pipeline`: the body has no barrier between writing {} and reading it", name(kernel, *store));
                    let refusal =
                        Refusal::new(message, "add `sync_threads();` behind the copies, and another one as the body's last statement");
                    refusal.label(kernel.insts[*store].loc, "written here")
                }
                None => Refusal::new("`pipeline`: this loop copies nothing into a shared array", "leave `pipeline` out"),
            });
        };
        if first + 1 == insts.len() || !is_sync(&closing) {
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
            let refusal =
                Refusal::new("`pipeline`: nothing is copied into a shared array before the first barrier", "leave `pipeline` out");
            return Err(refusal.label(kernel.insts[barrier].loc, "the barrier"));
        }
        Ok(Plan { inst, walk, stages: asked.count(), section, barrier, work, closing, rings })
    }

    /// `others`: the accesses of all loops that may be pipelined, or are asked for one stage.
    fn check(&self, kernel: &Kernel, asked: &Asked, others: &HashSet<Inst>) -> Result<(), Refusal> {
        self.only_copies(kernel)?;
        self.only_here(kernel, others)?;
        self.reads_are_left_alone(kernel, asked)?;
        self.covers(kernel)?;
        self.fits(kernel)
    }

    /// R4.
    fn only_copies(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let mut inside: HashSet<Value> = HashSet::default();
        for inst in &self.section {
            let mut refused = None;
            let mut look = |kernel: &Kernel, inst: Inst| {
                if refused.is_none() {
                    refused = not_a_copy(kernel, inst);
                }
            };
            look(kernel, *inst);
            kernel.insts[*inst].op.blocks().into_iter().for_each(|block| kernel.insts_in(block).for_each(|inner| look(kernel, inner)));
            if let Some(refusal) = refused {
                return Err(refusal);
            }
            if moves(kernel, *inst) {
                inside.extend(kernel.insts[*inst].results.iter().copied());
            }
        }
        let inside: Vec<Value> = inside.into_iter().collect();
        let inside = derived(kernel, &self.section, &inside);
        // What is copied is read where it was copied to.
        let mut used = None;
        let work = self.work.iter().chain(kernel.blocks[self.walk.body].insts.last());
        work.for_each(|inst| {
            let mut look = |inst: Inst| {
                let op = &kernel.insts[inst].op;
                if let Some(value) = op.operands().into_iter().find(|value| inside.contains(value)) {
                    used.get_or_insert((inst, value));
                }
            };
            look(*inst);
            kernel.insts[*inst].op.blocks().into_iter().for_each(|block| kernel.insts_in(block).for_each(&mut look));
        });
        if let Some((user, value)) = used {
            let message =
                "`pipeline`: a value that is loaded before the barrier is used behind it, where the loads are those of a later iteration";
            let refusal = Refusal::new(message, "load it behind the barrier, or read the shared array that it was copied to");
            let loaded = kernel.def(value).map_or(self.walk.loc, |(inst, _)| kernel.insts[inst].loc);
            return Err(refusal.label(loaded, "loaded here").label(kernel.insts[user].loc, "used here"));
        }
        // Nor does the section carry anything on to the next iteration.
        let carried = &self.walk.carried;
        let uses =
            |inst: Inst| kernel.insts[inst].op.operands().into_iter().find(|value| carried.contains(value)).map(|value| (inst, value));
        let nested = |inst: &Inst| kernel.insts[*inst].op.blocks().into_iter().find_map(|block| kernel.insts_in(block).find_map(uses));
        let copying = |inst: &&Inst| moves(kernel, **inst);
        let of_carried = derived(kernel, &self.section, carried);
        let first = self.section.iter().filter(copying).find_map(|inst| {
            let op = &kernel.insts[*inst].op;
            let of_value = op.operands().into_iter().find(|value| of_carried.contains(value)).map(|value| (*inst, value));
            of_value.or_else(|| nested(inst))
        });
        if let Some((inst, value)) = first {
            let name = kernel.values[value].name.as_deref().map_or_else(|| "a value".to_owned(), |name| format!("`{name}`"));
            let message =
                format!("`pipeline` copies ahead of the work, and a copy needs {name}, which changes from iteration to iteration");
            return Err(Refusal::new(message, "compute addresses from the loop's counter").label(kernel.insts[inst].loc, "this copy"));
        }
        Ok(())
    }

    /// R3, and that the work only reads.
    fn only_here(&self, kernel: &Kernel, others: &HashSet<Inst>) -> Result<(), Refusal> {
        let mut inside: HashSet<Inst> = HashSet::default();
        for inst in self.section.iter().chain(&self.work) {
            inside.insert(*inst);
            kernel.insts[*inst].op.blocks().into_iter().for_each(|block| inside.extend(kernel.insts_in(block)));
        }
        let written: HashSet<Inst> = stores(kernel, &self.section).into_iter().collect();
        let mut refused = None;
        kernel.for_each_inst(|kernel, _, inst| {
            let Some(ring) = kernel.insts[inst].op.object().filter(|object| self.rings.contains(object)) else { return };
            let array = &kernel.objects[ring].name;
            let is_load = matches!(kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Load, .. }));
            let is_mine = inside.contains(&inst);
            let refusal = if written.contains(&inst) || (is_mine && is_load) || (!is_mine && others.contains(&inst)) {
                return;
            } else if is_mine {
                let message = format!(
                    "`pipeline`: `{array}` is written behind the barrier, where its slot is this iteration's alone: the next one would not see it"
                );
                Refusal::new(message, format!("write `{array}` before the barrier only, or keep what the work writes in another array"))
            } else {
                let message = format!("`pipeline`: `{array}` is touched outside the loop, where it has {} slots", self.stages);
                Refusal::new(message, format!("leave this out: each iteration writes all of `{array}`; or use another array here"))
            };
            refused.get_or_insert(refusal.label(kernel.insts[inst].loc, "here"));
        });
        refused.map_or(Ok(()), Err)
    }

    /// R5.
    fn reads_are_left_alone(&self, kernel: &Kernel, asked: &Asked) -> Result<(), Refusal> {
        if asked.says(Modifier::AssumeDisjoint) {
            return Ok(());
        }
        let touched = |is_write: bool, block: Block| {
            let wanted = move |inst: &Inst| {
                let effects = kernel.effects(*inst);
                if is_write { effects.writes.is_some() } else { effects.reads.is_some() && effects.writes.is_none() }
            };
            kernel.insts_in(block).filter(wanted).collect::<Vec<Inst>>()
        };
        let object = |inst: Inst| kernel.insts[inst].op.object();
        let writes = touched(true, self.walk.body);
        for load in all_in(kernel, &self.section) {
            let Some(read) = kernel.effects(load).reads else { continue };
            if let Some(write) = writes.iter().find(|write| object(**write) == Some(read)) {
                let array = &kernel.objects[read].name;
                let message = format!("`pipeline` copies from `{array}` ahead of the work, which writes it");
                let help = format!("write to another buffer, or promise `#[pipeline(stages = {}, assume_disjoint)]`", self.stages);
                let refusal = Refusal::new(message, help).label(kernel.insts[load].loc, "copied from here");
                return Err(refusal.label(kernel.insts[*write].loc, "written here"));
            }
        }
        Ok(())
    }

    /// R2.
    fn covers(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let Some(block) = kernel.options.block else {
            let message = "`pipeline` must know that the copies fill the arrays, and this kernel's block is not fixed";
            return Err(Refusal::new(message, "fix it: `#[kernel(block = 256)]`"));
        };
        let Some((array, gap)) = covers::gap(kernel, &self.section, &self.rings, block) else { return Ok(()) };
        let array = &kernel.objects[array].name;
        let zero = format!("write every element in each iteration: `{array}[…] = if inside {{ x[…] }} else {{ 0.0 }};`");
        let message = |why: String| format!("`pipeline`: {why}, so that work would see an older iteration's");
        Err(match gap {
            Gap::Element(indices) => {
                let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
                Refusal::new(message(format!("the copies do not always write `{array}{indices}`")), zero)
            }
            Gap::Unknown(store) => {
                let why = format!("it is not known before the launch which elements of `{array}` this writes");
                let help = "make indices of `thread_idx()`, constants and counters of loops with constant bounds";
                Refusal::new(message(why), help).label(kernel.insts[store].loc, "this store")
            }
            Gap::TooMuch => Refusal::new(
                message(format!("there are too many copies into `{array}` to look at")),
                "copy in fewer steps, or leave `pipeline` out",
            ),
        })
    }

    /// R6, for the largest target; the PTX back end knows each one's own.
    fn fits(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let of = |objects: &mut dyn Iterator<Item = Object>| {
            objects.map(|object| kernel.objects[object].ty.size(&kernel.structs).next_multiple_of(SLOT_ALIGN)).sum::<u64>()
        };
        let is_other = |object: &Object| kernel.objects[*object].kind == ObjectKind::Shared && !self.rings.contains(object);
        let rest = of(&mut kernel.objects.keys().filter(is_other));
        let slot = of(&mut self.rings.iter().copied().filter(|ring| !kernel.rings.contains_key(ring))).max(1);
        let limit = u64::from(MOST_SHARED_BYTES);
        if u64::from(self.stages) * slot + rest <= limit {
            return Ok(());
        }
        let most = limit.saturating_sub(rest) / slot;
        let with = if rest > 0 { format!(" and {rest} bytes of other arrays") } else { String::new() };
        let total = u64::from(self.stages) * slot + rest;
        let message =
            format!("{} stages of {slot} bytes{with} are {total}; the most that a block has on any target is {limit}", self.stages);
        let help = if most >= 2 { format!("write `stages = {most}` at most") } else { "make the arrays smaller".to_owned() };
        Err(Refusal::new(message, help))
    }

    fn apply(self, kernel: &mut Kernel, asked: &Asked, homes: &mut Homes) {
        let is_required = !asked.says(Modifier::BestEffort);
        let rings: HashMap<Object, Object> = self.rings.iter().map(|array| (*array, homes.of(kernel, *array))).collect();
        let block = self.block(kernel);
        for ring in rings.values() {
            let before = kernel.rings.insert(*ring, Ring { place: asked.place, is_required }).is_some();
            let data = &mut kernel.objects[*ring];
            data.ty = match (before, data.ty.clone()) {
                (true, MemoryType::Array(slot, slots)) => MemoryType::Array(slot, slots.max(self.stages.into())),
                (_, slot) => MemoryType::Array(Box::new(aligned(slot, &kernel.structs)), self.stages.into()),
            };
        }
        let (walk, loc, n) = (&self.walk, self.walk.loc, self.stages - 1);
        // Before the loop: the first iterations' copies.
        let at = kernel.blocks[block].insts.iter().position(|other| *other == self.inst).unwrap_or(0);
        let behind = kernel.blocks[block].insts.split_off(at);
        let trips = trips(kernel, block, walk);
        let mut b = Builder::new(kernel, block, loc);
        let [zero, one, ahead] = [0, 1, n].map(|number| b.constant(Scalar::u32(number)));
        let trips_type = b.kernel.ty(trips);
        let is_by_one = b.kernel.constant(walk.step).is_some_and(|step| step.as_int() == 1);
        // Where the counter goes up by one, its low bits are a slot: nothing is carried, and in an unrolled loop it is known.
        let of_counter = is_by_one && self.stages.is_power_of_two();
        b.for_each([zero, ahead, one], &[], |b, number, _| {
            let wide = b.cast(number, trips_type);
            let some = b.compare(CompareOp::Lt, wide, trips);
            let counter = counter_after(b, walk, wide);
            let slot = if of_counter { self.slot_of(b, counter) } else { number };
            self.issue(b, some, counter, slot, &rings);
            commit(b);
            Vec::new()
        });
        kernel.blocks[block].insts.extend(behind);
        // The loop carries the slot that is read, and how many iterations are left, its own counted in, if the counter does not tell.
        let carry = |kernel: &mut Kernel, ty: Type, first: Value| {
            kernel.add_result(self.inst, ty);
            if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[self.inst].op {
                init.push(first);
            }
            kernel.add_param(walk.body, ty)
        };
        let carried_slot = (!of_counter).then(|| carry(kernel, Type::U32, zero));
        if let Some(slot) = carried_slot {
            kernel.values[slot].name = Some("slot".into());
        }
        let carried_left = (!is_by_one).then(|| carry(kernel, trips_type, trips));
        let last = kernel.blocks[walk.body].insts.last().copied();
        kernel.blocks[walk.body].insts.clear();
        let mut b = Builder::new(kernel, walk.body, loc);
        let groups = b.constant(Scalar::u32(n - 1));
        await_copies(&mut b, groups);
        b.kernel.blocks[walk.body].insts.push(self.barrier);
        let [zero, one, ahead, stages] = [0, 1, n, n + 1].map(|number| b.constant(Scalar::u32(number)));
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
        self.issue(&mut b, more, counter, write, &rings);
        commit(&mut b);
        // What work needs of the section is computed here, too.
        let moved = self.section.iter().filter(|inst| moves(kernel, **inst)).flat_map(|inst| kernel.insts[*inst].results.clone());
        let of_copies = derived(kernel, &self.section, &moved.collect::<Vec<Value>>());
        let is_kept = |inst: &Inst| !moves(kernel, *inst) && !kernel.insts[*inst].results.iter().any(|value| of_copies.contains(value));
        let kept: Vec<Inst> = self.section.iter().copied().filter(is_kept).collect();
        kernel.blocks[walk.body].insts.extend(kept);
        for access in all_in(kernel, &self.work) {
            in_slot(kernel, access, read, &rings);
        }
        kernel.blocks[walk.body].insts.extend(&self.work);
        let mut b = Builder::new(kernel, walk.body, loc);
        let next = carried_slot.map(|slot| {
            let after = b.binary(BinaryOp::Add, slot, one);
            let is_last = b.compare(CompareOp::Eq, after, stages);
            b.select(is_last, zero, after)
        });
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
        let at = kernel.blocks[block].insts.iter().position(|other| *other == self.inst).unwrap_or(0);
        kernel.blocks[block].insts.insert(at + 1, self.closing);
    }

    /// The slot of the iteration with this counter, where that goes up by one, and there are 2ⁿ slots.
    fn slot_of(&self, b: &mut Builder<'_>, counter: Value) -> Value {
        let ty = b.kernel.ty(counter);
        let bits = b.bitcast(counter, ty.to_unsigned());
        let low = b.cast(bits, Type::U32);
        let mask = b.constant(Scalar::u32(self.stages - 1));
        b.binary(BinaryOp::And, low, mask)
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
    fn issue(&self, b: &mut Builder<'_>, condition: Value, counter: Value, slot: Value, rings: &HashMap<Object, Object>) {
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
                Vec::new()
            },
            |_| Vec::new(),
        );
    }
}

/// R7, and that nobody leaves.
fn goes_round_together(kernel: &Kernel, inst: Inst, body: Block) -> Result<(), Refusal> {
    // Who leaves an inner loop goes on in this one.
    let inside: HashSet<Inst> = kernel.insts_in(body).collect();
    let leaves = |inner: &Inst| match &kernel.insts[*inner].op {
        Op::Terminator(Terminator::Return) => true,
        Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) => !inside.contains(target),
        Op::Compute(_) | Op::Memory(_) | Op::Texture(..) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => false,
    };
    if let Some(exit) = kernel.insts_in(body).find(leaves) {
        let refusal = Refusal::new(
            "`pipeline`: this loop may be left early, with copies on their way",
            "go round to the end, and skip the work by an `if`",
        );
        return Err(refusal.label(kernel.insts[exit].loc, "left here"));
    }
    if !Uniformity::of(kernel).goes_round_together(kernel, inst) {
        let message = "`pipeline`: threads of a block may go round this loop unequally often, and its barriers are for all of them";
        return Err(Refusal::new(message, "make its bounds the same in all threads, and skip the work by an `if`"));
    }
    Ok(())
}

/// What in a copy section is no copy, or is not needed for one.
fn not_a_copy(kernel: &Kernel, inst: Inst) -> Option<Refusal> {
    let data = &kernel.insts[inst];
    let effects = kernel.effects(inst);
    let refuse = |message: &str, help: &str, label: &str| Some(Refusal::new(format!("`pipeline`: {message}"), help).label(data.loc, label));
    match &data.op {
        Op::Compute(_) => None,
        Op::Memory(Memory { op: MemoryOp::Load, at }) => match kernel.objects[at.object()].space() {
            Space::Global | Space::Constant | Space::Param => None,
            Space::Shared | Space::Local => refuse(
                "before the barrier there are copies from buffers only",
                "read this array behind the barrier",
                "a read of shared memory or of an array of the thread",
            ),
        },
        Op::Memory(Memory { op: MemoryOp::Store(values), at }) => {
            let object = &kernel.objects[at.object()];
            if object.kind != ObjectKind::Shared || matches!(object.ty, MemoryType::Slice(_)) {
                let help = "copy into a `#[shared]` array of fixed length before the barrier, and write all else behind it";
                return refuse("before the barrier only shared arrays of fixed length are written", help, "written here");
            }
            if values.iter().all(|value| is_copied(kernel, *value)) {
                return None;
            }
            let help = "copy elements as they are, or zero where there is none, and convert or compute where they are read";
            refuse("a copy changes what it copies", help, "what is stored is computed")
        }
        Op::Region(Region::If { .. } | Region::For { .. }) | Op::Terminator(Terminator::Yield(_)) => None,
        Op::Intrinsic(..) if effects.is_pure() => None,
        Op::Memory(_) | Op::Texture(..) | Op::Intrinsic(..) | Op::Message(_) | Op::Region(_) | Op::Terminator(_) => {
            refuse("before the barrier there are copies only", "move this behind the barrier", "this is none")
        }
    }
}

/// Whether a value is what a load gives, or a constant, or what a load gives by a condition, and else zero.
fn is_copied(kernel: &Kernel, value: Value) -> bool {
    kernel.constant(value).is_some() || is_loaded(kernel, value)
}

fn is_loaded(kernel: &Kernel, value: Value) -> bool {
    match kernel.def(value) {
        Some((_, Op::Memory(Memory { op: MemoryOp::Load, .. }))) => true,
        Some((_, Op::Compute(Compute::Const(scalar)))) => scalar.bits == 0,
        Some((inst, Op::Region(Region::If { then_block, else_block, .. }))) => {
            let n = kernel.insts[inst].results.iter().position(|result| *result == value);
            let of = |block: &Block| n.and_then(|n| kernel.yielded(*block)?.get(n).copied());
            [then_block, else_block].into_iter().all(|block| of(block).is_some_and(|value| is_loaded(kernel, value)))
        }
        _ => false,
    }
}

/// Whether an instruction reads a buffer or writes, itself or what it owns; all else computes, and may be done more than once.
fn moves(kernel: &Kernel, inst: Inst) -> bool {
    all_in(kernel, &[inst]).into_iter().any(|inner| {
        let effects = kernel.effects(inner);
        let reads = effects.reads.is_some_and(|object| kernel.objects[object].space() == Space::Global);
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
    for inst in insts {
        all.push(*inst);
        kernel.insts[*inst].op.blocks().into_iter().for_each(|block| all.extend(kernel.insts_in(block)));
    }
    all
}

/// The stores to shared memory among these instructions.
fn stores(kernel: &Kernel, insts: &[Inst]) -> Vec<Inst> {
    let is_store = |inst: &Inst| {
        let object = kernel.insts[*inst].op.object();
        matches!(kernel.insts[*inst].op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }))
            && object.is_some_and(|object| kernel.objects[object].kind == ObjectKind::Shared)
    };
    all_in(kernel, insts).into_iter().filter(is_store).collect()
}

fn name(kernel: &Kernel, access: Inst) -> String {
    kernel.insts[access].op.object().map_or_else(|| "an array".to_owned(), |object| format!("`{}`", kernel.objects[object].name))
}

/// Puts an access, if it is one to an array that became a ring, into one of its slots.
fn in_slot(kernel: &mut Kernel, access: Inst, slot: Value, rings: &HashMap<Object, Object>) {
    if let Op::Memory(Memory { at: Address::Path(access), .. }) = &mut kernel.insts[access].op
        && let Some(ring) = rings.get(&access.object)
    {
        access.object = *ring;
        access.path.insert(0, Step::Index(slot));
    }
}

/// A type with so much room behind its elements that the next of its kind is aligned like the first.
fn aligned(ty: MemoryType, structs: &crate::ir::EntityMap<crate::ir::StructId, crate::ir::StructType>) -> MemoryType {
    let size = ty.size(structs);
    match ty {
        MemoryType::Array(element, n) | MemoryType::Padded(element, n, _) if !size.is_multiple_of(SLOT_ALIGN) => {
            let of = element.size(structs).max(1);
            let taken = size / of;
            let more = (0..SLOT_ALIGN).find(|more| ((taken + more) * of).is_multiple_of(SLOT_ALIGN)).unwrap_or(0);
            MemoryType::Padded(element, n, taken - n + more)
        }
        ty @ (MemoryType::Scalar(_) | MemoryType::Array(..) | MemoryType::Padded(..) | MemoryType::Slice(_) | MemoryType::Struct(_)) => ty,
    }
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
