//! Loads as units that can be moved: bare ones, and ones predicated by a condition. They are global ones, or those of shared arrays that `prefetch` moves.
//!
//! A load under an `if` is taken out of it as `if condition { load } else { 0 }`, with what computes its address: that is pure and harmless
//! to run anyway. What cannot be taken out is a load in an inner loop, one whose address needs what only happens under the condition, and one
//! behind a store that may be to the same element.

use super::around::Around;
use super::copy::{Saved, loops, parts};
use super::dependence::MemoryAccess;
use super::obstacles::Obstacles;
use super::{Elements, Refusal, Schedule};
use crate::analysis::affine::Affine;
use crate::analysis::cost::{faulting_divisor, is_speculable};
use crate::annotations::{Annotation, Modifier};
use crate::collections::{HashMap, HashSet};
use crate::ir::{
    Access, Address, BinaryOp, Block, Builder, Compute, EarlyLoads, Fill, Inst, Kernel, Memory, MemoryOp, Op, Region, Scalar, Space,
    Terminator, Type, UnaryOp, Value,
};
use std::collections::BTreeSet;

/// Who asks, for messages and rules.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    /// The annotation.
    pub(super) name: &'a str,
    /// Whether stores are taken to be to other elements.
    pub(super) assume_disjoint: bool,
    /// Whether it is an argument of `#[kernel]`.
    pub(super) of_kernel: bool,
    /// Which copy of an interleaved body an access belongs to, where that is known.
    pub(super) elements: &'a Elements,
    /// Which loads are moved. Textures are global memory.
    pub(super) space: Space,
    /// Whether loads are moved within an iteration only.
    pub(super) within_iteration: bool,
    /// What is known round the loop.
    pub(super) around: &'a Around,
}

/// Moves the loads of a loop. Gives the units that stand early now.
type Keep = fn(&mut Kernel, (Inst, Block), Asking<'_>) -> Result<Vec<Inst>, Refusal>;

/// Takes an annotation that moves loads from each loop that has it, inner ones first. `keep` moves them; where it cannot, the loop is as it was.
pub(super) fn move_loads(schedule: &mut Schedule<'_>, annotation: &'static Annotation, within_iteration: bool, keep: Keep) {
    for (inst, block) in loops(schedule.kernel, |annotations| annotations.has(annotation)) {
        let Some(annotations) = schedule.kernel.annotations.get_mut(&inst) else { continue };
        let Some(asked) = annotations.take(annotation) else { continue };
        let of_kernel = annotations.of_kernel;
        let before = Saved::of(schedule.kernel, inst);
        let around = schedule.around(inst);
        let assume_disjoint = asked.says(Modifier::AssumeDisjoint);
        let elements = &schedule.elements;
        let space = Space::Global;
        let asking = Asking { name: annotation.name, assume_disjoint, of_kernel, elements, space, within_iteration, around: &around };
        match keep(schedule.kernel, (inst, block), asking) {
            Ok(units) => {
                let load = |inst: &Inst| [Space::Global, Space::Shared].into_iter().find_map(|space| unit(schedule.kernel, *inst, space));
                let loads: BTreeSet<Inst> = units.iter().filter_map(load).collect();
                if !loads.is_empty() {
                    schedule.kernel.early_loads.push(EarlyLoads { annotation, place: asked.place, loads });
                }
            }
            Err(refusal) => {
                before.restore(schedule.kernel);
                schedule.refuse(&asked, refusal);
            }
        }
    }
}

/// The load of a unit: a load of this memory, a read of a texture, or an `if` that does nothing else.
pub(super) fn unit(kernel: &Kernel, inst: Inst, space: Space) -> Option<Inst> {
    match &kernel.insts[inst].op {
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => is_in(kernel, access, space).then_some(inst),
        Op::Texture(op, ..) => (op.reads() && space == Space::Global).then_some(inst),
        Op::Region(Region::If { then_block, else_block, .. }) => {
            let (inner, _) = parts(kernel, *then_block);
            let (others, _) = parts(kernel, *else_block);
            let is_plain = others.iter().all(|inst| matches!(kernel.insts[*inst].op, Op::Compute(Compute::Const(_))));
            match inner[..] {
                [load] if is_plain && kernel.yielded(*then_block).is_some() => unit(kernel, load, space)
                    .filter(|_| matches!(kernel.insts[load].op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }))),
                _ => None,
            }
        }
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => None,
    }
}

fn is_in(kernel: &Kernel, access: &Access, space: Space) -> bool {
    kernel.objects[access.object].space() == space
}

/// Whether there are loads of this memory in a block or those in it.
pub(super) fn has_loads(kernel: &Kernel, block: Block, space: Space) -> Option<Inst> {
    kernel.insts_in(block).find(|inst| match &kernel.insts[*inst].op {
        Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) => is_in(kernel, access, space),
        Op::Texture(op, ..) => op.reads() && space == Space::Global,
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => false,
    })
}

/// Whether an instruction waits for other threads or orders memory.
pub(super) fn is_barrier(kernel: &Kernel, inst: Inst) -> bool {
    kernel.effects(inst).orders_blocks()
}

/// Takes every load in the block's `if`s out of them, so that all stand in the block itself.
pub(super) fn take_out(kernel: &mut Kernel, block: Block, asking: Asking<'_>) -> Result<(), Refusal> {
    let affine = asking.around.affine();
    // What holds where is what held before the first is taken out.
    let is_branch =
        |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Region(Region::If { .. })) && unit(kernel, *inst, asking.space).is_none();
    if kernel.blocks[block].insts.iter().any(is_branch) {
        affine.settle(kernel);
    }
    take_out_of(kernel, block, asking, &mut Search { affine, pairs: 0, names: HashMap::default() })
}

/// What is known of a kernel while its loads are taken out: what loads name is renamed meanwhile, but computed as before, and under the same
/// conditions.
struct Search {
    affine: Affine,
    pairs: u32,
    /// What stands for results of conditions that loads were taken out of, and that are those loads' themselves.
    names: HashMap<Value, Value>,
}

fn take_out_of(kernel: &mut Kernel, block: Block, asking: Asking<'_>, search: &mut Search) -> Result<(), Refusal> {
    let insts = std::mem::take(&mut kernel.blocks[block].insts);
    let mut rest = insts.into_iter();
    let mut failed = None;
    for inst in rest.by_ref() {
        if !search.names.is_empty() {
            rename(kernel, inst, &search.names);
        }
        if unit(kernel, inst, asking.space).is_none()
            && let Err(refusal) = from_inst(kernel, block, inst, asking, search)
        {
            kernel.blocks[block].insts.push(inst);
            failed = Some(refusal);
            break;
        }
        kernel.blocks[block].insts.push(inst);
    }
    kernel.blocks[block].insts.extend(rest);
    failed.map_or(Ok(()), Err)
}

fn from_inst(kernel: &mut Kernel, block: Block, inst: Inst, asking: Asking<'_>, search: &mut Search) -> Result<(), Refusal> {
    match kernel.insts[inst].op {
        Op::Region(Region::If { condition, then_block, else_block }) => {
            for (arm, negated) in [(then_block, false), (else_block, true)] {
                take_out_of(kernel, arm, asking, search)?;
                from_arm(kernel, block, inst, Arm { block: arm, condition, negated }, asking, search)?;
            }
            Ok(())
        }
        Op::Region(Region::For { body, .. } | Region::Loop { body, .. } | Region::Block { body }) => {
            match has_loads(kernel, body, asking.space) {
                None => Ok(()),
                Some(load) => {
                    let name = asking.name;
                    let message = format!("`{name}` moves the loads of the body that it stands on, and some are in a loop inside it");
                    let help = format!("unroll the inner loop with `#[unroll]`, or put `#[{name}]` on it instead");
                    Err(Refusal::new(message, help).label(kernel.insts[load].loc, "a load in the inner loop"))
                }
            }
        }
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Terminator(_) => Ok(()),
    }
}

/// A side of an `if`, and when it runs.
struct Arm {
    block: Block,
    condition: Value,
    negated: bool,
}

/// Takes the loads that stand in an arm itself out of it, to the end of `block`.
fn from_arm(
    kernel: &mut Kernel,
    block: Block,
    branch: Inst,
    Arm { block: arm, condition, negated }: Arm,
    asking: Asking<'_>,
    search: &mut Search,
) -> Result<(), Refusal> {
    let (insts, last) = parts(kernel, arm);
    let copied = copied(kernel, arm, asking.space);
    let is_taken = |kernel: &Kernel, inst: Inst| unit(kernel, inst, asking.space).filter(|_| !copied.contains(&inst));
    if !insts.iter().any(|inst| is_taken(kernel, *inst).is_some()) {
        return Ok(());
    }
    let Search { affine, pairs, .. } = search;
    let obstacles = Obstacles::of(kernel, affine, &insts);
    let here: HashSet<Inst> = insts.iter().copied().collect();
    let mut moved = HashSet::default();
    for (place, inst) in insts.iter().enumerate() {
        if let Some(load) = is_taken(kernel, *inst) {
            check_behind(kernel, affine, pairs, load, &obstacles, place, asking)?;
            moved.insert(*inst);
            mark_slice(kernel, *inst, &here, &mut moved, asking.space).map_err(|needed| {
                let moves = format!("`{}` cannot move a load out of its condition", asking.name);
                divides(kernel, needed, load, &moves, "where the condition does not hold").unwrap_or_else(|| {
                    Refusal::new(format!("{moves}: its address needs what only happens there"), "compute the address before the `if`")
                        .label(kernel.insts[load].loc, "this load")
                        .label(kernel.insts[needed].loc, "needs this")
                })
            })?;
        }
    }
    let loc = kernel.insts[branch].loc;
    let condition = match negated {
        true => Builder::new(kernel, block, loc).unary(UnaryOp::Not, condition),
        false => condition,
    };
    let mut stays = Vec::new();
    let mut names: HashMap<Value, Value> = HashMap::default();
    for inst in insts.into_iter().chain(last) {
        rename(kernel, inst, &names);
        if !moved.contains(&inst) {
            stays.push(inst);
        } else if unit(kernel, inst, asking.space).is_some() {
            names.extend(predicate(kernel, block, inst, condition));
        } else {
            kernel.blocks[block].insts.push(inst);
        }
    }
    kernel.blocks[arm].insts = stays;
    search.names.extend(same_as_loaded(kernel, branch, arm, &names));
    Ok(())
}

/// Why the address of a load is not computed elsewhere, if that is since what it needs divides by what may be 0 there.
pub(super) fn divides(kernel: &Kernel, needed: Inst, load: Inst, moves: &str, there: &str) -> Option<Refusal> {
    let divisor = faulting_divisor(kernel, needed)?;
    let name = kernel.values[divisor].name.as_deref();
    let (said, written) = name.map_or_else(|| ("a divisor".to_owned(), "d"), |name| (format!("`{name}`"), name));
    let message = format!("{moves}: its address divides by {said}, which may be 0 {there}");
    let help = match kernel.ty(divisor).is_unsigned_int() {
        true => format!("divide by `{written}.max(1)`, which is never 0, and the same where `{written}` is not"),
        false => format!(
            "if `{written}` is never negative, divide by `{written}.max(1)`, which is never 0, and the same where `{written}` is not"
        ),
    };
    Some(Refusal::new(message, help).label(kernel.insts[load].loc, "this load").label(kernel.insts[needed].loc, "divides here"))
}

/// The units of a block that are what its stores to slots of a pipelined loop copy, and are nothing else. They stay with these stores: a target that
/// copies by itself makes one instruction of both, and no thread waits for that.
pub(super) fn copied(kernel: &Kernel, block: Block, space: Space) -> HashSet<Inst> {
    let mut stored: HashMap<Value, u32> = HashMap::default();
    for inst in kernel.blocks[block].insts.iter().filter(|_| !kernel.rings.is_empty()) {
        if let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(access) }) = &kernel.insts[*inst].op
            && [Fill::Groups, Fill::Engine].into_iter().any(|fill| kernel.is_filled_by(access.object, fill))
        {
            values.iter().for_each(|value| *stored.entry(*value).or_default() += 1);
        }
    }
    if stored.is_empty() {
        return HashSet::default();
    }
    let uses = |insts: &mut dyn Iterator<Item = &Inst>| {
        let mut used: HashMap<Value, u32> = HashMap::default();
        let mut note = |inst| kernel.insts[inst].op.operands().iter().for_each(|value| *used.entry(*value).or_default() += 1);
        insts.for_each(|inst| visit(kernel, *inst, &mut note));
        used
    };
    let all = uses(&mut kernel.blocks[block].insts.iter());
    // A condition that its load was taken out of is nothing any more, if that was all it was for.
    let is_left_over = |inst: &Inst| {
        let mut computes = !kernel.insts[*inst].op.blocks().is_empty();
        visit(kernel, *inst, &mut |inner| {
            let op = &kernel.insts[inner].op;
            computes &= inner == *inst || matches!(op, Op::Compute(_) | Op::Terminator(Terminator::Yield(_)));
        });
        computes && kernel.insts[*inst].results.iter().all(|value| !all.contains_key(value))
    };
    let used = uses(&mut kernel.blocks[block].insts.iter().filter(|inst| !is_left_over(inst)));
    let is_copied = |inst: &Inst| {
        let results = &kernel.insts[*inst].results;
        let is_stored = results.iter().any(|value| stored.contains_key(value));
        is_stored && results.iter().all(|value| stored.get(value) == used.get(value)) && unit(kernel, *inst, space).is_some()
    };
    kernel.blocks[block].insts.iter().copied().filter(is_copied).collect()
}

/// The results of an `if` that are a load's, and zero where the load does not run: what the load gives by itself.
fn same_as_loaded(kernel: &Kernel, branch: Inst, arm: Block, loaded: &HashMap<Value, Value>) -> Vec<(Value, Value)> {
    let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[branch].op else { return Vec::new() };
    let other = if arm == then_block { else_block } else { then_block };
    let (Some(here), Some(there)) = (kernel.yielded(arm), kernel.yielded(other)) else { return Vec::new() };
    let is_loaded: HashSet<Value> = loaded.values().copied().collect();
    let is_zero = |value: &Value| kernel.constant(*value).is_some_and(|constant| constant.bits == 0);
    let results = kernel.insts[branch].results.iter().zip(here.iter().zip(there));
    results.filter(|(_, (here, there))| is_loaded.contains(here) && is_zero(there)).map(|(result, (here, _))| (*result, *here)).collect()
}

/// Makes the operands of an instruction, and of all in it, current.
fn rename(kernel: &mut Kernel, inst: Inst, names: &HashMap<Value, Value>) {
    let mut insts = Vec::new();
    visit(kernel, inst, &mut |inst| insts.push(inst));
    for inst in insts {
        kernel.insts[inst].op.for_each_operand_mut(|value| *value = names.get(value).copied().unwrap_or(*value));
    }
}

/// Adds what a unit needs of the block's instructions; the one that cannot be moved if there is one.
fn mark_slice(kernel: &Kernel, inst: Inst, here: &HashSet<Inst>, moved: &mut HashSet<Inst>, space: Space) -> Result<(), Inst> {
    let mut work = needs(kernel, inst);
    while let Some(value) = work.pop() {
        let Some((maker, _)) = kernel.def(value) else { continue };
        if !here.contains(&maker) || moved.contains(&maker) {
            continue;
        }
        let is_unit = unit(kernel, maker, space).is_some();
        if !is_unit && (!is_speculable(kernel, maker) || !kernel.insts[maker].op.blocks().is_empty()) {
            return Err(maker);
        }
        moved.insert(maker);
        work.extend(needs(kernel, maker));
    }
    Ok(())
}

/// What an instruction and all in it use from outside it.
pub(super) fn needs(kernel: &Kernel, inst: Inst) -> Vec<Value> {
    let (mut used, mut made): (Vec<Value>, HashSet<Value>) = (Vec::new(), HashSet::default());
    visit(kernel, inst, &mut |inner| {
        used.extend(kernel.insts[inner].op.operands());
        if inner != inst {
            made.extend(kernel.insts[inner].results.iter().copied());
        }
    });
    used.retain(|value| !made.contains(value));
    used
}

/// Whether a load may go before the first `place` of the instructions whose obstacles these are.
fn check_behind(
    kernel: &Kernel,
    affine: &mut Affine,
    pairs: &mut u32,
    load: Inst,
    obstacles: &Obstacles,
    place: usize,
    asking: Asking<'_>,
) -> Result<(), Refusal> {
    let Some(access) = MemoryAccess::of(kernel, affine, load) else { return Ok(()) };
    let before = obstacles.in_the_way(kernel, access.at.object, asking).take_while(|obstacle| obstacle.at < place);
    let found = before.filter_map(|obstacle| obstacle.keeps_behind(kernel, affine, &access, asking, pairs)).next();
    found.map_or(Ok(()), Err)
}

/// Calls `f` on an instruction and on all in it.
pub(super) fn visit(kernel: &Kernel, inst: Inst, f: &mut impl FnMut(Inst)) {
    f(inst);
    for block in kernel.insts[inst].op.blocks() {
        kernel.walk_block(block, &mut |_, _, inner| f(inner));
    }
}

/// Puts a unit at the end of `block`, where it runs if `condition` holds too. Gives what stands for its results.
pub(super) fn predicate(kernel: &mut Kernel, block: Block, inst: Inst, condition: Value) -> Vec<(Value, Value)> {
    let loc = kernel.insts[inst].loc;
    if let Op::Region(Region::If { condition: own, .. }) = kernel.insts[inst].op {
        let both = Builder::new(kernel, block, loc).binary(BinaryOp::And, condition, own);
        if let Op::Region(Region::If { condition, .. }) = &mut kernel.insts[inst].op {
            *condition = both;
        }
        kernel.blocks[block].insts.push(inst);
        return Vec::new();
    }
    // A texture can be read anywhere, by any thread.
    if matches!(kernel.insts[inst].op, Op::Texture(..)) {
        kernel.blocks[block].insts.push(inst);
        return Vec::new();
    }
    let results = kernel.insts[inst].results.clone();
    let types: Vec<Type> = results.iter().map(|value| kernel.ty(*value)).collect();
    let (then_block, else_block) = (kernel.new_block(&[]), kernel.new_block(&[]));
    kernel.blocks[then_block].insts.push(inst);
    Builder::new(kernel, then_block, loc).push(Op::Terminator(Terminator::Yield(results.clone())), &[]);
    let mut b = Builder::new(kernel, else_block, loc);
    let zeros = types.iter().map(|ty| b.constant(Scalar::new(*ty, 0))).collect();
    b.push(Op::Terminator(Terminator::Yield(zeros)), &[]);
    let branch = Builder::new(kernel, block, loc).push(Op::Region(Region::If { condition, then_block, else_block }), &types);
    let outside = kernel.insts[branch].results.clone();
    for (from, to) in results.iter().zip(&outside) {
        kernel.values[*to].name = kernel.values[*from].name.clone();
    }
    results.into_iter().zip(outside).collect()
}
