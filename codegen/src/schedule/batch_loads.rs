//! `#[batch_loads]`: all global loads of the body are issued before anything that waits for one of them.
//!
//! Loads under a condition are taken out of it and predicated (`schedule::loads`). Then the body is put in order of *levels*: a load's result is
//! one level above the load, anything else stands at the highest level of what it uses. Stores, barriers and what else others can see keep
//! their order among themselves, so each stands at least as high as the one before. Within a level the order stays, but a load goes before a
//! loop or store that it may pass.
//!
//! A load whose address comes from another load waits for that one: such loads form a batch of their own.
//!
//! Copies of a pipelined loop (`schedule::pipeline`) stay what they are, since no thread waits for them; where threads make them, on targets that do not
//! copy by themselves, each condition's loads go before its stores. With `by = registers` they are loads like all others.
//!
//! **Legal** where no load has to stay behind a store or barrier that itself waits for a load (`assume_disjoint` takes the person's word that
//! stores are to other elements), and no load is in an inner loop. **Refuses** these, and bodies without global loads.

use super::copy::parts;
use super::dependence::MemoryAccess;
use super::loads::{Asking, copied, has_loads, move_loads, needs, take_out, unit};
use super::obstacles::Obstacles;
use super::{Refusal, Schedule};
use crate::analysis::cost::is_speculable;
use crate::annotations::BATCH_LOADS;
use crate::collections::{HashMap, HashSet};
use crate::ir::{Block, Inst, Kernel, Message, Op, Region, Terminator, Value};

/// Runs it, on inner loops first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    move_loads(schedule, &BATCH_LOADS, true, batch);
}

fn batch(kernel: &mut Kernel, (inst, _): (Inst, Block), asking: Asking<'_>) -> Result<Vec<Inst>, Refusal> {
    let Op::Region(Region::For { body, .. } | Region::Loop { body, .. }) = kernel.insts[inst].op else { return Ok(Vec::new()) };
    // What the copy engine brings leaves nothing to batch, and nothing that waits.
    let by_engine = || kernel.insts_in(body).any(|inst| matches!(kernel.insts[inst].op, Op::Engine(_)));
    if has_loads(kernel, body, asking.space).is_none() {
        if by_engine() {
            return Ok(Vec::new());
        }
        return Err(Refusal::new("there are no global loads here to batch", "leave `batch_loads` out"));
    }
    take_out(kernel, body, asking)?;
    order_copies(kernel, body, asking);
    order(kernel, body, asking)?;
    Ok(kernel.blocks[body].insts.iter().copied().filter(|inst| unit(kernel, *inst, asking.space).is_some()).collect())
}

/// Puts a block in order of levels.
fn order(kernel: &mut Kernel, block: Block, asking: Asking<'_>) -> Result<(), Refusal> {
    let (insts, last) = parts(kernel, block);
    let levels = levels(kernel, &insts, asking)?;
    let first = first(kernel, &insts, &levels, asking);
    let mut ordered: Vec<(u32, Inst)> = levels.into_iter().zip(insts).collect();
    ordered.sort_by_key(|(level, inst)| (*level, !first.contains(inst)));
    kernel.blocks[block].insts = ordered.into_iter().map(|(_, inst)| inst).chain(last).collect();
    Ok(())
}

/// The copies of a pipelined loop stay under their conditions. Where threads make them, each condition's loads go before its stores.
fn order_copies(kernel: &mut Kernel, block: Block, asking: Asking<'_>) {
    if kernel.rings.is_empty() {
        return;
    }
    for inst in kernel.blocks[block].insts.clone() {
        let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[inst].op else { continue };
        for arm in [then_block, else_block] {
            order_copies(kernel, arm, asking);
            // What cannot be put in order is as good as it was.
            if !copied(kernel, arm, asking.space).is_empty() {
                drop(order(kernel, arm, asking));
            }
        }
    }
}

/// The level of every instruction.
fn levels(kernel: &Kernel, insts: &[Inst], asking: Asking<'_>) -> Result<Vec<u32>, Refusal> {
    let mut affine = asking.around.affine();
    let obstacles = Obstacles::of(kernel, &mut affine, insts);
    let mut pairs = 0;
    // What traps, and the highest level of it.
    let mut checks: Vec<(usize, Inst)> = Vec::new();
    let mut highest_check = 0;
    let mut values: HashMap<Value, u32> = HashMap::default();
    let mut levels: Vec<u32> = Vec::new();
    // The highest level of anything that others can see, and of loads that a store must not overtake.
    let (mut effects, mut reads) = (0, 0);
    for (n, inst) in insts.iter().enumerate() {
        let load = unit(kernel, *inst, asking.space);
        let own = needs(kernel, *inst).iter().filter_map(|value| values.get(value)).copied().max().unwrap_or(0);
        let mut level = own;
        if let Some(load) = load {
            if let Some(access) = MemoryAccess::of(kernel, &mut affine, load) {
                let check = checks.iter().find(|(earlier, _)| highest_check > level && levels[*earlier] > level);
                let before = obstacles.in_the_way(kernel, access.at.object, asking).take_while(|obstacle| obstacle.at < n);
                for obstacle in before.filter(|obstacle| levels[obstacle.at] > level) {
                    if check.is_some_and(|(earlier, _)| *earlier <= obstacle.at) {
                        break;
                    }
                    if let Some(refusal) = obstacle.keeps_behind(kernel, &mut affine, &access, asking, &mut pairs) {
                        return Err(refusal);
                    }
                }
                if let Some((_, other)) = check {
                    let message = "`batch_loads` cannot issue a load before a check that itself waits for a load";
                    let refusal = Refusal::new(message, "check before the first load, or after the last");
                    return Err(refusal.label(kernel.insts[load].loc, "this load").label(kernel.insts[*other].loc, "the check"));
                }
                if !kernel.objects[access.at.object].is_read_only() {
                    reads = reads.max(level);
                }
            }
        } else if is_check(kernel, *inst) {
            // Not among what others can see: where it fails nothing else counts.
            highest_check = level.max(highest_check);
            checks.push((n, *inst));
        } else if !kernel.effects(*inst).is_pure() {
            level = level.max(effects).max(reads);
            effects = level;
        }
        levels.push(level);
        for result in &kernel.insts[*inst].results {
            values.insert(*result, level + u32::from(load.is_some()));
        }
    }
    Ok(levels)
}

/// What comes first in its level: loads that need not stay behind what stands before them there, and what their addresses need.
fn first(kernel: &Kernel, insts: &[Inst], levels: &[u32], asking: Asking<'_>) -> HashSet<Inst> {
    let mut affine = asking.around.affine();
    let at: HashMap<Inst, usize> = insts.iter().enumerate().map(|(n, inst)| (*inst, n)).collect();
    let obstacles = Obstacles::of(kernel, &mut affine, insts);
    let mut pairs = 0;
    let mut first = HashSet::default();
    // Levels of what a load cannot simply pass, and those of checks, which it may not.
    let (mut occupied, mut checked) = (HashSet::default(), HashSet::default());
    for (n, (inst, level)) in insts.iter().zip(levels).enumerate() {
        let Some(access) = unit(kernel, *inst, asking.space).and_then(|load| MemoryAccess::of(kernel, &mut affine, load)) else {
            if !kernel.effects(*inst).is_pure() {
                occupied.insert(*level);
            }
            if is_check(kernel, *inst) {
                checked.insert(*level);
            }
            continue;
        };
        // Where nothing is in the way the order stays.
        if !occupied.contains(level) || checked.contains(level) {
            continue;
        }
        let before = obstacles.in_the_way(kernel, access.at.object, asking).take_while(|obstacle| obstacle.at < n);
        let mut before = before.filter(|obstacle| levels[obstacle.at] == *level);
        let passes = before.all(|obstacle| obstacle.keeps_behind(kernel, &mut affine, &access, asking, &mut pairs).is_none());
        if passes && let Some(needed) = address(kernel, *inst, &at, |n| levels[n] == *level, &first) {
            first.extend(needed);
            first.insert(*inst);
        }
    }
    first
}

/// What a load's address needs of the body's instructions that `counts`, if all of that may run earlier.
fn address(
    kernel: &Kernel,
    load: Inst,
    at: &HashMap<Inst, usize>,
    counts: impl Fn(usize) -> bool,
    first: &HashSet<Inst>,
) -> Option<HashSet<Inst>> {
    let mut needed = HashSet::default();
    let mut work = needs(kernel, load);
    while let Some(value) = work.pop() {
        let Some(maker) = kernel.def(value).map(|(maker, _)| maker) else { continue };
        if !at.get(&maker).is_some_and(|n| counts(*n)) || first.contains(&maker) || !needed.insert(maker) {
            continue;
        }
        if !is_speculable(kernel, maker) {
            return None;
        }
        work.extend(needs(kernel, maker));
    }
    Some(needed)
}

/// An assertion, or an `if` that only traps.
fn is_check(kernel: &Kernel, inst: Inst) -> bool {
    match kernel.insts[inst].op {
        Op::Message(Message::Assert(..)) => true,
        Op::Region(Region::If { then_block, else_block, .. }) => {
            let only = |block: Block| matches!(kernel.blocks[block].insts[..], [last] if matches!(kernel.insts[last].op, Op::Terminator(Terminator::Trap(_) | Terminator::Yield(_))));
            only(then_block) && only(else_block) && kernel.insts[inst].results.is_empty()
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
        | Op::Terminator(_) => false,
    }
}
