//! Warpgroups that take turns at the tensor cores: in a loop of a kernel with a producer that makes two products of warpgroups, the second of what it computes of the first.
//!
//! Left alone, warpgroups fall into step: all multiply at once, each at its share of the rate, and then all compute while the tensor cores wait. Here one warpgroup's second product and its
//! first one of the next iteration follow each other, and the other warpgroups compute meanwhile.
//!
//! ```text
//!                                     // where the kernel begins: barrier_init turns, 4
//! for k in a..b carrying sums {       for k in a..b carrying sums, last, parity = (warpgroup == 0) {
//!     barrier_wait arrived[slot]          barrier_wait arrived[slot]
//!     s = warpgroup_mma 0                 s = warpgroup_mma left 2 0
//!     p = work(s, sums)                   if k != a { barrier_arrive turns[next warpgroup] }
//!     sums = warpgroup_mma p, sums  ▶     s, sums = await_products s, sums
//!     barrier_arrive free[slot]           if k != a { barrier_arrive free[last] }
//!                                         p = work(s, sums)
//! }                                       barrier_wait turns[warpgroup], parity
//!                                         sums = warpgroup_mma left 1 p, sums
//!                                     }
//!                                     if a < b { barrier_arrive turns[next warpgroup] }
//!                                     sums = await_products sums; if a < b { barrier_arrive free[last] }
//! ```
//!
//! The first warpgroup's first wait returns at once: it is for the phase before the first. In a `persistent` kernel turns go on where they stood ([`Engine::Turn`]). A loop within another stays as it is, and so does one with a single slot.

use crate::intrinsics::{by_name, called};
use crate::ir::{
    Access, Axis, BARRIER, BinaryOp, Block, Builder, CompareOp, Engine, Inst, Kernel, Loc, MemoryType, Object, ObjectData, ObjectKind, Op,
    Region, Scalar, Special, Step, Tensor, Terminator, Type, Value, WARPGROUP, WarpgroupFactor,
};
use crate::target::limits::WARP;

/// What is known of a loop.
struct Plan {
    owner: Inst,
    body: Block,
    /// The first product.
    first: Inst,
    /// The second one, whose sums go round.
    second: Inst,
    /// The barrier that the slot is handed over by, and what does that.
    free: Access,
    hand_over: Vec<Inst>,
    slot: Value,
    /// What copies by threads, which the engine copies mostly: the block whose threads meet, and the condition with what it is there.
    by_threads: Option<(Block, Value, bool)>,
    /// By number among what the loop carries: the second product's sums.
    numbers: Vec<usize>,
}

/// Has the warpgroups of all loops that gain from it take turns.
pub(super) fn run(kernel: &mut Kernel) {
    let groups = (super::threads(kernel) / WARPGROUP) as u32;
    let (Some(roles), false) = (kernel.roles(), groups < 2) else { return };
    let loops: Vec<Inst> = kernel.blocks[roles.work].insts.clone();
    // One loop: two would have to go on with each other's turns.
    let Some(plan) = loops.into_iter().find_map(|inst| plan(kernel, inst)) else { return };
    apply(kernel, roles.work, plan, groups);
}

fn plan(kernel: &Kernel, owner: Inst) -> Option<Plan> {
    let Op::Region(Region::For { body, .. }) = kernel.insts[owner].op else { return None };
    let insts = &kernel.blocks[body].insts;
    let is_product = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::WarpgroupMma { .. }));
    let [first, second] = kernel.insts_in(body).filter(is_product).collect::<Vec<_>>()[..] else { return None };
    let at = |inst: Inst| insts.iter().position(|other| *other == inst);
    let (at_first, at_second) = (at(first)?, at(second)?);
    // What hands the slot over stands behind the second product.
    let arrives =
        |inst: &Inst| within(kernel, *inst).into_iter().find(|inner| matches!(kernel.insts[*inner].op, Op::Engine(Engine::Arrive { .. })));
    let handing = insts.iter().copied().find(|inst| arrives(inst).is_some())?;
    let (Op::Engine(Engine::Arrive { barrier, of_block: None }), true) = (&kernel.insts[arrives(&handing)?].op, at(handing)? > at_second)
    else {
        return None;
    };
    let [Step::Index(slot)] = barrier.path[..] else { return None };
    // The next slot is filled before this one is handed over.
    if !matches!(kernel.objects[barrier.object].ty, MemoryType::Array(_, slots) if slots > 1) {
        return None;
    }
    let is_meeting = |inst: &Inst| matches!(&kernel.insts[*inst].op, Op::Intrinsic(row, _) if row.row().name == called::SYNC_WARP);
    let meeting = insts[at_second..at(handing)?].iter().copied().filter(is_meeting);
    let hand_over: Vec<Inst> = meeting.chain([handing]).collect();
    // The second product multiplies what is computed of the first one's: where it did not, there would be nothing to do meanwhile.
    if !matches!(kernel.insts[second].op, Op::Tensor(Tensor::WarpgroupMma { a: WarpgroupFactor::Words(_), .. })) {
        return None;
    }
    // Its sums go round, and are read behind the first one alone.
    let made = &kernel.insts[second].results;
    let (yielded, carried) = (kernel.yielded(body)?, kernel.carried(owner));
    let numbers: Vec<usize> = made.iter().map(|sum| yielded.iter().position(|value| value == sum)).collect::<Option<_>>()?;
    let uses = kernel.use_counts();
    let is_alone = made.iter().all(|sum| uses[usize::from(*sum)] == 1);
    let params: Vec<Value> = numbers.iter().map(|number| carried.get(*number).copied()).collect::<Option<_>>()?;
    let reads = |inst: Inst| kernel.insts[inst].op.operands().iter().any(|value| params.contains(value));
    let is_read_before = insts[..=at_first].iter().any(|inst| within(kernel, *inst).into_iter().any(reads));
    // Who has its turn must not wait for the others.
    let meets = |inst: Inst| {
        within(kernel, inst).into_iter().any(|inst| kernel.effects(inst).is_barrier() && matches!(kernel.insts[inst].op, Op::Intrinsic(..)))
    };
    let meetings: Vec<Inst> = insts.iter().copied().filter(|inst| !hand_over.contains(inst) && meets(*inst)).collect();
    let by_threads = match meetings[..] {
        [] => None,
        [inst] if at(inst)? < at_first => {
            let Op::Region(Region::If { condition, then_block, else_block }) = kernel.insts[inst].op else { return None };
            let meets = |block: Block| kernel.blocks[block].insts.iter().any(|inst| meets(*inst));
            match (meets(then_block), meets(else_block)) {
                (true, false) => Some((then_block, condition, true)),
                (false, true) => Some((else_block, condition, false)),
                _ => return None,
            }
        }
        _ => return None,
    };
    (is_alone && !is_read_before && at_first < at_second).then(|| Plan {
        owner,
        body,
        first,
        second,
        free: barrier.clone(),
        hand_over,
        slot,
        by_threads,
        numbers,
    })
}

fn apply(kernel: &mut Kernel, work: Block, plan: Plan, groups: u32) {
    let Plan { owner, body, first, second, free, hand_over, slot, by_threads, numbers } = plan;
    let loc = kernel.insts[second].loc;
    let Some(turns) = barriers(kernel, groups, loc) else { return };
    let Op::Region(Region::For { start, end, .. }) = kernel.insts[owner].op else { return };
    // Before the loop: whose turn it is.
    let (zero, own, next, parity, ahead) = {
        let behind = split(kernel, work, owner, 0);
        let mut b = Builder::new(kernel, work, loc);
        let index = b.kernel.index_type();
        let thread = super::thread_number(&mut b, index);
        let threads = b.int(index, i128::from(WARPGROUP));
        let group = b.binary(BinaryOp::Div, thread, threads);
        let own = b.cast(group, Type::U32);
        let [zero, one, all] = [0, 1, groups].map(|n| b.constant(Scalar::u32(n)));
        let after = b.binary(BinaryOp::Add, own, one);
        let next = b.binary(BinaryOp::Rem, after, all);
        let is_first = b.compare(CompareOp::Eq, own, zero);
        // The first one is a phase ahead of the others.
        let ahead = b.select(is_first, one, zero);
        let parity = if b.kernel.options.persistent {
            let turn = b.push(Op::Engine(Engine::Turn(turns)), &[Type::U32; 2]);
            let common = b.kernel.insts[turn].results[1];
            b.binary(BinaryOp::Xor, common, ahead)
        } else {
            ahead
        };
        kernel.blocks[work].insts.extend(behind);
        (zero, own, next, parity, ahead)
    };
    // The slot before the first is never asked for.
    let [last_slot, turn] = [zero, parity].map(|init| {
        kernel.add_result(owner, Type::U32);
        if let Op::Region(Region::For { init: all, .. }) = &mut kernel.insts[owner].op {
            all.push(init);
        }
        kernel.add_param(body, Type::U32)
    });
    kernel.values[last_slot].name = Some("last".into());
    let counter = kernel.blocks[body].params[0];
    kernel.blocks[body].insts.retain(|inst| !hand_over.contains(inst));
    // The first one runs beside the second one of the iteration before.
    for (product, count) in [(first, 2), (second, 1)] {
        if let Op::Tensor(Tensor::WarpgroupMma { running, .. }) = &mut kernel.insts[product].op {
            *running = count;
        }
    }
    // Where threads copy and meet, the turn is over before that.
    if let Some((block, ..)) = by_threads {
        let behind = std::mem::take(&mut kernel.blocks[block].insts);
        let mut b = Builder::new(kernel, block, loc);
        let is_later = b.compare(CompareOp::Ne, counter, start);
        arrive(&mut b, is_later, &turns_of(turns, next));
        kernel.blocks[block].insts.extend(behind);
    }
    // Behind the first product: the next warpgroup may multiply, and what both products read is read.
    let behind = split(kernel, body, first, 1);
    let mut b = Builder::new(kernel, body, loc);
    let is_later = b.compare(CompareOp::Ne, counter, start);
    let mut has_turn = is_later;
    if let Some((_, condition, there)) = by_threads {
        let other = b.constant(Scalar::bool(there));
        let is_elsewhere = b.binary(BinaryOp::Xor, condition, other);
        has_turn = b.binary(BinaryOp::And, is_later, is_elsewhere);
    }
    arrive(&mut b, has_turn, &turns_of(turns, next));
    let sums: Vec<Value> = b.kernel.insts[first].results.clone();
    let params: Vec<Value> = numbers.iter().map(|number| b.kernel.carried(owner)[*number]).collect();
    let found = sums.into_iter().chain(params).collect();
    let awaits = awaited(kernel, (body, behind), loc, found);
    let behind = split(kernel, body, awaits, 1);
    let last = Access { object: free.object, path: vec![Step::Index(last_slot)] };
    arrive(&mut Builder::new(kernel, body, loc), is_later, &last);
    kernel.blocks[body].insts.extend(behind);
    // Before the second one.
    let behind = split(kernel, body, second, 0);
    let mut b = Builder::new(kernel, body, loc);
    b.push(Op::Engine(Engine::Wait { barrier: turns_of(turns, own), parity: turn }), &[]);
    kernel.blocks[body].insts.extend(behind);
    let end_of = kernel.blocks[body].insts.pop();
    let mut b = Builder::new(kernel, body, loc);
    let one = b.constant(Scalar::u32(1));
    let other = b.binary(BinaryOp::Xor, turn, one);
    if let Some(last) = end_of {
        if let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op {
            values.extend([slot, other]);
        }
        kernel.blocks[body].insts.push(last);
    }
    // Behind the loop: the turn is the next one's, if it ever was this one's.
    let behind = split(kernel, work, owner, 1);
    let mut b = Builder::new(kernel, work, loc);
    let has_run = b.compare(CompareOp::Lt, start, end);
    arrive(&mut b, has_run, &turns_of(turns, next));
    if let (true, Some(parity)) = (b.kernel.options.persistent, b.kernel.insts[owner].results.last().copied()) {
        let zero = b.constant(Scalar::u32(0));
        let common = b.binary(BinaryOp::Xor, parity, ahead);
        b.push(Op::Engine(Engine::KeepTurn { barriers: turns, slot: zero, parity: common }), &[]);
    }
    let results = numbers.iter().map(|number| b.kernel.insts[owner].results[*number]).collect();
    let awaits = awaited(kernel, (work, behind), loc, results);
    // The last slot, too, is handed over: with the next block of a `persistent` kernel the producer copies to it again.
    let behind = split(kernel, work, awaits, 1);
    let last = kernel.insts[owner].results.iter().rev().nth(1).copied();
    if let Some(last) = last {
        let barrier = Access { object: free.object, path: vec![Step::Index(last)] };
        arrive(&mut Builder::new(kernel, work, loc), has_run, &barrier);
    }
    kernel.blocks[work].insts.extend(behind);
}

/// What stands from an instruction on, or so many behind it, taken out of its block.
pub(super) fn split(kernel: &mut Kernel, block: Block, inst: Inst, further: usize) -> Vec<Inst> {
    let insts = &mut kernel.blocks[block].insts;
    let at = insts.iter().position(|other| *other == inst).map_or(insts.len(), |at| at + further);
    insts.split_off(at)
}

/// Waits for products that are left running, at the end of a block that goes on with what was behind. What it gives takes the place of the sums everywhere else.
pub(super) fn awaited(kernel: &mut Kernel, (block, behind): (Block, Vec<Inst>), loc: Loc, sums: Vec<Value>) -> Inst {
    let types: Vec<Type> = sums.iter().map(|sum| kernel.ty(*sum)).collect();
    let inst = Builder::new(kernel, block, loc).push(Op::Tensor(Tensor::Await { sums: sums.clone() }), &types);
    kernel.blocks[block].insts.extend(behind);
    let mut map = vec![None; kernel.values.len()];
    let found = kernel.insts[inst].results.clone();
    sums.iter().zip(&found).for_each(|(sum, found)| map[usize::from(*sum)] = Some(*found));
    kernel.replace_values(&map);
    kernel.insts[inst].op = Op::Tensor(Tensor::Await { sums });
    inst
}

/// An instruction, and all within it.
pub(super) fn within(kernel: &Kernel, inst: Inst) -> Vec<Inst> {
    let blocks = kernel.insts[inst].op.blocks();
    blocks.into_iter().flat_map(|block| kernel.insts_in(block)).chain([inst]).collect()
}

/// One lane of each warp arrives at a barrier, if the condition holds.
pub(super) fn arrive(b: &mut Builder<'_>, condition: Value, barrier: &Access) {
    if let Some(row) = by_name(called::SYNC_WARP, None) {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
    let (lane, zero) = (b.special(Special::LaneId, Axis::X), b.constant(Scalar::u32(0)));
    let is_first = b.compare(CompareOp::Eq, lane, zero);
    let arrives = b.binary(BinaryOp::And, condition, is_first);
    b.if_else(
        arrives,
        |b| {
            b.push(Op::Engine(Engine::Arrive { barrier: barrier.clone(), of_block: None }), &[]);
            Vec::new()
        },
        |_| Vec::new(),
    );
}

fn turns_of(turns: Object, group: Value) -> Access {
    Access { object: turns, path: vec![Step::Index(group)] }
}

/// A barrier for each warpgroup, made beside those of the slots: a warp of the one before arrives at a time.
fn barriers(kernel: &mut Kernel, groups: u32, loc: Loc) -> Option<Object> {
    let begins =
        |block: &Block| kernel.blocks[*block].insts.iter().any(|inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::Init { .. })));
    let of = |inst: &Inst| kernel.insts[*inst].op.blocks().into_iter().find(begins).map(|block| (*inst, block));
    let (owner, block) = kernel.blocks[kernel.body].insts.iter().find_map(of)?;
    let ty = MemoryType::Array(Box::new(MemoryType::Scalar(BARRIER)), groups.into());
    let turns = kernel.objects.push(ObjectData { name: "turns".into(), kind: ObjectKind::Shared, ty, loc });
    let behind = std::mem::take(&mut kernel.blocks[block].insts);
    let arrivals = (WARPGROUP / u64::from(WARP)) as u32;
    Builder::new(kernel, block, loc).push(Op::Engine(Engine::Init { barriers: turns, arrivals }), &[]);
    kernel.blocks[block].insts.extend(behind);
    if kernel.options.persistent {
        let body = kernel.body;
        let behind = split(kernel, body, owner, 0);
        let mut b = Builder::new(kernel, body, loc);
        let zero = b.constant(Scalar::u32(0));
        b.push(Op::Engine(Engine::KeepTurn { barriers: turns, slot: zero, parity: zero }), &[]);
        kernel.blocks[body].insts.extend(behind);
    }
    Some(turns)
}
