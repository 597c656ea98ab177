//! Products by the tensor cores of a warpgroup (`wgmma`, sm_90a alone): four warps multiply tiles where they lie in shared memory, and no registers hold factors.
//!
//! A warpgroup has a strip of the rows, and all columns. The tiles are swizzled over bytes (`#[shared(swizzle = 128)]`): what tensor copies write, and what the instruction's
//! descriptors say. The instruction reads shared memory as the copy engine does: where threads wrote the tiles, each must have said so to the engine before the
//! barrier behind which they are read, so a fence stands before every barrier of a kernel that has such tiles.

use super::super::Refusal;
use super::{Inst, Partition, operand};
use crate::collections::HashSet;
use crate::ir::{
    Block, Builder, Engine, Kernel, LeftFactor, Object, ObjectKind, Op, ProductFactor, Region, Swizzle, Tensor, TensorCores, Terminator,
    Type, Value, WarpgroupFactor, WarpgroupShape,
};

/// The most columns of one instruction.
const MOST_COLUMNS: u64 = 256;

/// Why a warpgroup does not multiply these; nothing if it does.
pub(super) fn obstacle(kernel: &Kernel, (a, b): (&LeftFactor, &ProductFactor), ([m, n, k], sum): ([u64; 3], Type)) -> Option<Refusal> {
    let refuse = |why: String, help: &str| Some(Refusal::new(format!("`wgmma`: {why}"), help));
    let Some((_, _, element)) = a.shape(kernel) else {
        return refuse("a factor is no array of rows".to_owned(), "leave `tensor` out");
    };
    let Some(shape) = WarpgroupShape::of(element, sum) else {
        return refuse(format!("products of `{element}`"), "take `bf16`, `f16`, `e4m3`, `e5m2`, `i8` or `u8`");
    };
    if shape.is_rounded && kernel.options.tensor != TensorCores::Tf32 {
        return refuse("it rounds `f32` to 10 bits (`tf32`)".to_owned(), "write `tensor = tf32` if that is precise enough");
    }
    let threads = kernel.options.block.map_or(1, |block| block.iter().map(|side| u64::from(*side)).product::<u64>());
    if Partition::of_warpgroups(threads, [m, n]).is_none() || n > MOST_COLUMNS || !k.is_multiple_of(shape.steps()) {
        let why = format!("{m} × {n} × {k} among {threads} threads");
        return refuse(why, "take a multiple of 64 rows for each 128 threads, and up to 256 columns");
    }
    if a.tile().is_none() && !operand::fits(element) {
        return refuse(format!("sums become no factor of `{element}` where they are"), "take `operand::<bf16>()` or `f16`");
    }
    for (factor, along) in a.tile().map(|a| (a, !a.is_transposed)).into_iter().chain([(b, b.is_transposed)]) {
        let name = &kernel.objects[factor.array.object].name;
        let swizzle = kernel.swizzled.get(&factor.array.object).copied().filter(|swizzle| swizzle.bytes().is_some());
        if !along && shape.is_along {
            return refuse(
                format!("the rows of `{name}` do not go along the sum"),
                "copy its columns as rows: only elements of 16 bits are turned on the way",
            );
        }
        // Where rows go across the sum, the descriptors here are those of 128 bytes.
        if swizzle.is_none() || !along && swizzle != Some(Swizzle::B128) {
            return refuse(format!("`{name}` is not swizzled over bytes"), "write `#[shared(swizzle = 128)]`");
        }
    }
    None
}

/// The new sums.
pub(super) fn multiply_add(
    b: &mut Builder<'_>,
    (x, y): (&LeftFactor, &ProductFactor),
    sums: &[Value],
    partition: &Partition,
) -> Vec<Value> {
    let (Some([_, n, k]), Some((_, _, factors))) = (Tensor::shape_of(b.kernel, x, y), x.shape(b.kernel)) else { return sums.to_vec() };
    let (row, rows) = partition.rows_of_warpgroup(b);
    let a = match x {
        LeftFactor::Tile(tile) => WarpgroupFactor::Tile { tile: tile.clone(), row: b.cast(row, Type::U32) },
        LeftFactor::Sums { element, values, .. } => WarpgroupFactor::Words(operand::words(b, values, *element)),
    };
    let types: Vec<Type> = sums.iter().map(|sum| b.kernel.ty(*sum)).collect();
    let op = Tensor::WarpgroupMma { mnk: [rows, n, k], a, b: y.clone(), factors, running: 0, sums: sums.to_vec() };
    let inst = b.push(Op::Tensor(op), &types);
    b.kernel.insts[inst].results.clone()
}

/// Lets the product of a loop run on while its threads meet and the engine is told to fill the slot of the iteration before:
///
/// ```text
/// for … carrying sums {               for … carrying sums {
///     barrier_wait slot                   barrier_wait slot
///     sync_threads()                      sums = warpgroup_mma left sums      // waits for that of the iteration before
///     if more { copy(slot - 1) }     ▶    sync_threads()
///     sums = warpgroup_mma sums           if more { copy(slot - 1) }
/// }                                   }
/// sync_threads()                      sums = await_products sums; sync_threads()
/// ```
///
/// The barrier says of each slot what it said before: that nobody reads it any more. Where the loop does anything else with shared memory behind the barrier, or anything
/// else with the sums, it stays as it is.
pub(super) fn overlap(kernel: &mut Kernel) {
    let mut loops = Vec::new();
    kernel.for_each_inst(|kernel, block, inst| {
        if let Op::Region(Region::For { body, .. }) = kernel.insts[inst].op {
            loops.extend(plan(kernel, inst, body).map(|plan| (block, plan)));
        }
    });
    for (block, plan) in loops {
        let Plan { owner, body, product, order, results } = plan;
        kernel.blocks[body].insts = order;
        if let Op::Tensor(Tensor::WarpgroupMma { running, .. }) = &mut kernel.insts[product].op {
            *running = 1;
        }
        let Some(at) = kernel.blocks[block].insts.iter().position(|other| *other == owner) else { continue };
        let behind = kernel.blocks[block].insts.split_off(at + 1);
        let types: Vec<Type> = results.iter().map(|sum| kernel.ty(*sum)).collect();
        let loc = kernel.insts[product].loc;
        let inst = Builder::new(kernel, block, loc).push(Op::Tensor(Tensor::Await { sums: results.clone() }), &types);
        kernel.blocks[block].insts.extend(behind);
        let mut map = vec![None; kernel.values.len()];
        let awaited = kernel.insts[inst].results.clone();
        results.iter().zip(&awaited).for_each(|(sum, awaited)| map[usize::from(*sum)] = Some(*awaited));
        kernel.replace_values(&map);
        kernel.insts[inst].op = Op::Tensor(Tensor::Await { sums: results });
    }
}

/// How a loop is to be.
struct Plan {
    owner: Inst,
    body: Block,
    product: Inst,
    order: Vec<Inst>,
    /// The sums behind the loop.
    results: Vec<Value>,
}

fn plan(kernel: &Kernel, owner: Inst, body: Block) -> Option<Plan> {
    let insts = &kernel.blocks[body].insts;
    let is_product = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::WarpgroupMma { running: 0, .. }));
    let is_barrier = |inst: &Inst| kernel.effects(*inst).is_barrier() && matches!(kernel.insts[*inst].op, Op::Intrinsic(..));
    let [product] = insts.iter().copied().filter(is_product).collect::<Vec<_>>()[..] else { return None };
    let [barrier] = insts.iter().copied().filter(is_barrier).collect::<Vec<_>>()[..] else { return None };
    let (first, last) = (insts.iter().position(|inst| *inst == barrier)?, insts.iter().position(|inst| *inst == product)?);
    if first > last || !insts[..first].iter().any(|inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::Wait { .. }))) {
        return None;
    }
    let all = |inst: Inst| {
        let blocks = kernel.insts[inst].op.blocks();
        std::iter::once(inst).chain(blocks.into_iter().flat_map(|block| kernel.insts_in(block)))
    };
    let computes = |inst: Inst| {
        let is_control =
            matches!(kernel.insts[inst].op, Op::Region(Region::If { .. } | Region::For { .. }) | Op::Terminator(Terminator::Yield(_)));
        is_control || kernel.effects(inst).is_pure()
    };
    // Nothing else reads shared memory, and what is behind the product only computes.
    let reads_shared = |inst: Inst| kernel.effects(inst).reads.any(|object| kernel.objects[object].kind == ObjectKind::Shared);
    let is_others = |inst: &Inst| *inst != product && !matches!(kernel.insts[*inst].op, Op::Engine(_));
    if kernel.insts_in(body).filter(is_others).any(reads_shared) || !insts[last + 1..].iter().all(|inst| all(*inst).all(computes)) {
        return None;
    }
    // What is behind the barrier and no computation stays behind it.
    let (moved, stays): (Vec<Inst>, Vec<Inst>) = insts[first + 1..last].iter().partition(|inst| all(**inst).any(|inst| !computes(inst)));
    let given: HashSet<Value> = moved.iter().flat_map(|inst| kernel.insts[*inst].results.clone()).collect();
    let needs_moved = |inst: Inst| all(inst).any(|inst| kernel.insts[inst].op.operands().iter().any(|value| given.contains(value)));
    if needs_moved(product) || stays.iter().any(|inst| needs_moved(*inst)) {
        return None;
    }
    // The sums go round, and nowhere else.
    let Op::Tensor(Tensor::WarpgroupMma { sums, .. }) = &kernel.insts[product].op else { return None };
    let made = &kernel.insts[product].results;
    let carried = kernel.carried(owner);
    let numbers: Vec<usize> = sums.iter().map(|sum| carried.iter().position(|param| param == sum)).collect::<Option<_>>()?;
    let yielded = kernel.yielded(body)?;
    let goes_round = numbers.iter().zip(made).all(|(number, sum)| yielded.get(*number) == Some(sum));
    let uses = kernel.use_counts();
    let is_alone = sums.iter().chain(made).all(|value| uses[usize::from(*value)] == 1);
    if !goes_round || !is_alone {
        return None;
    }
    let order = insts[..first].iter().chain(&stays).chain([&product, &barrier]).chain(&moved).chain(&insts[last + 1..]).copied().collect();
    let results = numbers.iter().map(|number| kernel.insts[owner].results[*number]).collect();
    Some(Plan { owner, body, product, order, results })
}

/// Whether a fence stands before, with no write of the arrays behind it.
fn is_said(kernel: &Kernel, before: &[Inst], arrays: &[Object]) -> bool {
    let writes = |inst: Inst| kernel.effects(inst).writes.is_some_and(|object| arrays.contains(&object));
    let is_quiet = |inst: &Inst| {
        let inner = kernel.insts[*inst].op.blocks().into_iter().flat_map(|block| kernel.insts_in(block));
        !std::iter::once(*inst).chain(inner).any(&writes)
    };
    let is_fence = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Engine(Engine::Fence));
    let last = before.iter().rposition(is_fence);
    last.is_some_and(|last| before[last..].iter().all(is_quiet))
}

/// Says to the engine what threads have written, before every barrier: where a factor is written by threads.
pub(super) fn fence(kernel: &mut Kernel, products: &[Inst]) {
    let arrays: Vec<_> = products
        .iter()
        .flat_map(|inst| {
            let Op::Tensor(tensor) = &kernel.insts[*inst].op else { return Vec::new() };
            tensor.arrays().into_iter().map(|array| array.object).collect()
        })
        .collect();
    let (mut is_written, mut barriers) = (false, Vec::new());
    kernel.for_each_inst(|kernel, block, inst| {
        let op = &kernel.insts[inst].op;
        let effects = kernel.effects(inst);
        is_written |= !matches!(op, Op::Engine(_)) && effects.writes.is_some_and(|object| arrays.contains(&object));
        if effects.is_barrier() && matches!(op, Op::Intrinsic(..)) {
            barriers.push((block, inst));
        }
    });
    if !is_written {
        return;
    }
    for (block, inst) in barriers {
        let Some(at) = kernel.blocks[block].insts.iter().position(|other| *other == inst) else { continue };
        if is_said(kernel, &kernel.blocks[block].insts[..at], &arrays) {
            continue;
        }
        let behind = kernel.blocks[block].insts.split_off(at);
        let loc = kernel.insts[inst].loc;
        Builder::new(kernel, block, loc).push(Op::Engine(Engine::Fence), &[]);
        kernel.blocks[block].insts.extend(behind);
    }
}
