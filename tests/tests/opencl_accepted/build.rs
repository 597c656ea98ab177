//! Kernels built by hand, their jobs, and their buffers as scalars.

use warpwright_codegen::backend::opencl::emit_opencl;
use warpwright_codegen::backend::{AbiArgument, Emitted};
use warpwright_codegen::ir::KernelOptions;
use warpwright_codegen::ir::{
    Access, Axis, BinaryOp, Builder, CompareOp, Compute, Kernel, Loc, MemoryType, Object, ObjectData, ObjectKind, Op, Region, Scalar,
    Special, Step, Terminator, Type, Value,
};
use warpwright_codegen::pipeline::Legal;
use warpwright_tests::opencl_tools::{Argument, INTEL_STANDARD, Job};

/// Threads of a block in these tests.
pub(crate) const BLOCK: u32 = 64;

/// A kernel of blocks of `block` threads, without parameters and body.
pub(crate) fn empty(name: &str, block: Option<u32>) -> Kernel {
    let options = KernelOptions { block: block.map(|n| [n, 1, 1]), ..KernelOptions::default() };
    Kernel::new(name, options)
}

/// Adds a buffer parameter.
pub(crate) fn buffer(kernel: &mut Kernel, name: &str, ty: MemoryType, writable: bool) -> Object {
    let kind = ObjectKind::Global { writable };
    let object = kernel.objects.push(ObjectData { name: name.into(), kind, ty: MemoryType::Slice(Box::new(ty)), loc: Loc(0) });
    kernel.params.push(object);
    object
}

/// The thread's number in the grid, `u32`.
pub(crate) fn global_id(b: &mut Builder<'_>) -> Value {
    let block = b.special(Special::BlockIdx, Axis::X);
    let width = b.special(Special::BlockDim, Axis::X);
    let thread = b.special(Special::ThreadIdx, Axis::X);
    let start = b.binary(BinaryOp::Mul, block, width);
    let id = b.binary(BinaryOp::Add, start, thread);
    b.name(id, "i");
    id
}

/// `object[index]`.
pub(crate) fn at(object: Object, index: Value) -> Access {
    Access { object, path: vec![Step::Index(index)] }
}

/// A kernel that computes `outputs` elementwise from `inputs`, guarded by the length of the first output.
pub(crate) fn elementwise(name: &str, inputs: &[Type], compute: impl FnOnce(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Kernel {
    let mut kernel = empty(name, Some(BLOCK));
    let sources: Vec<Object> =
        inputs.iter().enumerate().map(|(n, ty)| buffer(&mut kernel, &format!("x{n}"), MemoryType::Scalar(*ty), false)).collect();
    let body = kernel.body;
    let then_block = kernel.new_block(&[]);
    let else_block = kernel.new_block(&[]);
    let mut b = Builder::new(&mut kernel, then_block, Loc(0));
    // The index is made in the body, below, once the outputs are known.
    b.block = body;
    let i = global_id(&mut b);
    b.block = then_block;
    let loaded: Vec<Value> = sources.iter().zip(inputs).map(|(object, ty)| b.push1(Op::load(at(*object, i)), *ty)).collect();
    let results = compute(&mut b, &loaded);
    let mut outputs = Vec::new();
    for (n, result) in results.iter().enumerate() {
        let ty = b.kernel.ty(*result);
        let output = buffer(b.kernel, &format!("y{n}"), MemoryType::Scalar(ty), true);
        b.push(Op::store(at(output, i), vec![*result]), &[]);
        outputs.push(output);
    }
    b.push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    b.block = else_block;
    b.push(Op::Terminator(Terminator::Yield(Vec::new())), &[]);
    b.block = body;
    let length = b.push1(Op::Compute(Compute::Len(outputs[0])), Type::U32);
    let condition = b.compare(CompareOp::Lt, i, length);
    b.push(Op::Region(Region::If { condition, then_block, else_block }), &[]);
    b.push(Op::Terminator(Terminator::Return), &[]);
    kernel
}

/// Prints a kernel, which must not be refused.
pub(crate) fn emit(kernel: &Legal) -> Emitted {
    let emitted = emit_opencl(kernel, &|_| proc_macro2::Span::call_site());
    emitted.unwrap_or_else(|refusals| panic!("{}: {:?}\n{kernel}", kernel.name, refusals.iter().map(|d| &d.message).collect::<Vec<_>>()))
}

/// A job that runs a kernel over `threads` threads, buffer parameters with these contents in order; no other parameters.
pub(crate) fn job(kernel: &Kernel, block: u32, threads: usize, contents: &[Vec<Scalar>]) -> Job {
    let bytes: Vec<Vec<u8>> = contents.iter().map(|scalars| to_bytes(scalars)).collect();
    let lengths: Vec<usize> = contents.iter().map(Vec::len).collect();
    Job { global: [threads.next_multiple_of(block as usize), 1, 1], ..job_of_bytes(kernel, block, &bytes, &lengths) }
}

/// A job of one block, with the bytes and the number of elements of each parameter.
pub(crate) fn job_of_bytes(kernel: &Kernel, block: u32, parameters: &[Vec<u8>], lengths: &[usize]) -> Job {
    let legal = Legal::verified(kernel.clone()).unwrap_or_else(|violations| panic!("{violations:?}\n{kernel}"));
    let emitted = emit(&legal);
    let local = block as usize;
    let arguments = emitted
        .abi
        .iter()
        .map(|argument| match argument {
            AbiArgument::Value { param, .. } => Argument::Value(parameters[*param].clone()),
            AbiArgument::Buffer { param } => Argument::Buffer(parameters[*param].clone()),
            AbiArgument::Length { param, .. } => Argument::Value((lengths[*param] as u32).to_le_bytes().to_vec()),
            AbiArgument::Exchange { bytes } => Argument::Local(*bytes as usize * local),
            AbiArgument::Fault => Argument::Buffer(vec![0; 16]),
            other => panic!("not used in these tests: {other:?}"),
        })
        .collect();
    Job {
        sub_group_options: emitted.sub_group_options(INTEL_STANDARD),
        name: kernel.name.clone(),
        text: emitted.text,
        options: emitted.build_options,
        entry: emitted.entry,
        global: [local, 1, 1],
        local: [local, 1, 1],
        arguments,
    }
}

/// Scalars as they lie in memory.
pub(crate) fn to_bytes(scalars: &[Scalar]) -> Vec<u8> {
    scalars.iter().flat_map(|s| s.bits.to_le_bytes()[..s.ty.bytes() as usize].to_vec()).collect()
}

/// Memory as scalars.
pub(crate) fn from_bytes(ty: Type, bytes: &[u8]) -> Vec<Scalar> {
    let scalar = |chunk: &[u8]| Scalar { ty, bits: chunk.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)) };
    bytes.chunks_exact(ty.bytes() as usize).map(scalar).collect()
}

/// Whether two results are the same: NaNs are alike.
pub(crate) fn is_same(a: Scalar, b: Scalar) -> bool {
    let is_nan = |s: Scalar| s.ty.is_float() && s.as_f64().is_nan();
    a == b || (is_nan(a) && is_nan(b))
}

/// Values of a type where things go wrong.
pub(crate) fn edges(ty: Type) -> Vec<Scalar> {
    if ty == Type::Bool {
        return vec![Scalar::bool(false), Scalar::bool(true)];
    }
    if ty.is_int() {
        let bits = ty.bits();
        let (low, high) = if ty.is_signed_int() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
        let values =
            [low, low + 1, -100, -7, -2, -1, 0, 1, 2, 3, 7, 31, 33, 100, 1 << (bits / 2), 0x0100_0001, 65_519, 65_520, high - 1, high];
        let mut all: Vec<Scalar> = values.iter().filter(|v| (low..=high).contains(*v)).map(|v| Scalar::int(ty, *v)).collect();
        all.dedup();
        return all;
    }
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        0.1,
        127.0,
        127.9,
        128.0,
        -128.5,
        -129.0,
        255.5,
        256.0,
        32_767.5,
        65_535.0,
        65_519.9,
        65_520.0,
        2_147_483_520.0,
        2_147_483_648.0,
        -2_147_483_648.0,
        4_294_967_040.0,
        4_294_967_296.0,
        9.2e18,
        1.8e19,
        1.9e19,
        -9.3e18,
        1e30,
        6e-8,
        2.9e-8,
        1e-39,
        1e-45,
        1e-310,
        1.003_906_3,
        1.011_718_8,
        1.000_976_6,
        3.4e38,
        1.7e308,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut all: Vec<Scalar> = values.iter().map(|v| Scalar::float(ty, *v)).collect();
    all.sort_by_key(|s| s.bits);
    all.dedup();
    all
}
