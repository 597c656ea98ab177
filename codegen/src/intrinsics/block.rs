//! Block intrinsics: barriers, fences, reductions over the threads of a block. Every thread of the block must come to a barrier or a reduction.

use crate::ir::intrinsic::OperandType::{Is, T};
use crate::ir::intrinsic::{Absent, Body, Call, Class, DeviceForm, Eval, Exchange, Intrinsic, Meeting, OperandType, PtxForm};
use crate::ir::{
    Access, Axis, BinaryOp, Builder, CompareOp, Effects, MemoryOrder, MemoryType, Object, ObjectData, ObjectKind, Op, Scope, Special, Step,
    Type, Value,
};
use crate::target::Requirement;
use crate::target::limits::{BLOCK_THREADS, WARP};

const BOOL: OperandType = Is(Type::Bool);
/// The most that one access moves.
const VECTOR_BYTES: u32 = 16;

const fn device(text: &'static [PtxForm], opencl: &'static str, eval: Eval) -> Body {
    Body::Device(DeviceForm { ptx: text, opencl, opencl_prelude: "", eval })
}

/// The PTX of a row that every target has.
macro_rules! form {
    ($text:literal) => {
        &[PtxForm { types: &[], text: $text, needs: Requirement::since(20, 20) }]
    };
}

/// The PTX of a fence: since sm_70, and before, where every fence is sequentially consistent.
macro_rules! fences {
    ($since_70:literal, $before:literal) => {
        &[
            PtxForm { types: &[], text: $since_70, needs: Requirement::since(70, 60) },
            PtxForm { types: &[], text: $before, needs: Requirement::since(20, 20) },
        ]
    };
}

/// OpenCL C 1.2 orders memory within a work-group; its implementations' fences reach the device.
const OPENCL_FENCE: &str = "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)";

const fn acq_rel(ptx: &'static [PtxForm]) -> Body {
    device(ptx, OPENCL_FENCE, Eval::Fence(MemoryOrder::AcqRel))
}

const fn seq_cst(ptx: &'static [PtxForm]) -> Body {
    device(ptx, OPENCL_FENCE, Eval::Fence(MemoryOrder::SeqCst))
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
        device(form!("bar.sync {barrier};"), "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)", Eval::Barrier(|_, _| 0)),
        Meeting::wait(Exchange::None),
    )
    .doc("waits for the block's threads, and orders their memory accesses"),
    barrier(
        "sync_threads_count",
        &[BOOL],
        &[Is(Type::U32)],
        device(form!("bar.red.popc.u32 {d}, {barrier}, {0};"), "", Eval::Barrier(|count, _| u64::from(count))),
        Meeting::vote(Absent::No, Exchange::Count("{count}")),
    )
    .doc("`sync_threads`; how many threads pass true"),
    barrier(
        "sync_threads_and",
        &[BOOL],
        &[BOOL],
        device(form!("bar.red.and.pred {d}, {barrier}, {0};"), "", Eval::Barrier(|count, threads| u64::from(count == threads))),
        Meeting::vote(Absent::Yes, Exchange::Count("{count} == {threads}")),
    )
    .doc("`sync_threads`; whether every thread passes true"),
    barrier(
        "sync_threads_or",
        &[BOOL],
        &[BOOL],
        device(form!("bar.red.or.pred {d}, {barrier}, {0};"), "", Eval::Barrier(|count, _| u64::from(count != 0))),
        Meeting::vote(Absent::No, Exchange::Count("{count} != 0u")),
    )
    .doc("`sync_threads`; whether a thread passes true"),
    fence("fence_block", Scope::Block, acq_rel(fences!("fence.acq_rel.cta;", "membar.cta;")))
        .doc("orders this thread's memory accesses for the block"),
    fence("fence_device", Scope::Device, acq_rel(fences!("fence.acq_rel.gpu;", "membar.gl;")))
        .cost(100)
        .doc("orders this thread's memory accesses for the device"),
    fence("fence_system", Scope::System, acq_rel(fences!("fence.acq_rel.sys;", "membar.sys;")))
        .cost(200)
        .doc("orders this thread's memory accesses for the device and the host"),
    fence("fence_block_seq_cst", Scope::Block, seq_cst(fences!("fence.sc.cta;", "membar.cta;")))
        .doc("`fence_block`; all such fences of the block have one order"),
    fence("fence_device_seq_cst", Scope::Device, seq_cst(fences!("fence.sc.gpu;", "membar.gl;")))
        .cost(200)
        .doc("`fence_device`; all such fences of the device have one order"),
    fence("fence_system_seq_cst", Scope::System, seq_cst(fences!("fence.sc.sys;", "membar.sys;")))
        .cost(400)
        .doc("`fence_system`; all such fences of the system have one order"),
    reduction("block_sum", |b, a| vec![reduce(b, BinaryOp::Add, a[0])])
        .accuracy("floats: the sums of the warps, each as `warp_sum` makes it, in order of the warps")
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

/// Warps of the block, where the kernel fixes its size.
fn fixed_warps(b: &Builder<'_>) -> Option<u32> {
    b.kernel.options.block.map(|[x, y, z]| (x * y * z).div_ceil(WARP))
}

/// Warps of the block, `u32`: a constant where the kernel fixes its size.
fn warps(b: &mut Builder<'_>) -> Value {
    if let Some(warps) = fixed_warps(b) {
        return b.int(Type::U32, i128::from(warps));
    }
    let (threads, above, width) = (threads(b), b.int(Type::U32, i128::from(WARP - 1)), b.int(Type::U32, i128::from(WARP)));
    let up = b.binary(BinaryOp::Add, threads, above);
    b.binary(BinaryOp::Div, up, width)
}

/// One value of each warp, in shared memory, where every thread can read it.
pub(super) struct OfWarps {
    array: Object,
    ty: Type,
    /// Whether the same array may be written again before another barrier.
    is_reused: bool,
}

/// Gives `value` of the lane for which `is_writer` holds, one of each warp, to all threads of the block, which wait for it. [`OfWarps::done`] comes
/// after the last read.
pub(super) fn publish(b: &mut Builder<'_>, value: Value, is_writer: Value) -> OfWarps {
    let ty = b.kernel.ty(value);
    let of_warps = scratch(b, ty);
    let warp = b.special(Special::WarpId, Axis::X);
    b.if_else(
        is_writer,
        |b| {
            let access = element(b, of_warps.array, warp);
            b.push(Op::store(access, vec![value]), &[]);
            Vec::new()
        },
        |_| Vec::new(),
    );
    barrier_here(b);
    of_warps
}

impl OfWarps {
    /// Goes through the values in order of the warps: `step` gets a warp's number, its value and what is carried from the warp before, first `init` of
    /// the first warp's value, and gives what is carried on. All threads read the same, so what comes of it alone is known to be one for all.
    pub(super) fn fold(
        &self,
        b: &mut Builder<'_>,
        init: impl FnOnce(&mut Builder<'_>, Value) -> Vec<Value>,
        step: impl Fn(&mut Builder<'_>, Value, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        if let Some(warps) = fixed_warps(b) {
            let values = self.all(b, warps);
            let mut carried = init(b, values[0]);
            for (warp, value) in values.iter().enumerate().skip(1) {
                let warp = b.int(Type::U32, warp as i128);
                carried = step(b, warp, *value, &carried);
            }
            return carried;
        }
        let (zero, one, warps) = (b.int(Type::U32, 0), b.int(Type::U32, 1), warps(b));
        let first = self.at(b, zero, 1)[0];
        let init = init(b, first);
        b.for_each([one, warps, one], &init, |b, warp, carried| {
            let value = self.at(b, warp, 1)[0];
            step(b, warp, value, carried)
        })
    }

    /// Every warp's value, by as few accesses as there can be.
    fn all(&self, b: &mut Builder<'_>, warps: u32) -> Vec<Value> {
        let mut values = Vec::new();
        while let Some(left) = warps.checked_sub(values.len() as u32).filter(|left| *left > 0) {
            let most = (VECTOR_BYTES / self.ty.bytes()).min(8);
            let lanes = [8, 4, 2, 1].into_iter().find(|lanes| *lanes <= most && *lanes <= left).unwrap_or(1);
            let first = b.int(Type::U32, values.len() as i128);
            values.extend(self.at(b, first, lanes));
        }
        values
    }

    fn at(&self, b: &mut Builder<'_>, first: Value, lanes: u32) -> Vec<Value> {
        let access = element(b, self.array, first);
        let inst = b.push(Op::load(access), &vec![self.ty; lanes as usize]);
        b.kernel.insts[inst].results.clone()
    }

    /// Nobody reads any more.
    pub(super) fn done(self, b: &mut Builder<'_>) {
        if self.is_reused {
            barrier_here(b);
        }
    }
}

/// The shared array for one value of type `ty` from each warp.
///
/// Who writes an array has to know that nobody still reads it. In a loop, or under a condition, which is not known to be none, a barrier behind the
/// reads says so. Elsewhere each call has a barrier between its writes and its reads, and two arrays take turns: by the time that a call writes one,
/// all threads are past the barrier of the call before, and so past the reads of the call before that.
fn scratch(b: &mut Builder<'_>, ty: Type) -> OfWarps {
    let is_reused = b.block != b.kernel.body;
    let names = ["", "_other", "_again"].map(|suffix| format!("block_scratch_{ty}{suffix}"));
    let name = if is_reused { &names[2] } else { &names[usize::from(is_last_used(b, &names[0]))] };
    let length = u64::from(fixed_warps(b).unwrap_or(BLOCK_THREADS / WARP));
    let data = ObjectData {
        name: name.clone(),
        kind: ObjectKind::Shared,
        ty: MemoryType::Array(Box::new(MemoryType::Scalar(ty)), length),
        loc: b.loc,
    };
    let known = b.kernel.objects.iter().find(|(_, o)| o.name == data.name && o.kind == data.kind && o.ty == data.ty).map(|(id, _)| id);
    OfWarps { array: known.unwrap_or_else(|| b.kernel.objects.push(data)), ty, is_reused }
}

/// Whether the last call behind which no barrier stands, in the kernel's body, took the array of this name, of its two.
fn is_last_used(b: &Builder<'_>, name: &str) -> bool {
    let kernel = &*b.kernel;
    let of = |object: Object| {
        let data = &kernel.objects[object];
        (data.kind == ObjectKind::Shared && data.name.starts_with(name) && !data.name.ends_with("_again")).then_some(data.name == name)
    };
    if !kernel.objects.iter().any(|(id, _)| of(id).is_some()) {
        return false;
    }
    // Each call reads its array in the body, whatever it is under that it writes it.
    let last = kernel.blocks[b.block].insts.iter().rev().find_map(|inst| kernel.effects(*inst).reads.iter().find_map(of));
    last.unwrap_or(false)
}

/// The element of the scratch array that a `u32` names.
fn element(b: &mut Builder<'_>, object: Object, index: Value) -> Access {
    let ty = b.kernel.index_type();
    let index = b.cast(index, ty);
    Access { object, path: vec![Step::Index(index)] }
}

fn barrier_here(b: &mut Builder<'_>) {
    if let Some(row) = super::function("sync_threads") {
        b.push(Op::Intrinsic(row, Vec::new()), &[]);
    }
}

/// Each warp joins its values by a butterfly of shuffles; through shared memory every thread gets the results of the warps, and joins them in order. The
/// order depends on the number of threads alone.
fn reduce(b: &mut Builder<'_>, op: BinaryOp, value: Value) -> Value {
    let of_warp = super::warp::reduce(b, op, value);
    let (lane, zero) = (b.special(Special::LaneId, Axis::X), b.int(Type::U32, 0));
    let is_first = b.compare(CompareOp::Eq, lane, zero);
    let of_warps = publish(b, of_warp, is_first);
    let result = of_warps.fold(b, |_, first| vec![first], |b, _, value, joined| vec![b.binary(op, joined[0], value)])[0];
    of_warps.done(b);
    result
}
