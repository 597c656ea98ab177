//! Transcendental methods of floats in `math = precise`. PTX has no instruction for them, but for `rsqrt`: there they are the functions of
//! [`crate::math`], as [`crate::library`] has them. Error bounds in ulp: CUDA C++ Programming Guide, "Mathematical Functions Appendix", tables of single and double
//! precision, which our library keeps too; OpenCL C specification, "Relative Error as ULPs", full profile.

use super::call_method;
use super::float::{SHORT, WIDE, lane, through_f32};
use crate::ir::Type;
use crate::ir::intrinsic::OperandType::T;
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::math;
use crate::target::Requirement;

/// A function that PTX has no instruction for: its row for the wide types. `cost` is that of the library's function of `f32`, whose instructions were
/// counted; a division or square root counts as 10.
const fn precise(name: &'static str, args: &'static [OperandType], cost: u16, opencl: &'static str, eval: Eval) -> Intrinsic {
    let device = DeviceForm { ptx: &[], opencl, opencl_prelude: "", eval };
    Intrinsic::new(name, Call::Method, WIDE, args, &[T], Body::Device(device)).cost(cost)
}

const fn short(
    name: &'static str,
    args: &'static [OperandType],
    expand: fn(&mut crate::ir::Builder<'_>, &[crate::ir::Value]) -> Vec<crate::ir::Value>,
) -> Intrinsic {
    Intrinsic::method(name, SHORT, args, &[T], expand).accuracy("as of `f32`, then rounded")
}

const ONE: &[OperandType] = &[T];
const TWO: &[OperandType] = &[T, T];

pub(super) const ROWS: &[Intrinsic] = &[
    precise("sin", ONE, 24, "sin({0})", lane!(|x| math::f32::sin(x); math::f64::sin(x)))
        .together("cos", "sin_cos", 0)
        .fast("native_sin").accuracy("2 ulp, f64 2 (PTX); 4 ulp (OpenCL)").doc("the sine"),
    precise("cos", ONE, 24, "cos({0})", lane!(|x| math::f32::cos(x); math::f64::cos(x)))
        .together("sin", "sin_cos", 1)
        .fast("native_cos").accuracy("2 ulp, f64 2 (PTX); 4 ulp (OpenCL)").doc("the cosine"),
    precise("tan", ONE, 34, "tan({0})", lane!(|x| math::f32::tan(x); math::f64::tan(x)))
        .fast("fast_tan").accuracy("4 ulp, f64 2 (PTX); 5 ulp (OpenCL)").doc("the tangent"),
    precise("asin", ONE, 30, "asin({0})", lane!(|x| math::f32::asin(x); math::f64::asin(x)))
        .fast("fast_asin").accuracy("2 ulp, f64 2 (PTX); 4 ulp (OpenCL)").doc("the arc sine"),
    precise("acos", ONE, 32, "acos({0})", lane!(|x| math::f32::acos(x); math::f64::acos(x)))
        .fast("fast_acos").accuracy("2 ulp, f64 2 (PTX); 4 ulp (OpenCL)").doc("the arc cosine"),
    precise("atan", ONE, 28, "atan({0})", lane!(|x| math::f32::atan(x); math::f64::atan(x)))
        .fast("fast_atan").accuracy("2 ulp, f64 2 (PTX); 5 ulp (OpenCL)").doc("the arc tangent"),
    precise("atan2", TWO, 38, "atan2({0}, {1})", lane!(|y, x| math::f32::atan2(y, x); math::f64::atan2(y, x)))
        .fast("fast_atan2").accuracy("3 ulp, f64 2 (PTX); 6 ulp (OpenCL)").doc("the angle of the point (other, self)"),
    precise("sinh", ONE, 28, "sinh({0})", lane!(|x| math::f32::sinh(x); math::f64::sinh(x)))
        .fast("fast_sinh").accuracy("3 ulp, f64 2 (PTX); 4 ulp (OpenCL)").doc("the hyperbolic sine"),
    precise("cosh", ONE, 28, "cosh({0})", lane!(|x| math::f32::cosh(x); math::f64::cosh(x)))
        .fast("fast_cosh").accuracy("2 ulp, f64 1 (PTX); 4 ulp (OpenCL)").doc("the hyperbolic cosine"),
    precise("tanh", ONE, 38, "tanh({0})", lane!(|x| math::f32::tanh(x); math::f64::tanh(x)))
        .fast("native_tanh").accuracy("2 ulp, f64 1 (PTX); 5 ulp (OpenCL)").doc("the hyperbolic tangent"),
    precise("exp", ONE, 17, "exp({0})", lane!(|x| math::f32::exp(x); math::f64::exp(x)))
        .fast("native_exp").accuracy("2 ulp, f64 1 (PTX); 3 ulp (OpenCL)").doc("e to this power"),
    precise("exp2", ONE, 16, "exp2({0})", lane!(|x| math::f32::exp2(x); math::f64::exp2(x)))
        .fast("native_exp2").accuracy("2 ulp, f64 1 (PTX); 3 ulp (OpenCL)").doc("2 to this power"),
    precise("exp_m1", ONE, 28, "expm1({0})", lane!(|x| math::f32::exp_m1(x); math::f64::exp_m1(x)))
        .fast("fast_exp_m1").accuracy("1 ulp, f64 1 (PTX); 3 ulp (OpenCL)").doc("`exp(self) - 1`, also near 0"),
    precise("ln", ONE, 32, "log({0})", lane!(|x| math::f32::ln(x); math::f64::ln(x)))
        .fast("native_ln").accuracy("1 ulp, f64 1 (PTX); 3 ulp (OpenCL)").doc("the natural logarithm"),
    precise("log2", ONE, 35, "log2({0})", lane!(|x| math::f32::log2(x); math::f64::log2(x)))
        .fast("native_log2").accuracy("1 ulp, f64 1 (PTX); 3 ulp (OpenCL)").doc("the logarithm to base 2"),
    precise("log10", ONE, 36, "log10({0})", lane!(|x| math::f32::log10(x); math::f64::log10(x)))
        .fast("fast_log10").accuracy("2 ulp, f64 1 (PTX); 3 ulp (OpenCL)").doc("the logarithm to base 10"),
    precise("ln_1p", ONE, 41, "log1p({0})", lane!(|x| math::f32::ln_1p(x); math::f64::ln_1p(x)))
        .fast("fast_ln_1p").accuracy("1 ulp, f64 1 (PTX); 2 ulp (OpenCL)").doc("`ln(1 + self)`, also near 0"),
    precise("powf", TWO, 86, "pow({0}, {1})", lane!(|x, y| math::f32::powf(x, y); math::f64::powf(x, y)))
        .fast("fast_powf").accuracy("4 ulp, f64 2 (PTX); 16 ulp (OpenCL)").doc("a power"),
    precise("cbrt", ONE, 26, "cbrt({0})", lane!(|x| math::f32::cbrt(x); math::f64::cbrt(x)))
        .fast("fast_cbrt").accuracy("1 ulp, f64 1 (PTX); 2 ulp (OpenCL)").doc("the cube root"),
    precise("hypot", TWO, 28, "hypot({0}, {1})", lane!(|x, y| math::f32::hypot(x, y); math::f64::hypot(x, y)))
        .fast("fast_hypot").accuracy("3 ulp, f64 2 (PTX); 4 ulp (OpenCL)").doc("`(self² + other²).sqrt()` without overflow"),
    precise("erf", ONE, 21, "erf({0})", lane!(|x| math::f32::erf(x); math::f64::erf(x)))
        .fast("fast_erf").accuracy("2 ulp, f64 2 (PTX); 16 ulp (OpenCL)").doc("the error function"),
    precise("erfc", ONE, 58, "erfc({0})", lane!(|x| math::f32::erfc(x); math::f64::erfc(x)))
        .fast("fast_erfc").accuracy("4 ulp, f64 5 (PTX); 16 ulp (OpenCL)").doc("1 less the error function"),
    Intrinsic::new("rsqrt", Call::Method, WIDE, ONE, &[T], Body::Device(RSQRT))
        .fast("native_rsqrt")
        .cost(4)
        .accuracy("2 ulp (PTX ISA, `rsqrt.approx.f32`: relative error 2^-22.9; OpenCL 2 ulp); f64: 1.5 ulp, a reciprocal of a square root, both rounded")
        .doc("`1 / self.sqrt()`"),
    short("sin", ONE, through_f32!("sin")).doc("the sine"),
    short("cos", ONE, through_f32!("cos")).doc("the cosine"),
    short("tan", ONE, through_f32!("tan")).doc("the tangent"),
    short("asin", ONE, through_f32!("asin")).doc("the arc sine"),
    short("acos", ONE, through_f32!("acos")).doc("the arc cosine"),
    short("atan", ONE, through_f32!("atan")).doc("the arc tangent"),
    short("atan2", TWO, through_f32!("atan2")).doc("the angle of the point (other, self)"),
    short("sinh", ONE, through_f32!("sinh")).doc("the hyperbolic sine"),
    short("cosh", ONE, through_f32!("cosh")).doc("the hyperbolic cosine"),
    short("tanh", ONE, through_f32!("tanh")).doc("the hyperbolic tangent"),
    short("exp", ONE, through_f32!("exp")).doc("e to this power"),
    short("exp2", ONE, through_f32!("exp2")).doc("2 to this power"),
    short("exp_m1", ONE, through_f32!("exp_m1")).doc("`exp(self) - 1`, also near 0"),
    short("ln", ONE, through_f32!("ln")).doc("the natural logarithm"),
    short("log2", ONE, through_f32!("log2")).doc("the logarithm to base 2"),
    short("log10", ONE, through_f32!("log10")).doc("the logarithm to base 10"),
    short("ln_1p", ONE, through_f32!("ln_1p")).doc("`ln(1 + self)`, also near 0"),
    short("powf", TWO, through_f32!("powf")).doc("a power"),
    short("cbrt", ONE, through_f32!("cbrt")).doc("the cube root"),
    short("hypot", TWO, through_f32!("hypot")).doc("`(self² + other²).sqrt()` without overflow"),
    short("erf", ONE, through_f32!("erf")).doc("the error function"),
    short("erfc", ONE, through_f32!("erfc")).doc("1 less the error function"),
    short("rsqrt", ONE, through_f32!("rsqrt")).doc("`1 / self.sqrt()`"),
    Intrinsic::method("sin_cos", Class::Float, ONE, &[T, T], |b, a| vec![call_method(b, "sin", a), call_method(b, "cos", a)])
        .accuracy("as of `sin` and `cos`")
        .doc("sine and cosine"),
];

const RSQRT: DeviceForm = DeviceForm {
    ptx: &[
        PtxForm { types: &[Type::F32], text: "rsqrt.approx.f32 {d}, {0};", needs: Requirement::since(10, 10) },
        PtxForm {
            types: &[Type::F64],
            text: "sqrt.rn.f64 {tmp0:f64}, {0};\nrcp.rn.f64 {d}, {tmp0:f64};",
            needs: Requirement::since(20, 20),
        },
    ],
    opencl: "rsqrt({0})",
    opencl_prelude: "",
    eval: lane!(|x| (1.0 / f64::from(x).sqrt()) as f32; 1.0 / x.sqrt()),
};
