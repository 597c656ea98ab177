//! `#[vectorize(N)]`: N consecutive iterations as one, their consecutive elements one N-wide access.
//!
//! A load or store whose last index moves on by one element an iteration becomes one vector access for the group; what is the same in
//! every iteration stays one scalar access; arithmetic is done element by element. A value that is carried round goes from element to element in
//! order, so sums are not reassociated.
//!
//! **Legal** where the iterations of a group may run in any order (as for `ilp`), every group begins at a multiple of N elements
//! (proved, or `assume_aligned`), and every access to a buffer is of one of these two kinds, outside of conditions. **Refuses** all else: strides,
//! gathers, misaligned beginnings, more than 16 bytes or 8 elements an access, elements that are parts of structs.
//!
//! As an argument of a kernel, the loop is the one over a thread's elements, and the kernel usually asks `if i < n`. There are two versions
//! then: vectors where every element of the thread passes, else the elements one by one, in loops that stay rolled.

use super::copy::{Copy, loops, parts};
use super::dependence::{Kind, MemoryAccess, accesses, privates};
use super::groups::{Counted, finish, in_groups, open};
use super::ilp::{independent, next, variable};
use super::interleave::{Interleave, Wide};
use super::varying::varying;
use super::{Finding, Schedule};
use crate::analysis::affine::{Affine, Polynomial};
use crate::ir::{
    Asked, BinaryOp, Block, Builder, CompareOp, Inst, Kernel, LoopAnnotations, MemoryType, ObjectKind, Op, Scalar, Space, Step, Type, Value,
};
use std::collections::HashSet;

/// Bytes of one access, at most (PTX ISA, "Vectors": 128 bits).
const MOST_BYTES: u32 = 16;

/// Scalars of one access, at most.
const MOST_SCALARS: u32 = 8;

/// Runs it, on inner loops first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    while let Some((inst, block)) = loops(schedule.kernel, |asked| asked.vectorize.is_some()).first().copied() {
        let Some(annotations) = schedule.kernel.annotations.get_mut(&inst) else { return };
        let Some(asked) = annotations.vectorize.take() else { return };
        let rest = *annotations;
        match plan(schedule.kernel, inst, &asked, rest.of_kernel) {
            Ok(plan) => {
                let block = match &plan.guard {
                    Some(guard) => versions(schedule.kernel, inst, block, &plan, guard),
                    None => block,
                };
                schedule.kernel.annotations.remove(&inst);
                split(schedule, inst, block, &plan, rest);
            }
            Err(finding) => schedule.refuse(&asked, finding),
        }
    }
}

struct Plan {
    walk: Counted,
    n: u32,
    wide: Wide,
    guard: Option<Guard>,
}

/// The `if` that all of a kernel's accesses stand under.
struct Guard {
    branch: Inst,
    condition: Value,
    /// Whether it holds for every element of a group if it holds for the last.
    last_tells: bool,
}

fn plan(kernel: &Kernel, inst: Inst, asked: &Asked<u32>, of_kernel: bool) -> Result<Plan, Finding> {
    let n = asked.value;
    let walk = independent(kernel, inst, asked, "vectorize", of_kernel)?;
    let varying = varying(kernel, walk.body);
    let mut affine = Affine::of(kernel);
    let mut wide = Wide { merged: HashSet::new(), carried: carried(kernel, inst, &walk)? };
    let guard = if of_kernel { find_guard(kernel, &mut affine, &walk, &varying, n) } else { None };
    let conditional = conditional(kernel, walk.body, &varying, guard.as_ref().map(|guard| guard.branch));
    for access in accesses(kernel, &mut affine, walk.body) {
        let space = kernel.objects[access.object].space();
        if access.kind == Kind::Atomic || !matches!(space, Space::Global | Space::Shared) {
            continue;
        }
        let found = classify(kernel, &mut affine, &access, &walk, &varying, asked);
        let found = match found {
            Ok(true) if conditional.contains(&access.inst) => Err(under_condition(kernel, &access)),
            found => found,
        };
        match found {
            Ok(true) => drop(wide.merged.insert(access.inst)),
            Ok(false) => {}
            // Shared memory takes any pattern; what is no vector stays what it is.
            Err(_) if space == Space::Shared => {}
            Err(finding) => return Err(finding),
        }
    }
    if wide.merged.is_empty() {
        let message = "no load or store of this loop goes on by one element an iteration: there is nothing to vectorize";
        return Err(Finding::new(message, "index a buffer with the loop's counter, `x[base + i]`, or leave the annotation out"));
    }
    Ok(Plan { walk, n, wide, guard })
}

/// Carried values, each handed on by one instruction at the top of the body.
fn carried(kernel: &Kernel, inst: Inst, walk: &Counted) -> Result<Vec<(Value, Value)>, Finding> {
    let top = parts(kernel, walk.body).0;
    let mut all = Vec::new();
    for (k, param) in walk.carried.iter().enumerate() {
        let next = next(kernel, walk, k);
        if next == *param {
            continue;
        }
        let users = |value: Value| {
            let mut found = Vec::new();
            kernel.walk_block(walk.body, &mut |kernel, _, inst| {
                if kernel.insts[inst].op.operands().contains(&value) {
                    found.push(inst);
                }
            });
            found
        };
        let maker = kernel.def(next).map(|(maker, _)| maker);
        let is_single =
            maker.is_some_and(|maker| top.contains(&maker) && users(*param) == [maker] && kernel.insts[maker].op.blocks().is_empty());
        let others = users(next).into_iter().any(|user| kernel.blocks[walk.body].insts.last() != Some(&user));
        if !is_single || others {
            let name = variable(kernel, inst, walk, k);
            let message = format!("the elements of a vector cannot be worked on together: each needs the {name} of the one before");
            let help = "carry only what one instruction gathers (`acc += e`), and read it after the loop";
            return Err(Finding::new(message, help));
        }
        all.push((*param, next));
    }
    Ok(all)
}

/// Accesses under an `if` whose condition differs from element to element, but for the guard.
fn conditional(kernel: &Kernel, body: Block, varying: &HashSet<Value>, guard: Option<Inst>) -> HashSet<Inst> {
    let mut found = HashSet::new();
    kernel.walk_block(body, &mut |kernel, _, inst| {
        if let Op::If { condition, then_block, else_block } = kernel.insts[inst].op
            && varying.contains(&condition)
            && guard != Some(inst)
        {
            for arm in [then_block, else_block] {
                kernel.walk_block(arm, &mut |_, _, inner| {
                    found.insert(inner);
                });
            }
        }
    });
    found
}

fn under_condition(kernel: &Kernel, access: &MemoryAccess) -> Finding {
    let name = &kernel.objects[access.object].name;
    let message = format!("accesses to `{name}` stand under a condition that may differ from element to element");
    Finding::new(message, "give the loop a bound instead of asking inside it, or select between values")
        .label(kernel.insts[access.inst].loc, "this access")
}

/// Whether an access is one vector for the group; not if it is the same in every iteration.
fn classify(
    kernel: &Kernel,
    affine: &mut Affine,
    access: &MemoryAccess,
    walk: &Counted,
    varying: &HashSet<Value>,
    asked: &Asked<u32>,
) -> Result<bool, Finding> {
    let n = asked.value;
    let name = &kernel.objects[access.object].name;
    let loc = kernel.insts[access.inst].loc;
    let refuse = |message: String, help: String, label: &str| Err(Finding::new(message, help).label(loc, label));
    let counter = affine.counter(kernel, walk.counter);
    let varies = |value: Value| varying.contains(&value);
    let mut others = access.outer_atoms().collect::<Vec<_>>();
    let split = access.last_index().map(|index| (index, index.split(counter)));
    if let Some((_, Some((_, rest)))) = &split {
        others.extend(rest.atoms());
    }
    let scattered = others.iter().any(|atom| affine.depends(kernel, *atom, &varies));
    let step = affine.polynomial(kernel, walk.step);
    let stride = match &split {
        Some((_, Some((factor, _)))) => factor.times(&step),
        Some((_, None)) => None,
        None => Some(Polynomial::constant(step.bits(), 0)),
    };
    let stride = stride.filter(|_| !scattered);
    match stride.as_ref().map(Polynomial::as_constant) {
        Some(Some(0)) => return Ok(false),
        Some(Some(1)) => {}
        Some(Some(by)) => {
            let message = format!("iterations move on by {by} elements of `{name}`, not by one: they are no vector");
            return refuse(message, "let neighbouring iterations access neighbouring elements".to_owned(), "this access");
        }
        _ => {
            let message = format!("the elements of `{name}` that neighbouring iterations access are not known to be neighbours");
            return refuse(message, "index it with the loop's counter, `x[base + i]`".to_owned(), "this access");
        }
    }
    let ty = access_type(kernel, access.inst);
    if n * ty.bytes() > MOST_BYTES || n > MOST_SCALARS {
        let fits = (MOST_BYTES / ty.bytes()).min(MOST_SCALARS);
        let message = format!(
            "{n} elements of `{ty}` are {} bytes; one access takes at most {MOST_BYTES} bytes and {MOST_SCALARS} elements",
            n * ty.bytes()
        );
        return refuse(message, format!("write `vectorize` with {fits}"), "this access");
    }
    if !is_row_of_scalars(kernel, access.inst, n) {
        let message = format!("neighbouring elements of `{name}` are not side by side, or its rows are no multiple of {n} long");
        return refuse(message, "vectorize over arrays of scalars, without padding that breaks their alignment".to_owned(), "this access");
    }
    if !asked.assume_aligned
        && let Some((_, Some((factor, rest)))) = &split
    {
        let start = affine.polynomial(kernel, walk.start);
        let first = factor.times(&start).map(|first| first.plus(rest, 1));
        if !first.as_ref().is_some_and(|first| first.is_multiple_of(i64::from(n))) {
            let off = first.and_then(|first| first.offset(i64::from(n)));
            let message = match off {
                Some(off) => format!(
                    "groups of {n} begin {off} past a multiple of {n} elements of `{name}`, and a vector access has to begin at one"
                ),
                None => format!("groups of {n} are not known to begin at a multiple of {n} elements of `{name}`"),
            };
            let help = match off {
                Some(_) => "let the loop begin where the access is aligned",
                None => "if they always do, add `assume_aligned` to the annotation's arguments",
            };
            return refuse(message, help.to_owned(), "this access");
        }
    }
    Ok(true)
}

fn access_type(kernel: &Kernel, inst: Inst) -> Type {
    let data = &kernel.insts[inst];
    match &data.op {
        Op::Store(_, values) => kernel.ty(values[0]),
        _ => kernel.ty(data.results[0]),
    }
}

/// Whether the access is one scalar, neighbours lie side by side, and every row is a multiple of `n` long.
fn is_row_of_scalars(kernel: &Kernel, inst: Inst, n: u32) -> bool {
    let data = &kernel.insts[inst];
    let (access, width) = match &data.op {
        Op::Load(access) => (access, data.results.len()),
        Op::Store(access, values) => (access, values.len()),
        _ => return false,
    };
    if kernel.swizzled.contains(&access.object) {
        return false;
    }
    let mut ty = &kernel.objects[access.object].ty;
    for (k, step) in access.path.iter().enumerate() {
        match (step, ty) {
            (Step::Index(_), MemoryType::Padded(element, len, pad)) => {
                if k > 0 && (len + pad) % u64::from(n) != 0 {
                    return false;
                }
                ty = element;
            }
            (Step::Index(_), MemoryType::Array(element, len)) => {
                if k > 0 && len % u64::from(n) != 0 {
                    return false;
                }
                ty = element;
            }
            (Step::Index(_), MemoryType::Slice(element)) => ty = element,
            _ => return false,
        }
    }
    width == 1 && matches!(ty, MemoryType::Scalar(_))
}

/// The one `if` without `else` at the top of the body whose condition differs from element to element.
fn find_guard(kernel: &Kernel, affine: &mut Affine, walk: &Counted, varying: &HashSet<Value>, n: u32) -> Option<Guard> {
    let branches = parts(kernel, walk.body).0.into_iter().filter_map(|inst| match kernel.insts[inst].op {
        Op::If { condition, else_block, .. } if varying.contains(&condition) => Some((inst, condition, else_block)),
        _ => None,
    });
    let branches: Vec<_> = branches.collect();
    let [(branch, condition, else_block)] = branches[..] else { return None };
    if !parts(kernel, else_block).0.is_empty() || !kernel.insts[branch].results.is_empty() || !is_computable(kernel, condition) {
        return None;
    }
    let last_tells = last_tells(kernel, affine, walk, varying, condition, n);
    Some(Guard { branch, condition, last_tells })
}

/// Whether a condition holds for every element of an aligned group if it holds for the last: `a + j < b`, since nothing wraps round between
/// multiples of n, what does not vary, and both of two such.
fn last_tells(kernel: &Kernel, affine: &mut Affine, walk: &Counted, varying: &HashSet<Value>, condition: Value, n: u32) -> bool {
    if !varying.contains(&condition) {
        return true;
    }
    match kernel.def(condition) {
        Some((_, Op::Compare(CompareOp::Lt | CompareOp::Le, a, b))) if !varying.contains(b) => {
            is_aligned_counter(kernel, affine, walk, *a, n)
        }
        Some((_, Op::Compare(CompareOp::Gt | CompareOp::Ge, b, a))) if !varying.contains(b) => {
            is_aligned_counter(kernel, affine, walk, *a, n)
        }
        Some((_, Op::Binary(BinaryOp::And, a, b))) => {
            let (a, b) = (*a, *b);
            last_tells(kernel, affine, walk, varying, a, n) && last_tells(kernel, affine, walk, varying, b, n)
        }
        _ => false,
    }
}

/// Whether a value can be computed again ahead of time: of geometry, parameters and counters, without branches and what may change.
fn is_computable(kernel: &Kernel, value: Value) -> bool {
    match kernel.def(value) {
        None => true,
        Some((inst, op)) => {
            let is_fixed = match op {
                Op::Load(access) => kernel.objects[access.object].is_read_only(),
                op => op.is_pure() && !op.can_fault(kernel.insts[inst].results.first().map(|value| kernel.ty(*value))),
            };
            is_fixed && op.operands().into_iter().all(|operand| is_computable(kernel, operand))
        }
    }
}

fn is_aligned_counter(kernel: &Kernel, affine: &mut Affine, walk: &Counted, value: Value, n: u32) -> bool {
    let counter = affine.counter(kernel, walk.counter);
    let step = affine.polynomial(kernel, walk.step);
    let start = affine.polynomial(kernel, walk.start);
    let Some((factor, rest)) = affine.polynomial(kernel, value).split(counter) else { return false };
    kernel.ty(value).is_unsigned_int()
        && factor.as_constant() == Some(1)
        && step.as_constant() == Some(1)
        && start.plus(&rest, 1).is_multiple_of(i64::from(n))
}

/// Two versions of the loop, or of the kernel's loop over groups round it: one where the guard holds for every element, which the loop becomes
/// part of, and one as it was. Gives the block the loop then stands in.
fn versions(kernel: &mut Kernel, inst: Inst, block: Block, plan: &Plan, guard: &Guard) -> Block {
    let outer = around(kernel, inst, block);
    let (target, home) = outer.unwrap_or((inst, block));
    let loc = kernel.insts[target].loc;
    let mut copy = Copy::default();
    for arm in kernel.insts[target].op.blocks() {
        for object in privates(kernel, arm) {
            let data = kernel.objects[object].clone();
            let own = kernel.objects.push(data);
            copy.set_object(object, own);
        }
    }
    let behind = open(kernel, home, target);
    let condition = all_hold(kernel, home, outer.map(|(outer, _)| outer), plan, guard);
    let (then_block, else_block) = (kernel.new_block(&[]), kernel.new_block(&[]));
    let slow = copy.inst(kernel, target, else_block);
    keep_as_it_is(kernel, slow);
    kernel.blocks[then_block].insts.push(target);
    for arm in [then_block, else_block] {
        Builder::new(kernel, arm, loc).push(Op::Yield(Vec::new()), &[]);
    }
    Builder::new(kernel, home, loc).push(Op::If { condition, then_block, else_block }, &[]);
    kernel.blocks[home].insts.extend(behind);
    // In the first version the guard holds.
    let holds = kernel.new_inst(Op::Const(Scalar::bool(true)), &[Type::Bool], loc);
    let value = kernel.insts[holds].results[0];
    kernel.blocks[plan.walk.body].insts.insert(0, holds);
    if let Op::If { condition, .. } = &mut kernel.insts[guard.branch].op {
        *condition = value;
    }
    if outer.is_some() { block } else { then_block }
}

/// The kernel's loop over groups, if that is what is round the loop, and where it stands.
fn around(kernel: &Kernel, inst: Inst, block: Block) -> Option<(Inst, Block)> {
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
            if let Op::For { keep_rolled, .. } = &mut kernel.insts[inner].op {
                *keep_rolled = true;
            }
        }
    }
}

/// Whether the guard holds for every element of a thread.
fn all_hold(kernel: &mut Kernel, home: Block, outer: Option<Inst>, plan: &Plan, guard: &Guard) -> Value {
    let walk = &plan.walk;
    let outer = outer.and_then(|outer| Counted::of(kernel, outer));
    let groups = outer.as_ref().and_then(|outer| outer.trips(kernel)).unwrap_or(1);
    let elements = if guard.last_tells { plan.n - 1..plan.n } else { 0..plan.n };
    let mut slice: Vec<Inst> = outer.iter().flat_map(|outer| parts(kernel, outer.body).0).collect();
    slice.extend(parts(kernel, walk.body).0);
    let needed = slice_of(kernel, guard.condition, &slice);
    let mut condition = None;
    for group in 0..groups {
        for element in elements.clone() {
            let mut copy = Copy::default();
            let mut number = |walk: &Counted, n: u64| {
                let ty = kernel.ty(walk.counter);
                let value = Builder::new(kernel, home, walk.loc).int(ty, i128::from(n));
                copy.set(walk.counter, value);
            };
            outer.iter().for_each(|outer| number(outer, group));
            number(walk, u64::from(element));
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
    let mut wanted = HashSet::from([value]);
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

fn split(schedule: &mut Schedule<'_>, inst: Inst, block: Block, plan: &Plan, rest: LoopAnnotations) {
    let walk = &plan.walk;
    let statements = schedule.statements;
    let kernel = &mut *schedule.kernel;
    let privates = privates(kernel, walk.body);
    let behind = open(kernel, block, inst);
    let groups = in_groups(kernel, block, walk, plan.n, walk.init.clone(), |kernel, body, counters, params| {
        let mut copies = vec![Copy::default(); counters.len()];
        for (j, copy) in copies.iter_mut().enumerate() {
            copy.set(walk.counter, counters[j]);
            copy.set_all(&walk.carried, params);
            for object in privates.iter().filter(|_| j > 0) {
                let data = kernel.objects[*object].clone();
                debug_assert_eq!(data.kind, ObjectKind::Local);
                let own = kernel.objects.push(data);
                copy.set_object(*object, own);
            }
        }
        Interleave { kernel, statements, wide: Some(&plan.wide), elements: None }.block(walk.body, &mut copies, body);
        let last = &copies[copies.len() - 1];
        (0..walk.carried.len()).map(|k| last.get(next(kernel, walk, k))).collect()
    });
    if !rest.is_empty() {
        kernel.annotations.insert(groups.main, rest);
    }
    finish(kernel, block, inst, groups.rest, groups.results, behind);
}
