//! Warpgroups that store apart: where a loop copies out sums, of which each warpgroup has rows of its own, each has its own part of every slot.
//!
//! ```text
//! for n in … {                                    for n in … {
//!     store_sums ring[slot], sums                     store_sums ring[slot][group], sums
//!     engine_fence                                    engine_fence
//!     if t == 0 { await_stores S - 2 read }           if t % 128 == 0 { await_stores S - 2 read }
//!     sync_threads()                            ▶     warpgroup_sync group
//!     if t == 0 { put_tile ring[slot], c, row }       if t % 128 == 0 { put_tile ring[slot][group], c, row + group · H }
//!     if t == 0 { commit_stores }                     if t % 128 == 0 { commit_stores }
//! }                                               }
//! if t == 0 { await_stores 0 done }               if t % 128 == 0 { await_stores 0 done }
//! sync_threads()                                  sync_threads()
//! ```
//!
//! H is the rows of a warpgroup. No warpgroup waits for another one until the loop is over, so one multiplies while another writes its results. The loop's own barrier orders nothing else: what an iteration
//! reads beside its sums nobody writes, and the matrix is touched nowhere else.
//!
//! **When**: the kernel has a producer, warpgroups multiply, all that is written to the slots are sums that they share out, and the stores stand in the loop itself.

use super::super::collectives::{last_row_at_most, store_by_engine, thread_number};
use super::super::products;
use super::{Plan, all_in};
use crate::collections::HashMap;
use crate::ir::{
    BinaryOp, Block, Builder, Collective, CompareOp, Effects, Engine, Inst, Kernel, MemoryType, Object, Op, Space, Tensor, Type, Value,
    WARPGROUP,
};

/// Warpgroups that have rows of their own.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    /// How many they are.
    groups: u64,
    /// The number of a thread's; `u32`.
    pub(super) number: Value,
    /// Whether the thread is the first of it, which tells the engine.
    pub(super) is_first: Value,
    /// Its first row, in the kernel's index type.
    row: Value,
}

impl Plan {
    /// How many warpgroups can store apart, and how many rows each has.
    pub(super) fn warpgroups(&self, kernel: &Kernel) -> Option<(u64, u64)> {
        let groups = kernel.options.block?.iter().map(|side| u64::from(*side)).product::<u64>() / WARPGROUP;
        let [array] = self.rings[..] else { return None };
        let MemoryType::Array(_, rows) = kernel.objects[array].ty else { return None };
        let is_shared_out = |inst: &Inst| {
            let op = &kernel.insts[*inst].op;
            if let Op::Tensor(Tensor::Store { to, of, shape, .. }) = op {
                let is_whole = to.path.is_empty() && shape[0] == rows;
                to.object == array && is_whole && products::are_of_warpgroups(kernel, (*of, *shape))
            } else {
                !op.touches(array)
            }
        };
        let (section, work) = (all_in(kernel, &self.section), all_in(kernel, &self.work));
        let stores = self.stores(kernel);
        // What others write an iteration may only read behind a barrier of the block.
        let is_apart = |inst: &Inst| {
            let effects: Effects = kernel.effects(*inst);
            let is_common = |object: Object| {
                let object = &kernel.objects[object];
                !object.is_read_only() && matches!(object.space(), Space::Shared | Space::Cluster | Space::Global)
            };
            let is_own = stores.contains(inst) || matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::Store { .. }));
            is_own || !effects.reads.any(is_common) && !effects.writes.is_some_and(is_common) && !effects.is_barrier()
        };
        let stand_here = stores.iter().all(|store| self.work.contains(store));
        let fits = groups > 1
            && stand_here
            && section.iter().all(is_shared_out)
            && section.iter().chain(&work).all(is_apart)
            && self.is_told_to_nobody(kernel);
        fits.then_some((groups, rows / groups))
    }
}

impl Apart {
    /// Those of a block; stands before the loop.
    pub(super) fn new(b: &mut Builder<'_>, (groups, rows): (u64, u64)) -> Apart {
        let index = b.kernel.index_type();
        let thread = thread_number(b, index);
        let [threads, rows] = [WARPGROUP, rows].map(|count| b.int(index, i128::from(count)));
        let [group, rest] = [BinaryOp::Div, BinaryOp::Rem].map(|op| b.binary(op, thread, threads));
        let zero = b.int(index, 0);
        let is_first = b.compare(CompareOp::Eq, rest, zero);
        let row = b.binary(BinaryOp::Mul, group, rows);
        Apart { groups, number: b.cast(group, Type::U32), is_first, row }
    }

    /// Gives each its part of a ring's slots.
    pub(super) fn part(self, kernel: &mut Kernel, rings: &HashMap<Object, Object>) {
        for ring in rings.values() {
            let data = &mut kernel.objects[*ring];
            if let MemoryType::Array(slot, slots) = &data.ty
                && let MemoryType::Array(row, rows) = &**slot
            {
                let part = MemoryType::Array(row.clone(), rows / self.groups);
                data.ty = MemoryType::Array(Box::new(MemoryType::Array(Box::new(part), self.groups)), *slots);
            }
        }
    }

    /// The threads of each meet.
    pub(super) fn meet(self, b: &mut Builder<'_>) {
        b.push(Op::Engine(Engine::Meet { warpgroup: self.number }), &[]);
    }

    /// The work of an iteration, whose stores the engine makes.
    pub(super) fn store(self, kernel: &mut Kernel, body: Block, work: &[Inst]) {
        for inst in work {
            let (op, loc) = (kernel.insts[*inst].op.clone(), kernel.insts[*inst].loc);
            let Op::Collective(Collective::StoreTile { to, row, column, from }) = op else {
                kernel.blocks[body].insts.push(*inst);
                continue;
            };
            let mut b = Builder::new(kernel, body, loc);
            // Rows further down do not wrap round.
            let first = last_row_at_most(&mut b, row);
            let row = b.binary(BinaryOp::Add, first, self.row);
            if let Some(store) = store_by_engine(&mut b, &Collective::StoreTile { to, row, column, from }) {
                b.only_if(self.is_first, |b| {
                    b.push(Op::Engine(store), &[]);
                });
            }
        }
    }
}
