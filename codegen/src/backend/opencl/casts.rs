//! Casts: Rust's `as` for every pair of types, and the same bits as another type.
//!
//! * Integer to integer truncates or extends; C's conversion does just that on every compiler there is.
//! * Float to integer saturates, NaN gives 0. `convert_T_sat` saturates; its NaN is only a "should" in the standard (Oclgrind gives
//!   the minimum), so it is asked for first.
//! * `f32` to `f16` by `vstore_half_rte`, from it by `vload_half`, both core without `cl_khr_fp16`, through private memory. An integer
//!   beyond 2²⁴, inexact as `float`, is far beyond 65,504 anyway, so going through `float` rounds once.
//! * `f32` to `bf16` by integer code.
//! * `f64` to either, and wide integers to `bf16`, go through a `float` rounded to odd (truncated, last bit set if anything was
//!   lost), from which rounding to nearest is right: Boldo, Melquiond, *Emulation of FMA and correctly rounded sums* (2008).

use super::Writer;
use super::expressions::{Expr, PRIMARY, UNARY};
use super::types::value_type;
use crate::backend::structured::Values;
use crate::ir::{Type, Value};

impl Writer<'_> {
    /// `a as to`.
    pub(super) fn cast(&mut self, a: Value, to: Type) -> Expr {
        let from = self.kernel.ty(a);
        let expr = self.take(a);
        self.cast_expr(&expr, from, to)
    }

    /// `expr as to`, where `expr` has type `from`.
    pub(super) fn cast_expr(&mut self, expr: &Expr, from: Type, to: Type) -> Expr {
        let half = |ty| matches!(ty, Type::F16 | Type::BF16);
        match (from, to) {
            _ if from == to => expr.clone(),
            (Type::F16, Type::F32) => self.call(&self.prelude.half_to_float(), expr, from),
            (Type::BF16, Type::F32) => Expr::over(format!("as_float((uint){} << 16)", expr.at(UNARY)), PRIMARY, &[expr]),
            (Type::F16 | Type::BF16, _) => {
                let single = self.cast_expr(expr, from, Type::F32);
                self.cast_expr(&single, Type::F32, to)
            }
            (Type::F32 | Type::F64, Type::F16) => self.call(&self.prelude.float_to_half(from), expr, from),
            (_, Type::F16) => {
                let single = self.cast_expr(expr, from, Type::F32);
                self.cast_expr(&single, Type::F32, to)
            }
            (Type::F32 | Type::F64 | Type::I32 | Type::I64 | Type::U32 | Type::U64, Type::BF16) => {
                self.call(&self.prelude.to_bfloat(from), expr, from)
            }
            (_, Type::BF16) => {
                let single = self.cast_expr(expr, from, Type::F32);
                self.cast_expr(&single, Type::F32, to)
            }
            (Type::F32 | Type::F64, _) if to.is_int() => self.call(&self.prelude.float_to_int(from, to), expr, from),
            _ if half(from) || half(to) => expr.clone(),
            _ => self.convert(expr, from, to),
        }
    }

    /// C's own conversion.
    fn convert(&self, expr: &Expr, from: Type, to: Type) -> Expr {
        if from.is_signed_int() && from.to_unsigned() == to {
            return expr.unsigned_bits(from);
        }
        let cast = Expr::over(format!("({}){}", value_type(to), expr.at(UNARY)), UNARY, &[expr]);
        if to.is_signed_int() && to.to_unsigned() == from && !expr.extra.loose { cast.with_unsigned(expr) } else { cast }
    }

    fn call(&self, function: &str, expr: &Expr, from: Type) -> Expr {
        Expr::over(format!("{function}({})", expr.typed(from)), PRIMARY, &[expr])
    }

    /// The bits of `a` as `to`, as wide.
    pub(super) fn bitcast(&mut self, a: Value, to: Type) -> Expr {
        let from = self.kernel.ty(a);
        let expr = self.take(a);
        bitcast_expr(&expr, from, to)
    }
}

/// The bits of `expr`, of type `from`, as `to`.
pub(super) fn bitcast_expr(expr: &Expr, from: Type, to: Type) -> Expr {
    let (held_from, held_to) = (value_type(from), value_type(to));
    if held_from == held_to {
        return expr.clone();
    }
    let float = |ty| matches!(ty, Type::F32 | Type::F64);
    if float(from) || float(to) {
        return Expr::over(format!("as_{held_to}({})", expr.typed(from)), PRIMARY, &[expr]);
    }
    if from.to_unsigned() == to && from.is_signed_int() {
        return expr.unsigned_bits(from);
    }
    Expr::over(format!("({held_to}){}", expr.at(UNARY)), UNARY, &[expr])
}
