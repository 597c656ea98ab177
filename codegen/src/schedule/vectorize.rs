//! `#[vectorize(N)]`: N consecutive iterations as one, their consecutive elements one N-wide access.
//!
//! A load or store whose last index moves on by one element an iteration becomes one vector access for the group; what is the same in
//! every iteration stays one scalar access; arithmetic is done element by element. A value that is carried round goes from element to element in
//! order, so sums are not reassociated (`schedule::in_turn`, where it is more than one `acc += e`).
//!
//! **Legal** where the iterations of a group may run in any order (as for `ilp`), every group begins at a multiple of N elements
//! (proved, or `assume_aligned`), and every access to a buffer is of one of these two kinds, outside of conditions. **Refuses** all else: strides,
//! gathers, misaligned beginnings, more than 16 bytes or 8 elements an access, elements that are parts of structs.
//!
//! As an argument of a kernel, the loop is the one over a thread's elements, and the kernel usually asks `if i < n`. There are two versions
//! then: vectors where every element of the thread passes, else the elements one by one, in loops that stay rolled.

use super::around::Around;
use super::budget::Copies;
use super::copy::{each_loop, parts};
use super::dependence::{MemoryAccess, accesses};
use super::groups::{Counted, finish, in_groups, open};
use super::ilp::{independent, next, variable};
use super::in_turn::{InTurn, in_turn};
use super::interleave::{Interleave, Wide};
use super::refusal::written;
use super::varying::varying;
use super::versions::{Guard, Other, find_guard, versions};
use super::{Refusal, Schedule};
use crate::analysis::access::AccessKind;
use crate::analysis::affine::{Affine, Polynomial};
use crate::annotations::{Modifier, UNROLL, VECTORIZE};
use crate::collections::HashSet;
use crate::ir::Copy;
use crate::ir::{
    Address, Annotations, Asked, Block, Inst, Kernel, Memory, MemoryOp, MemoryType, ObjectKind, Op, Region, Space, Step, Type, Value,
};

/// Bytes of one access, at most (PTX ISA, "Vectors": 128 bits).
const MOST_BYTES: u32 = 16;

/// Scalars of one access, at most.
const MOST_SCALARS: u32 = 8;

/// Runs it, on inner loops first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    each_loop(schedule, &VECTORIZE, keep);
}

fn keep(schedule: &mut Schedule<'_>, (inst, block): (Inst, Block), asked: &Asked, rest: Annotations) {
    let around = schedule.around(inst);
    let plan = match plan(schedule.kernel, &around, inst, asked, rest.of_kernel) {
        Ok(plan) => plan,
        Err(refusal) => {
            give_up(schedule.kernel, inst, asked);
            return schedule.refuse(asked, refusal);
        }
    };
    let instead = |fits: u64| format!("write {}", written("vectorize", &(1 << fits.ilog2()).to_string(), rest.of_kernel));
    let copies = Copies { name: "vectorize", body: plan.walk.body, n: plan.n.into(), versions: 1, instead: &instead };
    if !schedule.take_from_budget(asked, &copies) {
        return give_up(schedule.kernel, inst, asked);
    }
    let block = match &plan.guard {
        Some(guard) => versions(schedule.kernel, inst, block, &plan.walk, guard, Other::OneByOne, &around).0,
        None => block,
    };
    schedule.kernel.annotations.remove(&inst);
    split(schedule, &around, inst, block, &plan, rest);
}

/// What is left of a loop whose vectors cannot be. That over a kernel's elements is unrolled instead, if `best_effort` lets the kernel pass;
/// else nothing more is asked of the kernel as a whole, since what would be said of it only follows from this.
fn give_up(kernel: &mut Kernel, inst: Inst, asked: &Asked) {
    let Some(annotations) = kernel.annotations.get_mut(&inst).filter(|annotations| annotations.of_kernel) else { return };
    if asked.says(Modifier::BestEffort) {
        annotations.insert(Asked { annotation: &UNROLL, argument: None, ..*asked });
    } else {
        kernel.annotations.retain(|_, annotations| !annotations.of_kernel);
    }
}

/// There is no vector in a loop of fewer iterations than it takes.
fn too_few(n: u32, trips: u64, of_kernel: bool) -> Refusal {
    // Vectors have powers of two.
    let fits = if trips > 1 { 1 << trips.ilog2() } else { 0 };
    let help = match fits {
        0 => "leave it out".to_owned(),
        fits => format!("write {}, or leave it out", written("vectorize", &fits.to_string(), of_kernel)),
    };
    Refusal::new(format!("`vectorize({n})` takes {n} iterations at a time, and this loop has {trips}"), help)
}

struct Plan {
    walk: Counted,
    n: u32,
    wide: Wide,
    /// Where elements hand on more than single instructions gather.
    in_turn: Option<InTurn>,
    guard: Option<Guard>,
}

fn plan(kernel: &Kernel, around: &Around, inst: Inst, asked: &Asked, of_kernel: bool) -> Result<Plan, Refusal> {
    let n = asked.count();
    let walk = independent(kernel, around, inst, asked, of_kernel)?;
    if let Some(trips) = walk.trips(kernel).filter(|trips| *trips < u64::from(n)) {
        return Err(too_few(n, trips, of_kernel));
    }
    let varying = varying(kernel, around, walk.body);
    let mut affine = around.affine();
    let mut wide = Wide { merged: HashSet::default(), carried: Vec::new() };
    let guard = if of_kernel { find_guard(kernel, &walk, &varying) } else { None };
    let conditional = conditional(kernel, walk.body, &varying, guard.as_ref().map(|guard| guard.branch));
    let mut of_shared = None;
    for access in accesses(kernel, &mut affine, walk.body) {
        let space = kernel.objects[access.at.object].space();
        if access.kind == AccessKind::Atomic || !matches!(space, Space::Global | Space::Shared) {
            continue;
        }
        let found = classify(kernel, &mut affine, &access, &walk, &varying, asked, of_kernel);
        let found = match found {
            Ok(true) if conditional.contains(&access.inst) => Err(under_condition(kernel, &access, of_kernel)),
            found => found,
        };
        match found {
            Ok(true) => drop(wide.merged.insert(access.inst)),
            Ok(false) => {}
            // Shared memory takes any pattern; what is no vector stays what it is.
            Err(refusal) if space == Space::Shared => of_shared = of_shared.or(Some(refusal)),
            Err(refusal) => return Err(refusal),
        }
    }
    if let (true, Some(refusal)) = (wide.merged.is_empty(), of_shared) {
        return Err(refusal);
    }
    if wide.merged.is_empty() {
        let message = "no load or store of this loop goes on by one element an iteration: there is nothing to vectorize";
        return Err(Refusal::new(message, format!("index a buffer with {}, or leave the annotation out", counter_of(of_kernel))));
    }
    let in_turn = match carried(kernel, inst, &walk) {
        Ok(carried) => {
            wide.carried = carried;
            None
        }
        Err(name) => Some(in_turn(kernel, &walk, &wide.merged, &name)?),
    };
    Ok(Plan { walk, n, wide, in_turn, guard })
}

/// Carried values, each handed on by one instruction at the top of the body; else the name of one that is not.
fn carried(kernel: &Kernel, inst: Inst, walk: &Counted) -> Result<Vec<(Value, Value)>, String> {
    let top = parts(kernel, walk.body).0;
    let mut all = Vec::new();
    for (k, param) in walk.carried.iter().enumerate() {
        let next = next(kernel, walk, k);
        if next == *param {
            continue;
        }
        let uses = |inst: &Inst, value| kernel.insts[*inst].op.operands().contains(&value);
        let users = |value| kernel.insts_in(walk.body).filter(|inst| uses(inst, value)).collect::<Vec<_>>();
        let maker = kernel.def(next).map(|(maker, _)| maker);
        let is_single =
            maker.is_some_and(|maker| top.contains(&maker) && users(*param) == [maker] && kernel.insts[maker].op.blocks().is_empty());
        let others = users(next).into_iter().any(|user| kernel.blocks[walk.body].insts.last() != Some(&user));
        if !is_single || others {
            return Err(variable(kernel, inst, walk, k));
        }
        all.push((*param, next));
    }
    Ok(all)
}

/// Accesses under an `if` whose condition differs from element to element, but for the guard.
fn conditional(kernel: &Kernel, body: Block, varying: &HashSet<Value>, guard: Option<Inst>) -> HashSet<Inst> {
    let mut found = HashSet::default();
    kernel.walk_block(body, &mut |kernel, _, inst| {
        if let Op::Region(Region::If { condition, then_block, else_block }) = kernel.insts[inst].op
            && varying.contains(&condition)
            && guard != Some(inst)
        {
            found.extend([then_block, else_block].into_iter().flat_map(|arm| kernel.insts_in(arm)));
        }
    });
    found
}

fn under_condition(kernel: &Kernel, access: &MemoryAccess, of_kernel: bool) -> Refusal {
    let name = &kernel.objects[access.at.object].name;
    let message = format!("accesses to `{name}` are under a condition that may differ from element to element");
    let help = match of_kernel {
        true => "put one `if i < n` on the element's number around the body, load before other conditions, and select between values",
        false => "give the loop a bound instead of asking inside it, load in front of the condition, or select between values",
    };
    Refusal::new(message, help).label(kernel.insts[access.inst].loc, "this access")
}

/// What numbers the elements, as a help names it.
fn counter_of(of_kernel: bool) -> &'static str {
    if of_kernel { "the element's number, `x[global_id().x]`" } else { "the loop's counter, `x[base + i]`" }
}

/// Whether an access is one vector for the group; not if it is the same in every iteration.
fn classify(
    kernel: &Kernel,
    affine: &mut Affine,
    access: &MemoryAccess,
    walk: &Counted,
    varying: &HashSet<Value>,
    asked: &Asked,
    of_kernel: bool,
) -> Result<bool, Refusal> {
    let n = asked.count();
    let name = &kernel.objects[access.at.object].name;
    let loc = kernel.insts[access.inst].loc;
    let refuse = |message: String, help: String, label: &str| Err(Refusal::new(message, help).label(loc, label));
    let counter = affine.counter(kernel, walk.counter);
    let varies = |value: Value| varying.contains(&value);
    let mut others = access.outer_atoms().collect::<Vec<_>>();
    let split = access.at.last_index().map(|index| (index, index.split(counter)));
    if let Some((_, Some((_, rest)))) = &split {
        others.extend(rest.atoms());
    }
    let scattered = others.iter().any(|atom| affine.depends(*atom, &varies));
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
            let message = format!("iterations move on by {by} elements of `{name}`, not by one: they do not form a vector");
            return refuse(message, "let neighbouring iterations access neighbouring elements".to_owned(), "this access");
        }
        _ => {
            let message = format!("the elements of `{name}` that neighbouring iterations access are not known to be neighbours");
            return refuse(message, format!("index it with {}", counter_of(of_kernel)), "this access");
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
        let message = format!("neighbouring elements of `{name}` are not side by side, or the length of its rows is not a multiple of {n}");
        return refuse(
            message,
            "vectorize over rows of scalars that are a multiple as long; `pad`, and `swizzle` alone, leave none".to_owned(),
            "this access",
        );
    }
    if !asked.says(Modifier::AssumeAligned)
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
                Some(_) if of_kernel => "load neighbours through shared memory, or leave `vectorize` out",
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
    if let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(_) }) = &data.op {
        kernel.ty(values[0])
    } else {
        kernel.ty(data.results[0])
    }
}

/// Whether the access is one scalar, neighbours lie side by side, and every row is a multiple of `n` long.
fn is_row_of_scalars(kernel: &Kernel, inst: Inst, n: u32) -> bool {
    let data = &kernel.insts[inst];
    let Op::Memory(memory @ Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Path(access) }) = &data.op else { return false };
    let width = memory.scalars(&data.results).len();
    let bytes = u64::from(n) * u64::from(access_type(kernel, inst).bytes());
    if kernel.swizzled.get(&access.object).is_some_and(|swizzle| bytes > swizzle.whole()) {
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

fn split(schedule: &mut Schedule<'_>, around: &Around, inst: Inst, block: Block, plan: &Plan, rest: Annotations) {
    let walk = &plan.walk;
    let statements = schedule.statements;
    let kernel = &mut *schedule.kernel;
    let privates = around.privates(kernel, walk.body);
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
        let mut interleave = Interleave { kernel, statements, wide: Some(&plan.wide), elements: None };
        match &plan.in_turn {
            Some(parts) => interleave.in_turn(parts, &mut copies, body),
            None => interleave.block(walk.body, &mut copies, body),
        }
        let last = &copies[copies.len() - 1];
        (0..walk.carried.len()).map(|k| last.get(next(kernel, walk, k))).collect()
    });
    if !rest.is_empty() {
        kernel.annotations.insert(groups.main, rest);
    }
    finish(schedule, block, inst, groups.rest, groups.results, behind);
}
