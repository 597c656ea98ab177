//! Products (`multiply_add`) and sums of an `Accumulator`: who owns which sum, and what multiplies.
//!
//! Up to here a product is one instruction that all threads of a block come to, and each thread has its share of the sums. This pass decides which
//! sums these are ([`partition`]), for each form of a kernel its own way, and makes of
//!
//! * `multiply_add`, in the form for all machines, loads of both factors and a multiply-add for each sum and step ([`scalar`]); in the form for machines with tensor cores `ldmatrix`
//!   and `mma.sync` ([`mma`]), where there is a shape for the elements and the sides allow it, and on sm_90a `wgmma` ([`warpgroup`]), where tiles are swizzled over bytes,
//! * `position` the arithmetic that says where a sum is,
//! * `store` a store of each, of neighbours together.
//!
//! All products into sums of one type and shape share the partition, whatever their factors are.
//!
//! **When**: behind `pipeline`, whose slots products read, and before `swizzle`, which moves what is loaded and stored here. **Refuses** (before all annotations) products that not
//! all threads of a block come to, or come to with different tiles; `tensor = true` where a product has no instruction.

mod behind;
mod doubles;
mod matrices;
mod mma;
mod operand;
mod partition;
mod scalar;
mod turns;
mod warpgroup;

use super::collectives::{alignment, thread_number};
use super::{Refusal, Schedule};
use crate::analysis::uniformity::Uniformity;
use crate::collections::{HashMap, HashSet};
use crate::intrinsics::called;
use crate::ir::intrinsic::IntrinsicId;
use crate::ir::{
    Access, BinaryOp, Block, Builder, CompareOp, FIRST_TENSOR_CORES, FLOAT8_TENSOR_CORES, Inst, Kernel, LeftFactor, MmaShape, Op,
    ProductFactor, Step, Tensor, TensorCores, Type, Value, WARPGROUP, WARPGROUP_ROWS,
};
use crate::target::limits::VECTOR_BYTES;
use partition::Partition;

/// Sums that share a partition: their type, rows and columns.
type Shape = (Type, [u64; 2]);

/// Refuses what cannot be kept: at its place, since no annotation is in the way.
pub(super) fn check(schedule: &mut Schedule<'_>) {
    let kernel = &*schedule.kernel;
    let all = found(kernel);
    if all.is_empty() && !kernel.options.sums_by_rows {
        return;
    }
    let uniformity = Uniformity::of(kernel);
    if kernel.options.sums_by_rows {
        let refused = all.iter().find_map(|(_, inst)| not_by_rows(kernel, *inst));
        let parted = row_reductions(kernel).into_iter().find(|inst| !uniformity.runs_together(*inst)).map(|inst| {
            let message = "maxima and sums of rows are for all threads of the block, and some may not come here".to_owned();
            let help = "call it outside of the `if`, the loop or behind the `return` that threads part at";
            Refusal { loc: kernel.insts[inst].loc, ..Refusal::new(message, help) }
        });
        schedule.refusals.extend(refused.into_iter().chain(parted));
    }
    for (_, inst) in all {
        let Op::Tensor(Tensor::MultiplyAdd { a, b, sums }) = &kernel.insts[inst].op else { continue };
        let places = || a.tile().into_iter().chain([b]).flat_map(|factor| factor.array.indices());
        let refusal = if !uniformity.runs_together(inst) {
            let message = "`multiply_add` is for all threads of the block, and some may not come here".to_owned();
            Some(Refusal::new(message, "call it outside of the `if`, the loop or behind the `return` that threads part at"))
        } else if places().any(|index| !uniformity.is_uniform(index)) {
            let message = "`multiply_add` is one product of the whole block, and which tiles it takes may differ from thread to thread";
            Some(Refusal::new(message, "choose the tiles by `block_idx()`, parameters, constants and counters of loops"))
        } else if kernel.options.tensor == TensorCores::Required {
            let shape = Tensor::shape_of(kernel, a, b);
            let sum = sums.first().map(|sum| kernel.ty(*sum));
            shape.zip(sum).and_then(|(mnk, sum)| mma::obstacle(kernel, (a, b), (mnk, sum)))
        } else {
            None
        };
        let loc = kernel.insts[inst].loc;
        schedule.refusals.extend(refusal.map(|refusal| Refusal { loc, ..refusal }));
    }
}

/// The exchanges of lanes that `row_max` and `row_sum` are made of: those that stand for a call of themselves.
fn row_reductions(kernel: &Kernel) -> Vec<Inst> {
    let is_exchange = |id: IntrinsicId| id.row().name == called::SHUFFLE_XOR;
    let is_reduction = |inst: &Inst| {
        let stands_for = kernel.locations[kernel.insts[*inst].loc].call;
        matches!(&kernel.insts[*inst].op, Op::Intrinsic(id, _) if is_exchange(*id)) && stands_for.is_some_and(is_exchange)
    };
    kernel.insts_in(kernel.body).filter(is_reduction).collect()
}

/// Why the sums that an instruction is about cannot be shared out by rows, which the kernel's `Rows` ask of all.
fn not_by_rows(kernel: &Kernel, inst: Inst) -> Option<Refusal> {
    let threads = threads(kernel);
    let (_, of_sums) = shape(kernel, inst)?;
    let of_factor = if let Op::Tensor(Tensor::MultiplyAdd { a: LeftFactor::Sums { shape, .. }, .. }) = &kernel.insts[inst].op {
        Some(*shape)
    } else {
        None
    };
    let [m, n] = [of_sums].into_iter().chain(of_factor).find(|shape| Partition::of_warpgroups(threads, *shape).is_none())?;
    let message =
        format!("{m} × {n} sums cannot be shared out by rows among {threads} threads, as `Rows` and `operand` ask of all sums of a kernel");
    let help = format!("take a multiple of {WARPGROUP_ROWS} rows for each {WARPGROUP} threads, and of 16 columns");
    Some(Refusal { loc: kernel.insts[inst].loc, ..Refusal::new(message, &help) })
}

/// The threads of a block.
fn threads(kernel: &Kernel) -> u64 {
    kernel.options.block.map_or(1, |block| block.iter().map(|side| u64::from(*side)).product::<u64>())
}

/// What multiplies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Products {
    /// Each thread, one by one.
    #[default]
    Scalar,
    /// The tensor cores of warps, of elements that the first of them have.
    FirstOfWarp,
    /// Likewise, of all elements but floats of 8 bits.
    Warp,
    /// Likewise, of these too.
    WarpOfFloat8,
    /// Those of warpgroups, and of warps.
    Warpgroup,
}

/// Whether warpgroups multiply for all sums of a type and shape, and so have rows of their own, in the form for them.
pub(super) fn are_of_warpgroups(kernel: &Kernel, of: Shape) -> bool {
    let is_product = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::MultiplyAdd { .. }));
    let all: Vec<Inst> =
        found(kernel).into_iter().map(|(_, inst)| inst).filter(|inst| is_product(inst) && shape(kernel, *inst) == Some(of)).collect();
    !all.is_empty() && all.into_iter().all(|inst| best(kernel, inst, Products::Warpgroup) == Products::Warpgroup)
}

/// What has something to do in a kernel.
pub(super) fn wanted(kernel: &Kernel) -> Vec<Products> {
    let all = found(kernel);
    let multiplies = |most: &Products| all.iter().any(|(_, inst)| best(kernel, *inst, *most) == *most);
    [Products::FirstOfWarp, Products::Warp, Products::WarpOfFloat8, Products::Warpgroup].into_iter().filter(multiplies).collect()
}

/// What multiplies in a product, of what a form has.
fn best(kernel: &Kernel, inst: Inst, most: Products) -> Products {
    let Op::Tensor(Tensor::MultiplyAdd { a, b, sums }) = &kernel.insts[inst].op else { return Products::Scalar };
    let sum = sums.first().map(|sum| kernel.ty(*sum));
    let Some(product) = Tensor::shape_of(kernel, a, b).zip(sum) else { return Products::Scalar };
    let needs = a.shape(kernel).and_then(|(_, _, element)| MmaShape::of(element, product.1)).map(|shape| shape.needs);
    let of_warps = match needs {
        Some(FLOAT8_TENSOR_CORES) => Products::WarpOfFloat8,
        // Words of two sums are made by an instruction of sm_80.
        Some(FIRST_TENSOR_CORES) if a.tile().is_some() => Products::FirstOfWarp,
        _ => Products::Warp,
    };
    if kernel.options.tensor == TensorCores::Off {
        Products::Scalar
    } else if most >= Products::Warpgroup && warpgroup::obstacle(kernel, (a, b), product).is_none() {
        Products::Warpgroup
    } else if most >= of_warps && mma::obstacle(kernel, (a, b), product).is_none() {
        of_warps
    } else {
        Products::Scalar
    }
}

/// Runs it.
pub(super) fn run(schedule: &mut Schedule<'_>) {
    let most = schedule.form.products;
    let kernel = &mut *schedule.kernel;
    let all = found(kernel);
    if all.is_empty() {
        return;
    }
    let by: Vec<Products> = all.iter().map(|(_, inst)| best(kernel, *inst, most)).collect();
    let is_of_warpgroups = |(_, by): &(&(Block, Inst), &Products)| **by == Products::Warpgroup;
    let of_warpgroups: Vec<Inst> = all.iter().zip(&by).filter(is_of_warpgroups).map(|((_, inst), _)| *inst).collect();
    warpgroup::fence(kernel, &of_warpgroups);
    let threads = threads(kernel);
    let by_rows = kernel.options.sums_by_rows;
    let mut partitions: HashMap<Shape, Partition> = HashMap::default();
    for ((_, inst), by) in all.iter().zip(&by) {
        let Some(shape) = shape(kernel, *inst) else { continue };
        let made = match by {
            _ if by_rows => Partition::of_warpgroups(threads, shape.1),
            Products::Scalar => None,
            Products::FirstOfWarp | Products::Warp | Products::WarpOfFloat8 if partitions.contains_key(&shape) => None,
            Products::FirstOfWarp | Products::Warp | Products::WarpOfFloat8 => Partition::of_warps(threads, shape.1),
            Products::Warpgroup => Partition::of_warpgroups(threads, shape.1),
        };
        partitions.extend(made.map(|partition| (shape, partition)));
    }
    // The stores of sums that whole warps come to.
    let together: HashSet<Inst> = if most == Products::Warpgroup {
        let uniformity = Uniformity::of(kernel);
        // And with the same array.
        let is_one_array = |inst: &Inst| {
            let Op::Tensor(Tensor::Store { to, shape: [m, _], .. }) = &kernel.insts[*inst].op else { return false };
            // A warpgroup's part is the same for its warps.
            let of_block = to.indices().count() - usize::from(is_of_part(kernel, to, *m));
            to.indices().take(of_block).all(|index| uniformity.is_uniform(index))
        };
        all.iter().map(|(_, inst)| *inst).filter(|inst| is_one_array(inst) && uniformity.runs_together(*inst)).collect()
    } else {
        HashSet::default()
    };
    for ((block, inst), by) in all.into_iter().zip(by) {
        let Some(shape) = shape(kernel, inst) else { continue };
        let made = || Some(()).filter(|()| by_rows).and_then(|()| Partition::of_warpgroups(threads, shape.1));
        let partition =
            partitions.entry(shape).or_insert_with(|| made().unwrap_or_else(|| Partition::of_threads(threads, shape.1))).clone();
        expand(kernel, (block, inst), &partition, by, &together);
    }
    if !of_warpgroups.is_empty() {
        warpgroup::overlap(kernel);
        turns::run(kernel);
        behind::run(kernel);
    }
}

/// The sums that an instruction is about.
fn shape(kernel: &Kernel, inst: Inst) -> Option<Shape> {
    let Op::Tensor(tensor) = &kernel.insts[inst].op else { return None };
    match tensor {
        Tensor::MultiplyAdd { a, b, sums } => {
            let [m, n, _] = Tensor::shape_of(kernel, a, b)?;
            Some((kernel.ty(*sums.first()?), [m, n]))
        }
        Tensor::Position { shape, of, .. } | Tensor::Store { shape, of, .. } => Some((*of, *shape)),
        Tensor::Mma { .. } | Tensor::WarpgroupMma { .. } | Tensor::Await { .. } => None,
    }
}

/// Every instruction about products, with the block it stands in.
fn found(kernel: &Kernel) -> Vec<(Block, Inst)> {
    let mut found = Vec::new();
    kernel.for_each_inst(|kernel, block, inst| {
        if matches!(kernel.insts[inst].op, Op::Tensor(Tensor::MultiplyAdd { .. } | Tensor::Position { .. } | Tensor::Store { .. })) {
            found.push((block, inst));
        }
    });
    found
}

/// Puts what an instruction is made of in its place.
fn expand(kernel: &mut Kernel, (block, inst): (Block, Inst), partition: &Partition, by: Products, together: &HashSet<Inst>) {
    let Op::Tensor(tensor) = kernel.insts[inst].op.clone() else { return };
    let Some(at) = kernel.blocks[block].insts.iter().position(|other| *other == inst) else { return };
    let behind = kernel.blocks[block].insts.split_off(at + 1);
    kernel.blocks[block].insts.pop();
    let loc = kernel.insts[inst].loc;
    let mut b = Builder::new(kernel, block, loc);
    let new = match &tensor {
        Tensor::MultiplyAdd { a, b: factor, sums } => match by {
            Products::Scalar => scalar::multiply_add(&mut b, (a, factor), sums, partition),
            Products::FirstOfWarp | Products::Warp | Products::WarpOfFloat8 => mma::multiply_add(&mut b, (a, factor), sums, partition),
            Products::Warpgroup => warpgroup::multiply_add(&mut b, (a, factor), sums, partition),
        },
        Tensor::Position { element, .. } => partition.position(&mut b, *element).to_vec(),
        Tensor::Store { to, from, sums, shape: [m, _], .. } => {
            let of_part = is_of_part(b.kernel, to, *m).then(|| partition.within_warpgroups());
            store(&mut b, (to, *from), sums, of_part.as_ref().unwrap_or(partition), together.contains(&inst));
            Vec::new()
        }
        Tensor::Mma { .. } | Tensor::WarpgroupMma { .. } | Tensor::Await { .. } => Vec::new(),
    };
    kernel.blocks[block].insts.extend(behind);
    let mut map = vec![None; kernel.values.len()];
    for (old, new) in kernel.insts[inst].results.clone().into_iter().zip(new) {
        map[usize::from(old)] = Some(new);
    }
    if map.iter().any(Option::is_some) {
        kernel.replace_values(&map);
    }
}

/// Whether an array that sums of so many rows are written to has those of the thread's warpgroup alone.
fn is_of_part(kernel: &Kernel, to: &Access, rows: u64) -> bool {
    let array = ProductFactor { array: to.clone(), is_transposed: false };
    array.shape(kernel).is_some_and(|(of_array, ..)| of_array < rows)
}

/// A store of each sum, of neighbours in a row together. `by_matrices`: whole warps come here, on a target that stores matrices.
fn store(b: &mut Builder<'_>, (to, from): (&Access, Option<Value>), sums: &[Value], partition: &Partition, by_matrices: bool) {
    let Some(first) = sums.first() else { return };
    let ty = b.kernel.ty(*first);
    let shape = (ProductFactor { array: to.clone(), is_transposed: false }).shape(b.kernel);
    let begin = from.map_or(Some(0), |from| b.kernel.known(from).map(|from| from.bits));
    if let (true, Some(begin), Some((_, columns, _))) = (by_matrices, begin, shape)
        && matrices::store(b, to, (begin, columns), sums, partition)
    {
        return;
    }
    let lanes = partition.neighbours().min(lanes(b.kernel, to, ty));
    let base = partition.base(b);
    let Some(from) = from else {
        for (n, values) in sums.chunks(lanes as usize).enumerate() {
            let access = element(b, to, base, partition.place(n as u64 * lanes));
            b.push(Op::store(access, values.to_vec()), &[]);
        }
        return;
    };
    let Some((_, columns, _)) = shape else { return };
    let index = b.kernel.ty(from);
    let first = b.kernel.known(from).map(|from| from.bits);
    let all = b.int(index, i128::from(columns));
    // The thread's columns go up to here from its first one.
    let reach = partition.columns_of_threads();
    let left = b.binary(BinaryOp::Sub, base[1], from);
    for (n, values) in sums.chunks(lanes as usize).enumerate() {
        let [row, column] = partition.place(n as u64 * lanes);
        let end = column + lanes;
        // Of most sums it is known whether they are among these columns, whichever thread asks.
        if first.is_some_and(|first| column >= first + columns || reach + end <= first) {
            continue;
        }
        let is_inside = first.is_some_and(|first| column >= first && reach + end <= first + columns);
        let at = plus(b, left, column);
        let store = |b: &mut Builder<'_>| {
            let row = plus(b, base[0], row);
            let path = to.path.iter().copied().chain([Step::Index(row), Step::Index(at)]).collect();
            b.push(Op::store(Access { object: to.object, path }, values.to_vec()), &[]);
            Vec::new()
        };
        if is_inside {
            store(b);
        } else {
            let is_there = b.compare(CompareOp::Lt, at, all);
            b.if_else(is_there, store, |_| Vec::new());
        }
    }
}

/// Neighbours of a row of an array that one access may have.
fn lanes(kernel: &Kernel, array: &Access, ty: Type) -> u64 {
    let row = array.leads_to(kernel).and_then(|ty| ty.element()).map_or(1, |row| row.size(&kernel.structs));
    let apart = 1 << row.trailing_zeros().min(VECTOR_BYTES.trailing_zeros());
    (whole(kernel, array).min(alignment(kernel, array)).min(apart) / u64::from(ty.bytes())).max(1)
}

/// The most bytes of an array's row that lie side by side.
fn whole(kernel: &Kernel, array: &Access) -> u64 {
    kernel.swizzled.get(&array.object).map_or(VECTOR_BYTES as u64, |swizzle| swizzle.whole())
}

/// An element of an array of rows: a place that the thread decides, and constants beyond it.
fn element(b: &mut Builder<'_>, array: &Access, base: [Value; 2], place: [u64; 2]) -> Access {
    let mut path = array.path.clone();
    for (base, further) in base.into_iter().zip(place) {
        path.push(Step::Index(plus(b, base, further)));
    }
    Access { object: array.object, path }
}

/// A value and a constant.
fn plus(b: &mut Builder<'_>, value: Value, further: u64) -> Value {
    if further == 0 {
        return value;
    }
    let ty = b.kernel.ty(value);
    let further = b.int(ty, i128::from(further));
    b.binary(BinaryOp::Add, value, further)
}
