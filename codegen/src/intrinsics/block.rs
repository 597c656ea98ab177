//! Block intrinsics: barriers, fences, reductions over the threads of a block. Every thread of the block must come to a barrier or a reduction.

use crate::ir::intrinsic::OperandType::{Is, T};
use crate::ir::intrinsic::{Absent, Body, Call, Class, DeviceForm, Eval, Exchange, Intrinsic, Meeting, OperandType, PtxForm};
use crate::ir::{
    Access, Axis, BinaryOp, Builder, CompareOp, Effects, MemoryType, Object, ObjectData, ObjectKind, Op, Scope, Special, Step, Type, Value,
};
use crate::target::Requirement;
use crate::target::limits::{BLOCK_THREADS, WARP};

const BOOL: OperandType = Is(Type::Bool);

const fn device(text: &'static [PtxForm], opencl: &'static str, eval: Eval) -> Body {
    Body::Device(DeviceForm { ptx: text, opencl, opencl_prelude: "", eval })
}

/// The PTX of a row that every target has.
macro_rules! form {
    ($text:literal) => {
        &[PtxForm { types: &[], text: $text, needs: Requirement::since(20, 20) }]
    };
}

const fn barrier(
    name: &'static str,
    args: &'static [OperandType],
    results: &'static [OperandType],
    body: Body,
    meeting: Meeting,
) -> Intrinsic {
    Intrinsic::new(name, Call::Function, Class::None, args, results, body).effects(Effects::barrier(Scope::Block)).meeting(meeting).cost(10)
}

const fn fence(name: &'static str, scope: Scope, body: Body) -> Intrinsic {
    Intrinsic::new(name, Call::Function, Class::None, &[], &[], body).effects(Effects::fence(scope)).cost(10)
}

const fn reduction(name: &'static str, expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Intrinsic {
    Intrinsic::new(name, Call::Function, Class::Num, &[T], &[T], Body::Expand(expand)).effects(Effects::barrier(Scope::Block))
}

pub(super) const ROWS: &[Intrinsic] = &[
    barrier(
        "sync_threads",
        &[],
        &[],
        device(form!("bar.sync 0;"), "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", Eval::Barrier(|_, _| 0)),
        Meeting::wait(Exchange::None),
    )
    .doc("waits for the block's threads, and orders their memory accesses"),
    barrier(
        "sync_threads_count",
        &[BOOL],
        &[Is(Type::U32)],
        device(form!("bar.red.popc.u32 {d}, 0, {0};"), "", Eval::Barrier(|count, _| u64::from(count))),
        Meeting::vote(Absent::No, Exchange::Count("{count}")),
    )
    .doc("`sync_threads`; how many threads pass true"),
    barrier(
        "sync_threads_and",
        &[BOOL],
        &[BOOL],
        device(form!("bar.red.and.pred {d}, 0, {0};"), "", Eval::Barrier(|count, threads| u64::from(count == threads))),
        Meeting::vote(Absent::Yes, Exchange::Count("{count} == {threads}")),
    )
    .doc("`sync_threads`; whether every thread passes true"),
    barrier(
        "sync_threads_or",
        &[BOOL],
        &[BOOL],
        device(form!("bar.red.or.pred {d}, 0, {0};"), "", Eval::Barrier(|count, _| u64::from(count != 0))),
        Meeting::vote(Absent::No, Exchange::Count("{count} != 0u")),
    )
    .doc("`sync_threads`; whether a thread passes true"),
    fence(
        "fence_block",
        Scope::Block,
        device(form!("membar.cta;"), "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", Eval::Nothing),
    )
    .doc("orders this thread's memory accesses for the block"),
    // OpenCL C 1.2 orders memory within a work-group; its implementations' fences reach the device.
    fence(
        "fence_device",
        Scope::Device,
        device(form!("membar.gl;"), "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", Eval::Nothing),
    )
    .cost(100)
    .doc("orders this thread's memory accesses for the device"),
    fence(
        "fence_system",
        Scope::System,
        device(form!("membar.sys;"), "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", Eval::Nothing),
    )
    .cost(200)
    .doc("orders this thread's memory accesses for the device and the host"),
    reduction("block_sum", |b, a| vec![reduce(b, BinaryOp::Add, a[0])])
        .accuracy("floats: threads 32 apart in order of their number, then the 32 sums in order")
        .doc("the sum over the block, in every thread"),
    reduction("block_min", |b, a| vec![reduce(b, BinaryOp::Min, a[0])]).doc("the least of the block, in every thread"),
    reduction("block_max", |b, a| vec![reduce(b, BinaryOp::Max, a[0])]).doc("the greatest of the block, in every thread"),
];

/// Threads of the block, `u32`: a constant where the kernel fixes it.
pub(super) fn threads(b: &mut Builder<'_>) -> Value {
    match b.kernel.options.block {
        Some([x, y, z]) => b.int(Type::U32, i128::from(x) * i128::from(y) * i128::from(z)),
        None => {
            let [x, y, z] = [Axis::X, Axis::Y, Axis::Z].map(|axis| b.special(Special::BlockDim, axis));
            let plane = b.binary(BinaryOp::Mul, x, y);
            b.binary(BinaryOp::Mul, plane, z)
        }
    }
}

/// Threads of the block along an axis, `u32`.
fn extent(b: &mut Builder<'_>, axis: Axis) -> Value {
    match b.kernel.options.block {
        Some(block) => b.int(Type::U32, i128::from(block[axis as usize])),
        None => b.special(Special::BlockDim, axis),
    }
}

/// The thread's number in the block, x fastest: x + X (y + Y z). Axes of one thread are left out.
fn linear_thread(b: &mut Builder<'_>) -> Value {
    let depth = |axis: usize| b.kernel.options.block.is_none_or(|block| block[axis] > 1);
    let (has_y, has_z) = (depth(1), depth(2));
    let x = b.special(Special::ThreadIdx, Axis::X);
    if !has_y && !has_z {
        return x;
    }
    let mut row = b.special(Special::ThreadIdx, Axis::Y);
    if has_z {
        let (z, height) = (b.special(Special::ThreadIdx, Axis::Z), extent(b, Axis::Y));
        row = b.mul_add(z, height, row);
    }
    let width = extent(b, Axis::X);
    b.mul_add(row, width, x)
}

/// The shared array that reductions over `ty` go through: one for the kernel, since each ends in a barrier.
fn scratch(b: &mut Builder<'_>, ty: Type) -> Object {
    let length = b.kernel.options.block.map_or(u64::from(BLOCK_THREADS), |block| block.iter().map(|n| u64::from(*n)).product());
    let data = ObjectData {
        name: format!("block_scratch_{ty}"),
        kind: ObjectKind::Shared,
        ty: MemoryType::Array(Box::new(MemoryType::Scalar(ty)), length),
        loc: b.loc,
    };
    let known = b.kernel.objects.iter().find(|(_, o)| o.name == data.name && o.kind == data.kind && o.ty == data.ty).map(|(id, _)| id);
    known.unwrap_or_else(|| b.kernel.objects.push(data))
}

/// The element of the scratch array that a `u32` names.
fn element(b: &mut Builder<'_>, object: Object, index: Value) -> Access {
    let ty = b.kernel.index_type();
    let index = b.cast(index, ty);
    Access { object, path: vec![Step::Index(index)] }
}

fn load(b: &mut Builder<'_>, object: Object, index: Value, ty: Type) -> Value {
    let access = element(b, object, index);
    b.push1(Op::load(access), ty)
}

fn store(b: &mut Builder<'_>, object: Object, index: Value, value: Value) {
    let access = element(b, object, index);
    b.push(Op::store(access, vec![value]), &[]);
}

fn barrier_here(b: &mut Builder<'_>) {
    if let Some(row) = super::function("sync_threads") {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
}

/// Through shared memory: every thread writes its value; the first 32 threads each join those of the threads 32, 64, … above them, in
/// order; every thread joins these up to 32 results, in order. The order depends on the number of threads alone.
fn reduce(b: &mut Builder<'_>, op: BinaryOp, value: Value) -> Value {
    let ty = b.kernel.ty(value);
    let scratch = scratch(b, ty);
    let (thread, threads, columns) = (linear_thread(b), threads(b), b.int(Type::U32, i128::from(WARP)));
    store(b, scratch, thread, value);
    barrier_here(b);
    let is_first = b.compare(CompareOp::Lt, thread, columns);
    b.if_else(
        is_first,
        |b| {
            let next = b.binary(BinaryOp::Add, thread, columns);
            let sum = b.for_each([next, threads, columns], &[value], |b, above, sum| {
                let other = load(b, scratch, above, ty);
                vec![b.binary(op, sum[0], other)]
            });
            store(b, scratch, thread, sum[0]);
            Vec::new()
        },
        |_| Vec::new(),
    );
    barrier_here(b);
    let (zero, one) = (b.int(Type::U32, 0), b.int(Type::U32, 1));
    let count = b.binary(BinaryOp::Min, threads, columns);
    let first = load(b, scratch, zero, ty);
    let sum = b.for_each([one, count, one], &[first], |b, column, sum| {
        let other = load(b, scratch, column, ty);
        vec![b.binary(op, sum[0], other)]
    });
    barrier_here(b);
    sum[0]
}
