//! ConstantForm expressions: `const` items, array lengths, generic arguments. Evaluated on the typed tree with the IR's own arithmetic.

use super::check::edits::{nearest_number, wider};
use super::tree::{Block, Expr, ExprKind};
use super::types::{Const, Infer, Ty};
use crate::diagnostic::Diagnostic;
use crate::intrinsics;
use crate::ir::intrinsic::ConstantForm;
use crate::ir::{BinaryOp, Scalar, Type, UnaryOp, eval};
use crate::syntax::ConstValue;
use proc_macro2::Span;

type Evaluated<T> = Result<T, Fault>;

/// Why a constant has no value.
pub(super) struct Fault {
    span: Span,
    message: String,
    /// The edit that mends it.
    help: String,
    /// Whether it is a rule of Rust's: of a `const` item `rustc` says it too.
    is_rusts: bool,
}

impl Fault {
    /// What is wrong with an expression that `rustc` does not evaluate, or not with these types: an argument of an annotation.
    pub(super) fn error(self) -> Diagnostic {
        Diagnostic::error(self.span, self.message).help(self.help)
    }

    /// What is wrong with the value of a `const` item.
    pub(super) fn error_of_item(self) -> Diagnostic {
        let is_rusts = self.is_rusts;
        let error = self.error();
        if is_rusts { error.by_rustc() } else { error }
    }
}

fn fault<T>(expr: &Expr, message: impl Into<String>, help: impl Into<String>) -> Evaluated<T> {
    Err(Fault { span: expr.span, message: message.into(), help: help.into(), is_rusts: true })
}

const DIVIDES_BY_ZERO: &str = "this constant divides by zero";

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
        _ => fault(expr, "expected an integer constant", "write an integer, like `4`"),
    }
}

/// `usize` values leave the evaluator as such.
fn retype(value: ConstValue, ty: &Ty) -> ConstValue {
    match (value, ty) {
        (ConstValue::Scalar(scalar), Ty::Usize | Ty::Isize) => ConstValue::Index(scalar.as_int(), *ty == Ty::Isize),
        (ConstValue::Array(items), Ty::Array(element, _)) => {
            ConstValue::Array(items.into_iter().map(|item| retype(item, element)).collect())
        }
        (ConstValue::Tuple(items), Ty::Tuple(fields)) => {
            ConstValue::Tuple(items.into_iter().zip(fields).map(|(item, ty)| retype(item, ty)).collect())
        }
        (value, _) => value,
    }
}

/// What an integer operation gives without wrapping, where it can wrap. Products of two numbers of 64 bits fit.
fn exact(op: BinaryOp, a: i128, b: i128) -> Option<i128> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => Some(a.saturating_mul(b)),
        BinaryOp::Div => a.checked_div(b),
        _ => None,
    }
}

/// A number that no arithmetic here gives exactly is said to be beyond the greatest that is.
fn figure(value: i128) -> String {
    match value {
        i128::MAX => "more than 2¹²⁷".to_owned(),
        i128::MIN => "less than −2¹²⁷".to_owned(),
        value => value.to_string(),
    }
}

/// How many scalars a constant has.
fn elements(value: &ConstValue) -> i128 {
    match value {
        ConstValue::Array(items) | ConstValue::Tuple(items) => items.iter().map(elements).fold(0, i128::saturating_add),
        _ => 1,
    }
}

struct Evaluator<'i> {
    infer: &'i Infer,
}

impl Evaluator<'_> {
    fn refuse<T>(&self, expr: &Expr) -> Evaluated<T> {
        let message = "this cannot be evaluated while the kernel is compiled".to_owned();
        let help = "write its value as a number, or pass it to the kernel as a parameter".to_owned();
        Err(Fault { span: expr.span, message, help, is_rusts: false })
    }

    fn scalar(&self, expr: &Expr) -> Evaluated<Scalar> {
        match self.value(expr)? {
            ConstValue::Scalar(scalar) => Ok(scalar),
            ConstValue::Index(value, signed) => Ok(Scalar::int(if signed { Type::I64 } else { Type::U64 }, value)),
            ConstValue::Array(_) | ConstValue::Tuple(_) => {
                fault(expr, "expected a scalar constant", "write one number, or index the array")
            }
        }
    }

    fn ty(&self, expr: &Expr) -> Evaluated<Type> {
        match scalar_type(&self.infer.resolve(&expr.ty)) {
            Some(ty) => Ok(ty),
            None => self.refuse(expr),
        }
    }

    fn value(&self, expr: &Expr) -> Evaluated<ConstValue> {
        let none = || {
            let help = "divide by a number other than 0".to_owned();
            Fault { span: expr.span, message: DIVIDES_BY_ZERO.to_owned(), help, is_rusts: true }
        };
        let scalar = match &expr.kind {
            ExprKind::Int(value) => match self.infer.resolve(&expr.ty) {
                Ty::Var(_) => self.fitting(Type::I64, *value, expr)?,
                ty => match scalar_type(&ty) {
                    Some(ty) if ty.is_float() => Scalar::float(ty, *value as f64),
                    Some(ty) => self.fitting(ty, *value, expr)?,
                    None => return self.refuse(expr),
                },
            },
            ExprKind::Float(value) => Scalar::float(self.ty(expr)?, *value),
            ExprKind::Const(value) => return Ok(value.clone()),
            ExprKind::Unary(op, a) => {
                let a = self.scalar(a)?;
                let result = eval::unary(*op, a).ok_or_else(none)?;
                match op {
                    UnaryOp::Neg if a.ty.is_int() => self.fitting(a.ty, -a.as_int(), expr)?,
                    _ => result,
                }
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, self.scalar(a)?, self.scalar(b)?, expr)?.ok_or_else(none)?,
            ExprKind::Compare(op, a, b) => eval::compare(*op, self.scalar(a)?, self.scalar(b)?).ok_or_else(none)?,
            ExprKind::And(a, b) => Scalar::bool(self.scalar(a)?.is_true() && self.scalar(b)?.is_true()),
            ExprKind::Or(a, b) => Scalar::bool(self.scalar(a)?.is_true() || self.scalar(b)?.is_true()),
            ExprKind::Cast(a) => {
                let ty = self.ty(expr)?;
                eval::cast(self.scalar(a)?, ty).ok_or_else(none)?
            }
            ExprKind::If(condition, then, Some(otherwise)) => {
                return if self.scalar(condition)?.is_true() { self.value(then) } else { self.value(otherwise) };
            }
            ExprKind::Block(Block { statements, tail: Some(tail) }) if statements.is_empty() => return self.value(tail),
            ExprKind::Array(items) => {
                return items.iter().map(|item| self.value(item)).collect::<Evaluated<_>>().map(ConstValue::Array);
            }
            ExprKind::Repeat(item, n) => return self.repeat(item, self.infer.resolve_const(*n), expr),
            ExprKind::Aggregate(fields, None) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(index, _)| *index);
                return fields.iter().map(|(_, field)| self.value(field)).collect::<Evaluated<_>>().map(ConstValue::Tuple);
            }
            ExprKind::Field(base, index) => match self.value(base)? {
                ConstValue::Tuple(mut items) if (*index as usize) < items.len() => return Ok(items.swap_remove(*index as usize)),
                _ => return self.refuse(expr),
            },
            ExprKind::Index(base, index) => match (self.value(base)?, self.scalar(index)?) {
                (ConstValue::Array(mut items), index) if (index.bits as usize) < items.len() => {
                    return Ok(items.swap_remove(index.bits as usize));
                }
                (ConstValue::Array(items), index) => {
                    let help = format!("use an index below {}, or make the array longer", items.len());
                    return fault(expr, format!("index {} is out of range for length {}", index.bits, items.len()), help);
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

    /// A number of this type, if it is one.
    fn fitting(&self, ty: Type, value: i128, expr: &Expr) -> Evaluated<Scalar> {
        if ty == Type::Bool {
            return Ok(Scalar::bool(value != 0));
        }
        if ty.numbers().contains(&value) {
            return Ok(Scalar::int(ty, value));
        }
        let fit = nearest_number(ty, value);
        let help = match wider(ty, value) {
            Some(wider) => format!("make it {fit}, or of the type `{wider}`"),
            None => format!("make it {fit}"),
        };
        let ty = match self.infer.resolve(&expr.ty) {
            Ty::Var(_) => ty.to_string(),
            ty => ty.to_string(),
        };
        fault(expr, format!("this constant does not fit `{ty}`: {}", figure(value)), help)
    }

    /// `None` for a division by zero.
    fn binary(&self, op: BinaryOp, a: Scalar, b: Scalar, expr: &Expr) -> Evaluated<Option<Scalar>> {
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            let (count, bits) = (b.as_int(), a.ty.bits());
            if !(0..i128::from(bits)).contains(&count) {
                let ty = self.infer.resolve(&expr.ty);
                let message = format!("this constant is shifted by {count}, and a `{ty}` has {bits} bits");
                return fault(expr, message, format!("shift it by 0 to {}", bits - 1));
            }
            return Ok(eval::binary(op, a, Scalar::u32(count as u32)));
        }
        match exact(op, a.as_int(), b.as_int()).filter(|_| a.ty.is_int()) {
            Some(exact) => self.fitting(a.ty, exact, expr).map(Some),
            None => Ok(eval::binary(op, a, b)),
        }
    }

    fn repeat(&self, item: &Expr, n: Const, expr: &Expr) -> Evaluated<ConstValue> {
        let item = self.value(item)?;
        let Const::Value(n) = n else { return self.refuse(expr) };
        let total = n.saturating_mul(elements(&item).max(1));
        match usize::try_from(n) {
            Ok(n) if total <= MOST_ELEMENTS => Ok(ConstValue::Array(vec![item; n])),
            _ => {
                let message = format!("a constant of {total} elements; at most {MOST_ELEMENTS} can be compiled in");
                let help = "pass it to the kernel in a buffer, `&Global<f32>`".to_owned();
                Err(Fault { span: expr.span, message, help, is_rusts: false })
            }
        }
    }

    fn intrinsic(&self, row: crate::ir::intrinsic::IntrinsicId, ty: &Ty, args: &[Expr], expr: &Expr) -> Evaluated<ConstValue> {
        let args = args.iter().map(|arg| self.scalar(arg)).collect::<Evaluated<Vec<_>>>()?;
        let constant = args.first().and_then(|first| intrinsics::row_for(row, first.ty).row().constant);
        let known = match constant {
            Some(ConstantForm::Exact(of)) => {
                let numbers: Vec<i128> = args.iter().map(|a| a.as_int()).collect();
                of(&numbers).map(|value| self.fitting(self.ty(expr)?, value, expr)).transpose()?
            }
            Some(ConstantForm::OfScalars(of)) => of(&args),
            None => None,
        };
        let lane = match row.row().device().map(|device| device.eval) {
            Some(crate::ir::intrinsic::Eval::Lane(f)) => scalar_type(&self.infer.resolve(ty)).zip(self.ty(expr).ok()).map(|(t, result)| {
                let bits: Vec<u64> = args.iter().map(|a| a.bits).collect();
                Scalar::new(result, f(t, &bits))
            }),
            _ => None,
        };
        known.or(lane).map(ConstValue::Scalar).map_or_else(|| self.refuse(expr), Ok)
    }
}
