//! A kernel whose threads have several elements usually asks `if i < n` for each. Two versions of it: one for threads all of whose elements
//! pass, in which nothing is asked any more, and one for the others.
//!
//! The elements of a thread are numbered in the order of its loops, and numbers of elements do not wrap round (`analysis::bounds`): so `number < n`
//! holds for all if it holds for the last. A guard that asks something else of an element is asked for each of them in front.

use super::around::Around;
use super::copy::{loops, parts};
use super::groups::{Counted, open};
use crate::analysis::bounds::Bounds;
use crate::collections::HashSet;
use crate::ir::Copy;
use crate::ir::{
    Address, BinaryOp, Block, Builder, CompareOp, Compute, Inst, Kernel, Memory, MemoryOp, ObjectKind, Op, Region, Scalar, Terminator,
    Type, Value,
};

/// The `if` that all of a kernel's accesses stand under.
pub(super) struct Guard {
    /// The `if`, at the top of the body of the loop over elements.
    pub(super) branch: Inst,
    condition: Value,
    /// Whether it holds for every element of a thread if it holds for the last.
    last_tells: bool,
}

/// What becomes of threads some of whose elements do not pass.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    /// Their elements are worked on one by one, in loops that stay rolled.
    OneByOne,
    /// The loop over elements keeps its annotations.
    Annotated,
}

/// The one `if` without `else` at the top of the body whose condition differs from element to element.
pub(super) fn find_guard(kernel: &Kernel, walk: &Counted, varying: &HashSet<Value>) -> Option<Guard> {
    let branches = parts(kernel, walk.body).0.into_iter().filter_map(|inst| {
        if let Op::Region(Region::If { condition, else_block, .. }) = kernel.insts[inst].op
            && varying.contains(&condition)
        {
            Some((inst, condition, else_block))
        } else {
            None
        }
    });
    let branches: Vec<_> = branches.collect();
    let [(branch, condition, else_block)] = branches[..] else { return None };
    if !parts(kernel, else_block).0.is_empty() || !kernel.insts[branch].results.is_empty() || !is_computable(kernel, condition) {
        return None;
    }
    let last_tells = last_tells(kernel, &Bounds::of(kernel), varying, condition);
    Some(Guard { branch, condition, last_tells })
}

/// `number < n`, what does not vary, and both of two such.
fn last_tells(kernel: &Kernel, bounds: &Bounds, varying: &HashSet<Value>, condition: Value) -> bool {
    let mut fails = false;
    kernel.for_each_needed(&[condition], |value| {
        let is_part = match kernel.def(value) {
            _ if fails || !varying.contains(&value) => return false,
            Some((_, Op::Compute(Compute::Compare(CompareOp::Lt | CompareOp::Le, a, b)))) => {
                !varying.contains(b) && bounds.is_element(kernel, *a)
            }
            Some((_, Op::Compute(Compute::Compare(CompareOp::Gt | CompareOp::Ge, b, a)))) => {
                !varying.contains(b) && bounds.is_element(kernel, *a)
            }
            Some((_, Op::Compute(Compute::Binary(BinaryOp::And, ..)))) => return true,
            _ => false,
        };
        fails |= !is_part;
        false
    });
    !fails
}

/// Whether a value can be computed again ahead of time: of geometry, parameters, lengths and counters, without branches. What is loaded of a
/// buffer is data, and a question about data is no guard: it splits neighbours anywhere.
fn is_computable(kernel: &Kernel, value: Value) -> bool {
    let mut fails = false;
    kernel.for_each_needed(&[value], |value| {
        let Some((_, op)) = kernel.def(value) else { return false };
        let is_fixed = if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = op {
            kernel.objects[access.object].kind == ObjectKind::Value
        } else {
            op.effects(kernel).is_speculatable()
        };
        fails |= !is_fixed;
        !fails
    });
    !fails
}

/// Two versions of the loop over elements, or of the kernel's loop over groups round it: one where the guard holds for every element, which the
/// loop becomes part of, and one for the other threads. Gives the block the loop then stands in, and the loop of the other version.
pub(super) fn versions(
    kernel: &mut Kernel,
    inst: Inst,
    block: Block,
    walk: &Counted,
    guard: &Guard,
    other: Other,
    around: &Around,
) -> (Block, (Inst, Block)) {
    let outer = loop_over_groups(kernel, inst, block);
    let (target, home) = outer.unwrap_or((inst, block));
    let loc = kernel.insts[target].loc;
    let mut copy = Copy::default();
    for arm in kernel.insts[target].op.blocks() {
        for object in around.privates(kernel, arm) {
            let data = kernel.objects[object].clone();
            let own = kernel.objects.push(data);
            copy.set_object(object, own);
        }
    }
    let behind = open(kernel, home, target);
    let condition = all_hold(kernel, home, outer.map(|(outer, _)| outer), walk, guard);
    let (then_block, else_block) = (kernel.new_block(&[]), kernel.new_block(&[]));
    let slow = copy.inst(kernel, target, else_block);
    if other == Other::OneByOne {
        keep_as_it_is(kernel, slow);
    }
    kernel.blocks[then_block].insts.push(target);
    for arm in [then_block, else_block] {
        Builder::new(kernel, arm, loc).push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    }
    Builder::new(kernel, home, loc).push(Op::Region(Region::If { condition, then_block, else_block }), &[]);
    kernel.blocks[home].insts.extend(behind);
    // In the first version the guard holds.
    let holds = kernel.new_inst(Op::Compute(Compute::Const(Scalar::bool(true))), &[Type::Bool], loc);
    let value = kernel.insts[holds].results[0];
    kernel.blocks[walk.body].insts.insert(0, holds);
    if let Op::Region(Region::If { condition, .. }) = &mut kernel.insts[guard.branch].op {
        *condition = value;
    }
    (if outer.is_some() { block } else { then_block }, (slow, else_block))
}

/// The kernel's loop over groups, if that is what is round the loop, and where it stands.
fn loop_over_groups(kernel: &Kernel, inst: Inst, block: Block) -> Option<(Inst, Block)> {
    let of_kernel = loops(kernel, |asked| asked.of_kernel);
    let found = of_kernel.into_iter().find(|(outer, _)| *outer != inst && kernel.insts[*outer].op.blocks().contains(&block));
    found.filter(|(outer, _)| kernel.insts[*outer].results.is_empty())
}

/// Without annotations, and not unrolled by the assembler: it runs for the last elements only.
fn keep_as_it_is(kernel: &mut Kernel, inst: Inst) {
    let mut inside = vec![inst];
    for block in kernel.insts[inst].op.blocks() {
        kernel.walk_block(block, &mut |_, _, inner| inside.push(inner));
    }
    for inner in inside {
        if kernel.annotations.get(&inner).is_some_and(|asked| asked.of_kernel) {
            kernel.annotations.remove(&inner);
            if let Op::Region(Region::For { keep_rolled, .. }) = &mut kernel.insts[inner].op {
                *keep_rolled = true;
            }
        }
    }
}

/// Whether the guard holds for every element of a thread.
fn all_hold(kernel: &mut Kernel, home: Block, outer: Option<Inst>, walk: &Counted, guard: &Guard) -> Value {
    let outer = outer.and_then(|outer| Counted::of(kernel, outer));
    let groups = outer.as_ref().and_then(|outer| outer.trips(kernel)).unwrap_or(1);
    let count = walk.trips(kernel).unwrap_or(1);
    let asked = |count: u64| if guard.last_tells { count - 1..count } else { 0..count };
    let mut slice: Vec<Inst> = outer.iter().flat_map(|outer| parts(kernel, outer.body).0).collect();
    slice.extend(parts(kernel, walk.body).0);
    let needed = slice_of(kernel, guard.condition, &slice);
    let mut condition = None;
    for group in asked(groups.max(1)) {
        for element in asked(count.max(1)) {
            let mut copy = Copy::default();
            let mut number = |walk: &Counted, n: u64| {
                let ty = kernel.ty(walk.counter);
                let value = Builder::new(kernel, home, walk.loc).int(ty, i128::from(n));
                copy.set(walk.counter, value);
            };
            outer.iter().for_each(|outer| number(outer, group));
            number(walk, element);
            for inst in &needed {
                copy.inst(kernel, *inst, home);
            }
            let holds = copy.get(guard.condition);
            condition = Some(match condition {
                Some(before) => Builder::new(kernel, home, walk.loc).binary(BinaryOp::And, before, holds),
                None => holds,
            });
        }
    }
    condition.unwrap_or(guard.condition)
}

/// Which of these instructions a value needs, in order.
fn slice_of(kernel: &Kernel, value: Value, insts: &[Inst]) -> Vec<Inst> {
    let mut wanted = HashSet::from_iter([value]);
    let mut found = Vec::new();
    for inst in insts.iter().rev() {
        let data = &kernel.insts[*inst];
        if data.results.iter().any(|result| wanted.contains(result)) && data.op.blocks().is_empty() {
            data.op.for_each_operand(|operand| {
                wanted.insert(operand);
            });
            found.push(*inst);
        }
    }
    found.reverse();
    found
}
