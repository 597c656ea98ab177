//! When a loop may be pipelined; refused otherwise at the annotation:
//!
//! * R1: the body has a barrier between its copies and its work, and one at its end, all on its top level ([`Plan::of`]).
//! * R2: the copies write every element of each ring, in each iteration ([`covers`]), before it is read ([`nothing_is_copied`]).
//! * R3: nobody touches a ring outside the loop, but for other pipelined loops.
//! * R4: the copy section does nothing but copy: loads of global memory that are stored as they are, under conditions and in counted loops too.
//! * R5: nobody writes what the copies read while the loop runs, nor does the loop learn what other blocks wrote.
//! * R6: the slots fit a block's shared memory.
//! * R7: all threads of the block go round equally often, and nobody leaves the loop early.
//! * R9: with `by = tma`, `store_tile`s of the work are of tiles that tensor copies move, to matrices that the loop does not touch otherwise
//!   ([`Plan::store_obstacle`]).
//! * R8: with `by = bulk` and `by = tma`, collectives make all copies: runs of whole vectors; with `tma`, tiles of matrices, too
//!   ([`Plan::engine_obstacle`]). With `producer`, the same, and threads of their own can find out what to copy ([`Plan::producer_obstacle`]).
//!
//! How wide a copy is shows only once accesses are joined: what is narrower than 4 bytes, the PTX back end refuses.

use super::super::Refusal;
use super::super::covers::{self, Gap};
use super::{Plan, SLOT_ALIGN, all_in, derived, moves, stores};
use crate::analysis::uniformity::Uniformity;
use crate::annotations::Modifier;
use crate::collections::HashSet;
use crate::ir::{
    Asked, Block, Compute, Inst, Kernel, Memory, MemoryOp, MemoryType, Object, ObjectKind, Op, Region, Scope, Space, Terminator, Value,
};
use crate::target::limits::MOST_SHARED_BYTES;

impl Plan {
    /// `others`: the accesses of all loops that may be pipelined, or are asked for one stage.
    pub(super) fn check(&self, kernel: &Kernel, asked: &Asked, others: &HashSet<Inst>) -> Result<(), Refusal> {
        if self.is_out {
            let refusal = if asked.says(Modifier::Producer) { self.producer_obstacle(kernel, asked) } else { None };
            return refusal.map_or_else(|| self.check_out(kernel, asked, others), Err);
        }
        self.only_copies(kernel)?;
        self.only_here(kernel, others)?;
        self.reads_are_left_alone(kernel, asked)?;
        self.covers(kernel)?;
        if let Some(by @ (Modifier::ByBulk | Modifier::ByTma)) = asked.by()
            && let Some(refusal) = self.engine_obstacle(kernel, by, by)
        {
            return Err(refusal);
        }
        if asked.says(Modifier::Producer)
            && let Some(refusal) = self.producer_obstacle(kernel, asked)
        {
            return Err(refusal);
        }
        self.fits(kernel)
    }

    /// R4.
    fn only_copies(&self, kernel: &Kernel) -> Result<(), Refusal> {
        if let Some(refusal) = all_in(kernel, &self.section).into_iter().find_map(|inst| not_a_copy(kernel, inst)) {
            return Err(refusal);
        }
        let copied = self.of_copies(kernel);
        // What is copied is read where it was copied to.
        let first_of = |insts: &[Inst], values: &HashSet<Value>| {
            let of =
                |inst: Inst| kernel.insts[inst].op.operands().into_iter().find(|value| values.contains(value)).map(|value| (inst, value));
            all_in(kernel, insts).into_iter().find_map(of)
        };
        let behind: Vec<Inst> = self.work.iter().chain(kernel.blocks[self.walk.body].insts.last()).copied().collect();
        let used = first_of(&behind, &copied);
        if let Some((user, value)) = used {
            let message =
                "`pipeline`: a value that is loaded before the barrier is used behind it, where the loads are those of a later iteration";
            let refusal = Refusal::new(message, "load it behind the barrier, or read the shared array that it was copied to");
            let loaded = kernel.def(value).map_or(self.walk.loc, |(inst, _)| kernel.insts[inst].loc);
            return Err(refusal.label(loaded, "loaded here").label(kernel.insts[user].loc, "used here"));
        }
        // Nor does a copy need what an iteration hands on to the next.
        let of_carried = derived(kernel, &self.section, &self.walk.carried);
        let copies: Vec<Inst> = self.section.iter().copied().filter(|inst| moves(kernel, *inst)).collect();
        let first = first_of(&copies, &of_carried);
        if let Some((inst, value)) = first {
            let name = kernel.values[value].name.as_deref().map_or_else(|| "a value".to_owned(), |name| format!("`{name}`"));
            let message =
                format!("`pipeline` copies ahead of the work, and a copy needs {name}, which changes from iteration to iteration");
            return Err(Refusal::new(message, "compute addresses from the loop's counter").label(kernel.insts[inst].loc, "this copy"));
        }
        Ok(())
    }

    /// R3, and that the work only reads.
    pub(super) fn only_here(&self, kernel: &Kernel, others: &HashSet<Inst>) -> Result<(), Refusal> {
        let inside: HashSet<Inst> = kernel.insts_in(self.walk.body).collect();
        let written: HashSet<Inst> = stores(kernel, &self.section).into_iter().collect();
        let mut refused = None;
        kernel.for_each_inst(|kernel, _, inst| {
            let peers = kernel.insts[inst].op.object().map(|object| &kernel.objects[object].kind);
            if let Some(ObjectKind::Peers(array)) = peers.filter(|kind| matches!(kind, ObjectKind::Peers(array) if self.rings.contains(array))) {
                let array = &kernel.objects[*array].name;
                let message = format!("`pipeline`: other blocks reach `{array}`, and do not know which of its {} slots is meant", self.stages);
                let refusal = Refusal::new(message, format!("copy what they are to read from `{array}` into an array of its own"));
                refused.get_or_insert(refusal.label(kernel.insts[inst].loc, "here"));
            }
            let Some(ring) = self.rings.iter().copied().find(|ring| kernel.insts[inst].op.touches(*ring)) else { return };
            let array = &kernel.objects[ring].name;
            let is_load = kernel.effects(inst).writes != Some(ring);
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
                let help = if is_load {
                    format!("read `{array}` in the loop, and keep elsewhere what is needed of it; or use another array here")
                } else {
                    format!("leave this out: each iteration writes all of `{array}`; or use another array here")
                };
                Refusal::new(message, help)
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
        let writes: Vec<Inst> = kernel.insts_in(self.walk.body).filter(|inst| kernel.effects(*inst).writes.is_some()).collect();
        let told = kernel.insts_in(self.walk.body).find(|inst| kernel.effects(*inst).orders >= Some(Scope::Device));
        for load in all_in(kernel, &self.section) {
            let Some(read) = kernel.effects(load).reads.iter().next() else { continue };
            if let Some(told) = told.filter(|_| !kernel.objects[read].is_read_only()) {
                let array = &kernel.objects[read].name;
                let message =
                    format!("`pipeline` copies from `{array}` ahead of the work, which may wait there for what another block writes");
                let help = format!(
                    "take `{array}` as `&Global` if nothing writes it, or promise `#[pipeline(stages = {}, assume_disjoint)]`",
                    self.stages
                );
                let refusal = Refusal::new(message, help).label(kernel.insts[load].loc, "copied from here");
                return Err(refusal.label(kernel.insts[told].loc, "other blocks' writes are seen from here on"));
            }
            if let Some(write) = writes.iter().find(|write| kernel.effects(**write).writes == Some(read)) {
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
    pub(super) fn covers(&self, kernel: &Kernel) -> Result<(), Refusal> {
        let Some(block) = kernel.options.block else {
            let message = "`pipeline` must know that the copies fill the arrays, and this kernel's block is not fixed";
            return Err(Refusal::new(message, "fix it: `#[kernel(block = 256)]`"));
        };
        let Some((array, gap)) = covers::gap(kernel, &self.section, &self.rings, block) else { return Ok(()) };
        let array = &kernel.objects[array].name;
        let zero = format!("write every element in each iteration: `{array}[…] = if inside {{ x[…] }} else {{ 0.0 }};`");
        let who = if self.is_out { "`store_tile` would copy" } else { "work would see" };
        let message = |why: String| format!("`pipeline`: {why}, so that {who} an older iteration's");
        Err(match gap {
            Gap::Element(indices) => {
                let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
                let what = if self.is_out { "the loop does" } else { "the copies do" };
                Refusal::new(message(format!("{what} not always write `{array}{indices}`")), zero)
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
    pub(super) fn fits(&self, kernel: &Kernel) -> Result<(), Refusal> {
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
}

/// R2 of a loop that copies nothing before its first barrier: maybe it reads there what it copies behind.
pub(super) fn nothing_is_copied(kernel: &Kernel, section: &[Inst], barrier: Inst, work: &[Inst]) -> Refusal {
    let written = |store: &Inst| kernel.insts[*store].op.object();
    let read_of = |object: Object| all_in(kernel, section).into_iter().find(|inst| kernel.effects(*inst).reads.contains(object));
    let late = stores(kernel, work).into_iter().find_map(|store| Some((store, written(&store)?, read_of(written(&store)?)?)));
    let Some((store, array, read)) = late else {
        let refusal = Refusal::new("`pipeline`: nothing is copied into a shared array before the first barrier", "leave `pipeline` out");
        return refusal.label(kernel.insts[barrier].loc, "the barrier");
    };
    let array = &kernel.objects[array].name;
    let message = format!("`pipeline`: `{array}` is read before it is written, so that an iteration sees what the one before has copied");
    let help = format!("write `{array}` at the top of the loop, before the first barrier, and read it behind");
    Refusal::new(message, help).label(kernel.insts[read].loc, "read here").label(kernel.insts[store].loc, "written here")
}

/// R7, and that nobody leaves.
pub(super) fn goes_round_together(kernel: &Kernel, inst: Inst, body: Block) -> Result<(), Refusal> {
    // Who leaves an inner loop goes on in this one.
    let inside: HashSet<Inst> = kernel.insts_in(body).collect();
    let leaves = |inner: &Inst| match &kernel.insts[*inner].op {
        Op::Terminator(Terminator::Return) => true,
        Op::Terminator(Terminator::Break(target, _) | Terminator::Continue(target, _)) => !inside.contains(target),
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => false,
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
pub(super) fn not_a_copy(kernel: &Kernel, inst: Inst) -> Option<Refusal> {
    let data = &kernel.insts[inst];
    let effects = kernel.effects(inst);
    let refuse = |message: &str, help: &str, label: &str| Some(Refusal::new(format!("`pipeline`: {message}"), help).label(data.loc, label));
    match &data.op {
        Op::Compute(_) => None,
        Op::Memory(Memory { op: MemoryOp::Load, at }) => match kernel.objects[at.object()].space() {
            Space::Global | Space::Constant | Space::Param => None,
            Space::Shared | Space::Cluster | Space::Local => refuse(
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
        Op::Collective(collective) if collective.is_load() => None,
        Op::Intrinsic(..) if effects.is_pure() => None,
        Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => refuse("before the barrier there are copies only", "move this behind the barrier", "this is none"),
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
