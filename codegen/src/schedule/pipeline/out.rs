//! Loops that copy out: what they compute goes through a shared array into a matrix.
//!
//! ```text
//! for k in a..b {                     for k in a..b carrying slot = 0 {
//!     tile[i] = …                         tile[slot][i] = …
//!     sync_threads()                      [engine_fence; if t == 0 { await_stores S - 2 read }]
//!     store_tile(c, r, k, &tile)    ▶     sync_threads()
//!     sync_threads()                      store_tile(c, r, k, &tile[slot])     [if t == 0 { put_tile …; commit_stores }]
//! }                                       slot = slot + 1 mod S
//!                                     }
//!                                     [if t == 0 { await_stores 0 done }]
//!                                     sync_threads()
//! ```
//!
//! Iterations stay in their order. The array becomes a ring of S slots, so that an iteration writes its slot while those before are stored, and one barrier an iteration remains: a slot is
//! written again S iterations later, when all threads have passed the barrier that stands behind its store. With `by = tma` the copy engine stores (what stands in
//! brackets; [`super::stores`]): before the barrier of iteration k, S − 2 stores may not have read yet, so the slot of iteration k + 1 is free behind it.
//!
//! In the form for warpgroups, where what is written are sums, each warpgroup has its own part of each slot, and stores apart: [`super::apart`].
//!
//! Where the loop is the last of a `persistent` kernel's round and its iterations are a multiple of S, the next round goes on with the ring: it waits for no store of this one but those that its
//! iterations wait for, no barrier stands behind the loop, and the wait for what is still read stands behind the last round (`blocks`).
//!
//! **When**: the first barrier has writes of shared arrays before it that are more than copies, and behind it nothing but `store_tile`s of these arrays. The rules of rings
//! hold: each iteration writes every element, nobody touches the arrays elsewhere, and the slots fit. The writes may be computed from anything but the arrays themselves and
//! the matrices: no barrier stands between a store and the writes of the next iteration, so what is read beside a store, and whom is told of it, is restricted.

use super::super::Refusal;
use super::apart::Apart;
use super::slots::{Homes, in_part};
use super::stores::Stores;
use super::{Plan, Way, all_in};
use crate::annotations::Modifier;
use crate::collections::HashSet;
use crate::ir::{
    Asked, Builder, Collective, Engine, Inst, Kernel, Memory, MemoryOp, Object, Op, Region, Scalar, Scope, Space, StoreStage, Terminator,
    Type, Value, eval,
};

/// Whether these are the sections of a loop that copies out.
pub(super) fn is_out(kernel: &Kernel, section: &[Inst], work: &[Inst], rings: &[Object]) -> bool {
    let is_store = |inst: &Inst| match &kernel.insts[*inst].op {
        Op::Collective(collective @ Collective::StoreTile { .. }) => rings.contains(&collective.array().object),
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
    let is_harmless = |inst: &Inst| match &kernel.insts[*inst].op {
        Op::Compute(_) | Op::Region(Region::If { .. } | Region::For { .. }) | Op::Terminator(Terminator::Yield(_)) => true,
        // What others may write in the next iteration meanwhile, it may not read.
        Op::Memory(Memory { op: MemoryOp::Load, at }) => {
            let object = &kernel.objects[at.object()];
            object.is_read_only() || object.space() == Space::Local
        }
        Op::Intrinsic(..) => kernel.effects(*inst).is_pure(),
        Op::Memory(_)
        | Op::Texture(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => false,
    };
    let work = all_in(kernel, work);
    let is_more_than_copies = all_in(kernel, section).into_iter().any(|inst| super::rules::not_a_copy(kernel, inst).is_some());
    is_more_than_copies && work.iter().any(is_store) && work.iter().all(|inst| is_store(inst) || is_harmless(inst))
}

impl Plan {
    /// The rules of these loops.
    pub(super) fn check_out(&self, kernel: &Kernel, asked: &Asked, others: &HashSet<Inst>) -> Result<(), Refusal> {
        for inst in all_in(kernel, &self.section) {
            let is_atomic = matches!(kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Atomic(..), .. }));
            let effects = kernel.effects(inst);
            let mut read = effects.reads.iter().chain(effects.writes.filter(|_| is_atomic));
            if let Some(ring) = read.find(|object| self.rings.contains(object)) {
                let array = &kernel.objects[ring].name;
                let message =
                    format!("`pipeline`: `{array}` is read where it is written, and its slot holds what an older iteration wrote");
                let refusal = Refusal::new(message, format!("compute in variables, and write each element of `{array}` once"));
                return Err(refusal.label(kernel.insts[inst].loc, "read here"));
            }
        }
        self.only_here(kernel, others)?;
        self.covers(kernel)?;
        if let Some(by @ (Modifier::ByBulk | Modifier::ByCpAsync)) = asked.by() {
            let message = format!("`{}` copies into shared memory, and this loop copies out of it", by.name());
            return Err(Refusal::new(message, "write `by = tma`, or leave `by` out"));
        }
        let of_engine = || if asked.by() == Some(Modifier::ByTma) { self.store_obstacle(kernel) } else { None };
        if let Some(refusal) = self.touched_while_stored(kernel, "pipeline", "pipeline").or_else(of_engine) {
            return Err(refusal);
        }
        self.fits(kernel)
    }

    /// Whether the loop is the last of a `persistent` kernel's round, and the next round may write the ring's slots as if it were the loop's next iterations: then nobody waits for
    /// its stores before the block ends. Other rounds are other blocks of the source, which see what is stored only if they are told.
    fn ends_rounds(&self, kernel: &Kernel) -> bool {
        let constant = |value: Value| kernel.constant(value).map(Scalar::as_int);
        let bounds = [self.walk.start, self.walk.end, self.walk.step].map(constant);
        let trips = if let [Some(start), Some(end), Some(step)] = bounds { eval::trips([start, end, step]) } else { None };
        let body = &kernel.blocks[kernel.body].insts;
        let Some(at) = body.iter().position(|inst| *inst == self.inst) else { return false };
        let is_last = body[at + 1..].iter().all(|inst| matches!(kernel.insts[*inst].op, Op::Compute(_) | Op::Terminator(_)));
        let goes_on = trips.is_some_and(|trips| trips > 0 && trips.is_multiple_of(self.stages.into()));
        kernel.options.persistent && is_last && goes_on && self.is_told_to_nobody(kernel)
    }

    /// Whether nothing else touches the matrices that it stores to, and no block learns of what another one did.
    pub(super) fn is_told_to_nobody(&self, kernel: &Kernel) -> bool {
        let stores = self.stores(kernel);
        let matrices: HashSet<Object> = stores.iter().filter_map(|store| kernel.effects(*store).writes).collect();
        kernel.insts_in(kernel.body).filter(|inst| !stores.contains(inst)).all(|inst| {
            let effects = kernel.effects(inst);
            let touches = effects.reads.iter().chain(effects.writes).any(|object| matrices.contains(&object));
            !touches && effects.orders < Some(Scope::Device)
        })
    }

    /// Makes it one. `groups`: how many warpgroups store apart, and the rows of each, if they do.
    pub(super) fn apply_out(self, kernel: &mut Kernel, asked: &Asked, way: Way, groups: Option<(u64, u64)>, homes: &mut Homes) {
        let ends_rounds = way.until == Some(StoreStage::Read) && self.ends_rounds(kernel);
        let rings = self.make_rings(kernel, asked, way, homes);
        let apart = groups.map(|groups| self.beside(kernel, false, |b| Apart::new(b, groups)));
        if let Some(apart) = apart {
            apart.part(kernel, &rings);
        }
        let in_first_thread = |b: &mut Builder<'_>, what: &dyn Fn(&mut Builder<'_>)| match apart {
            Some(apart) => b.only_if(apart.is_first, what),
            None => b.in_first_thread(what),
        };
        let (walk, loc) = (&self.walk, self.walk.loc);
        let is_by_one = kernel.constant(walk.step).is_some_and(|step| step.as_int() == 1);
        let carried = (!is_by_one || !self.stages.is_power_of_two()).then(|| {
            let zero = self.beside(kernel, false, |b| b.constant(Scalar::u32(0)));
            let slot = self.carry(kernel, Type::U32, zero);
            kernel.values[slot].name = Some("slot".into());
            slot
        });
        let last = kernel.blocks[walk.body].insts.last().copied();
        kernel.blocks[walk.body].insts.clear();
        let mut b = Builder::new(kernel, walk.body, loc);
        let slot: Value = carried.unwrap_or_else(|| self.slot_of(&mut b, walk.counter));
        let place: Vec<Value> = std::iter::once(slot).chain(apart.map(|apart| apart.number)).collect();
        for access in all_in(kernel, &self.section).into_iter().chain(all_in(kernel, &self.work)) {
            in_part(kernel, access, &place, &rings);
        }
        kernel.blocks[walk.body].insts.extend(&self.section);
        if let Some(until) = way.until {
            let mut b = Builder::new(kernel, walk.body, loc);
            b.push(Op::Engine(Engine::Fence), &[]);
            let but = if until == StoreStage::Read { self.stages - 2 } else { 0 };
            in_first_thread(&mut b, &|b| b.await_stores(but, until));
        }
        match apart {
            Some(apart) => apart.meet(&mut Builder::new(kernel, walk.body, loc)),
            None => kernel.blocks[walk.body].insts.push(self.barrier),
        }
        let from = kernel.blocks[walk.body].insts.len();
        match (apart, way.until) {
            (Some(apart), _) => apart.store(kernel, walk.body, &self.work),
            (None, Some(until)) => {
                kernel.blocks[walk.body].insts.extend(&self.work);
                Stores::of(kernel, &self.work, until, false).weave(kernel, walk.body, from);
            }
            (None, None) => kernel.blocks[walk.body].insts.extend(&self.work),
        }
        if way.until.is_some() {
            // One group an iteration, so that they can be counted.
            in_first_thread(&mut Builder::new(kernel, walk.body, loc), &|b| {
                b.push(Op::Engine(Engine::CommitStores), &[]);
            });
        }
        let next = carried.map(|slot| self.after(&mut Builder::new(kernel, walk.body, loc), slot).0);
        if let Some(last) = last {
            if let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op {
                values.extend(next);
            }
            kernel.blocks[walk.body].insts.push(last);
        }
        self.beside(kernel, true, |b| {
            if way.until.is_some() {
                let until = if ends_rounds { StoreStage::Exit } else { StoreStage::Done };
                in_first_thread(b, &|b| b.await_stores(0, until));
            }
            let block = b.block;
            if !ends_rounds {
                b.kernel.blocks[block].insts.push(self.closing);
            }
        });
    }
}
