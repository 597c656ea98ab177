//! A product of warpgroups that is left running while the next one begins: in a loop of a kernel with a producer that makes one product.
//!
//! Left alone, a warpgroup waits for its product, hands the slot over, waits for the next tiles and multiplies again, and its tensor cores have nothing of it meanwhile. Two warpgroups fill each other's gaps in part
//! only: both are served in turn, and end together. Here the next product is asked for before the one before it has ended, whose slot is handed over then.
//!
//! ```text
//! for k in a..b carrying sums {       for k in a..b carrying sums, last {
//!     barrier_wait arrived[slot]          barrier_wait arrived[slot]
//!     sums = warpgroup_mma sums     ▶     sums = warpgroup_mma left 1 sums
//!     barrier_arrive free[slot]           if k != a { barrier_arrive free[last] }
//! }                                   }
//!                                     sums = await_products sums; if a < b { barrier_arrive free[last] }
//! ```
//!
//! The slot that is handed over is an iteration older, so the ring is one slot shorter for the producer. Loops with two slots stay as they are, as do those whose slots are handed to other blocks of a cluster, too.

use super::turns::{arrive, awaited, split, within};
use crate::intrinsics::called;
use crate::ir::{
    Access, Block, Builder, CompareOp, Engine, Inst, Kernel, MemoryType, Op, Region, Scalar, Step, Tensor, Terminator, Type, Value,
    WarpgroupFactor,
};

/// The least slots of a ring.
const LEAST_SLOTS: u64 = 3;

/// What is known of a loop.
struct Plan {
    owner: Inst,
    body: Block,
    product: Inst,
    /// The barrier that the slot is handed over by, and what does that.
    free: Access,
    hand_over: Vec<Inst>,
    slot: Value,
    /// By number among what the loop carries: the product's sums.
    numbers: Vec<usize>,
}

/// Leaves the products of all loops running that can be.
pub(super) fn run(kernel: &mut Kernel) {
    let Some(roles) = kernel.roles() else { return };
    let loops: Vec<Inst> = kernel.blocks[roles.work].insts.clone();
    let plans: Vec<Plan> = loops.into_iter().filter_map(|inst| plan(kernel, inst)).collect();
    for plan in plans {
        apply(kernel, roles.work, plan);
    }
}

fn plan(kernel: &Kernel, owner: Inst) -> Option<Plan> {
    let Op::Region(Region::For { body, .. }) = kernel.insts[owner].op else { return None };
    let insts = &kernel.blocks[body].insts;
    let is_product = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::WarpgroupMma { .. } | Tensor::Await { .. }));
    let [product] = kernel.insts_in(body).filter(is_product).collect::<Vec<_>>()[..] else { return None };
    let Op::Tensor(Tensor::WarpgroupMma { a: WarpgroupFactor::Tile { .. }, running: 0, sums, .. }) = &kernel.insts[product].op else {
        return None;
    };
    let at = insts.iter().position(|inst| *inst == product)?;
    // Behind it stands what hands the slot over, and nothing else but computation.
    let arrivals = |inst: Inst| -> Vec<(&Access, Option<Value>)> {
        let of = |inner: Inst| {
            if let Op::Engine(Engine::Arrive { barrier, of_block }) = &kernel.insts[inner].op { Some((barrier, *of_block)) } else { None }
        };
        within(kernel, inst).into_iter().filter_map(of).collect()
    };
    let is_meeting = |inst: Inst| matches!(&kernel.insts[inst].op, Op::Intrinsic(row, _) if row.row().name == called::SYNC_WARP);
    let (hand_over, others): (Vec<Inst>, Vec<Inst>) =
        insts[at + 1..].iter().partition(|inst| is_meeting(**inst) || !arrivals(**inst).is_empty());
    let [(barrier, None)] = hand_over.iter().flat_map(|inst| arrivals(*inst)).collect::<Vec<_>>()[..] else { return None };
    let [meeting, _] = hand_over[..] else { return None };
    let only_computes =
        |inst: &Inst| kernel.effects(*inst).is_pure() || matches!(kernel.insts[*inst].op, Op::Terminator(Terminator::Yield(_)));
    if !is_meeting(meeting) || !others.iter().all(only_computes) {
        return None;
    }
    let [Step::Index(slot)] = barrier.path[..] else { return None };
    if !matches!(kernel.objects[barrier.object].ty, MemoryType::Array(_, slots) if slots >= LEAST_SLOTS) {
        return None;
    }
    // The sums go round, and nowhere else.
    let made = &kernel.insts[product].results;
    let (carried, yielded) = (kernel.carried(owner), kernel.yielded(body)?);
    let numbers: Vec<usize> = sums.iter().map(|sum| carried.iter().position(|param| param == sum)).collect::<Option<_>>()?;
    let goes_round = numbers.iter().zip(made).all(|(number, sum)| yielded.get(*number) == Some(sum));
    let uses = kernel.use_counts();
    let is_alone = sums.iter().chain(made).all(|value| uses[usize::from(*value)] == 1);
    (goes_round && is_alone).then(|| Plan { owner, body, product, free: barrier.clone(), hand_over, slot, numbers })
}

fn apply(kernel: &mut Kernel, work: Block, plan: Plan) {
    let Plan { owner, body, product, free, hand_over, slot, numbers } = plan;
    let loc = kernel.insts[product].loc;
    let Op::Region(Region::For { start, end, .. }) = kernel.insts[owner].op else { return };
    // The slot before the first is never handed over.
    let behind = split(kernel, work, owner, 0);
    let zero = Builder::new(kernel, work, loc).constant(Scalar::u32(0));
    kernel.blocks[work].insts.extend(behind);
    kernel.add_result(owner, Type::U32);
    if let Op::Region(Region::For { init, .. }) = &mut kernel.insts[owner].op {
        init.push(zero);
    }
    let last_slot = kernel.add_param(body, Type::U32);
    kernel.values[last_slot].name = Some("last".into());
    let counter = kernel.blocks[body].params[0];
    kernel.blocks[body].insts.retain(|inst| !hand_over.contains(inst));
    if let Op::Tensor(Tensor::WarpgroupMma { running, .. }) = &mut kernel.insts[product].op {
        *running = 1;
    }
    let of = |slot: Value| Access { object: free.object, path: vec![Step::Index(slot)] };
    let behind = split(kernel, body, product, 1);
    let mut b = Builder::new(kernel, body, loc);
    let is_later = b.compare(CompareOp::Ne, counter, start);
    arrive(&mut b, is_later, &of(last_slot));
    kernel.blocks[body].insts.extend(behind);
    if let Some(last) = kernel.blocks[body].insts.last().copied()
        && let Op::Terminator(Terminator::Yield(values)) = &mut kernel.insts[last].op
    {
        values.push(slot);
    }
    // Behind the loop.
    let behind = split(kernel, work, owner, 1);
    let has_run = Builder::new(kernel, work, loc).compare(CompareOp::Lt, start, end);
    let results = numbers.iter().map(|number| kernel.insts[owner].results[*number]).collect();
    let awaits = awaited(kernel, (work, behind), loc, results);
    let behind = split(kernel, work, awaits, 1);
    if let Some(last) = kernel.insts[owner].results.last().copied() {
        arrive(&mut Builder::new(kernel, work, loc), has_run, &of(last));
    }
    kernel.blocks[work].insts.extend(behind);
}
