//! `#[unroll]`, `#[unroll(N)]`: iterations one after the other, without the counting between them.
//!
//! **Fully**: the loop becomes its iterations, each with its counter as a number. A `break` leaves them all, a `continue` one. **By N**:
//! a loop over groups of N, and a loop over what is left (`schedule::groups`).
//!
//! **Legal** always: the order of everything stays. **Refuses** a full unrolling of a loop whose trip count is not known, factors
//! beyond the trip count, and bodies that would grow beyond all measure.
//!
//! A loop that is annotated with something else, too, waits for that: `ilp` and `vectorize` make groups, which are then unrolled. What
//! `prefetch` and `batch_loads` still have to do is asked of the loop over groups; a fully unrolled one stays as a loop of one
//! iteration until then.

use super::copy::{Copy, loops, parts, size};
use super::groups::{Counted, finish, in_groups, open, replace};
use super::{Finding, Schedule};
use crate::analysis::exits::Exits;
use crate::ir::{Asked, Block, Builder, Inst, Kernel, LoopAnnotations, Op, Type, Unroll, Value};
use crate::passes::simplify;

/// Most instructions that unrolling a loop may make of it.
const MOST_INSTRUCTIONS: usize = 50_000;

/// Runs it on the loops that no other pass has to see first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    let mut is_simple = true;
    loop {
        let ready = loops(schedule.kernel, is_ready);
        // An inner loop's bounds may be the counter of an outer one, which is a number once that one is unrolled.
        let known = ready.iter().find(|(inst, _)| !waits(schedule.kernel, *inst));
        if known.is_none() && !is_simple {
            simplify(schedule.kernel);
            is_simple = true;
            continue;
        }
        let Some((inst, block)) = known.or(ready.first()).copied() else { return };
        let Some(annotations) = schedule.kernel.annotations.get_mut(&inst) else { return };
        let Some(asked) = annotations.unroll.take() else { return };
        let rest = *annotations;
        let plan = match plan(schedule.kernel, inst, &asked) {
            Ok(plan) => plan,
            Err(finding) => {
                schedule.refuse(&asked, finding);
                continue;
            }
        };
        schedule.kernel.annotations.remove(&inst);
        unroll(schedule.kernel, inst, block, &plan, rest);
        is_simple = false;
    }
}

/// Whether a loop is to be unrolled fully, and its trip count is not known yet.
fn waits(kernel: &Kernel, inst: Inst) -> bool {
    let is_full = kernel.annotations.get(&inst).is_some_and(|asked| asked.unroll.is_some_and(|asked| asked.value == Unroll::Full));
    is_full && Counted::of(kernel, inst).is_some_and(|walk| walk.trips(kernel).is_none())
}

fn is_ready(annotations: &LoopAnnotations) -> bool {
    annotations.unroll.is_some() && annotations.ilp.is_none() && annotations.vectorize.is_none()
}

struct Plan {
    walk: Counted,
    /// Iterations of a group.
    n: u32,
    breaks: bool,
    /// Whether an iteration has other ends than that of its block: each becomes a region.
    has_exits: bool,
}

fn plan(kernel: &Kernel, inst: Inst, asked: &Asked<Unroll>) -> Result<Plan, Finding> {
    let walk = Counted::of(kernel, inst)
        .ok_or_else(|| Finding::new("the iterations of this loop cannot be counted", "write it as `for i in a..b`"))?;
    let trips = walk.trips(kernel);
    let n = match (asked.value, trips) {
        (Unroll::Full, None) => {
            let message = "`#[unroll]` needs a trip count known at compile time, and the bounds of this loop are not constants";
            return Err(Finding::new(message, "write `#[unroll(4)]`, say, or give the bounds as const generics"));
        }
        (Unroll::Full, Some(trips)) => trips,
        (Unroll::By(n), Some(trips)) if u64::from(n) > trips => {
            let message = format!("unrolling by {n} is more than the {trips} iterations of this loop");
            return Err(Finding::new(message, "write `#[unroll]` to unroll it fully"));
        }
        (Unroll::By(n), _) => u64::from(n),
    };
    let body = size(kernel, walk.body);
    let total = usize::try_from(n).unwrap_or(usize::MAX).saturating_mul(body);
    if total > MOST_INSTRUCTIONS {
        let message = format!("{n} copies of a body of {body} instructions are {total}; at most {MOST_INSTRUCTIONS} are made");
        return Err(Finding::new(message, "unroll by a smaller factor"));
    }
    let exits = Exits::of(kernel);
    let exits = exits.get(inst);
    let ends = matches!(parts(kernel, walk.body).1.map(|last| &kernel.insts[last].op), Some(Op::Yield(_)));
    Ok(Plan { walk, n: n as u32, breaks: !exits.breaks.is_empty(), has_exits: !exits.continues.is_empty() || !ends })
}

fn unroll(kernel: &mut Kernel, inst: Inst, block: Block, plan: &Plan, rest: LoopAnnotations) {
    let walk = &plan.walk;
    let behind = open(kernel, block, inst);
    if plan.n == 0 {
        kernel.blocks[block].insts.extend(behind);
        let results = kernel.insts[inst].results.clone();
        return replace(kernel, &results, &walk.init);
    }
    // A `break` leaves the groups and what is left of the loop: a region round both.
    let outer = if plan.breaks { Some(region(kernel, inst, block)) } else { None };
    let inside = outer.map_or(block, |(_, body)| body);
    let groups = in_groups(kernel, inside, walk, plan.n, walk.init.clone(), |kernel, body, counters, carried| {
        copies(kernel, inst, walk, body, counters, carried, outer.map(|(region, _)| region), plan.has_exits)
    });
    kernel.insts[groups.main].loc = walk.loc;
    // The factor is the source's, not the assembler's; and what is left runs too seldom to be unrolled.
    keep_rolled(kernel, groups.main);
    if groups.rest.is_some() {
        keep_rolled(kernel, inst);
    }
    if !rest.is_empty() {
        kernel.annotations.insert(groups.main, rest);
    }
    let Some((region, body)) = outer else {
        return finish(kernel, block, inst, groups.rest, groups.results, behind);
    };
    let original = kernel.insts[inst].results.clone();
    let results = match groups.rest {
        Some(start) => {
            if let Op::For { start: first, init, .. } = &mut kernel.insts[inst].op {
                (*first, *init) = (start, groups.results);
            }
            kernel.blocks[body].insts.push(inst);
            original.clone()
        }
        None => groups.results,
    };
    Builder::new(kernel, body, walk.loc).push(Op::Yield(results), &[]);
    kernel.blocks[block].insts.extend(behind);
    let outside = kernel.insts[region].results.clone();
    // Inside the region the loop's own results are meant.
    let is_yield = kernel.blocks[body].insts.last().copied();
    replace(kernel, &original, &outside);
    if let (Some(last), true) = (is_yield, groups.rest.is_some()) {
        kernel.insts[last].op = Op::Yield(original);
    }
}

fn keep_rolled(kernel: &mut Kernel, inst: Inst) {
    if let Op::For { keep_rolled, .. } = &mut kernel.insts[inst].op {
        *keep_rolled = true;
    }
}

/// A region with the results of the loop, at the end of `block`.
fn region(kernel: &mut Kernel, inst: Inst, block: Block) -> (Inst, Block) {
    let types: Vec<Type> = kernel.insts[inst].results.iter().map(|value| kernel.ty(*value)).collect();
    let body = kernel.new_block(&[]);
    let region = kernel.new_inst(Op::Region { body }, &types, kernel.insts[inst].loc);
    kernel.blocks[block].insts.push(region);
    (region, body)
}

/// The iterations of a group, one after the other.
#[expect(clippy::too_many_arguments, reason = "a group's place, its values and where its exits go")]
fn copies(
    kernel: &mut Kernel,
    inst: Inst,
    walk: &Counted,
    body: Block,
    counters: &[Value],
    carried: &[Value],
    breaks: Option<Inst>,
    has_exits: bool,
) -> Vec<Value> {
    let mut carried = carried.to_vec();
    for counter in counters {
        let mut copy = Copy::default();
        copy.set(walk.counter, *counter);
        copy.set_all(&walk.carried, &carried);
        if let Some(region) = breaks {
            copy.set_owner(inst, region);
        }
        if has_exits {
            let (region, inner) = region(kernel, inst, body);
            copy.set_continue(inst, region);
            copy.contents(kernel, walk.body, inner);
            carried = kernel.insts[region].results.clone();
        } else {
            copy.contents(kernel, walk.body, body);
            let last = kernel.blocks[body].insts.pop();
            if let Some(Op::Yield(values)) = last.map(|last| &kernel.insts[last].op) {
                carried.clone_from(values);
            }
        }
    }
    carried
}
