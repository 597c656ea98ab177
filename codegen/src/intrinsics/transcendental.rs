//! Transcendental methods of floats in `math = precise`. They have no PTX form yet, but for `rsqrt`: the way out is `math = fast` or a
//! `native_` function. Error bounds in ulp: CUDA C++ Programming Guide, "Mathematical Functions Appendix", tables of single and double
//! precision; OpenCL C specification, "Relative Error as ULPs", full profile.

use super::Sort::T;
use super::float::{SHORT, WIDE, lane, through_f32};
use super::{Body, Call, Class, Device, Eval, PtxForm, Row, Sort, call_method};
use crate::ir::Type;

/// A function that PTX has no instruction for: its row for the wide types, and what the way out is.
const fn precise(name: &'static str, args: &'static [Sort], opencl: &'static str, without_ptx: &'static str, eval: Eval) -> Row {
    let device = Device { ptx: &[], without_ptx, opencl, opencl_prelude: "", eval };
    Row::new(name, Call::Method, WIDE, args, &[T], Body::Device(device)).cost(30)
}

const fn short(
    name: &'static str,
    args: &'static [Sort],
    expand: fn(&mut crate::ir::Builder<'_>, &[crate::ir::Value]) -> Vec<crate::ir::Value>,
) -> Row {
    Row::method(name, SHORT, args, &[T], expand).cost(30).accuracy("as of `f32`, then rounded")
}

const ONE: &[Sort] = &[T];
const TWO: &[Sort] = &[T, T];

/// The way out of a function whose `native_` form is public.
macro_rules! use_native {
    ($native:literal) => {
        concat!("use `", $native, "` or `#[kernel(math = fast)]`; both are for `f32`, so an `f64` must be cast")
    };
}
const USE_FAST: &str = "use `#[kernel(math = fast)]`; it is for `f32`, so an `f64` must be cast";

pub(super) const ROWS: &[Row] = &[
    precise("sin", ONE, "sin({0})", use_native!("native_sin(x)"), lane!(|x| x.sin()))
        .fast("native_sin").accuracy("2 ulp, f64 2 (CUDA); 4 ulp (OpenCL)").doc("the sine"),
    precise("cos", ONE, "cos({0})", use_native!("native_cos(x)"), lane!(|x| x.cos()))
        .fast("native_cos").accuracy("2 ulp, f64 2 (CUDA); 4 ulp (OpenCL)").doc("the cosine"),
    precise("tan", ONE, "tan({0})", use_native!("native_sin(x) / native_cos(x)"), lane!(|x| x.tan()))
        .fast("fast_tan").accuracy("4 ulp, f64 2 (CUDA); 5 ulp (OpenCL)").doc("the tangent"),
    precise("asin", ONE, "asin({0})", USE_FAST, lane!(|x| x.asin()))
        .fast("fast_asin").accuracy("2 ulp, f64 2 (CUDA); 4 ulp (OpenCL)").doc("the arc sine"),
    precise("acos", ONE, "acos({0})", USE_FAST, lane!(|x| x.acos()))
        .fast("fast_acos").accuracy("2 ulp, f64 2 (CUDA); 4 ulp (OpenCL)").doc("the arc cosine"),
    precise("atan", ONE, "atan({0})", USE_FAST, lane!(|x| x.atan()))
        .fast("fast_atan").accuracy("2 ulp, f64 2 (CUDA); 5 ulp (OpenCL)").doc("the arc tangent"),
    precise("atan2", TWO, "atan2({0}, {1})", USE_FAST, lane!(|y, x| y.atan2(x)))
        .fast("fast_atan2").accuracy("3 ulp, f64 2 (CUDA); 6 ulp (OpenCL)").doc("the angle of the point (other, self)"),
    precise("sinh", ONE, "sinh({0})", USE_FAST, lane!(|x| x.sinh()))
        .fast("fast_sinh").accuracy("3 ulp, f64 2 (CUDA); 4 ulp (OpenCL)").doc("the hyperbolic sine"),
    precise("cosh", ONE, "cosh({0})", USE_FAST, lane!(|x| x.cosh()))
        .fast("fast_cosh").accuracy("2 ulp, f64 1 (CUDA); 4 ulp (OpenCL)").doc("the hyperbolic cosine"),
    precise("tanh", ONE, "tanh({0})", use_native!("native_tanh(x)"), lane!(|x| x.tanh()))
        .fast("native_tanh").accuracy("2 ulp, f64 1 (CUDA); 5 ulp (OpenCL)").doc("the hyperbolic tangent"),
    precise("exp", ONE, "exp({0})", use_native!("native_exp(x)"), lane!(|x| x.exp()))
        .fast("native_exp").accuracy("2 ulp, f64 1 (CUDA); 3 ulp (OpenCL)").doc("e to this power"),
    precise("exp2", ONE, "exp2({0})", use_native!("native_exp2(x)"), lane!(|x| x.exp2()))
        .fast("native_exp2").accuracy("2 ulp, f64 1 (CUDA); 3 ulp (OpenCL)").doc("2 to this power"),
    precise("exp_m1", ONE, "expm1({0})", USE_FAST, lane!(|x| x.exp_m1()))
        .fast("fast_exp_m1").accuracy("1 ulp, f64 1 (CUDA); 3 ulp (OpenCL)").doc("`exp(self) - 1`, also near 0"),
    precise("ln", ONE, "log({0})", use_native!("native_ln(x)"), lane!(|x| x.ln()))
        .fast("native_ln").accuracy("1 ulp, f64 1 (CUDA); 3 ulp (OpenCL)").doc("the natural logarithm"),
    precise("log2", ONE, "log2({0})", use_native!("native_log2(x)"), lane!(|x| x.log2()))
        .fast("native_log2").accuracy("1 ulp, f64 1 (CUDA); 3 ulp (OpenCL)").doc("the logarithm to base 2"),
    precise("log10", ONE, "log10({0})", USE_FAST, lane!(|x| x.log10()))
        .fast("fast_log10").accuracy("2 ulp, f64 1 (CUDA); 3 ulp (OpenCL)").doc("the logarithm to base 10"),
    precise("ln_1p", ONE, "log1p({0})", USE_FAST, lane!(|x| x.ln_1p()))
        .fast("fast_ln_1p").accuracy("1 ulp, f64 1 (CUDA); 2 ulp (OpenCL)").doc("`ln(1 + self)`, also near 0"),
    precise("powf", TWO, "pow({0}, {1})", USE_FAST, lane!(|x, y| x.powf(y)))
        .fast("fast_powf").accuracy("4 ulp, f64 2 (CUDA); 16 ulp (OpenCL)").doc("a power"),
    precise("cbrt", ONE, "cbrt({0})", USE_FAST, lane!(|x| x.cbrt()))
        .fast("fast_cbrt").accuracy("1 ulp, f64 1 (CUDA); 2 ulp (OpenCL)").doc("the cube root"),
    precise("hypot", TWO, "hypot({0}, {1})", USE_FAST, lane!(|x, y| x.hypot(y)))
        .fast("fast_hypot").accuracy("3 ulp, f64 2 (CUDA); 4 ulp (OpenCL)").doc("`(self² + other²).sqrt()` without overflow"),
    precise("erf", ONE, "erf({0})", USE_FAST, lane!(|x| libm::erff(x); libm::erf(x)))
        .fast("fast_erf").accuracy("2 ulp, f64 2 (CUDA); 16 ulp (OpenCL)").doc("the error function"),
    precise("erfc", ONE, "erfc({0})", USE_FAST, lane!(|x| libm::erfcf(x); libm::erfc(x)))
        .fast("fast_erfc").accuracy("4 ulp, f64 5 (CUDA); 16 ulp (OpenCL)").doc("1 less the error function"),
    Row::new("rsqrt", Call::Method, WIDE, ONE, &[T], Body::Device(RSQRT))
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
    short("rsqrt", ONE, through_f32!("rsqrt")).cost(4).doc("`1 / self.sqrt()`"),
    Row::method("sin_cos", Class::Float, ONE, &[T, T], |b, a| vec![call_method(b, "sin", a), call_method(b, "cos", a)])
        .cost(60)
        .accuracy("as of `sin` and `cos`")
        .doc("sine and cosine"),
];

const RSQRT: Device = Device {
    ptx: &[
        PtxForm { types: &[Type::F32], text: "rsqrt.approx.f32 {d}, {0};", capability: 10, version: 10 },
        PtxForm { types: &[Type::F64], text: "sqrt.rn.f64 {tmp0:f64}, {0};\nrcp.rn.f64 {d}, {tmp0:f64};", capability: 20, version: 20 },
    ],
    without_ptx: "",
    opencl: "rsqrt({0})",
    opencl_prelude: "",
    eval: lane!(|x| 1.0 / x.sqrt()),
};
