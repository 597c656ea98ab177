//! Instructions on whole numbers and bits. Each is chosen once by its name and type, as a function of registers' bits.

use crate::ty::{Ty, low};
use std::cmp::Ordering;

/// A function of one value, of two, of three.
pub(crate) type Unary = fn(u64) -> u64;
pub(crate) type Binary = fn(u64, u64) -> u64;
pub(crate) type Ternary = fn(u64, u64, u64) -> u64;

/// A function of values of one of the types of whole numbers, as one of their bits.
macro_rules! of_int {
    ($ty:expr, |$($x:ident),*| $result:expr) => {
        match $ty {
            Ty::U16 | Ty::B16 => Some((|$($x: u64),*| { $(let $x = $x as u16;)* ($result) as u16 as u64 }) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::S16 => Some((|$($x: u64),*| { $(let $x = $x as i16;)* ($result) as u16 as u64 }) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::U32 | Ty::B32 => Some((|$($x: u64),*| { $(let $x = $x as u32;)* ($result) as u32 as u64 }) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::S32 => Some((|$($x: u64),*| { $(let $x = $x as i32;)* ($result) as u32 as u64 }) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::U64 | Ty::B64 => Some((|$($x: u64),*| { $(let $x = $x;)* ($result) as u64 }) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::S64 => Some((|$($x: u64),*| { $(let $x = $x as i64;)* ($result) as u64 }) as fn($(of_int!(@ $x)),*) -> u64),
            _ => None,
        }
    };
    (@ $x:ident) => { u64 };
}

/// The same of bits, and of predicates.
macro_rules! of_bits {
    ($ty:expr, |$($x:ident),*| $result:expr) => {
        match $ty {
            Ty::Pred => Some((|$($x: u64),*| ($result) & 1) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::B16 => Some((|$($x: u64),*| low($result, 16)) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::B32 => Some((|$($x: u64),*| low($result, 32)) as fn($(of_int!(@ $x)),*) -> u64),
            Ty::B64 => Some((|$($x: u64),*| $result) as fn($(of_int!(@ $x)),*) -> u64),
            _ => None,
        }
    };
}

/// Functions of one value: `abs`, `neg`, `not`, `cnot`, `popc`, `clz`, `brev`, `bfind`.
pub(crate) fn unary(name: &str, ty: Ty) -> Option<Unary> {
    match name {
        "abs" if ty.is_signed() => match ty {
            Ty::S16 => Some(|a| u64::from((a as i16).wrapping_abs() as u16)),
            Ty::S32 => Some(|a| u64::from((a as i32).wrapping_abs() as u32)),
            _ => Some(|a| (a as i64).wrapping_abs() as u64),
        },
        "neg" if ty.is_signed() => of_int!(ty, |a| a.wrapping_neg()),
        "not" => of_bits!(ty, |a| !a),
        "cnot" if ty.is_untyped() => of_int!(ty, |a| u64::from(a == 0)),
        "popc" if matches!(ty, Ty::B32 | Ty::B64) => of_int!(ty, |a| a.count_ones()),
        "clz" if matches!(ty, Ty::B32 | Ty::B64) => of_int!(ty, |a| a.leading_zeros()),
        "brev" if matches!(ty, Ty::B32 | Ty::B64) => of_int!(ty, |a| a.reverse_bits()),
        "bfind" => match ty {
            Ty::U32 => Some(|a| u64::from(31u32.wrapping_sub((a as u32).leading_zeros()))),
            Ty::U64 => Some(|a| u64::from(63u32.wrapping_sub(a.leading_zeros()))),
            Ty::S32 => Some(|a| u64::from(31u32.wrapping_sub((a as i32 ^ (a as i32 >> 31)).leading_zeros()))),
            Ty::S64 => Some(|a| u64::from(63u32.wrapping_sub((a as i64 ^ (a as i64 >> 63)).leading_zeros()))),
            _ => None,
        },
        _ => None,
    }
}

/// Functions of two values of one type.
pub(crate) fn binary(name: &str, ty: Ty) -> Option<Binary> {
    match name {
        "and" => of_bits!(ty, |a, b| a & b),
        "or" => of_bits!(ty, |a, b| a | b),
        "xor" => of_bits!(ty, |a, b| a ^ b),
        "shl" if ty.is_untyped() => shift_left(ty),
        "shr" => shift_right(ty),
        _ if !ty.is_int() => None,
        "add" => of_int!(ty, |a, b| a.wrapping_add(b)),
        "sub" => of_int!(ty, |a, b| a.wrapping_sub(b)),
        "mul.lo" => of_int!(ty, |a, b| a.wrapping_mul(b)),
        "mul.hi" => match ty {
            Ty::U64 => Some(|a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
            Ty::S64 => Some(|a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64),
            Ty::U32 => Some(|a, b| (u64::from(a as u32) * u64::from(b as u32)) >> 32),
            Ty::S32 => Some(|a, b| low(((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u64, 32)),
            Ty::U16 => Some(|a, b| u64::from((u32::from(a as u16) * u32::from(b as u16)) >> 16)),
            Ty::S16 => Some(|a, b| low(((i64::from(a as i16) * i64::from(b as i16)) >> 16) as u64, 16)),
            _ => None,
        },
        "mul.wide" => match ty {
            Ty::U32 => Some(|a, b| u64::from(a as u32) * u64::from(b as u32)),
            Ty::S32 => Some(|a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64),
            Ty::U16 => Some(|a, b| u64::from(u32::from(a as u16) * u32::from(b as u16))),
            Ty::S16 => Some(|a, b| low((i64::from(a as i16) * i64::from(b as i16)) as u64, 32)),
            _ => None,
        },
        "mul24.lo" => match ty {
            Ty::U32 => Some(|a, b| low((a & 0xff_ffff) * (b & 0xff_ffff), 32)),
            Ty::S32 => Some(|a, b| low((i64::from((a as i32) << 8 >> 8) * i64::from((b as i32) << 8 >> 8)) as u64, 32)),
            _ => None,
        },
        // By zero, the machine gives all ones, and the dividend is the rest: PTX says that it depends on the machine.
        "div" => of_int!(ty, |a, b| if b == 0 { !b } else { a.wrapping_div(b) }),
        "rem" => of_int!(ty, |a, b| if b == 0 { a } else { a.wrapping_rem(b) }),
        "min" => of_int!(ty, |a, b| a.min(b)),
        "max" => of_int!(ty, |a, b| a.max(b)),
        _ => None,
    }
}

/// Counts above the width shift all out.
fn shift_left(ty: Ty) -> Option<Binary> {
    match ty {
        Ty::B16 => Some(|a, b| if low(b, 32) > 15 { 0 } else { low(a << low(b, 32), 16) }),
        Ty::B32 => Some(|a, b| if low(b, 32) > 31 { 0 } else { low(a << low(b, 32), 32) }),
        Ty::B64 => Some(|a, b| if low(b, 32) > 63 { 0 } else { a << low(b, 32) }),
        _ => None,
    }
}

fn shift_right(ty: Ty) -> Option<Binary> {
    match ty {
        Ty::B16 | Ty::U16 => Some(|a, b| if low(b, 32) > 15 { 0 } else { low(a, 16) >> low(b, 32) }),
        Ty::B32 | Ty::U32 => Some(|a, b| if low(b, 32) > 31 { 0 } else { low(a, 32) >> low(b, 32) }),
        Ty::B64 | Ty::U64 => Some(|a, b| if low(b, 32) > 63 { 0 } else { a >> low(b, 32) }),
        Ty::S16 => Some(|a, b| u64::from((a as i16 >> low(b, 32).min(15)) as u16)),
        Ty::S32 => Some(|a, b| u64::from((a as i32 >> low(b, 32).min(31)) as u32)),
        Ty::S64 => Some(|a, b| (a as i64 >> low(b, 32).min(63)) as u64),
        _ => None,
    }
}

/// Functions of three values.
pub(crate) fn ternary(name: &str, ty: Ty) -> Option<Ternary> {
    match name {
        "mad.lo" if ty.is_int() => of_int!(ty, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        "mad.wide" => match ty {
            Ty::U32 => Some(|a, b, c| (u64::from(a as u32) * u64::from(b as u32)).wrapping_add(c)),
            Ty::S32 => Some(|a, b, c| (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64),
            Ty::U16 => Some(|a, b, c| u64::from((u32::from(a as u16) * u32::from(b as u16)).wrapping_add(c as u32))),
            Ty::S16 => Some(|a, b, c| u64::from((i32::from(a as i16) * i32::from(b as i16)).wrapping_add(c as i32) as u32)),
            _ => None,
        },
        "mad.hi" => match ty {
            Ty::U32 => Some(|a, b, c| u64::from((((u64::from(a as u32) * u64::from(b as u32)) >> 32) as u32).wrapping_add(c as u32))),
            Ty::S32 => Some(|a, b, c| u64::from((((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c as u32))),
            _ => None,
        },
        "mad24.lo" => match ty {
            Ty::U32 => Some(|a, b, c| low(((a & 0xff_ffff) * (b & 0xff_ffff)).wrapping_add(c), 32)),
            Ty::S32 => {
                Some(|a, b, c| low((i64::from((a as i32) << 8 >> 8) * i64::from((b as i32) << 8 >> 8)).wrapping_add(c as i64) as u64, 32))
            }
            _ => None,
        },
        "sad" => match ty {
            Ty::U32 => Some(|a, b, c| u64::from((a as u32).abs_diff(b as u32).wrapping_add(c as u32))),
            Ty::S32 => Some(|a, b, c| u64::from((a as i32).abs_diff(b as i32).wrapping_add(c as u32))),
            Ty::U16 => Some(|a, b, c| u64::from((a as u16).abs_diff(b as u16).wrapping_add(c as u16))),
            Ty::S16 => Some(|a, b, c| u64::from((a as i16).abs_diff(b as i16).wrapping_add(c as u16))),
            Ty::U64 => Some(|a, b, c| a.abs_diff(b).wrapping_add(c)),
            Ty::S64 => Some(|a, b, c| (a as i64).abs_diff(b as i64).wrapping_add(c)),
            _ => None,
        },
        "bfe" => match ty {
            Ty::U32 => Some(|a, b, c| extract(low(a, 32), b, c, 32, false)),
            Ty::S32 => Some(|a, b, c| extract(low(a, 32), b, c, 32, true)),
            Ty::U64 => Some(|a, b, c| extract(a, b, c, 64, false)),
            Ty::S64 => Some(|a, b, c| extract(a, b, c, 64, true)),
            _ => None,
        },
        "prmt" if ty == Ty::B32 => Some(permute),
        "shf.l.wrap" if ty == Ty::B32 => Some(|a, b, c| funnel(a, b) << (c & 31) >> 32),
        "shf.l.clamp" if ty == Ty::B32 => Some(|a, b, c| ((u128::from(funnel(a, b)) << low(c, 32).min(32) >> 32) & 0xffff_ffff) as u64),
        "shf.r.wrap" if ty == Ty::B32 => Some(|a, b, c| low(funnel(a, b) >> (c & 31), 32)),
        "shf.r.clamp" if ty == Ty::B32 => Some(|a, b, c| low(funnel(a, b) >> low(c, 32).min(32), 32)),
        "dp4a.u32.u32" => Some(|a, b, c| dot(a, b, c, [false, false])),
        "dp4a.s32.s32" => Some(|a, b, c| dot(a, b, c, [true, true])),
        "dp4a.u32.s32" => Some(|a, b, c| dot(a, b, c, [false, true])),
        "dp4a.s32.u32" => Some(|a, b, c| dot(a, b, c, [true, false])),
        "vabsdiff4" => Some(|a, b, c| low((0..4).map(|n| (a >> (8 * n) & 255).abs_diff(b >> (8 * n) & 255)).sum::<u64>() + low(c, 32), 32)),
        _ => None,
    }
}

/// `b` above `a`.
fn funnel(a: u64, b: u64) -> u64 {
    low(b, 32) << 32 | low(a, 32)
}

/// `bfe`: where the field goes beyond the highest bit, that bit is its sign.
fn extract(a: u64, position: u64, length: u64, bits: u64, is_signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let sign_at = (position + length).saturating_sub(1).min(bits - 1);
    let sign = is_signed && length != 0 && a >> sign_at & 1 == 1;
    let field = if position >= bits { 0 } else { low(a >> position, length.min(64) as u32) };
    let field = low(field, bits as u32);
    // Bits that the operand has of the field.
    let had = length.min(bits.saturating_sub(position));
    let above = if had >= 64 { 0 } else { u64::MAX << had };
    low(if sign { field | above } else { field }, bits as u32)
}

/// `bfi`: so many bits of `a` at a place of `b`.
pub(crate) fn insert(a: u64, b: u64, position: u64, length: u64, bits: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position >= bits {
        return b;
    }
    let mask = low(u64::MAX, length.min(64) as u32) << position;
    low(b & !mask | a << position & mask, bits as u32)
}

/// `prmt` by four selectors of four bits: which byte, and whether its sign alone.
fn permute(a: u64, b: u64, c: u64) -> u64 {
    let bytes = low(b, 32) << 32 | low(a, 32);
    let byte = |n: u64| {
        let selector = c >> (4 * n) & 15;
        let byte = bytes >> (8 * (selector & 7)) & 255;
        let byte = if selector & 8 == 0 { byte } else { 255 * (byte >> 7) };
        byte << (8 * n)
    };
    (0..4).map(byte).sum()
}

fn dot(a: u64, b: u64, c: u64, is_signed: [bool; 2]) -> u64 {
    let part = |word: u64, n: u32, is_signed: bool| {
        let byte = (word >> (8 * n)) as u8;
        if is_signed { i64::from(byte as i8) } else { i64::from(byte) }
    };
    let sum: i64 = (0..4).map(|n| part(a, n, is_signed[0]) * part(b, n, is_signed[1])).sum();
    low(sum.wrapping_add(c as i64) as u64, 32)
}

/// How two values of a type stand to each other; of types of bits there is only equal or not.
pub(crate) fn compare(ty: Ty) -> Option<fn(u64, u64) -> Option<Ordering>> {
    Some(match ty {
        Ty::U16 | Ty::B16 => |a, b| Some((a as u16).cmp(&(b as u16))),
        Ty::U32 | Ty::B32 => |a, b| Some((a as u32).cmp(&(b as u32))),
        Ty::U64 | Ty::B64 => |a, b| Some(a.cmp(&b)),
        Ty::S16 => |a, b| Some((a as i16).cmp(&(b as i16))),
        Ty::S32 => |a, b| Some((a as i32).cmp(&(b as i32))),
        Ty::S64 => |a, b| Some((a as i64).cmp(&(b as i64))),
        Ty::F32 => |a, b| f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        Ty::F64 => |a, b| f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Ty::F16 => |a, b| super::format::of_f16(a).partial_cmp(&super::format::of_f16(b)),
        Ty::Bf16 => |a, b| super::format::of_bf16(a).partial_cmp(&super::format::of_bf16(b)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(name: &str, ty: Ty, a: u64, b: u64) -> u64 {
        binary(name, ty).expect("it is there")(a, b)
    }

    fn three(name: &str, ty: Ty, a: u64, b: u64, c: u64) -> u64 {
        ternary(name, ty).expect("it is there")(a, b, c)
    }

    #[test]
    fn shifts_clamp_and_products_have_two_halves() {
        assert_eq!(two("shl", Ty::B32, 1, 32), 0);
        assert_eq!(two("shr", Ty::S32, 0x8000_0000, 40), 0xffff_ffff);
        assert_eq!(two("shr", Ty::U32, 0x8000_0000, 40), 0);
        assert_eq!(two("mul.hi", Ty::S32, 0xffff_ffff, 2), 0xffff_ffff);
        assert_eq!(two("mul.hi", Ty::U32, 0xffff_ffff, 2), 1);
        assert_eq!(two("mul.wide", Ty::S16, 0xffff, 2), 0xffff_fffe);
        assert_eq!(two("div", Ty::S32, 0x8000_0000, 0xffff_ffff), 0x8000_0000);
        assert_eq!(two("rem", Ty::S32, low(-7i64 as u64, 32), 3), 0xffff_ffff);
    }

    #[test]
    fn fields_permutations_and_funnels() {
        assert_eq!(three("bfe", Ty::U32, 0xf0, 4, 4), 15);
        assert_eq!(three("bfe", Ty::S32, 0xf0, 4, 4), 0xffff_ffff);
        assert_eq!(three("bfe", Ty::S32, 0x8000_0000, 28, 8), 0xffff_fff8);
        assert_eq!(three("bfe", Ty::U32, 0x8000_0000, 28, 8), 8);
        assert_eq!(insert(0xff, 0x1234_5678, 8, 8, 32), 0x1234_ff78);
        assert_eq!(three("prmt", Ty::B32, 0x0403_0201, 0x8807_0605, 0x0123), 0x0102_0304);
        assert_eq!(three("prmt", Ty::B32, 0x0403_0201, 0x8807_0605, 0xf740), 0xff88_0501);
        assert_eq!(three("shf.l.wrap", Ty::B32, 0x8000_0001, 0x8000_0001, 1), 3);
        assert_eq!(three("shf.r.clamp", Ty::B32, 1, 7, 40), 7);
        assert_eq!(three("shf.l.clamp", Ty::B32, 1, 7, 40), 1);
        assert_eq!(three("dp4a.s32.s32", Ty::S32, 0xffff_ffff, 0x0101_0101, 10), 6);
        assert_eq!(unary("bfind", Ty::U32).expect("it is there")(0), 0xffff_ffff);
    }
}
