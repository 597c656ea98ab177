//! The hardware's approximations, as functions: `native_sin(x)` and its like. They are for `f32` (and through it for `f16` and `bf16`); of
//! `f64`, the hardware approximates only the reciprocal and the reciprocal square root, and that to about 20 bits.
//!
//! Error bounds: PTX ISA, "Floating-Point Instructions". OpenCL leaves those of its `native_` functions to the implementation.

use super::call_function;
use super::float::{SHORT, WIDE, float_like, lane, through_f32};
use crate::ir::intrinsic::OperandType::T;
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::ir::{BinaryOp, Builder, Type, Value};
use crate::target::Requirement;

/// The only type that most of the approximations have.
pub(super) const SINGLE: Class = Class::Only(&[Type::F32]);
const ONE: &[OperandType] = &[T];
const TWO: &[OperandType] = &[T, T];

const fn native(
    name: &'static str,
    over: Class,
    args: &'static [OperandType],
    ptx: &'static [PtxForm],
    opencl: &'static str,
    eval: Eval,
) -> Intrinsic {
    let device = DeviceForm { ptx, opencl, opencl_prelude: "", eval };
    Intrinsic::new(name, Call::Function, over, args, &[T], Body::Device(device)).cost(4)
}

const fn made(
    name: &'static str,
    over: Class,
    args: &'static [OperandType],
    expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>,
) -> Intrinsic {
    Intrinsic::new(name, Call::Function, over, args, &[T], Body::Expand(expand))
}

const fn short(name: &'static str, args: &'static [OperandType], expand: fn(&mut Builder<'_>, &[Value]) -> Vec<Value>) -> Intrinsic {
    made(name, SHORT, args, expand).accuracy("as of `f32`, then rounded")
}

/// An instruction for `f32` that every target has.
const fn single(text: &'static str) -> PtxForm {
    PtxForm { types: &[Type::F32], text, needs: Requirement::since(10, 10) }
}

pub(super) const ROWS: &[Intrinsic] = &[
    native("native_sin", SINGLE, ONE, &[single("sin.approx.f32 {d}, {0};")], "native_sin({0})", lane!(|x| x.sin()))
        .takes_subnormals()
        .accuracy("absolute error 2^-20.5 in [-2π, 2π] (PTX ISA, `sin`)")
        .doc("the sine"),
    native("native_cos", SINGLE, ONE, &[single("cos.approx.f32 {d}, {0};")], "native_cos({0})", lane!(|x| x.cos()))
        .takes_subnormals()
        .accuracy("absolute error 2^-20.4 in [-2π, 2π] (all of them on an H200; 2^-20.5 by the PTX ISA, `cos`)")
        .doc("the cosine"),
    native("native_exp2", SINGLE, ONE, &[single("ex2.approx.ftz.f32 {d}, {0};")], "native_exp2({0})", lane!(|x| x.exp2()))
        .takes_subnormals()
        .accuracy("relative error 2^-22.5; results below 2^-126 are zero (PTX ISA, `ex2.approx.ftz`)")
        .doc("2 to this power"),
    native("native_log2", SINGLE, ONE, &[single("lg2.approx.f32 {d}, {0};")], "native_log2({0})", lane!(|x| x.log2()))
        .accuracy("absolute error 2^-22 in (0.5, 2), relative error 2^-22 elsewhere (PTX ISA, `lg2`)")
        .doc("the logarithm to base 2"),
    native("native_sqrt", SINGLE, ONE, &[single("sqrt.approx.f32 {d}, {0};")], "native_sqrt({0})", lane!(|x| x.sqrt()))
        .accuracy("relative error 2^-23 (PTX ISA, `sqrt`)")
        .doc("the square root"),
    native(
        "native_div",
        SINGLE,
        TWO,
        &[single("div.approx.f32 {d}, {0}, {1};")],
        "native_divide({0}, {1})",
        lane!(|x, y| x / y),
    )
    .cost(5)
    .accuracy("2 ulp for a divisor in [2^-126, 2^126]; 0 for a finite quotient beyond it (PTX ISA, `div`)")
    .doc("a quotient"),
    native(
        "native_rsqrt",
        WIDE,
        ONE,
        &[
            single("rsqrt.approx.f32 {d}, {0};"),
            PtxForm { types: &[Type::F64], text: "rsqrt.approx.f64 {d}, {0};", needs: Requirement::since(13, 14) },
        ],
        // OpenCL has `native_` functions for `float` only.
        "rsqrt({0})",
        lane!(|x| 1.0 / x.sqrt()),
    )
    .accuracy("relative error 2^-22.9; f64: about 2^-20, subnormals are zero (PTX ISA, `rsqrt`)")
    .doc("the reciprocal square root"),
    native(
        "native_recip",
        WIDE,
        ONE,
        &[
            single("rcp.approx.f32 {d}, {0};"),
            PtxForm { types: &[Type::F64], text: "rcp.approx.ftz.f64 {d}, {0};", needs: Requirement::since(20, 21) },
        ],
        "(1 / {0})",
        lane!(|x| 1.0 / x),
    )
    .accuracy("1 ulp; f64: about 2^-20, subnormals are zero (PTX ISA, `rcp`, `rcp.approx.ftz.f64`)")
    .doc("the reciprocal"),
    native(
        "native_tanh",
        SINGLE,
        ONE,
        &[
            PtxForm { types: &[Type::F32], text: "tanh.approx.f32 {d}, {0};", needs: Requirement::since(75, 70) },
            // 1 − 2 / (2^(2·log2(e)·x) + 1)
            single(
                "mul.f32 {tmp0:f32}, {0}, 0f4038AA3B;\nex2.approx.f32 {tmp0:f32}, {tmp0:f32};\nadd.f32 {tmp0:f32}, {tmp0:f32}, 0f3F800000;\n\
                 rcp.approx.f32 {tmp0:f32}, {tmp0:f32};\nfma.rn.f32 {d}, {tmp0:f32}, 0fC0000000, 0f3F800000;",
            ),
        ],
        // OpenCL has no `native_tanh`.
        "tanh({0})",
        lane!(|x| x.tanh()),
    )
    .takes_subnormals()
    .accuracy("relative error 2^-11 (PTX ISA, `tanh`); before sm_75 absolute error about 2^-22, from `ex2` and `rcp`")
    .doc("the hyperbolic tangent"),
    made("native_exp", SINGLE, ONE, |b, a| vec![scaled_after(b, a[0], std::f64::consts::LOG2_E, "native_exp2")])
        .accuracy("3 + ⌊|1.173 x|⌋ ulp (all numbers on an H200; 2 + … by the CUDA C++ Programming Guide, `__expf`); results below 2^-126 are zero")
        .doc("e to this power"),
    made("native_ln", SINGLE, ONE, |b, a| vec![scaled_before(b, a[0], std::f64::consts::LN_2, "native_log2")])
        .accuracy("absolute error 2^-21.4 in [0.5, 2], 4 ulp elsewhere (all numbers on an H200; 3 ulp by the CUDA C++ Programming Guide, `__logf`)")
        .doc("the natural logarithm"),
    short("native_sin", ONE, through_f32!(function "native_sin")).doc("the sine"),
    short("native_cos", ONE, through_f32!(function "native_cos")).doc("the cosine"),
    short("native_exp2", ONE, through_f32!(function "native_exp2")).doc("2 to this power"),
    short("native_exp", ONE, through_f32!(function "native_exp")).doc("e to this power"),
    short("native_log2", ONE, through_f32!(function "native_log2")).doc("the logarithm to base 2"),
    short("native_ln", ONE, through_f32!(function "native_ln")).doc("the natural logarithm"),
    short("native_sqrt", ONE, through_f32!(function "native_sqrt")).doc("the square root"),
    short("native_div", TWO, through_f32!(function "native_div")).doc("a quotient"),
    short("native_rsqrt", ONE, through_f32!(function "native_rsqrt")).doc("the reciprocal square root"),
    short("native_recip", ONE, through_f32!(function "native_recip")).doc("the reciprocal"),
    short("native_tanh", ONE, through_f32!(function "native_tanh")).doc("the hyperbolic tangent"),
];

/// name(factor · a)
fn scaled_after(b: &mut Builder<'_>, a: Value, factor: f64, name: &str) -> Value {
    let factor = float_like(b, a, factor);
    let scaled = b.binary(BinaryOp::Mul, a, factor);
    call_function(b, name, &[scaled])
}

/// factor · name(a)
pub(super) fn scaled_before(b: &mut Builder<'_>, a: Value, factor: f64, name: &str) -> Value {
    let result = call_function(b, name, &[a]);
    let factor = float_like(b, a, factor);
    b.binary(BinaryOp::Mul, result, factor)
}
