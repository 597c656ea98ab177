//! `#[kernel(persistent)]`: a launch starts as many blocks as are resident at once, and each runs the body for several blocks of the grid.
//!
//! ```text
//! barrier_init barriers; sync_threads()       if the copy engine fills rings
//! for n in (block_idx.x..asked.x * asked.y * asked.z).step_by(grid_dim.x) {
//!     block = (n % asked.x, n / asked.x % asked.y, n / (asked.x * asked.y))
//!     'round: { the body; `return` is `break 'round` }
//!     await_copies(0)             if there are rings
//!     sync_threads()              if there are shared arrays, but for rings that loops order themselves
//! }
//! await_stores 0 exit             if the last stores of the copy engine are left to the block's end
//! ```
//!
//! A round begins as a block does: values are computed anew, arrays of a thread are written before they are read, and no thread stores to a shared array while another still reads what
//! the round before left there. With clusters, blocks are numbered cluster after cluster, and as many are started as make whole clusters: those of one go through their rounds
//! together, each with the same rank in all. The blocks are taken in the order in which a device starts them, so that one may wait for an earlier one. `n` does not wrap:
//! the grid of such a kernel has fewer than 2³² blocks (a launch of more is refused), and a loop counts its rounds before.
//!
//! **Barriers of the copy engine** are made once, before the rounds, where `pipeline` has put them: at the body's beginning. A ring stands in a round where the one before has left it
//! (`Engine::Turn`). All its copies have been waited for by then: a loop issues none for iterations that it does not run.
//!
//! **Returns.** A thread that has returned is waited for by nobody; one whose round has ended is, since it comes to the barriers of the next. So where threads may return apart, before a
//! barrier or an exchange, they are brought there together first (`converge`), as for devices that need that anyway: [`meet`]. It needs `Legal`; this pass does not.

use crate::analysis::access::uniform_in_warps;
use crate::analysis::uniformity::Uniformity;
use crate::collections::HashSet;
use crate::intrinsics::{by_name, called};
use crate::ir::Copy;
use crate::ir::{
    Axis, BinaryOp, Block, Builder, Effects, Engine, Fill, Inst, Kernel, Loc, Object, ObjectKind, Op, Region, Special, StoreStage,
    Terminator, Type, Value,
};
use crate::passes::{CONVERGE, converge};

/// Has all threads that do not return together come to the barriers and exchanges behind. Gives whether anything changed. For a kernel of stage `Legal`.
pub(in crate::passes) fn meet(kernel: &mut Kernel) -> bool {
    let Some(run) = apart(kernel) else { return false };
    let changed = run(kernel);
    if changed {
        crate::passes::run(kernel, &CONVERGE[1..], None);
    }
    changed
}

/// What brings the threads together, if some may return without others.
fn apart(kernel: &Kernel) -> Option<fn(&mut Kernel) -> bool> {
    let last = kernel.blocks[kernel.body].insts.last().copied();
    let is_return = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Terminator(Terminator::Return)) && Some(*inst) != last;
    let returns: Vec<Inst> = kernel.insts_in(kernel.body).filter(is_return).collect();
    let has = |wanted: fn(&Effects) -> bool| kernel.insts_in(kernel.body).any(|inst| wanted(&kernel.effects(inst)));
    if returns.is_empty() || !has(Effects::is_convergent) {
        return None;
    }
    let part = |uniformity: Uniformity| returns.iter().any(|inst| !uniformity.runs_together(*inst));
    if has(Effects::is_of_warp) && part(uniform_in_warps(kernel)) {
        return Some(converge::run);
    }
    part(Uniformity::of(kernel)).then_some(converge::run_for_barriers)
}

/// A block of the kernel that threads run in each round.
pub(super) struct Rounds {
    pub(super) block: Block,
    /// What they do once, before.
    once: Vec<Inst>,
    /// How it ends behind the last round.
    end: Terminator,
    /// Whether its threads come to no barrier.
    is_producer: bool,
}

/// What threads run in each round: the body but for what is made once, or what each role does.
pub(super) fn rounds(kernel: &mut Kernel) -> Vec<Rounds> {
    let body = kernel.body;
    let insts = std::mem::take(&mut kernel.blocks[body].insts);
    let (mut once, mut insts) = made_once(kernel, insts);
    let Some(roles) = insts.iter().find_map(|inst| kernel.roles_at(*inst)) else {
        kernel.blocks[body].insts = insts;
        return vec![Rounds { block: body, once, end: Terminator::Return, is_producer: false }];
    };
    let at = insts.iter().position(|inst| *inst == roles.inst).unwrap_or(0);
    let parting = insts.split_off(at);
    let is_asked = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::Is(_)));
    let (asked, before): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(is_asked);
    once.extend(asked);
    once.extend(parting);
    kernel.blocks[body].insts = once;
    // Of what stands before, each role has its own.
    let inner: Vec<Inst> = kernel.insts_in(roles.producer).collect();
    let own = std::mem::take(&mut kernel.blocks[roles.producer].insts);
    let mut copy = Copy::default();
    for inst in &before {
        copy.inst(kernel, *inst, roles.producer);
    }
    for inst in inner {
        kernel.insts[inst].op.for_each_operand_mut(|value| *value = copy.get(*value));
    }
    kernel.blocks[roles.producer].insts.extend(own);
    kernel.blocks[roles.work].insts.splice(0..0, before);
    let of_role = |(block, is_producer)| Rounds { block, once: Vec::new(), end: Terminator::Yield(Vec::new()), is_producer };
    [(roles.producer, true), (roles.work, false)].map(of_role).into()
}

/// Puts a block in a loop over the blocks of the grid. `begin` fills in what of a round comes first, of the block's number, the extents of the grid, and the blocks of a layer.
pub(super) fn wrap(kernel: &mut Kernel, rounds: Rounds, begin: impl FnOnce(&mut Builder<'_>, Value, [Value; 3], Value)) {
    let Rounds { block, once, end, is_producer } = rounds;
    let loc = kernel.blocks[block].insts.first().map_or(Loc(0), |inst| kernel.insts[*inst].loc);
    let round = kernel.new_block(&[]);
    kernel.blocks[round].insts = std::mem::replace(&mut kernel.blocks[block].insts, once);
    let has_shared = !is_producer && has_unordered(kernel);
    let exits = !is_producer && take_exit(kernel, round);
    let has_rings = !is_producer && kernel.rings.values().any(|ring| ring.fill == Fill::Groups);

    let mut b = Builder::new(kernel, block, loc);
    let grid = [Axis::X, Axis::Y, Axis::Z].map(|axis| b.special(Special::AskedGrid, axis));
    let layer = b.binary(BinaryOp::Mul, grid[0], grid[1]);
    let blocks = b.binary(BinaryOp::Mul, layer, grid[2]);
    let (first, step) = (b.special(Special::BlockIdx, Axis::X), b.special(Special::GridDim, Axis::X));
    let turn = b.kernel.new_block(&[Type::U32]);
    let turns = Region::For { start: first, end: blocks, step, init: Vec::new(), body: turn, keep_rolled: true };
    b.push(Op::Region(turns), &[]);
    if exits {
        // Who has stored nothing waits for nothing.
        b.await_stores(0, StoreStage::Exit);
    }
    b.push(Op::Terminator(end), &[]);

    let number = b.kernel.blocks[turn].params[0];
    b.block = turn;
    begin(&mut b, number, grid, layer);
    let once = b.push(Op::Region(Region::Block { body: round }), &[]);
    if has_rings && let Some(row) = by_name(called::AWAIT_COPIES, None) {
        let none = b.int(Type::U32, 0);
        b.push(Op::Intrinsic(row, vec![none]), &[]);
    }
    if has_shared && let Some(row) = by_name(called::SYNC_THREADS, None) {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
    b.push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    end_rounds(kernel, round, once);
}

/// Whether a round may store to a shared array while threads still read there what the round before left. Rings are read and written in turn whoever runs on, and so are the barriers of the copy engine: the
/// loop that has them, or what stands behind it, sees to that (`pipeline`).
fn has_unordered(kernel: &Kernel) -> bool {
    let mut ordered: HashSet<Object> =
        kernel.rings.iter().filter(|(_, ring)| ring.fill != Fill::Groups).map(|(object, _)| *object).collect();
    ordered.extend(
        kernel.insts_in(kernel.body).filter_map(
            |inst| {
                if let Op::Engine(engine) = &kernel.insts[inst].op { engine.barriers() } else { None }
            },
        ),
    );
    kernel.objects.iter().any(|(object, data)| data.kind == ObjectKind::Shared && !ordered.contains(&object))
}

/// Takes the wait out of a round that is for the block's end alone: whether there was one.
fn take_exit(kernel: &mut Kernel, round: Block) -> bool {
    let is_exit = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::AwaitStores { until: StoreStage::Exit, .. }));
    let waits: Vec<Inst> = kernel.insts_in(round).filter(is_exit).collect();
    // Alone under its condition, or behind the last stores.
    let blocks = std::iter::once(round).chain(kernel.insts_in(round).flat_map(|inst| kernel.insts[inst].op.blocks()));
    for block in blocks.collect::<Vec<Block>>() {
        kernel.blocks[block].insts.retain(|inst| !waits.contains(inst));
    }
    !waits.is_empty()
}

/// What of a body makes the barriers of the copy engine, up to the barrier of the block behind, and what is done in each round.
fn made_once(kernel: &Kernel, insts: Vec<Inst>) -> (Vec<Inst>, Vec<Inst>) {
    let all_of =
        |inst: Inst| std::iter::once(inst).chain(kernel.insts[inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block)));
    let makes = |inst: &Inst| all_of(*inst).any(|inst| matches!(kernel.insts[inst].op, Op::Engine(Engine::Init { .. })));
    let Some(made) = insts.iter().position(makes) else { return (Vec::new(), insts) };
    let behind = insts[made..].iter().position(|inst| kernel.effects(*inst).is_barrier());
    let end = behind.map_or(insts.len(), |behind| made + behind + 1);
    // What else stands there by now is of a round: it may depend on where the block stands.
    let mut needed: HashSet<Value> = HashSet::default();
    let is_once = |inst: &Inst, needed: &mut HashSet<Value>| {
        let begins = matches!(kernel.insts[*inst].op, Op::Engine(Engine::KeepTurn { .. })) || kernel.effects(*inst).is_barrier();
        let is_once = begins || makes(inst) || kernel.insts[*inst].results.iter().any(|value| needed.contains(value));
        if is_once {
            needed.extend(all_of(*inst).flat_map(|inst| kernel.insts[inst].op.operands()));
        }
        is_once
    };
    let (mut once, mut rounds): (Vec<Inst>, Vec<Inst>) = insts[..end].iter().rev().partition(|inst| is_once(inst, &mut needed));
    once.reverse();
    rounds.reverse();
    rounds.extend(&insts[end..]);
    (once, rounds)
}

/// Has every `return` of the body end the round.
fn end_rounds(kernel: &mut Kernel, round: Block, once: Inst) {
    let last = kernel.blocks[round].insts.last().copied();
    for inst in kernel.insts_in(round) {
        if matches!(kernel.insts[inst].op, Op::Terminator(Terminator::Return)) {
            let ends = if Some(inst) == last { Terminator::Yield(Vec::new()) } else { Terminator::Break(once, Vec::new()) };
            kernel.insts[inst].op = Op::Terminator(ends);
        }
    }
}
