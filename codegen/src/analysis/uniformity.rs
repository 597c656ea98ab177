//! Which values are the same in every thread of a block (or in every lane of a warp, or in every thread of a cluster's blocks), and which instructions every thread of a block runs
//! together.
//!
//! Optimistic: everything is uniform until shown otherwise, and the walk is repeated until nothing changes. Divergence begins at
//! `thread_idx`, lanes, atomics, warp exchanges and writable buffers, and spreads through operands, through arrays of each thread's own that something divergent is stored to, through the
//! condition of an `if` to its results, and through exits that some threads take and others do not: those make the whole body of a loop
//! that they leave divergent, of a labelled block what stands behind them in it, and a `return` everything after it. Shared memory read at a uniform index counts as uniform: threads that
//! read different values there are racing.
//!
//! In a cluster the same holds of more threads: blocks differ in `block_idx` along its axes, but not in which cluster that is, and each has shared memory of its own.
//!
//! In a warp the same holds of fewer threads: all lanes that read one place at one time read one value, whatever writes there, and votes and
//! exchanges can give all lanes one. What arithmetic makes uniform in a warp, `global_id().x / 32`, is not seen here: who knows it says so.

use crate::ir;
use crate::ir::intrinsic::Gives;
use crate::ir::{BinaryOp, Block, Compute, Inst, Kernel, Memory, MemoryOp, Object, ObjectKind, Op, Region, Special, Terminator, Value};
use crate::target::limits::WARP;
use std::collections::BTreeSet;

/// What is uniform across a block of threads, or a warp of lanes.
pub struct Uniformity {
    divergent: Vec<bool>,
    torn: BTreeSet<Inst>,
    scattered: BTreeSet<Inst>,
}

/// Whose threads are compared, and what is known of them.
#[derive(Clone, Copy)]
enum Scope<'s> {
    /// A block's.
    Block {
        /// Whether writable buffers hold one value for all.
        is_race_free: bool,
    },
    /// Those of a cluster's blocks; writable buffers hold one value for all.
    Cluster,
    /// A warp's. By value: whether it is known to be the same in all lanes.
    Warp(&'s [bool]),
}

impl Uniformity {
    /// Analyses a kernel.
    pub fn of(kernel: &Kernel) -> Uniformity {
        Uniformity::find(kernel, Scope::Block { is_race_free: false })
    }

    /// The same where threads that read one element of a writable buffer are taken to read one value: what is divergent then is made so by
    /// the threads' numbers and what each of them does.
    pub fn without_races(kernel: &Kernel) -> Uniformity {
        Uniformity::find(kernel, Scope::Block { is_race_free: true })
    }

    /// What is the same in every thread of the blocks of a cluster, where threads that read one element of a writable buffer are taken to read one value.
    pub fn across_clusters(kernel: &Kernel) -> Uniformity {
        Uniformity::find(kernel, Scope::Cluster)
    }

    /// What is the same in every lane of a warp; `known`, by value, says what is for reasons that are not looked at here.
    pub fn in_warp(kernel: &Kernel, known: &[bool]) -> Uniformity {
        Uniformity::find(kernel, Scope::Warp(known))
    }

    fn find(kernel: &Kernel, scope: Scope<'_>) -> Uniformity {
        let mut walk = Walk {
            kernel,
            scope,
            divergent: vec![false; kernel.values.len()],
            torn: BTreeSet::new(),
            scattered: BTreeSet::new(),
            mixed: BTreeSet::new(),
            owners: Vec::new(),
            changed: true,
            lost: false,
        };
        while walk.changed {
            walk.changed = false;
            walk.lost = false;
            walk.block(kernel.body, false);
        }
        Uniformity { divergent: walk.divergent, torn: walk.torn, scattered: walk.scattered }
    }

    /// Whether a value is the same in every thread of a block.
    pub fn is_uniform(&self, value: Value) -> bool {
        !self.divergent[value.0 as usize]
    }

    /// Whether either all threads of a block run an instruction, each time, or none does.
    pub fn runs_together(&self, inst: Inst) -> bool {
        !self.scattered.contains(&inst)
    }

    /// Whether all threads that come to a loop go round it equally often.
    pub fn goes_round_together(&self, kernel: &Kernel, inst: Inst) -> bool {
        let is_even = if let Op::Region(Region::For { start, end, step, .. }) = &kernel.insts[inst].op {
            [start, end, step].into_iter().all(|value| self.is_uniform(*value))
        } else {
            true
        };
        is_even && !self.torn.contains(&inst)
    }
}

struct Walk<'k> {
    kernel: &'k Kernel,
    scope: Scope<'k>,
    divergent: Vec<bool>,
    /// Statements that some threads leave, or begin anew, before others.
    torn: BTreeSet<Inst>,
    scattered: BTreeSet<Inst>,
    /// Arrays of each thread's own that may differ between threads.
    mixed: BTreeSet<Object>,
    /// The instructions around the present one, and whether it is a labelled block that some threads have left before this place.
    owners: Vec<(Inst, bool)>,
    changed: bool,
    /// Whether some threads have returned.
    lost: bool,
}

impl Walk<'_> {
    fn is_divergent(&self, value: Value) -> bool {
        self.divergent[value.0 as usize]
    }

    fn mark(&mut self, value: Value, divergent: bool) {
        if matches!(self.scope, Scope::Warp(known) if known[usize::from(value)]) {
            return;
        }
        let slot = &mut self.divergent[value.0 as usize];
        self.changed |= divergent && !*slot;
        *slot |= divergent;
    }

    fn tear(&mut self, inst: Inst) {
        self.changed |= self.torn.insert(inst);
    }

    /// `to[k]` may be `from[k]`, or differ for another reason.
    fn flow(&mut self, to: &[Value], from: &[Value], otherwise: bool) {
        for (k, value) in to.iter().enumerate() {
            let divergent = otherwise || from.get(k).is_some_and(|v| self.is_divergent(*v));
            self.mark(*value, divergent);
        }
    }

    fn block(&mut self, block: Block, apart: bool) {
        for inst in &self.kernel.blocks[block].insts {
            let apart = apart || self.lost || self.owners.iter().any(|(_, is_left)| *is_left);
            if apart {
                self.scattered.insert(*inst);
            }
            self.inst(*inst, apart);
        }
    }

    fn inst(&mut self, inst: Inst, apart: bool) {
        let kernel = self.kernel;
        let results = &kernel.insts[inst].results;
        match &kernel.insts[inst].op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                let split = self.is_divergent(*condition);
                self.flow(results, &[], split);
                self.inside(inst, *then_block, apart || split);
                self.inside(inst, *else_block, apart || split);
            }
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let params = &kernel.blocks[*body].params;
                let split = [start, end, step].into_iter().any(|v| self.is_divergent(*v)) || self.torn.contains(&inst);
                self.flow(&params[1..], init, split);
                self.mark(params[0], split);
                self.inside(inst, *body, apart || split);
                self.flow(results, &params[1..], split);
            }
            Op::Region(Region::Loop { init, body, .. }) => {
                let split = self.torn.contains(&inst);
                self.flow(&kernel.blocks[*body].params, init, split);
                self.inside(inst, *body, apart || split);
                self.flow(results, &[], split);
            }
            Op::Region(Region::Block { body }) => {
                self.inside(inst, *body, apart);
                self.flow(results, &[], self.torn.contains(&inst));
            }
            Op::Terminator(Terminator::Yield(values)) => self.yielded(values),
            Op::Terminator(Terminator::Break(target, values)) => {
                self.leave(*target, apart);
                self.flow(&kernel.insts[*target].results, values, false);
            }
            Op::Terminator(Terminator::Continue(target, values)) => {
                self.leave(*target, apart);
                self.flow(kernel.carried(*target), values, false);
            }
            Op::Terminator(Terminator::Return) if apart => {
                self.lost = true;
                self.tear_from(0);
            }
            // A trap ends the launch: there is no thread that goes on without the others.
            Op::Terminator(Terminator::Return | Terminator::Trap(_)) => {}
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_) => {
                let divergent = self.makes_divergent(inst);
                for result in results {
                    self.mark(*result, divergent);
                }
                self.stored(inst, apart);
            }
        }
    }

    /// Notes an array of each thread's own that may differ from now on.
    fn stored(&mut self, inst: Inst, apart: bool) {
        let (kernel, op) = (self.kernel, &self.kernel.insts[inst].op);
        let local = op.effects(kernel).writes.filter(|object| kernel.objects[*object].kind == ObjectKind::Local);
        if let Some(array) = local.filter(|_| apart || op.operands().into_iter().any(|value| self.is_divergent(value))) {
            self.changed |= self.mixed.insert(array);
        }
    }

    fn inside(&mut self, owner: Inst, block: Block, apart: bool) {
        self.owners.push((owner, false));
        self.block(block, apart);
        self.owners.pop();
    }

    /// An exit that only some threads take tears what it leaves, and every loop in between.
    fn leave(&mut self, target: Inst, apart: bool) {
        if !apart {
            return;
        }
        self.tear_from(self.owners.iter().rposition(|(owner, _)| *owner == target).unwrap_or(0));
    }

    /// Tears what stands around the present instruction, but for the outermost `from` owners.
    fn tear_from(&mut self, from: usize) {
        for n in from..self.owners.len() {
            let owner = self.owners[n].0;
            let op = &self.kernel.insts[owner].op;
            self.owners[n].1 |= matches!(op, Op::Region(Region::Block { .. }));
            if !matches!(op, Op::Region(Region::If { .. })) {
                self.tear(owner);
            }
        }
    }

    fn yielded(&mut self, values: &[Value]) {
        let Some((owner, _)) = self.owners.last().copied() else { return };
        let data = &self.kernel.insts[owner];
        self.flow(if data.op.is_loop() { self.kernel.carried(owner) } else { &data.results }, values, false);
    }

    /// Whether all threads that read one element of an object read one value.
    fn is_one_for_all(&self, object: Object) -> bool {
        let data = &self.kernel.objects[object];
        match (&data.kind, self.scope) {
            (ObjectKind::Local, _) => !self.mixed.contains(&object),
            (_, Scope::Warp(_)) | (ObjectKind::Peers(_) | ObjectKind::Global { .. }, Scope::Cluster) => true,
            (ObjectKind::Shared | ObjectKind::Peers(_), Scope::Block { .. }) => true,
            (ObjectKind::Shared, Scope::Cluster) => false,
            (ObjectKind::Global { .. }, Scope::Block { is_race_free }) => is_race_free || data.is_read_only(),
            _ => data.is_read_only(),
        }
    }

    /// Whether `place op by` is in which cluster the block is, along an axis: `block_idx` divided by the cluster's extent, or by a multiple of it.
    fn is_cluster_idx(&self, op: BinaryOp, place: Value, by: Value) -> bool {
        let place = match self.kernel.def(place) {
            Some((_, Op::Compute(Compute::Cast(narrow)))) => *narrow,
            _ => place,
        };
        let Some((_, Op::Compute(Compute::Special(Special::BlockIdx, axis)))) = self.kernel.def(place) else { return false };
        let extent = u64::from(self.kernel.options.cluster[*axis as usize]);
        let by = self.kernel.constant(by).map(|by| by.bits);
        let divisor = if op == BinaryOp::Shr { by.and_then(|by| 1u64.checked_shl(by as u32)) } else { by.filter(|_| op == BinaryOp::Div) };
        divisor.is_some_and(|divisor| divisor.is_multiple_of(extent))
    }

    fn makes_divergent(&self, inst: Inst) -> bool {
        let op = &self.kernel.insts[inst].op;
        let operands = op.operands().into_iter().any(|v| self.is_divergent(v));
        let is_warp = matches!(self.scope, Scope::Warp(_));
        match op {
            Op::Compute(Compute::Special(Special::WarpId, _)) => !is_warp,
            Op::Compute(Compute::Special(Special::BlockIdx, axis)) => {
                matches!(self.scope, Scope::Cluster) && self.kernel.options.cluster[*axis as usize] > 1
            }
            Op::Compute(Compute::Binary(op, place, by))
                if matches!(self.scope, Scope::Cluster) && self.is_cluster_idx(*op, *place, *by) =>
            {
                false
            }
            Op::Compute(Compute::Special(Special::ThreadIdx | Special::LaneId, _))
            | Op::Memory(Memory { op: MemoryOp::Atomic(..), .. }) => true,
            Op::Memory(Memory { op: MemoryOp::Load, at }) => operands || !self.is_one_for_all(at.object()),
            Op::Intrinsic(row, _) if row.row().effects.is_of_warp() && !is_warp => true,
            Op::Intrinsic(row, arguments) => match row.row().meeting.map(|meeting| meeting.gives) {
                // One for the threads of a block.
                Some(Gives::OneForAll) => matches!(self.scope, Scope::Cluster) && row.row().effects.converges < Some(ir::Scope::Cluster),
                Some(Gives::Nothing) => false,
                Some(Gives::OfLane) => arguments.iter().all(|value| self.is_divergent(*value)),
                Some(Gives::Own | Gives::OfLaneXor | Gives::OfLaneAbove) | None => operands,
            },
            Op::Compute(Compute::Binary(..)) if operands && is_warp => {
                let result = self.kernel.insts[inst].results.first();
                result.is_none_or(|result| joined_lanes(self.kernel, *result) != ALL_LANES)
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => operands,
        }
    }
}

/// Every distance of lanes, a bit each.
const ALL_LANES: u32 = WARP - 1;

/// The distances, as bits of a lane's number, over which a value has been joined with the same of the other lane: `v + shuffle_xor(v, 16)` is
/// the same in lanes 16 apart. With all of them (`warp_sum`, written out or not) it is one in the whole warp.
fn joined_lanes(kernel: &Kernel, value: Value) -> u32 {
    let joins = |op: &BinaryOp| {
        use BinaryOp::{Add, And, Max, Min, Mul, Or, Xor};
        matches!(op, Add | Mul | Min | Max | And | Or | Xor)
    };
    let (mut lanes, mut value) = (0, value);
    while let Some((_, Op::Compute(Compute::Binary(op, a, b)))) = kernel.def(value)
        && joins(op)
    {
        let other = |own: Value, other: Value| match kernel.def(other) {
            Some((_, Op::Intrinsic(row, arguments)))
                if row.row().meeting.is_some_and(|meeting| meeting.gives == Gives::OfLaneXor) && arguments[0] == own =>
            {
                kernel.constant(arguments[1]).map(|mask| mask.bits as u32 & ALL_LANES)
            }
            _ => None,
        };
        let Some((own, mask)) = other(*a, *b).map(|mask| (*a, mask)).or_else(|| other(*b, *a).map(|mask| (*b, mask))) else { break };
        // One bit at a time: of two, lanes that differ in one of them are not joined.
        lanes |= if mask.is_power_of_two() { mask } else { 0 };
        value = own;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_kernel;

    /// The stores of a kernel, in order, each with whether all threads of a block are there together.
    fn together(body: &str) -> Vec<bool> {
        let head = "kernel \"k\" legal\nparam m0 \"n\": value u32\nparam m1 \"y\": global mut [u32]\nobject m2 \"t\": shared [u32; 4]\nobject m3 \"own\": local [u32; 4]\n";
        let values = "v0: u32 = load m0\nv1: u32 = thread_idx.x\nv2: u32 = block_idx.x\nv3: u32 = const 1\nv4: u32 = const 0\n";
        let kernel = parse_kernel(&format!("{head}{{\n{values}{body}return\n}}\n")).unwrap();
        let uniformity = Uniformity::of(&kernel);
        let mut stores = Vec::new();
        kernel.for_each_inst(|kernel, _, inst| {
            if matches!(kernel.insts[inst].op, Op::Memory(Memory { op: MemoryOp::Store(_), .. })) {
                stores.push(uniformity.runs_together(inst));
            }
        });
        stores
    }

    #[test]
    fn conditions_on_the_thread_part_a_block_and_join_again() {
        let body = "v5: bool = lt v1, v0\nif v5 {\nstore m2[v4], v0\nyield\n}\nstore m2[v4], v0\nv6: bool = lt v2, v0\nif v6 {\nstore m2[v4], v0\nyield\n}\n";
        assert_eq!(together(body), [false, true, true]);
    }

    #[test]
    fn arrays_of_each_thread_are_uniform_until_something_else_is_stored() {
        let read = "v5: u32 = load m3[v3]\nv6: bool = lt v5, v0\nif v6 {\nstore m2[v4], v0\nyield\n}\n";
        assert_eq!(together(&format!("store m3[v4], v0\n{read}")), [true, true]);
        for other in ["store m3[v4], v1\n", "store m3[v1], v0\n"] {
            assert_eq!(together(&format!("{other}{read}")), [true, false], "{other}");
        }
        let under = "v7: bool = lt v1, v0\nif v7 {\nstore m3[v4], v0\nyield\n}\n";
        assert_eq!(together(&format!("store m3[v4], v0\n{under}{read}")), [true, false, false]);
        // What comes later comes before in the next round.
        let round =
            format!("for i1 (v9: u32 in v4..v3 step v3) {{\n{read}store m3[v4], v1\nyield\n}}\n").replace("v5", "v15").replace("v6", "v16");
        assert_eq!(together(&round), [false, true]);
    }

    #[test]
    fn shared_memory_is_uniform_at_a_uniform_index_only() {
        let body = "v5: u32 = load m2[v4]\nv6: bool = lt v5, v0\nif v6 {\nstore m2[v4], v0\nyield\n}\nv7: u32 = load m2[v1]\nv8: bool = lt v7, v0\nif v8 {\nstore m2[v4], v0\nyield\n}\n";
        assert_eq!(together(body), [true, false]);
    }

    #[test]
    fn a_return_of_some_threads_parts_the_rest() {
        let body = "v5: bool = lt v1, v0\nstore m2[v4], v0\nif v5 {\nreturn\n}\nstore m2[v4], v0\n";
        assert_eq!(together(body), [true, false]);
        // In a loop, also what stands before it: there is a next time.
        let body = "for i100 (v6: u32 in v4..v0 step v3) {\nstore m2[v4], v0\nv5: bool = lt v1, v0\nif v5 {\nreturn\n}\nyield\n}\n";
        assert_eq!(together(body), [false]);
    }

    #[test]
    fn an_exit_of_some_threads_tears_the_loop_but_not_what_follows() {
        let body = "loop i100 () {\nstore m2[v4], v0\nv5: bool = lt v1, v0\nif v5 {\nbreak i100\n}\nyield\n}\nstore m2[v4], v0\n";
        assert_eq!(together(body), [false, true]);
        // What is carried round diverges on the way, and the condition with it.
        let body = "v5: u32 = for i100 (v6: u32 in v4..v0 step v3; v7: u32 = v4) {\nv8: bool = lt v7, v0\nif v8 {\nstore m2[v4], v0\nyield\n}\nyield v1\n}\nstore m2[v4], v5\n";
        assert_eq!(together(body), [false, true]);
    }
}
