//! The operations of the IR over 32 lanes: one function per operation and type, instantiated from the meanings in
//! [`warpwright_codegen::ir::eval::lane`] and chosen once, when a kernel is compiled.

use super::fused;
use super::registers::{Check, Mask, Operands, Pure, Registers, Slot, Word, convert, map_count, map1, map2, map3};
use super::registers::{select, test1, test2, test3};
use half::{bf16, f16};
use warpwright_codegen::ir::eval::lane::{Bitwise, Integer, Lane, Number};
use warpwright_codegen::ir::{BinaryOp, CompareOp, Space, Type, UnaryOp};
use warpwright_codegen::target::limits::LANES;

/// Runs `$body` with `$T` as the Rust type of `$ty`, `None` for a type of no listed class. Pointers are integers here.
macro_rules! with_type {
    ($ty:expr, $T:ident: int => $body:expr) => {
        with_type!(@ carrier($ty), $T, $body, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    ($ty:expr, $T:ident: number => $body:expr) => {
        with_type!(@ carrier($ty), $T, $body, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64)
    };
    (@ $ty:expr, $T:ident, $body:expr, $($variant:ident $rust:ident),*) => {
        match $ty {
            $(Type::$variant => {
                type $T = $rust;
                $body
            })*
            _ => None,
        }
    };
}

/// The integer type that a pointer is carried in; other types are their own.
pub(super) fn carrier(ty: Type) -> Type {
    match ty {
        Type::Ptr(Space::Global) => Type::U64,
        Type::Ptr(_) => Type::U32,
        ty => ty,
    }
}

/// `d = op a`.
pub(super) fn unary(op: UnaryOp, ty: Type) -> Option<Pure> {
    match op {
        UnaryOp::Not if ty == Type::Bool => Some(|r, o| r.preds[usize::from(o.d)] = !r.preds[usize::from(o.a)]),
        UnaryOp::Not => with_type!(ty, T: int => Some(|r, o| map1::<T>(r, o, Bitwise::not))),
        UnaryOp::Neg => with_type!(ty, T: number => Some(|r, o| map1::<T>(r, o, Number::neg))),
        UnaryOp::Abs => with_type!(ty, T: number => Some(|r, o| map1::<T>(r, o, Number::abs))),
    }
}

/// `d = a op b`. Integer division gives zero for a lane that divides by zero; [`divides_by_zero`] finds those.
pub(super) fn binary(op: BinaryOp, ty: Type) -> Option<Pure> {
    fn logic(r: &mut Registers, o: &Operands, f: impl Fn(Mask, Mask) -> Mask) {
        r.preds[usize::from(o.d)] = f(r.preds[usize::from(o.a)], r.preds[usize::from(o.b)]);
    }
    let is_bool = ty == Type::Bool;
    match op {
        BinaryOp::And if is_bool => Some(|r, o| logic(r, o, |a, b| a & b)),
        BinaryOp::Or if is_bool => Some(|r, o| logic(r, o, |a, b| a | b)),
        BinaryOp::Xor if is_bool => Some(|r, o| logic(r, o, |a, b| a ^ b)),
        BinaryOp::And => with_type!(ty, T: int => Some(|r, o| map2::<T>(r, o, Bitwise::and))),
        BinaryOp::Or => with_type!(ty, T: int => Some(|r, o| map2::<T>(r, o, Bitwise::or))),
        BinaryOp::Xor => with_type!(ty, T: int => Some(|r, o| map2::<T>(r, o, Bitwise::xor))),
        BinaryOp::Shl => with_type!(ty, T: int => Some(|r, o| map_count::<T>(r, o, Integer::shl))),
        BinaryOp::Shr => with_type!(ty, T: int => Some(|r, o| map_count::<T>(r, o, Integer::shr))),
        BinaryOp::Add => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, Number::add))),
        BinaryOp::Sub => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, Number::sub))),
        BinaryOp::Mul => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, Number::mul))),
        BinaryOp::Div => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, |a, b| Number::div(a, b).unwrap_or(T::from_bits(0))))),
        BinaryOp::Rem => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, |a, b| Number::rem(a, b).unwrap_or(T::from_bits(0))))),
        BinaryOp::Min => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, Number::min))),
        BinaryOp::Max => with_type!(ty, T: number => Some(|r, o| map2::<T>(r, o, Number::max))),
    }
}

/// `d = a * b + c`.
pub(super) fn mul_add(ty: Type) -> Option<Pure> {
    match ty {
        Type::F32 => Some(fused::mul_add_f32()),
        Type::F64 => Some(fused::mul_add_f64()),
        _ => with_type!(ty, T: number => Some(|r, o| map3::<T>(r, o, Number::mul_add))),
    }
}

/// `d = a op b`, a `bool`.
pub(super) fn compare(op: CompareOp, ty: Type) -> Option<Pure> {
    if ty == Type::Bool { Some(compare_bools(op)) } else { with_type!(ty, T: number => Some(comparison::<T>(op))) }
}

fn compare_bools(op: CompareOp) -> Pure {
    fn put(r: &mut Registers, o: &Operands, f: impl Fn(Mask, Mask) -> Mask) {
        r.preds[usize::from(o.d)] = f(r.preds[usize::from(o.a)], r.preds[usize::from(o.b)]);
    }
    match op {
        CompareOp::Eq => |r, o| put(r, o, |a, b| !(a ^ b)),
        CompareOp::Ne => |r, o| put(r, o, |a, b| a ^ b),
        CompareOp::Lt => |r, o| put(r, o, |a, b| !a & b),
        CompareOp::Le => |r, o| put(r, o, |a, b| !a | b),
        CompareOp::Gt => |r, o| put(r, o, |a, b| a & !b),
        CompareOp::Ge => |r, o| put(r, o, |a, b| a | !b),
    }
}

fn comparison<T: Slot>(op: CompareOp) -> Pure {
    fn put<T: Slot>(r: &mut Registers, o: &Operands, f: impl Fn(T, T) -> bool) {
        r.preds[usize::from(o.d)] = test2(r, o, f);
    }
    match op {
        CompareOp::Eq => |r, o| put::<T>(r, o, |a, b| a == b),
        CompareOp::Ne => |r, o| put::<T>(r, o, |a, b| a != b),
        CompareOp::Lt => |r, o| put::<T>(r, o, |a, b| a < b),
        CompareOp::Le => |r, o| put::<T>(r, o, |a, b| a <= b),
        CompareOp::Gt => |r, o| put::<T>(r, o, |a, b| a > b),
        CompareOp::Ge => |r, o| put::<T>(r, o, |a, b| a >= b),
    }
}

/// `d = if c { a } else { b }`; the condition is operand `c`.
pub(super) fn selection(ty: Type) -> Pure {
    match carrier(ty) {
        Type::Bool => |r, o| {
            let [a, b, c] = [o.a, o.b, o.c].map(|n| r.preds[usize::from(n)]);
            r.preds[usize::from(o.d)] = a & c | b & !c;
        },
        ty if ty.bytes() == 8 => select::<u64>,
        _ => select::<u32>,
    }
}

/// `d = a as to`.
pub(super) fn cast(from: Type, to: Type) -> Option<Pure> {
    match (carrier(from), carrier(to)) {
        (Type::Bool, Type::Bool) => Some(|r, o| r.preds[usize::from(o.d)] = r.preds[usize::from(o.a)]),
        (Type::Bool, to) if !to.is_int() => None,
        (Type::Bool, to) if to.bytes() == 8 => Some(spread::<u64>),
        (Type::Bool, _) => Some(spread::<u32>),
        (from, to) => with_type!(from, S: number => with_type!(to, T: number => Some(|r, o| convert::<S, T>(r, o, Number::cast::<T>)))),
    }
}

/// `d = 1` where the `bool` holds, else 0.
fn spread<W: Word>(r: &mut Registers, o: &Operands) {
    let mask = r.preds[usize::from(o.a)];
    let dest = &mut W::file_mut(r)[usize::from(o.d)];
    for (lane, word) in dest.iter_mut().enumerate() {
        *word = W::cut(u64::from(mask >> lane & 1));
    }
}

/// `d = a`, bits as they are. Both types are equally wide.
pub(super) fn bitcast(from: Type, to: Type) -> Option<Pure> {
    let (from, to) = (carrier(from), carrier(to));
    match from {
        _ if from.bits() != to.bits() => None,
        Type::Bool => cast(from, to),
        _ if from.bytes() == 8 => Some(|r, o| map1::<u64>(r, o, |a| a)),
        _ => Some(|r, o| map1::<u32>(r, o, |a| a)),
    }
}

/// Finds the lanes whose divisor `b` is zero. `None` for types that divide by zero without harm.
pub(super) fn divides_by_zero(ty: Type) -> Option<Check> {
    with_type!(ty, T: int => Some(|r, o| test1::<T>(r, &Operands { a: o.b, ..*o }, |b| b == 0)))
}

/// Finds the lanes whose value `a` is zero or less.
pub(super) fn is_not_positive(ty: Type) -> Option<Check> {
    with_type!(ty, T: int => Some(|r, o| test1::<T>(r, o, |a| a < 1)))
}

/// Finds the lanes where `op` does not fit its integer type.
pub(super) fn overflows(op: BinaryOp, ty: Type) -> Option<Check> {
    fn exact<T: Slot>(r: &Registers, o: &Operands, f: impl Fn(i128, i128) -> i128) -> Mask {
        test2::<T>(r, o, |a, b| fits_not::<T>(f(as_i128(a), as_i128(b))))
    }
    match op {
        BinaryOp::Add => with_type!(ty, T: int => Some(|r, o| exact::<T>(r, o, |a, b| a + b))),
        BinaryOp::Sub => with_type!(ty, T: int => Some(|r, o| exact::<T>(r, o, |a, b| a - b))),
        BinaryOp::Mul => with_type!(ty, T: int => Some(|r, o| exact::<T>(r, o, |a, b| a.wrapping_mul(b)))),
        BinaryOp::Div => with_type!(ty, T: int => Some(|r, o| exact::<T>(r, o, |a, b| if b == 0 { 0 } else { a / b }))),
        _ => None,
    }
}

/// The same for `-a` and `|a|`.
pub(super) fn unary_overflows(op: UnaryOp, ty: Type) -> Option<Check> {
    match op {
        UnaryOp::Neg if ty.is_signed_int() => with_type!(ty, T: int => Some(|r, o| test1::<T>(r, o, |a| fits_not::<T>(-as_i128(a))))),
        UnaryOp::Abs => with_type!(ty, T: int => Some(|r, o| test1::<T>(r, o, |a| fits_not::<T>(as_i128(a).abs())))),
        _ => None,
    }
}

/// The same for `a * b + c`.
pub(super) fn mul_add_overflows(ty: Type) -> Option<Check> {
    with_type!(ty, T: int => Some(|r, o| test3::<T>(r, o, |a, b, c| {
        let product = as_i128(a).wrapping_mul(as_i128(b));
        fits_not::<T>(product) || fits_not::<T>(product.wrapping_add(as_i128(c)))
    })))
}

/// The value of an integer. Products of two 64-bit ones fit 128 bits signed, but for `u64::MAX` squared and its like, which wrap to a
/// negative number or one far beyond 64 bits: either way it does not fit.
fn as_i128<T: Lane>(a: T) -> i128 {
    warpwright_codegen::ir::Scalar::new(T::TYPE, a.to_bits()).as_int()
}

fn fits_not<T: Lane>(value: i128) -> bool {
    let bits = T::TYPE.bits();
    let (low, high) = if T::TYPE.is_signed_int() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    value < low || value > high
}

/// One step of a `for`: `d`, a `bool`, tells whether another iteration follows, of `a` (induction variable), `b` (end) and `c` (step);
/// then `a` steps. Computed without wrapping: `end - iv` is above zero here, so its unsigned difference is exact.
pub(super) fn next_iteration(ty: Type) -> Option<Pure> {
    fn run<T: Slot + Number>(r: &mut Registers, o: &Operands) {
        r.preds[usize::from(o.d)] = test3::<T>(r, o, |iv, end, step| end.sub(iv).to_bits() > step.to_bits());
        let step = T::Word::file(r)[usize::from(o.c)];
        let iv = &mut T::Word::file_mut(r)[usize::from(o.a)];
        for lane in 0..LANES {
            iv[lane] = T::take(iv[lane]).add(T::take(step[lane])).give();
        }
    }
    with_type!(ty, T: int => Some(run::<T>))
}
