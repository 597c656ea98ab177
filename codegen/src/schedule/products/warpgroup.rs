//! Products by the tensor cores of a warpgroup (`wgmma`, sm_90a alone): four warps multiply tiles where they lie in shared memory, and no registers hold factors.
//!
//! A warpgroup has a strip of the rows, and all columns. The tiles are swizzled over bytes (`#[shared(swizzle = 128)]`): what tensor copies write, and what the instruction's
//! descriptors say. The instruction reads shared memory as the copy engine does: where threads wrote the tiles, each must have said so to the engine before the
//! barrier behind which they are read, so a fence stands before every barrier of a kernel that has such tiles.

use super::super::Refusal;
use super::{Inst, Partition};
use crate::ir::{Builder, Engine, Factor, Kernel, Op, Swizzle, Tensor, Type, Value};

/// The most columns of one instruction.
const MOST_COLUMNS: u64 = 256;

/// Steps along K of one instruction, for elements of 16 bits.
const STEPS: u64 = 16;

/// Why a warpgroup does not multiply these; nothing if it does.
pub(super) fn obstacle(kernel: &Kernel, factors: [&Factor; 2], ([m, n, k], sum): ([u64; 3], Type)) -> Option<Refusal> {
    let refuse = |why: String, help: &str| Some(Refusal::new(format!("`wgmma`: {why}"), help));
    let Some((_, _, element)) = factors[0].shape(kernel) else {
        return refuse("a factor is no array of rows".to_owned(), "leave `tensor` out");
    };
    if !matches!(element, Type::BF16 | Type::F16) || sum != Type::F32 {
        return refuse(format!("products of `{element}`"), "take `bf16` or `f16`");
    }
    let threads = kernel.options.block.map_or(1, |block| block.iter().map(|side| u64::from(*side)).product::<u64>());
    if Partition::of_warpgroups(threads, [m, n]).is_none() || n > MOST_COLUMNS || !k.is_multiple_of(STEPS) {
        let why = format!("{m} × {n} × {k} among {threads} threads");
        return refuse(why, "take a multiple of 64 rows for each 128 threads, and up to 256 columns");
    }
    for (factor, along) in [(factors[0], !factors[0].is_transposed), (factors[1], factors[1].is_transposed)] {
        let name = &kernel.objects[factor.array.object].name;
        let swizzle = kernel.swizzled.get(&factor.array.object).copied().filter(|swizzle| swizzle.bytes().is_some());
        // Where rows go across the sum, the descriptors here are those of 128 bytes.
        if swizzle.is_none() || !along && swizzle != Some(Swizzle::B128) {
            return refuse(format!("`{name}` is not swizzled over bytes"), "write `#[shared(swizzle = 128)]`");
        }
    }
    None
}

/// The new sums.
pub(super) fn multiply_add(b: &mut Builder<'_>, [x, y]: [&Factor; 2], sums: &[Value], partition: &Partition) -> Vec<Value> {
    let (Some([_, n, k]), Some((_, _, factors))) = (Tensor::shape_of(b.kernel, x, y), x.shape(b.kernel)) else { return sums.to_vec() };
    let (row, rows) = partition.rows_of_warpgroup(b);
    let row = b.cast(row, Type::U32);
    let types: Vec<Type> = sums.iter().map(|sum| b.kernel.ty(*sum)).collect();
    let op = Tensor::WarpgroupMma { mnk: [rows, n, k], a: x.clone(), row, b: y.clone(), factors, sums: sums.to_vec() };
    let inst = b.push(Op::Tensor(op), &types);
    b.kernel.insts[inst].results.clone()
}

/// Says to the engine what threads have written, before every barrier: where a factor is written by threads.
pub(super) fn fence(kernel: &mut Kernel, products: &[Inst]) {
    let arrays: Vec<_> = products
        .iter()
        .flat_map(|inst| match &kernel.insts[*inst].op {
            Op::Tensor(tensor) => tensor.arrays().into_iter().map(|array| array.object).collect(),
            _ => Vec::new(),
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
        let behind = kernel.blocks[block].insts.split_off(at);
        let loc = kernel.insts[inst].loc;
        Builder::new(kernel, block, loc).push(Op::Engine(Engine::Fence), &[]);
        kernel.blocks[block].insts.extend(behind);
    }
}
