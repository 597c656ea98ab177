//! `#[ilp(N)]`: N iterations at a time, interleaved statement by statement (`schedule::interleave`), and what is left one at a time.
//!
//! An accumulator (`acc op= e` with `+ - * & | ^`, `min` or `max`, and nothing else that looks at `acc`) becomes N of them: the first begins with its value
//! before the loop, the others with what changes nothing; after the groups they are joined in order, first op second op third. That
//! reassociates sums of floats. The best so far (`if e > best { best = e; at = i; }`) becomes N of them, too, and they are compared after the groups
//! (`schedule::extremum`).
//!
//! The elements of a thread (`ilp` of a kernel) that stand under a guard have two versions: without it where all of them pass
//! (`schedule::versions`), and predicated where not.
//!
//! **Legal** where the iterations of a group may run in any order: nothing but accumulators is carried round, and no iteration touches
//! an element that another of its group writes (`schedule::dependence`; `assume_disjoint` takes the person's word for it). Atomics may go in
//! any order. An array that is declared in the body is each copy's own. **Refuses** all else, barriers, and bodies that may leave the loop. A loop of
//! fewer than N iterations has no group: it stays as it is.

use super::around::Around;
use super::budget::Copies;
use super::copy::each_loop;
use super::dependence::{Conflict, carried_through_memory};
use super::extremum::{Extremum, extremum};
use super::groups::{Counted, finish, in_groups, open};
use super::interleave::{Interleave, is_flat};
use super::reduction::{Carried, Ways, carried, identity};
use super::refusal::written;
use super::varying::varying;
use super::versions::{Guard, Other, find_guard, versions};
use super::{Element, Refusal, Schedule};
use crate::analysis::access::AccessKind;
use crate::annotations::{ILP, Modifier};
use crate::collections::{HashMap, HashSet};
use crate::ir::Copy;
use crate::ir::{Annotations, Asked, BinaryOp, Block, Builder, Inst, Kernel, Object, ObjectKind, Op, Region, Space, Terminator, Value};

/// Runs it, on inner loops first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    each_loop(schedule, &ILP, keep);
}

fn keep(schedule: &mut Schedule<'_>, (inst, mut block): (Inst, Block), asked: &Asked, rest: Annotations) {
    let trips = Counted::of(schedule.kernel, inst).and_then(|walk| walk.trips(schedule.kernel));
    if trips.is_some_and(|trips| trips < u64::from(asked.count())) {
        return;
    }
    let around = schedule.around(inst);
    let plan = match plan(schedule.kernel, &around, inst, asked, rest.of_kernel) {
        Ok(plan) => plan,
        Err(refusal) => return schedule.refuse(asked, refusal),
    };
    let guard = guard(schedule.kernel, &around, &plan, rest.of_kernel);
    let instead = |fits: u64| format!("write {}", written("ilp", &fits.to_string(), rest.of_kernel));
    let body = plan.walk.body;
    let copies = Copies { name: "ilp", body, n: plan.n.into(), versions: 1 + u64::from(guard.is_some()), instead: &instead };
    if !schedule.take_from_budget(asked, &copies) {
        return;
    }
    schedule.kernel.annotations.remove(&inst);
    if let Some(guard) = guard {
        let (fast, (slow, home)) = versions(schedule.kernel, inst, block, &plan.walk, &guard, Other::Annotated, &around);
        if let Some(walk) = Counted::of(schedule.kernel, slow) {
            let plan = Plan { walk, ..plan.clone() };
            split(schedule, &around, slow, home, &plan, rest.clone());
        }
        block = fast;
    }
    split(schedule, &around, inst, block, &plan, rest);
}

#[derive(Clone)]
struct Plan {
    walk: Counted,
    n: u32,
    carried: Vec<Carried>,
    extrema: Vec<Extremum>,
}

fn plan(kernel: &mut Kernel, around: &Around, inst: Inst, asked: &Asked, of_kernel: bool) -> Result<Plan, Refusal> {
    let n = asked.count();
    let mut walk = independent(kernel, around, inst, asked, of_kernel)?;
    let ways = Ways::of(kernel);
    let of = |(k, param): (usize, &Value)| carried(kernel, &ways, walk.body, *param, next(kernel, &walk, k));
    let mut all: Vec<Carried> = walk.carried.iter().enumerate().map(of).collect();
    let others: Vec<usize> = (0..all.len()).filter(|k| matches!(all[*k], Carried::Other(_))).collect();
    let mut extrema: Vec<Extremum> = Vec::new();
    for k in &others {
        if extrema.iter().all(|known| !known.members().any(|member| member == *k)) {
            extrema.extend(extremum(kernel, &ways, &walk, *k, &others));
        }
    }
    extrema.iter().flat_map(Extremum::members).for_each(|k| all[k] = Carried::Best);
    for (k, found) in all.iter().enumerate() {
        if let Carried::Other(user) = found {
            return Err(not_an_accumulator(kernel, inst, &walk, k, *user));
        }
    }
    extrema.iter_mut().for_each(|found| found.break_ties(kernel, &ways, inst, &mut walk));
    all.resize(walk.carried.len(), Carried::Best);
    Ok(Plan { walk, n, carried: all, extrema })
}

/// The guard of a kernel's elements, if what is under it can be predicated: there is a version without it for threads all of whose elements
/// pass.
fn guard(kernel: &Kernel, around: &Around, plan: &Plan, of_kernel: bool) -> Option<Guard> {
    if !of_kernel {
        return None;
    }
    let found = find_guard(kernel, &plan.walk, &varying(kernel, around, plan.walk.body))?;
    let Op::Region(Region::If { then_block, .. }) = kernel.insts[found.branch].op else { return None };
    is_flat(kernel, then_block).then_some(found)
}

/// What an iteration hands on as the k-th carried value.
pub(super) fn next(kernel: &Kernel, walk: &Counted, k: usize) -> Value {
    kernel.yielded(walk.body).map_or(walk.carried[k], |values| values[k])
}

fn not_an_accumulator(kernel: &Kernel, inst: Inst, walk: &Counted, k: usize, user: Option<Inst>) -> Refusal {
    let name = variable(kernel, inst, walk, k);
    let message = format!("iterations cannot be interleaved: each needs the {name} of the one before");
    let help = "only accumulators may be carried from iteration to iteration: `acc += e`, also with `* & | ^`, `min` and `max`, or `if e > acc { acc = e; at = i; }`, and nothing else in the loop that reads `acc`";
    let refusal = Refusal::new(message, help);
    match user {
        Some(user) => refusal.label(kernel.insts[user].loc, format!("{name} is used here")),
        None => refusal,
    }
}

/// A carried variable as a message names it.
pub(super) fn variable(kernel: &Kernel, inst: Inst, walk: &Counted, k: usize) -> String {
    let values = [walk.carried[k], kernel.insts[inst].results[k], walk.init[k], next(kernel, walk, k)];
    match values.iter().find_map(|value| kernel.values[*value].name.as_deref()) {
        Some(name) => format!("`{name}`"),
        None => "value".to_owned(),
    }
}

/// The loop, if iterations of a group of `n` may run in any order as far as control flow, barriers and memory go.
/// Elements of a thread (`of_kernel`) are as free of each other in global memory as threads are: without the annotation they are threads.
pub(super) fn independent(kernel: &Kernel, around: &Around, inst: Inst, asked: &Asked, of_kernel: bool) -> Result<Counted, Refusal> {
    let (n, name) = (asked.count(), asked.annotation.name);
    let walk = Counted::of(kernel, inst)
        .ok_or_else(|| Refusal::new("the iterations of this loop cannot be counted", "write it as `for i in a..b`"))?;
    let mut inside = HashSet::default();
    kernel.walk_block(walk.body, &mut |_, _, inner| {
        inside.insert(inner);
    });
    let mut found = None;
    kernel.walk_block(walk.body, &mut |kernel, _, inner| {
        found = found.take().or_else(|| in_the_way(kernel, &inside, inner, name));
    });
    if let Some(refusal) = found {
        return Err(refusal);
    }
    if asked.says(Modifier::AssumeDisjoint) {
        return Ok(walk);
    }
    let counts = |object: Object| !(of_kernel && kernel.objects[object].space() == Space::Global);
    match carried_through_memory(kernel, around, &walk, n, counts) {
        Some(conflict) => Err(dependent(kernel, &conflict, name, n, of_kernel)),
        None => Ok(walk),
    }
}

/// What of control flow forbids to reorder iterations of a loop; `inside`: all that is in its body.
fn in_the_way(kernel: &Kernel, inside: &HashSet<Inst>, inner: Inst, name: &str) -> Option<Refusal> {
    let loc = kernel.insts[inner].loc;
    let early = |what: &str| {
        let refusal = Refusal::new(
            format!("`{name}` starts several iterations at a time, and this loop may be left in the middle of one"),
            "give the loop a bound instead, or guard what must not run with an `if`",
        );
        Some(refusal.label(loc, what))
    };
    match &kernel.insts[inner].op {
        // Out of this loop, or out of one or a block round it.
        Op::Terminator(Terminator::Break(target, _)) if !inside.contains(target) => early("it is left here"),
        Op::Terminator(Terminator::Continue(target, _)) if !inside.contains(target) => early("it is left here"),
        Op::Terminator(Terminator::Return) => early("the kernel returns here"),
        Op::Intrinsic(row, _) if row.row().effects.orders_blocks() => {
            let what = row.row().name;
            let refusal = Refusal::new(
                format!("`{name}` interleaves iterations, and `{what}` keeps them apart"),
                "annotate a loop without barriers, inside or instead of this one",
            );
            Some(refusal.label(loc, format!("`{what}` is here")))
        }
        Op::Memory(_) if kernel.effects(inner).orders_blocks() => {
            let refusal = Refusal::new(
                format!("`{name}` interleaves iterations, and an atomic that orders other accesses keeps them apart"),
                "annotate a loop without such atomics, or make it relaxed",
            );
            Some(refusal.label(loc, "it is here"))
        }
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => None,
    }
}

/// Two accesses that may touch the same element.
fn dependent(kernel: &Kernel, conflict: &Conflict, name: &str, n: u32, of_kernel: bool) -> Refusal {
    let object = &kernel.objects[conflict.earlier.at.object].name;
    let word = |kind: AccessKind| match kind {
        AccessKind::Load => "read",
        AccessKind::Store => "written",
        AccessKind::Atomic => "changed atomically",
    };
    let later = if conflict.distance == 1 { "the next one".to_owned() } else { format!("the one {} later", conflict.distance) };
    let may = if conflict.is_certain { "is" } else { "may be" };
    let message = format!(
        "iterations cannot be interleaved: the element of `{object}` that one iteration has {} {may} {} by {later}",
        word(conflict.earlier.kind),
        word(conflict.later.kind),
    );
    let help = if kernel.objects[conflict.earlier.at.object].kind == ObjectKind::Local {
        format!("index `{object}` with constants, so that its elements are variables: `#[unroll]` the loops whose counters index it")
    } else if conflict.is_certain && conflict.is_fixed {
        "every iteration needs elements of its own: gather in a variable and store it after the loop".to_owned()
    } else if conflict.is_certain {
        format!("read from another buffer than is written, or leave `{name}` out: one iteration needs what another leaves")
    } else {
        let promise = written(name, &format!("{n}, assume_disjoint"), of_kernel);
        format!("if no two of {n} neighbouring iterations ever access the same element, write {promise}")
    };
    let refusal =
        Refusal::new(message, help).label(kernel.insts[conflict.earlier.inst].loc, format!("{} here", word(conflict.earlier.kind)));
    if conflict.earlier.inst == conflict.later.inst {
        return refusal;
    }
    refusal.label(kernel.insts[conflict.later.inst].loc, format!("{} here", word(conflict.later.kind)))
}

fn split(schedule: &mut Schedule<'_>, around: &Around, inst: Inst, block: Block, plan: &Plan, rest: Annotations) {
    let (walk, n) = (&plan.walk, plan.n as usize);
    let statements = schedule.statements;
    let elements = &mut schedule.elements;
    let kernel = &mut *schedule.kernel;
    let privates = around.privates(kernel, walk.body);
    let behind = open(kernel, block, inst);
    let mut b = Builder::new(kernel, block, walk.loc);
    let mut init = Vec::new();
    for (first, carried) in walk.init.iter().zip(&plan.carried) {
        init.push(*first);
        if let Carried::Accumulator(op) = carried {
            let ty = b.kernel.ty(*first);
            init.extend((1..n).map(|_| b.constant(identity(*op, ty))));
        } else if *carried == Carried::Best {
            init.extend((1..n).map(|_| *first));
        }
    }
    let groups = in_groups(kernel, block, walk, plan.n, init, |kernel, body, counters, params| {
        let mut copies = vec![Copy::default(); n];
        for (j, copy) in copies.iter_mut().enumerate() {
            copy.set(walk.counter, counters[j]);
            for object in privates.iter().filter(|_| j > 0) {
                let data = kernel.objects[*object].clone();
                let own = kernel.objects.push(data);
                copy.set_object(*object, own);
            }
        }
        for (k, own) in accumulators(&plan.carried, n, params).iter().enumerate() {
            copies.iter_mut().enumerate().for_each(|(j, copy)| copy.set(walk.carried[k], own[j.min(own.len() - 1)]));
        }
        let first = Element { group: inst, copy: 0, of_kernel: rest.of_kernel };
        Interleave { kernel, statements, wide: None, elements: Some((elements, first)) }.block(walk.body, &mut copies, body);
        let mut given = Vec::new();
        for (k, carried) in plan.carried.iter().enumerate() {
            let value = next(kernel, walk, k);
            match carried {
                Carried::Accumulator(_) | Carried::Best => given.extend(copies.iter().map(|copy| copy.get(value))),
                Carried::Replaced => given.push(copies[n - 1].get(value)),
                Carried::Invariant | Carried::Other(_) => given.push(copies[0].get(value)),
            }
        }
        given
    });
    if !rest.is_empty() {
        kernel.annotations.insert(groups.main, rest);
    }
    let mut b = Builder::new(kernel, block, walk.loc);
    let parts = accumulators(&plan.carried, n, &groups.results);
    let best: HashMap<usize, Value> = plan.extrema.iter().flat_map(|found| found.join(&mut b, &parts)).collect();
    let joined = parts.into_iter().zip(&plan.carried).enumerate().map(|(k, (parts, carried))| match carried {
        Carried::Accumulator(op) => join(&mut b, *op, parts),
        Carried::Best => best.get(&k).copied().unwrap_or(parts[0]),
        Carried::Invariant | Carried::Replaced | Carried::Other(_) => parts[0],
    });
    let joined = joined.collect();
    finish(schedule, block, inst, groups.rest, joined, behind);
}

/// The values of each carried variable: n of an accumulator or the best so far, one of anything else.
fn accumulators<'v>(carried: &[Carried], n: usize, values: &'v [Value]) -> Vec<&'v [Value]> {
    let mut rest = values;
    let mut all = Vec::new();
    for carried in carried {
        let (own, others) = rest.split_at(if matches!(carried, Carried::Accumulator(_) | Carried::Best) { n } else { 1 });
        all.push(own);
        rest = others;
    }
    all
}

/// First op second op third …
fn join(b: &mut Builder<'_>, op: BinaryOp, parts: &[Value]) -> Value {
    let mut sum = parts[0];
    for part in &parts[1..] {
        sum = b.binary(op, sum, *part);
    }
    sum
}
