//! `#[prefetch]`: software pipelining by one. The global loads of the next iteration are issued, into registers, before the work of this
//! one; before the loop those of the first. In a loop without global loads, which multiplies what lies in shared arrays, say, they are the loads of those.
//!
//! ```text
//! for k in a..b {                     next = if a < b { load(a) }
//!     tile = load(k)                  for k in a..b carrying next {
//!     barrier                ▶            tile = next
//!     compute                             next = if k + step < b { load(k + step) }
//!     barrier                             barrier
//! }                                       compute; barrier
//!                                     }
//! ```
//!
//! The loads stand between what deposits the ones before, in shared memory say, and the barrier behind that: from behind a barrier `ptxas` sinks
//! them to their use in the next iteration, and over one it moves nothing. Without a barrier they stand at the top. Nothing
//! is loaded beyond the last iteration: the loads are predicated by there being a next one. Loads under a condition are taken out of it
//! and predicated by both (`schedule::loads`). A load that needs another one first (`x[columns[k]]`) stays where it is: what it needs is there early.
//!
//! **Legal** where addresses come from the counter and what the loop leaves alone, and nobody writes what is loaded early: not this thread in
//! between (`assume_disjoint` takes the person's word), nor others before a barrier in the body. **Refuses** all else: addresses that come
//! from a carried value, loads in inner loops, bodies without loads, loops that may be left early.

use super::copy::parts;
use super::dependence::{MemoryAccess, defined};
use super::groups::{Counted, Names};
use super::loads::{Asking, divides, has_loads, is_barrier, move_loads, needs, take_out, unit, visit};
use super::obstacles::Obstacles;
use super::{Refusal, Schedule};
use crate::analysis::cost::is_speculable;
use crate::annotations::PREFETCH;
use crate::collections::{HashMap, HashSet};
use crate::ir::Copy;
use crate::ir::{BinaryOp, Block, Builder, CompareOp, Inst, Kernel, Memory, MemoryOp, Op, Region, Scalar, Space, Terminator, Type, Value};
use std::rc::Rc;

/// Most instructions for each load that are a deposit of what was loaded and no work: its address, a conversion, a check, the store.
const DEPOSIT: usize = 24;

/// Runs it, on inner loops first.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    move_loads(schedule, &PREFETCH, false, prefetch);
}

fn prefetch(kernel: &mut Kernel, (inst, block): (Inst, Block), asking: Asking<'_>) -> Result<Vec<Inst>, Refusal> {
    let walk = Counted::of(kernel, inst)
        .ok_or_else(|| Refusal::new("the iterations of this loop cannot be counted", "write it as `for i in a..b`"))?;
    let Some(space) = space_of(kernel, walk.body) else {
        return Err(Refusal::new("there are no loads of global or shared memory in this loop to prefetch", "leave `prefetch` out"));
    };
    let asking = Asking { space, ..asking };
    take_out(kernel, walk.body, asking)?;
    let (insts, last) = parts(kernel, walk.body);
    // A body that never falls through has no next iteration.
    if let Some(last) = last.filter(|last| !matches!(kernel.insts[*last].op, Op::Terminator(Terminator::Yield(_)))) {
        let refusal = Refusal::new("`prefetch` loads for the next iteration, and this loop never has one", "leave `prefetch` out");
        return Err(refusal.label(kernel.insts[last].loc, "every iteration leaves the loop here"));
    }
    let indirect = indirect(kernel, &insts, space);
    let units: Vec<Inst> = insts.iter().copied().filter(|inst| unit(kernel, *inst, space).is_some() && !indirect.contains(inst)).collect();
    let slice = slice(kernel, &walk, &insts, &units)?;
    check_memory(kernel, &walk, &insts, &units, asking)?;
    let results: Vec<Value> = units.iter().flat_map(|unit| kernel.insts[*unit].results.clone()).collect();
    // Before the loop: the first iteration's, if there is one.
    let at = kernel.blocks[block].insts.iter().position(|other| *other == inst).unwrap_or(0);
    let behind = kernel.blocks[block].insts.split_off(at);
    let some = Builder::new(kernel, block, walk.loc).compare(CompareOp::Lt, walk.start, walk.end);
    let zeros = zeros(kernel, block, &results, walk.loc);
    let (_, first) = issue(kernel, block, &walk, walk.start, some, &slice, &units, &zeros);
    kernel.blocks[block].insts.extend(behind);
    // They are carried round: what an iteration uses is a parameter of its body.
    let held: Vec<Value> = results
        .iter()
        .map(|value| {
            let ty = kernel.ty(*value);
            let param = kernel.add_param(walk.body, ty);
            kernel.values[param].name = kernel.values[*value].name.clone();
            kernel.add_result(inst, ty);
            param
        })
        .collect();
    if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[inst].op {
        init.extend(first);
    }
    // In the body: the next iteration's.
    let place = place(kernel, &insts, &units);
    kernel.blocks[walk.body].insts.clear();
    let (before, after) = insts.split_at(place);
    let moved: HashSet<Inst> = units.iter().copied().collect();
    let stay = |kernel: &mut Kernel, list: &[Inst]| {
        let staying = list.iter().filter(|inst| !moved.contains(inst)).copied();
        kernel.blocks[walk.body].insts.extend(staying);
    };
    stay(kernel, before);
    let (next, more) = next_iteration(kernel, &walk);
    let (early, loaded) = issue(kernel, walk.body, &walk, next, more, &slice, &units, &held);
    stay(kernel, after);
    if let Some(last) = last {
        if let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op {
            values.extend(loaded);
        }
        kernel.blocks[walk.body].insts.push(last);
    }
    // Nobody outside the body names what is loaded in it.
    let mut names = Names::default();
    names.set_all(&results, &held);
    names.apply_in(kernel, inst);
    Ok(early)
}

/// Which loads of a loop are prefetched: those of global memory, or, if there are none, those of shared arrays.
pub(super) fn space_of(kernel: &Kernel, body: Block) -> Option<Space> {
    [Space::Global, Space::Shared].into_iter().find(|space| has_loads(kernel, body, *space).is_some())
}

/// Where in the body the next iteration's loads are issued.
fn place(kernel: &Kernel, insts: &[Inst], units: &[Inst]) -> usize {
    let Some(barrier) = insts.iter().position(|inst| is_barrier(kernel, *inst)) else { return 0 };
    // The last that stores what was loaded.
    let mut loaded: HashSet<Value> = HashSet::default();
    let mut deposit = None;
    for (n, inst) in insts.iter().enumerate() {
        if units.contains(inst) || needs(kernel, *inst).iter().any(|value| loaded.contains(value)) {
            loaded.extend(kernel.insts[*inst].results.iter().copied());
            if matches!(kernel.insts[*inst].op, Op::Memory(Memory { op: MemoryOp::Store(_), .. }) | Op::Region(Region::If { .. })) {
                deposit = Some(n);
            }
        }
    }
    let behind = deposit.and_then(|deposit| (deposit..insts.len()).find(|n| is_barrier(kernel, insts[*n])));
    // Where more than a deposit stands between the barriers, the loads go before that work.
    match behind {
        Some(behind) if count(kernel, &insts[..behind]) <= DEPOSIT * units.len() => behind,
        _ => barrier + 1,
    }
}

/// Instructions, with those that they own.
fn count(kernel: &Kernel, insts: &[Inst]) -> usize {
    let mut count = 0;
    insts.iter().for_each(|inst| visit(kernel, *inst, &mut |_| count += 1));
    count
}

/// The counter of the next iteration, and whether there is one.
fn next_iteration(kernel: &mut Kernel, walk: &Counted) -> (Value, Value) {
    let unsigned = kernel.ty(walk.counter).to_unsigned();
    let mut b = Builder::new(kernel, walk.body, walk.loc);
    let next = b.binary(BinaryOp::Add, walk.counter, walk.step);
    // The counter is below the end: what is left fits the unsigned type.
    let left = b.binary(BinaryOp::Sub, walk.end, walk.counter);
    let left = b.bitcast(left, unsigned);
    let step = b.bitcast(walk.step, unsigned);
    let more = b.compare(CompareOp::Gt, left, step);
    (next, more)
}

/// The loads that need another load of the body first, for their address or their condition.
fn indirect(kernel: &Kernel, insts: &[Inst], space: Space) -> HashSet<Inst> {
    let (mut loaded, mut found) = (HashSet::default(), HashSet::default());
    for inst in insts {
        let is_unit = unit(kernel, *inst, space).is_some();
        let is_behind = needs(kernel, *inst).iter().any(|value| loaded.contains(value));
        if is_unit && is_behind {
            found.insert(*inst);
        }
        if is_unit || is_behind {
            loaded.extend(kernel.insts[*inst].results.iter().copied());
        }
    }
    found
}

/// What the units' addresses and conditions need of the body, in order.
fn slice(kernel: &Kernel, walk: &Counted, insts: &[Inst], units: &[Inst]) -> Result<Vec<Inst>, Refusal> {
    let inside = defined(kernel, walk.body);
    let here: HashSet<Inst> = insts.iter().copied().collect();
    let mut wanted: HashSet<Inst> = HashSet::default();
    for unit_inst in units {
        let mut work = needs(kernel, *unit_inst);
        let loc = kernel.insts[*unit_inst].loc;
        while let Some(value) = work.pop() {
            if !inside.contains(&value) || value == walk.counter {
                continue;
            }
            let Some((maker, op)) = kernel.def(value) else {
                let name = kernel.values[value].name.as_deref().map_or_else(|| "a value".to_owned(), |name| format!("`{name}`"));
                let message = format!(
                    "`prefetch` needs the addresses of the next iteration ahead of it, and one comes from {name}, which changes from iteration to iteration"
                );
                let refusal = Refusal::new(message, "compute addresses from the loop's counter");
                return Err(refusal.label(loc, "this load"));
            };
            if !is_speculable(kernel, maker) || !op.blocks().is_empty() || !here.contains(&maker) {
                let message = "`prefetch` cannot compute the address of a load one iteration ahead";
                let divides =
                    divides(kernel, maker, *unit_inst, "`prefetch` cannot issue a load ahead", "where there is no next iteration");
                return Err(divides.unwrap_or_else(|| {
                    let help = "compute addresses from the loop's counter and from values that do not change in the loop";
                    Refusal::new(message, help).label(loc, "this load").label(kernel.insts[maker].loc, "needs this")
                }));
            }
            if wanted.insert(maker) {
                work.extend(op.operands());
            }
        }
    }
    Ok(insts.iter().copied().filter(|inst| wanted.contains(inst)).collect())
}

/// Whether nobody writes what is loaded early.
fn check_memory(kernel: &Kernel, walk: &Counted, insts: &[Inst], units: &[Inst], asking: Asking<'_>) -> Result<(), Refusal> {
    let mut affine = asking.around.affine();
    let obstacles = Obstacles::of(kernel, &mut affine, insts);
    let places: HashMap<Inst, usize> = insts.iter().enumerate().map(|(n, inst)| (*inst, n)).collect();
    let has_barrier = insts.iter().any(|inst| is_barrier(kernel, *inst));
    let inside = Rc::new(defined(kernel, walk.body));
    let mut pairs = 0;
    for unit_inst in units {
        let Some(load) = unit(kernel, *unit_inst, asking.space) else { continue };
        let Some(access) = MemoryAccess::of(kernel, &mut affine, load) else {
            // Of a texture: nobody writes it.
            match obstacles.way_out(kernel, load, asking) {
                Some(refusal) => return Err(refusal),
                None => continue,
            }
        };
        if let Some(refusal) = written_between_barriers(kernel, &access, &obstacles, has_barrier, asking) {
            return Err(refusal);
        }
        // Between where the load is issued and where it stood lie this iteration's stores, and those of its own that stand before it.
        let mut next = None;
        let place = places.get(unit_inst).copied().unwrap_or(insts.len());
        for obstacle in obstacles.in_the_way(kernel, access.at.object, asking).filter(|obstacle| obstacle.at != place) {
            let other = insts[obstacle.at];
            if unit(kernel, other, asking.space).is_none() && !is_barrier(kernel, other) {
                let next = next.get_or_insert_with(|| access.in_next_iteration(kernel, &mut affine, walk, &inside));
                if let Some(refusal) = obstacle.keeps_behind(kernel, &mut affine, next, asking, &mut pairs) {
                    return Err(refusal);
                }
            }
            if obstacle.at < place
                && let Some(refusal) = obstacle.keeps_behind(kernel, &mut affine, &access, asking, &mut pairs)
            {
                return Err(refusal);
            }
        }
    }
    Ok(())
}

/// Behind a barrier other threads' stores count, too, and nothing is known of their elements.
fn written_between_barriers(
    kernel: &Kernel,
    access: &MemoryAccess,
    obstacles: &Obstacles,
    has_barrier: bool,
    asking: Asking<'_>,
) -> Option<Refusal> {
    let object = &kernel.objects[access.at.object];
    if object.is_read_only() || asking.assume_disjoint || !has_barrier {
        return None;
    }
    let write = obstacles.first_write(access.at.object)?;
    let message = format!("`prefetch` cannot load `{}` ahead: other threads may write it before the barrier in between", object.name);
    let help = format!("take `{}` as `&Global` if nothing writes it, or promise `#[prefetch(assume_disjoint)]`", object.name);
    let refusal = Refusal::new(message, help).label(kernel.insts[access.inst].loc, "this load");
    Some(refusal.label(kernel.insts[write].loc, "written here"))
}

/// Issues the loads of the iteration whose counter is `counter`, if `condition` holds; else what they give is `otherwise`. Gives them as units,
/// and their results.
#[expect(clippy::too_many_arguments, reason = "where, which iteration, what, and what instead")]
fn issue(
    kernel: &mut Kernel,
    block: Block,
    walk: &Counted,
    counter: Value,
    condition: Value,
    slice: &[Inst],
    units: &[Inst],
    otherwise: &[Value],
) -> (Vec<Inst>, Vec<Value>) {
    let mut copy = Copy::default();
    copy.set(walk.counter, counter);
    for inst in slice {
        copy.inst(kernel, *inst, block);
    }
    let always = kernel.constant(condition).is_some_and(|c| c.is_true());
    let (mut issued, mut loaded) = (Vec::new(), Vec::new());
    let mut n = 0;
    for unit_inst in units {
        let data = kernel.insts[*unit_inst].clone();
        let instead = &otherwise[n..n + data.results.len()];
        n += data.results.len();
        if let Op::Region(Region::If { condition: own, .. }) = data.op {
            // What the source says of an iteration whose own condition does not hold stays.
            let both = match always {
                true => copy.get(own),
                false => Builder::new(kernel, block, data.loc).binary(BinaryOp::And, condition, copy.get(own)),
            };
            let new = copy.inst(kernel, *unit_inst, block);
            if let Op::Region(Region::If { condition, .. }) = &mut kernel.insts[new].op {
                *condition = both;
            }
            issued.push(new);
            loaded.extend(kernel.insts[new].results.clone());
        } else if always {
            let new = copy.inst(kernel, *unit_inst, block);
            issued.push(new);
            loaded.extend(kernel.insts[new].results.clone());
        } else {
            let (then_block, else_block) = (kernel.new_block(&[]), kernel.new_block(&[]));
            let new = copy.inst(kernel, *unit_inst, then_block);
            let inside = kernel.insts[new].results.clone();
            Builder::new(kernel, then_block, data.loc).push(Op::Terminator(Terminator::Yield(inside)), &[]);
            Builder::new(kernel, else_block, data.loc).push(Op::Terminator(Terminator::Yield(instead.to_vec())), &[]);
            let types: Vec<Type> = data.results.iter().map(|value| kernel.ty(*value)).collect();
            let branch = Builder::new(kernel, block, data.loc).push(Op::Region(Region::If { condition, then_block, else_block }), &types);
            issued.push(branch);
            loaded.extend(kernel.insts[branch].results.clone());
        }
    }
    (issued, loaded)
}

fn zeros(kernel: &mut Kernel, block: Block, like: &[Value], loc: crate::ir::Loc) -> Vec<Value> {
    let types: Vec<Type> = like.iter().map(|value| kernel.ty(*value)).collect();
    let mut b = Builder::new(kernel, block, loc);
    types.into_iter().map(|ty| b.constant(Scalar::new(ty, 0))).collect()
}
