//! Constant expressions: `const` items, array lengths, generic arguments. Evaluated on the typed tree with the IR's own arithmetic.

use super::tree::{Block, Expr, ExprKind};
use super::types::{Const, Infer, Ty};
use crate::ir::{BinaryOp, Scalar, Type, UnaryOp, eval};
use crate::syntax::ConstValue;
use proc_macro2::Span;

type Evaluated<T> = Result<T, (Span, String)>;

/// Most elements a constant array may have.
const MOST_ELEMENTS: i128 = 1 << 16;

/// Index arithmetic in constants is 64 bits wide; what does not fit the kernel's width is an error where it is used.
fn scalar_type(ty: &Ty) -> Option<Type> {
    match ty {
        Ty::Scalar(ty) => Some(*ty),
        Ty::Usize => Some(Type::U64),
        Ty::Isize => Some(Type::I64),
        _ => None,
    }
}

/// The value of a constant expression, whose type was inferred to be `ty`.
pub(super) fn evaluate(expr: &Expr, infer: &Infer, ty: &Ty) -> Evaluated<ConstValue> {
    let value = Evaluator { infer }.value(expr)?;
    Ok(retype(value, &infer.resolve(ty)))
}

/// The value of an integer or `bool` expression.
pub(super) fn evaluate_int(expr: &Expr, infer: &Infer) -> Evaluated<i128> {
    match (Evaluator { infer }).value(expr)? {
        ConstValue::Scalar(scalar) if !scalar.ty.is_float() => Ok(scalar.as_int()),
        ConstValue::Index(value, _) => Ok(value),
        _ => Err((expr.span, "expected an integer constant".to_owned())),
    }
}

/// `usize` values leave the evaluator as such.
fn retype(value: ConstValue, ty: &Ty) -> ConstValue {
    match (value, ty) {
        (ConstValue::Scalar(scalar), Ty::Usize | Ty::Isize) => ConstValue::Index(scalar.as_int(), *ty == Ty::Isize),
        (ConstValue::Aggregate(items), Ty::Array(element, _)) => {
            ConstValue::Aggregate(items.into_iter().map(|item| retype(item, element)).collect())
        }
        (ConstValue::Aggregate(items), Ty::Tuple(fields)) => {
            ConstValue::Aggregate(items.into_iter().zip(fields).map(|(item, ty)| retype(item, ty)).collect())
        }
        (value, _) => value,
    }
}

/// What an integer operation gives without wrapping, where it can wrap.
fn exact(op: BinaryOp, a: Scalar, b: Scalar) -> Option<i128> {
    let (a, b) = (a.as_int(), b.as_int());
    match op {
        BinaryOp::Add => Some(a + b),
        BinaryOp::Sub => Some(a - b),
        BinaryOp::Mul => a.checked_mul(b),
        _ => None,
    }
}

/// How many scalars a constant has.
fn elements(value: &ConstValue) -> i128 {
    match value {
        ConstValue::Aggregate(items) => items.iter().map(elements).fold(0, i128::saturating_add),
        _ => 1,
    }
}

struct Evaluator<'i> {
    infer: &'i Infer,
}

impl Evaluator<'_> {
    fn refuse<T>(&self, expr: &Expr) -> Evaluated<T> {
        Err((expr.span, "this cannot be evaluated while the kernel is compiled".to_owned()))
    }

    fn scalar(&self, expr: &Expr) -> Evaluated<Scalar> {
        match self.value(expr)? {
            ConstValue::Scalar(scalar) => Ok(scalar),
            ConstValue::Index(value, signed) => Ok(Scalar::int(if signed { Type::I64 } else { Type::U64 }, value)),
            ConstValue::Aggregate(_) => Err((expr.span, "expected a scalar constant".to_owned())),
        }
    }

    fn ty(&self, expr: &Expr) -> Evaluated<Type> {
        match scalar_type(&self.infer.resolve(&expr.ty)) {
            Some(ty) => Ok(ty),
            None => self.refuse(expr),
        }
    }

    fn value(&self, expr: &Expr) -> Evaluated<ConstValue> {
        let fault = || (expr.span, "this constant divides by zero".to_owned());
        let scalar = match &expr.kind {
            ExprKind::Int(value) => match self.infer.resolve(&expr.ty) {
                Ty::Var(_) => Scalar::int(Type::I64, *value),
                ty => match scalar_type(&ty) {
                    Some(ty) if ty.is_float() => Scalar::float(ty, *value as f64),
                    Some(ty) => Scalar::int(ty, *value),
                    None => return self.refuse(expr),
                },
            },
            ExprKind::Float(value) => Scalar::float(self.ty(expr)?, *value),
            ExprKind::Const(value) => return Ok(value.clone()),
            ExprKind::Unary(op, a) => {
                let a = self.scalar(a)?;
                eval::unary(*op, a).ok_or_else(fault)?
            }
            ExprKind::Binary(op, a, b) => {
                let (a, mut b) = (self.scalar(a)?, self.scalar(b)?);
                if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
                    b = Scalar::u32(b.bits as u32);
                }
                let result = eval::binary(*op, a, b).ok_or_else(fault)?;
                if !a.ty.is_float() && exact(*op, a, b).is_some_and(|exact| exact != result.as_int()) {
                    let message =
                        format!("this constant does not fit `{}`: {}", self.infer.resolve(&expr.ty), exact(*op, a, b).unwrap_or(0));
                    return Err((expr.span, message));
                }
                result
            }
            ExprKind::Compare(op, a, b) => eval::compare(*op, self.scalar(a)?, self.scalar(b)?).ok_or_else(fault)?,
            ExprKind::And(a, b) => Scalar::bool(self.scalar(a)?.is_true() && self.scalar(b)?.is_true()),
            ExprKind::Or(a, b) => Scalar::bool(self.scalar(a)?.is_true() || self.scalar(b)?.is_true()),
            ExprKind::Cast(a) => {
                let ty = self.ty(expr)?;
                eval::cast(self.scalar(a)?, ty).ok_or_else(fault)?
            }
            ExprKind::If(condition, then, Some(otherwise)) => {
                return if self.scalar(condition)?.is_true() { self.value(then) } else { self.value(otherwise) };
            }
            ExprKind::Block(Block { statements, tail: Some(tail) }) if statements.is_empty() => return self.value(tail),
            ExprKind::Array(items) => {
                return items.iter().map(|item| self.value(item)).collect::<Evaluated<_>>().map(ConstValue::Aggregate);
            }
            ExprKind::Repeat(item, n) => return self.repeat(item, self.infer.resolve_const(*n), expr),
            ExprKind::Aggregate(fields, None) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(index, _)| *index);
                return fields.iter().map(|(_, field)| self.value(field)).collect::<Evaluated<_>>().map(ConstValue::Aggregate);
            }
            ExprKind::Field(base, index) => match self.value(base)? {
                ConstValue::Aggregate(mut items) if (*index as usize) < items.len() => return Ok(items.swap_remove(*index as usize)),
                _ => return self.refuse(expr),
            },
            ExprKind::Index(base, index) => match (self.value(base)?, self.scalar(index)?) {
                (ConstValue::Aggregate(mut items), index) if (index.bits as usize) < items.len() => {
                    return Ok(items.swap_remove(index.bits as usize));
                }
                (ConstValue::Aggregate(items), index) => {
                    return Err((expr.span, format!("index {} is out of range for length {}", index.bits, items.len())));
                }
                _ => return self.refuse(expr),
            },
            ExprKind::Len(base) => match self.infer.resolve(&base.ty) {
                Ty::Array(_, Const::Value(n)) => return Ok(ConstValue::Index(n, false)),
                _ => return self.refuse(expr),
            },
            ExprKind::Intrinsic(row, ty, args) => return self.intrinsic(*row, ty, args, expr),
            _ => return self.refuse(expr),
        };
        Ok(ConstValue::Scalar(scalar))
    }

    fn repeat(&self, item: &Expr, n: Const, expr: &Expr) -> Evaluated<ConstValue> {
        let item = self.value(item)?;
        let Const::Value(n) = n else { return self.refuse(expr) };
        let total = n.saturating_mul(elements(&item).max(1));
        match usize::try_from(n) {
            Ok(n) if total <= MOST_ELEMENTS => Ok(ConstValue::Aggregate(vec![item; n])),
            _ => Err((expr.span, format!("a constant of {total} elements; at most {MOST_ELEMENTS} can be compiled in"))),
        }
    }

    fn intrinsic(&self, row: crate::intrinsics::RowId, ty: &Ty, args: &[Expr], expr: &Expr) -> Evaluated<ConstValue> {
        let args = args.iter().map(|arg| self.scalar(arg)).collect::<Evaluated<Vec<_>>>()?;
        let minmax = |op| match args.as_slice() {
            [a, b] => eval::binary(op, *a, *b),
            _ => None,
        };
        let known = match row.row().name {
            "min" => minmax(BinaryOp::Min),
            "max" => minmax(BinaryOp::Max),
            "abs" => args.first().and_then(|a| eval::unary(UnaryOp::Abs, *a)),
            "div_ceil" => match args.as_slice() {
                [a, b] if b.as_int() > 0 && a.as_int() >= 0 => Some(Scalar::int(a.ty, (a.as_int() + b.as_int() - 1) / b.as_int())),
                _ => None,
            },
            _ => None,
        };
        let lane = match row.row().device().map(|device| device.eval) {
            Some(crate::intrinsics::Eval::Lane(f)) => scalar_type(&self.infer.resolve(ty)).zip(self.ty(expr).ok()).map(|(t, result)| {
                let bits: Vec<u64> = args.iter().map(|a| a.bits).collect();
                Scalar::new(result, f(t, &bits))
            }),
            _ => None,
        };
        known.or(lane).map(ConstValue::Scalar).map_or_else(|| self.refuse(expr), Ok)
    }
}
