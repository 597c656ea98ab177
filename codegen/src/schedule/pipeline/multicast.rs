//! Tiles that the blocks of a cluster have in common: each copies a part of the rows to all of them, so that the cluster reads what it shares once.
//!
//! ```text
//! cluster = (2, 1)                     // block (x, y); rank = x % 2
//! load_tile(&mut b, m, k, x * 64)      copy_tile b[slot], whole
//! load_tile(&mut a, m, y * 64, k)  ▶   copy_tile a[slot], rows rank * 32 .. (rank + 1) * 32, to blocks 0 and 1
//! ```
//!
//! A slot is written by several blocks then, and free when the warps of all of them have handed it back: each warp arrives at the barriers of all blocks of the cluster, and a producer
//! waits at its own. A block's `arrived` still counts all bytes that come to its slot, whoever sends them. Before the roles part, the blocks meet behind the making of the barriers; behind the roles they
//! meet again, since a warp may still arrive at the barrier of a block that has no more to do (rule V5 of the verifier).
//!
//! **Which.** What a copy's place is computed of does not depend on where the block stands along an axis along which the cluster extends: then the blocks along it have it in common. All blocks
//! of the cluster have to go through the same iterations: no loop's bounds, conditions or exits on the way to the copies depend on the block's place along such an axis. And the rows can be parted, each part
//! beginning where the engine may write. Else each block copies for itself, and nothing is lost but the sharing.

use super::super::Refusal;
use super::Plan;
use crate::analysis::dependence::{DATA, Dependence};
use crate::collections::HashMap;
use crate::ir::{
    Axis, BinaryOp, Block, Builder, Collective, Inst, Kernel, ObjectKind, Op, Region, Scope, Share, Special, Terminator, Type, Value,
};

/// How the blocks of a cluster share copies.
pub(super) struct Multicast {
    extents: [u32; 3],
    /// By copy that is shared: the axes along which the blocks of a cluster have it in common.
    axes: HashMap<Inst, Vec<usize>>,
}

/// What differs between the blocks of a cluster.
struct Differences {
    dependence: Dependence,
    extents: [u32; 3],
}

impl Multicast {
    /// In a kernel in which these loops have a producer; nothing if its blocks have no tile in common, or do not go through the loops alike.
    pub(super) fn of(kernel: &Kernel, plans: &[&Plan]) -> Option<Multicast> {
        let extents = kernel.options.cluster;
        if !kernel.options.has_clusters() {
            return None;
        }
        let differences = Differences { dependence: Dependence::of(kernel), extents };
        if !plans.iter().all(|plan| differences.goes_alike(kernel, plan.inst)) {
            return None;
        }
        let copies = plans.iter().flat_map(|plan| plan.section.iter().copied());
        let axes: HashMap<Inst, Vec<usize>> =
            copies.map(|copy| (copy, differences.axes(kernel, copy))).filter(|(_, axes)| !axes.is_empty()).collect();
        (!axes.is_empty()).then_some(Multicast { extents, axes })
    }

    /// What this block copies of each copy of a section, in order.
    pub(super) fn shares(&self, b: &mut Builder<'_>, section: &[Inst]) -> Vec<Option<Share>> {
        let copies = section.iter().filter(|inst| matches!(b.kernel.insts[**inst].op, Op::Collective(_)));
        let axes: Vec<Option<&Vec<usize>>> = copies.map(|copy| self.axes.get(copy)).collect();
        axes.into_iter().map(|axes| axes.map(|axes| self.share(b, axes))).collect()
    }

    fn share(&self, b: &mut Builder<'_>, axes: &[usize]) -> Share {
        let strides = [1, self.extents[0], self.extents[0] * self.extents[1]];
        let zero = b.int(Type::U32, 0);
        // The rank of the first block that has it in common, and which of them this one is.
        let (mut first, mut part, mut parts, mut blocks) = (zero, zero, 1, 1u32);
        for axis in (0..3).filter(|axis| self.extents[*axis] > 1) {
            let extent = self.extents[axis];
            let place = b.special(Special::BlockIdx, Axis::ALL[axis].0);
            let all = b.int(Type::U32, extent.into());
            let within = b.binary(BinaryOp::Rem, place, all);
            let (sum, factor) = if axes.contains(&axis) { (&mut part, parts) } else { (&mut first, strides[axis]) };
            let factor = b.int(Type::U32, factor.into());
            let term = b.binary(BinaryOp::Mul, within, factor);
            *sum = b.binary(BinaryOp::Add, *sum, term);
            if axes.contains(&axis) {
                parts *= extent;
                blocks = (0..extent).fold(0, |all, n| all | blocks << (n * strides[axis]));
            }
        }
        let blocks = b.int(Type::U32, blocks.into());
        Share { parts, part, blocks: b.binary(BinaryOp::Shl, blocks, first) }
    }
}

impl Differences {
    /// Whether a value may differ from block to block of a cluster.
    fn differs(&self, value: Value) -> bool {
        let reasons = self.dependence.of_value(value);
        reasons & DATA != 0 || (0..3).any(|axis| self.extents[axis] > 1 && Dependence::has_axis(reasons, axis))
    }

    /// Whether all blocks of a cluster come to a loop equally often, and go round it equally often.
    fn goes_alike(&self, kernel: &Kernel, inst: Inst) -> bool {
        self.block_goes_alike(kernel, kernel.body, inst).unwrap_or(false)
    }

    /// The same of what is in a block: nothing if the loop is not there.
    fn block_goes_alike(&self, kernel: &Kernel, block: Block, wanted: Inst) -> Option<bool> {
        let mut leaves = false;
        for inst in &kernel.blocks[block].insts {
            let op = &kernel.insts[*inst].op;
            let inner = op.blocks();
            let is_there = *inst == wanted || inner.iter().any(|block| kernel.insts_in(*block).any(|inner| inner == wanted));
            if !is_there {
                // Whoever has left does not come to it.
                leaves |= inner.iter().flat_map(|block| kernel.insts_in(*block)).any(|inner| is_exit(kernel, inner));
                continue;
            }
            let decides: Vec<Value> = match op {
                Op::Region(Region::If { condition, .. }) => vec![*condition],
                Op::Region(Region::For { start, end, step, .. }) => vec![*start, *end, *step],
                // Nobody knows how often it goes round.
                Op::Region(Region::Loop { .. } | Region::Block { .. })
                | Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Terminator(_) => return Some(false),
            };
            let is_alike = !leaves && !decides.into_iter().any(|value| self.differs(value));
            if *inst == wanted {
                return Some(is_alike);
            }
            let within = inner.into_iter().find_map(|block| self.block_goes_alike(kernel, block, wanted));
            // A loop round it may be left behind it.
            let is_left = op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)).any(|inner| is_exit(kernel, inner));
            return Some(is_alike && !is_left && within.unwrap_or(false));
        }
        None
    }

    /// The axes along which the blocks of a cluster have a copy in common, if they share it.
    fn axes(&self, kernel: &Kernel, copy: Inst) -> Vec<usize> {
        let Op::Collective(Collective::LoadTile { to, from, row, column }) = &kernel.insts[copy].op else { return Vec::new() };
        let which = from.batch.map(|batch| batch.index);
        let reasons = [*row, *column].into_iter().chain(which).fold(0, |all, value| all | self.dependence.of_value(value));
        if reasons & DATA != 0 {
            return Vec::new();
        }
        let axes: Vec<usize> = (0..3).filter(|axis| self.extents[*axis] > 1 && !Dependence::has_axis(reasons, *axis)).collect();
        let Some((rows, columns, element)) = kernel.tile_of(to) else { return Vec::new() };
        let parts: u64 = axes.iter().map(|axis| u64::from(self.extents[*axis])).product();
        // A slab has rows of its own.
        let of_slab = kernel.swizzled.get(&to.object).and_then(|swizzle| swizzle.bytes());
        let row_bytes = of_slab.unwrap_or(columns * u64::from(element.bytes()));
        let can_part = rows.is_multiple_of(parts) && (rows / parts * row_bytes).is_multiple_of(kernel.tile_align(to.object));
        if can_part { axes } else { Vec::new() }
    }
}

/// Whether threads may leave the kernel or a loop there.
fn is_exit(kernel: &Kernel, inst: Inst) -> bool {
    matches!(kernel.insts[inst].op, Op::Terminator(Terminator::Return | Terminator::Break(..) | Terminator::Continue(..)))
}

/// Why the blocks of a cluster and a producer do not go together.
pub(super) fn obstacle(kernel: &Kernel) -> Option<Refusal> {
    if !kernel.options.has_clusters() {
        return None;
    }
    let meets = |inst: &Inst| {
        let is_of_peers = kernel.insts[*inst].op.object().is_some_and(|object| matches!(kernel.objects[object].kind, ObjectKind::Peers(_)));
        is_of_peers || kernel.effects(*inst).converges == Some(Scope::Cluster)
    };
    let inst = kernel.insts_in(kernel.body).find(meets)?;
    let message = "`producer`: the blocks of a cluster meet with all their threads, and a producer comes to no barrier";
    let refusal = Refusal::new(message, "leave `producer` out, or `cluster_sync()` and `shared_of`");
    Some(refusal.label(kernel.insts[inst].loc, "they meet here"))
}
