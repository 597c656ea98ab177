//! `#[unroll]`, `#[unroll(N)]`: iterations one after the other, without the counting between them.
//!
//! **Fully**: the loop becomes its iterations, each with its counter as a number. A `break` leaves them all, a `continue` one. **By N**:
//! a loop over groups of N, and a loop over what is left (`schedule::groups`).
//!
//! **Legal** always: the order of everything stays. **Refuses** a full unrolling of a loop whose trip count is not known, factors
//! beyond the trip count, and bodies that would grow beyond all measure (`schedule::budget`).
//!
//! A loop that is annotated with something else, too, waits for that: `ilp` and `vectorize` make groups, which are then unrolled. What
//! `prefetch` and `batch_loads` still have to do is asked of the loop over groups; a fully unrolled one stays as a loop of one
//! iteration until then. A loop with a barrier, which goes from tile to tile, waits for `prefetch`, too, if it is unrolled by N: registers hold the next tile, not
//! the next N. So does a loop whose loads are from shared arrays, even if it is unrolled fully: each step loads for the next one.

use super::budget::{Copies, MOST_INSTRUCTIONS};
use super::copy::{loops, size};
use super::groups::{Counted, finish, in_groups, open};
use super::loads::is_barrier;
use super::prefetch::space_of;
use super::{Refusal, Schedule};
use crate::annotations::{PIPELINE, PREFETCH, UNROLL};
use crate::collections::HashSet;
use crate::ir::Copy;
use crate::ir::{Annotations, Asked, Block, Builder, Inst, Kernel, Loc, Object, ObjectKind, Op, Region, Space, Terminator, Type, Value};
use crate::passes::simplify;

/// Most instructions that are made in order to be folded, of a loop that is unrolled fully.
const MOST_FOLDED: u64 = 10 * MOST_INSTRUCTIONS as u64;

/// Runs it on the loops that no other pass has to see first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    schedule.begin();
    let mut is_simple = true;
    loop {
        let mut ready = loops(schedule.kernel, is_ready);
        ready.retain(|(inst, _)| !waits_for_prefetch(schedule.kernel, *inst));
        let is_changed = !ready.is_empty() && sweep(schedule, &ready, is_simple);
        schedule.names.apply(schedule.kernel);
        match (ready.first(), is_changed) {
            (None, _) => return,
            (_, true) => is_simple = false,
            // What is known by now is known to those that wait for it.
            _ if !is_simple => {
                simplify(schedule.kernel);
                schedule.begin();
                is_simple = true;
            }
            // It waits for ever.
            (Some((inst, block)), false) => {
                keep(schedule, *inst, *block, is_simple);
            }
        }
    }
}

/// Unrolls those loops that wait for nothing, inner ones first. Whether there was one.
fn sweep(schedule: &mut Schedule<'_>, ready: &[(Inst, Block)], is_simple: bool) -> bool {
    let mut is_simple = is_simple;
    let mut is_changed = false;
    for (inst, block) in ready {
        schedule.names.apply_in(schedule.kernel, *inst);
        // An inner loop's bounds may be the counter of an outer one, which is a number once that one is unrolled.
        if waits(schedule.kernel, *inst) {
            continue;
        }
        match keep(schedule, *inst, *block, is_simple) {
            Kept::Yes => (is_simple, is_changed) = (false, true),
            Kept::InPart => return true,
            Kept::NotYet => return is_changed,
        }
    }
    is_changed
}

/// What became of an annotation.
enum Kept {
    /// It is kept, or refused.
    Yes,
    /// The loop is two loops now, each with the annotation.
    InPart,
    /// There is no room for the copies as they are: what is known has to be folded first.
    NotYet,
}

fn keep(schedule: &mut Schedule<'_>, inst: Inst, block: Block, is_simple: bool) -> Kept {
    let Some(mut rest) = schedule.kernel.annotations.get(&inst).cloned() else { return Kept::Yes };
    let Some(asked) = rest.take(&UNROLL) else { return Kept::Yes };
    // Asks for nothing, and no loop has to stay for it: but for one that fills what is another's ring.
    let is_full = asked.argument.is_none();
    if is_full && rest.get(&PIPELINE).is_some_and(|asked| asked.count() == 1) && !shares_a_ring(schedule.kernel, inst) {
        rest.take(&PIPELINE);
    }
    let refused = match plan(schedule.kernel, inst, &asked) {
        Err(refusal) => Some(refusal),
        Ok(plan) => {
            if !schedule.is_refused(&asked) && !schedule.fits_budget(&plan.copies()) {
                if !is_simple {
                    return Kept::NotYet;
                }
                // What will be known of the first iterations when their counter is counts no more.
                if let Some(first) = take_apart(schedule, inst, block, &plan, asked.place) {
                    // At once, so that what it leaves is folded before the next part is made.
                    keep(schedule, first, block, is_simple);
                    return Kept::InPart;
                }
            }
            if schedule.take_from_budget(&asked, &plan.copies()) {
                schedule.kernel.annotations.remove(&inst);
                unroll(schedule, inst, block, &plan, rest);
                return Kept::Yes;
            }
            None
        }
    };
    refused.into_iter().for_each(|refusal| schedule.refuse(&asked, refusal));
    schedule.kernel.annotations.insert(inst, rest);
    Kept::Yes
}

/// Whether a loop touches a shared array that one with several stages does, too.
fn shares_a_ring(kernel: &Kernel, inst: Inst) -> bool {
    let touched = |inst: Inst| -> HashSet<Object> {
        let inner = kernel.insts[inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block));
        let effects = inner.map(|inner| kernel.effects(inner));
        effects.flat_map(|effects| effects.reads.iter().chain(effects.writes).collect::<Vec<_>>()).collect()
    };
    let has_stages = |annotations: &Annotations| annotations.get(&PIPELINE).is_some_and(|asked| asked.count() > 1);
    let own: HashSet<Object> = touched(inst).into_iter().filter(|object| kernel.objects[*object].kind == ObjectKind::Shared).collect();
    kernel.annotations.iter().any(|(other, annotations)| has_stages(annotations) && !own.is_disjoint(&touched(*other)))
}

/// Whether a loop is to be unrolled fully, and its trip count is not known yet.
fn waits(kernel: &Kernel, inst: Inst) -> bool {
    asks_for_all(kernel, inst) && Counted::of(kernel, inst).is_some_and(|walk| walk.trips(kernel).is_none())
}

/// Whether a loop is to be unrolled when each iteration loads for the next one, or copies for later ones.
fn waits_for_prefetch(kernel: &Kernel, inst: Inst) -> bool {
    if kernel.annotations.get(&inst).is_some_and(|annotations| annotations.get(&PIPELINE).is_some_and(|asked| asked.count() > 1)) {
        return true;
    }
    let is_prefetched = kernel.annotations.get(&inst).is_some_and(|annotations| annotations.has(&PREFETCH));
    let Some(walk) = Counted::of(kernel, inst).filter(|_| is_prefetched) else { return false };
    match space_of(kernel, walk.body) {
        Some(Space::Shared) => true,
        _ => !asks_for_all(kernel, inst) && kernel.insts_in(walk.body).any(|inner| is_barrier(kernel, inner)),
    }
}

/// Whether a loop is to be unrolled fully.
fn asks_for_all(kernel: &Kernel, inst: Inst) -> bool {
    let asked = kernel.annotations.get(&inst).and_then(|annotations| annotations.get(&UNROLL));
    asked.is_some_and(|asked| asked.argument.is_none())
}

fn is_ready(annotations: &Annotations) -> bool {
    annotations.has(&UNROLL) && !annotations.iter().any(|asked| asked.annotation.joins)
}

struct Plan {
    walk: Counted,
    /// Iterations of a group.
    n: u64,
    breaks: bool,
    /// Whether an iteration has other ends than that of its block: each becomes a region.
    has_exits: bool,
}

fn plan(kernel: &Kernel, inst: Inst, asked: &Asked) -> Result<Plan, Refusal> {
    let walk = Counted::of(kernel, inst)
        .ok_or_else(|| Refusal::new("the iterations of this loop cannot be counted", "write it as `for i in a..b`"))?;
    let trips = walk.trips(kernel);
    let n = match (asked.argument, trips) {
        (None, None) => {
            let message = "`#[unroll]` needs a trip count known at compile time, and the bounds of this loop are not constants";
            return Err(Refusal::new(message, "write, for example, `#[unroll(4)]`, or give the bounds as const generics"));
        }
        (None, Some(trips)) => trips,
        (Some(n), Some(trips)) if u64::from(n) > trips => {
            let iterations = if trips == 1 { "one iteration".to_owned() } else { format!("{trips} iterations") };
            let message = format!("unrolling by {n} is more than the {iterations} of this loop");
            return Err(Refusal::new(message, "write `#[unroll]` to unroll it fully"));
        }
        (Some(n), _) => u64::from(n),
    };
    let (mut breaks, mut continues) = (false, false);
    kernel.walk_block(walk.body, &mut |kernel, _, inner| match kernel.insts[inner].op {
        Op::Terminator(Terminator::Break(target, _)) => breaks |= target == inst,
        Op::Terminator(Terminator::Continue(target, _)) => continues |= target == inst,
        Op::Compute(_)
        | Op::Memory(_)
        | Op::Texture(..)
        | Op::Intrinsic(..)
        | Op::Collective(_)
        | Op::Tensor(_)
        | Op::Engine(_)
        | Op::Message(_)
        | Op::Region(_)
        | Op::Terminator(_) => {}
    });
    let ends = kernel.yielded(walk.body).is_some();
    Ok(Plan { walk, n, breaks, has_exits: continues || !ends })
}

impl Plan {
    fn copies(&self) -> Copies<'static> {
        Copies { name: "unroll", body: self.walk.body, n: self.n, versions: 1, instead: &|fits| format!("write `#[unroll({fits})]`") }
    }
}

/// Makes two loops of one that is to be unrolled fully, both still to be: of the first one's iterations more is known once they are written out, so
/// that there may be room for the others. The first, if it did.
fn take_apart(schedule: &mut Schedule<'_>, inst: Inst, block: Block, plan: &Plan, loc: Loc) -> Option<Inst> {
    let walk = &plan.walk;
    let body = size(schedule.kernel, walk.body).max(1) as u64;
    let whole = schedule.budget.whole(loc).unwrap_or(plan.n);
    let first = MOST_INSTRUCTIONS as u64 / 4 / body;
    let kernel = &mut *schedule.kernel;
    let is_alone = kernel.annotations.get(&inst).is_none_or(|annotations| annotations.iter().all(|asked| *asked.annotation == UNROLL));
    let is_full = asks_for_all(kernel, inst);
    let constant = |value: Value| kernel.constant(value).map(|constant| constant.as_int());
    let (Some(start), Some(step)) = (constant(walk.start), constant(walk.step)) else { return None };
    if !is_full || !is_alone || plan.breaks || first == 0 || first >= plan.n || whole.saturating_mul(body) > MOST_FOLDED {
        return None;
    }
    schedule.budget.begin_whole(loc, whole);
    let behind = open(kernel, block, inst);
    let ty = kernel.ty(walk.counter);
    let between = Builder::new(kernel, block, walk.loc).int(ty, start + i128::from(first) * step);
    let before = Copy::default().inst(kernel, inst, block);
    if let Op::Region(Region::For { end, .. }) = &mut kernel.insts[before].op {
        *end = between;
    }
    let results = kernel.insts[before].results.clone();
    if let Op::Region(Region::For { start, init, .. }) = &mut kernel.insts[inst].op {
        (*start, *init) = (between, results);
    }
    kernel.blocks[block].insts.push(inst);
    kernel.blocks[block].insts.extend(behind);
    Some(before)
}

fn unroll(schedule: &mut Schedule<'_>, inst: Inst, block: Block, plan: &Plan, rest: Annotations) {
    let walk = &plan.walk;
    let kernel = &mut *schedule.kernel;
    let behind = open(kernel, block, inst);
    if plan.n == 0 {
        return finish(schedule, block, inst, None, walk.init.clone(), behind);
    }
    // A `break` leaves the groups and what is left of the loop: a region round both.
    let outer = if plan.breaks { Some(region(kernel, inst, block)) } else { None };
    let inside = outer.map_or(block, |(_, body)| body);
    let groups = in_groups(kernel, inside, walk, plan.n as u32, walk.init.clone(), |kernel, body, counters, carried| {
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
        return finish(schedule, block, inst, groups.rest, groups.results, behind);
    };
    let results = match groups.rest {
        // Outside of the region its results stand for the loop's: what is left in it is a loop of its own.
        Some(start) => {
            let left = Copy::default().inst(kernel, inst, body);
            if let Op::Region(Region::For { start: first, init, .. }) = &mut kernel.insts[left].op {
                (*first, *init) = (start, groups.results);
            }
            kernel.insts[left].results.clone()
        }
        None => groups.results,
    };
    Builder::new(kernel, body, walk.loc).push(Op::Terminator(Terminator::Yield(results)), &[]);
    let outside = kernel.insts[region].results.clone();
    finish(schedule, block, inst, None, outside, behind);
}

fn keep_rolled(kernel: &mut Kernel, inst: Inst) {
    if let Op::Region(Region::For { keep_rolled, .. }) = &mut kernel.insts[inst].op {
        *keep_rolled = true;
    }
}

/// A region with the results of the loop, at the end of `block`.
fn region(kernel: &mut Kernel, inst: Inst, block: Block) -> (Inst, Block) {
    let types: Vec<Type> = kernel.insts[inst].results.iter().map(|value| kernel.ty(*value)).collect();
    let body = kernel.new_block(&[]);
    let region = kernel.new_inst(Op::Region(Region::Block { body }), &types, kernel.insts[inst].loc);
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
            if let Some(Op::Terminator(Terminator::Yield(values))) = last.map(|last| &kernel.insts[last].op) {
                carried.clone_from(values);
            }
        }
    }
    carried
}
