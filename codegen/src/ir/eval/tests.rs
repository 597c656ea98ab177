//! Constants against Rust's own operators, over all pairs of edge values of every type.

use super::*;

fn ints(ty: Type) -> Vec<Scalar> {
    let values: [i128; 22] = [
        0,
        1,
        2,
        3,
        7,
        8,
        31,
        32,
        63,
        100,
        127,
        128,
        255,
        256,
        32767,
        32768,
        65535,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        1 << 62,
        1 << 63,
    ];
    values.iter().flat_map(|v| [Scalar::int(ty, *v), Scalar::int(ty, -*v)]).collect()
}

fn floats(ty: Type) -> Vec<Scalar> {
    let values = [
        0.0,
        1.0,
        1.5,
        0.1,
        3.0,
        255.0,
        256.5,
        65504.0,
        65520.0,
        1e-7,
        6e-8,
        1e-40,
        1e38,
        1e300,
        2147483647.0,
        4294967296.0,
        1.8446744073709552e19,
        f64::INFINITY,
        f64::NAN,
    ];
    values.iter().flat_map(|v| [Scalar::float(ty, *v), Scalar::float(ty, -*v)]).collect()
}

/// Equal, or both NaN.
fn same(a: Option<Scalar>, b: Option<Scalar>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) if a.ty.is_float() && a.ty == b.ty && a.as_f64().is_nan() => b.as_f64().is_nan(),
        _ => a == b,
    }
}

macro_rules! check_int {
    ($($name:ident: $t:ident $ty:ident;)*) => {$(
        #[test]
        fn $name() {
            let ty = Type::$ty;
            let put = |x: $t| Some(Scalar::int(ty, i128::from(x)));
            for a in ints(ty) {
                let x = a.as_int() as $t;
                assert_eq!(unary(UnaryOp::Neg, a), put(x.wrapping_neg()));
                assert_eq!(unary(UnaryOp::Not, a), put(!x));
                assert_eq!(unary(UnaryOp::Abs, a), put(i128::from(x).unsigned_abs() as $t));
                for count in [0u32, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, u32::MAX] {
                    assert_eq!(binary(BinaryOp::Shl, a, Scalar::u32(count)), put(x.wrapping_shl(count)));
                    assert_eq!(binary(BinaryOp::Shr, a, Scalar::u32(count)), put(x.wrapping_shr(count)));
                }
                for b in ints(ty) {
                    let y = b.as_int() as $t;
                    let table = [
                        (BinaryOp::Add, Some(x.wrapping_add(y))),
                        (BinaryOp::Sub, Some(x.wrapping_sub(y))),
                        (BinaryOp::Mul, Some(x.wrapping_mul(y))),
                        (BinaryOp::Div, (y != 0).then(|| x.wrapping_div(y))),
                        (BinaryOp::Rem, (y != 0).then(|| x.wrapping_rem(y))),
                        (BinaryOp::And, Some(x & y)),
                        (BinaryOp::Or, Some(x | y)),
                        (BinaryOp::Xor, Some(x ^ y)),
                        (BinaryOp::Min, Some(Ord::min(x, y))),
                        (BinaryOp::Max, Some(Ord::max(x, y))),
                    ];
                    for (op, expected) in table {
                        assert_eq!(binary(op, a, b), expected.and_then(put), "{op:?} {x} {y}");
                    }
                    check_compare(a, b, &x, &y);
                    for c in [1, 100] {
                        assert_eq!(mul_add(a, b, Scalar::int(ty, c)), put(x.wrapping_mul(y).wrapping_add(c as $t)));
                    }
                }
            }
        }
    )*};
}

check_int! {
    i8_is_rusts: i8 I8;
    i16_is_rusts: i16 I16;
    i32_is_rusts: i32 I32;
    i64_is_rusts: i64 I64;
    u8_is_rusts: u8 U8;
    u16_is_rusts: u16 U16;
    u32_is_rusts: u32 U32;
    u64_is_rusts: u64 U64;
}

fn check_compare<T: PartialOrd>(a: Scalar, b: Scalar, x: &T, y: &T) {
    let table = [
        (CompareOp::Eq, x == y),
        (CompareOp::Ne, x != y),
        (CompareOp::Lt, x < y),
        (CompareOp::Le, x <= y),
        (CompareOp::Gt, x > y),
        (CompareOp::Ge, x >= y),
    ];
    for (op, expected) in table {
        assert_eq!(compare(op, a, b), Some(Scalar::bool(expected)), "{op:?} {a:?} {b:?}");
    }
}

macro_rules! check_float {
    ($($name:ident: $ty:ident, |$get:ident| $from:expr, |$put:ident| $to:expr;)*) => {$(
        #[test]
        fn $name() {
            let ty = Type::$ty;
            let get = |$get: Scalar| $from;
            let put = |$put| Some(Scalar::new(ty, u64::from($to)));
            for a in floats(ty) {
                let x = get(a);
                assert!(same(unary(UnaryOp::Neg, a), put(-x)));
                assert_eq!(unary(UnaryOp::Not, a), None);
                assert_eq!(unary(UnaryOp::Abs, a).unwrap().bits, a.bits & !(1 << (ty.bits() - 1)));
                for b in floats(ty) {
                    let y = get(b);
                    let table = [
                        (BinaryOp::Add, x + y),
                        (BinaryOp::Sub, x - y),
                        (BinaryOp::Mul, x * y),
                        (BinaryOp::Div, x / y),
                        (BinaryOp::Rem, x % y),
                    ];
                    for (op, expected) in table {
                        assert!(same(binary(op, a, b), put(expected)), "{op:?} {a} {b}");
                    }
                    for op in [BinaryOp::And, BinaryOp::Or, BinaryOp::Xor, BinaryOp::Shl, BinaryOp::Shr] {
                        assert_eq!(binary(op, a, b), None);
                    }
                    check_compare(a, b, &x, &y);
                    for (op, expected) in [(BinaryOp::Min, f64::min(a.as_f64(), b.as_f64())), (BinaryOp::Max, f64::max(a.as_f64(), b.as_f64()))] {
                        let result = binary(op, a, b).unwrap().as_f64();
                        assert!(result == expected || result.is_nan() && expected.is_nan(), "{op:?} {a} {b}: {result}");
                    }
                }
            }
        }
    )*};
}

check_float! {
    f16_is_halfs: F16, |s| f16::from_bits(s.bits as u16), |x| f16::to_bits(x);
    bf16_is_halfs: BF16, |s| bf16::from_bits(s.bits as u16), |x| bf16::to_bits(x);
    f32_is_rusts: F32, |s| f32::from_bits(s.bits as u32), |x| f32::to_bits(x);
    f64_is_rusts: F64, |s| f64::from_bits(s.bits), |x| f64::to_bits(x);
}

#[test]
fn fused_multiply_add_rounds_once() {
    let f32 = |x: f32| Scalar::float(Type::F32, f64::from(x));
    let (a, b, c) = (1.0 + f32::EPSILON, 1.0 - f32::EPSILON, -1.0);
    assert_eq!(mul_add(f32(a), f32(b), f32(c)), Some(f32(-f32::EPSILON * f32::EPSILON)));
    let f64 = |x: f64| Scalar::float(Type::F64, x);
    assert_eq!(mul_add(f64(0.1), f64(10.0), f64(-1.0)), Some(f64(0.1f64.mul_add(10.0, -1.0))));
    assert_ne!(0.1f64.mul_add(10.0, -1.0), 0.1 * 10.0 - 1.0);
    let f16 = |x: f64| Scalar::float(Type::F16, x);
    assert_eq!(mul_add(f16(0.1), f16(10.0), f16(-1.0)).unwrap().as_f64(), f16(0.1).as_f64() * 10.0 - 1.0);
}

#[test]
fn zeros_are_ordered_by_sign() {
    for ty in [Type::F16, Type::BF16, Type::F32, Type::F64] {
        let (plus, minus) = (Scalar::float(ty, 0.0), Scalar::float(ty, -0.0));
        for (a, b) in [(plus, minus), (minus, plus)] {
            assert_eq!(binary(BinaryOp::Min, a, b), Some(minus));
            assert_eq!(binary(BinaryOp::Max, a, b), Some(plus));
        }
    }
}

macro_rules! check_casts {
    ($($t:ident $ty:ident $get:expr;)*) => {$(
        let get: fn(Scalar) -> $t = $get;
        for a in if Type::$ty.is_float() { floats(Type::$ty) } else { ints(Type::$ty) } {
            let x = get(a);
            check_casts!(@to a, x, i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64);
            assert!(same(cast(a, Type::F32), Some(Scalar::new(Type::F32, u64::from((x as f32).to_bits())))));
            assert!(same(cast(a, Type::F64), Some(Scalar::new(Type::F64, (x as f64).to_bits()))));
        }
    )*};
    (@to $a:ident, $x:ident, $($t:ident $ty:ident),*) => {
        $(assert_eq!(cast($a, Type::$ty), Some(Scalar::int(Type::$ty, i128::from($x as $t))), "{:?} as {}", $a, stringify!($t));)*
    };
}

#[test]
fn casts_are_as() {
    check_casts! {
        i8 I8 |a| a.as_int() as i8;
        i16 I16 |a| a.as_int() as i16;
        i32 I32 |a| a.as_int() as i32;
        i64 I64 |a| a.as_int() as i64;
        u8 U8 |a| a.as_int() as u8;
        u16 U16 |a| a.as_int() as u16;
        u32 U32 |a| a.as_int() as u32;
        u64 U64 |a| a.as_int() as u64;
        f32 F32 |a| f32::from_bits(a.bits as u32);
        f64 F64 |a| f64::from_bits(a.bits);
    }
    for a in floats(Type::F16).into_iter().chain(floats(Type::BF16)) {
        for ty in [Type::I8, Type::U8, Type::I32, Type::U64, Type::F32, Type::F64] {
            assert!(same(cast(a, ty), cast(Scalar::float(Type::F64, a.as_f64()), ty)), "{a:?} as {ty}");
        }
    }
}

#[test]
fn bools_have_logic_and_become_integers() {
    let [f, t] = [false, true].map(Scalar::bool);
    assert_eq!(unary(UnaryOp::Not, t), Some(f));
    assert_eq!(binary(BinaryOp::And, t, f), Some(f));
    assert_eq!(binary(BinaryOp::Or, t, f), Some(t));
    assert_eq!(binary(BinaryOp::Xor, t, t), Some(f));
    assert_eq!(binary(BinaryOp::Add, t, t), None);
    assert_eq!(compare(CompareOp::Lt, f, t), Some(t));
    assert_eq!(cast(t, Type::I64), Some(Scalar::int(Type::I64, 1)));
    assert_eq!(cast(t, Type::F32), None);
    assert_eq!(cast(Scalar::u32(1), Type::Bool), None);
    assert_eq!(select(t, Scalar::u32(1), Scalar::u32(2)), Some(Scalar::u32(1)));
    assert_eq!(select(f, Scalar::u32(1), Scalar::u32(2)), Some(Scalar::u32(2)));
    assert_eq!(select(Scalar::u32(1), t, f), None);
}

#[test]
fn operands_of_different_types_have_no_value() {
    let (a, b) = (Scalar::u32(1), Scalar::int(Type::I32, 1));
    assert_eq!(binary(BinaryOp::Add, a, b), None);
    assert_eq!(binary(BinaryOp::Shl, a, b), None);
    assert_eq!(compare(CompareOp::Eq, a, b), None);
    assert_eq!(mul_add(a, a, b), None);
}

#[test]
fn bitcasts_keep_bits_of_one_width() {
    let one = Scalar::float(Type::F32, 1.0);
    assert_eq!(bitcast(one, Type::U32), Some(Scalar::u32(0x3f80_0000)));
    assert_eq!(bitcast(bitcast(one, Type::I32).unwrap(), Type::F32), Some(one));
    assert_eq!(bitcast(one, Type::U64), None);
    assert_eq!(bitcast(one, Type::Ptr(crate::ir::Space::Shared)), None);
}

/// The nearest value of a 16-bit format by search: among the candidates the one at the least exact distance, ties to even bits.
fn nearest(candidates: &[(u16, f64)], x: f64, overflow: (f64, u16)) -> u16 {
    if x >= overflow.0 {
        return overflow.1;
    }
    let after = candidates.partition_point(|(_, value)| *value < x).min(candidates.len() - 1);
    let before = after.saturating_sub(1);
    let ((low, below), (high, above)) = (candidates[before], candidates[after]);
    // Both differences are exact, or x is so much nearer to one that it does not matter.
    match (x - below).partial_cmp(&(above - x)) {
        _ if above == x => high,
        Some(std::cmp::Ordering::Less) => low,
        Some(std::cmp::Ordering::Equal) if low % 2 == 0 => low,
        _ => high,
    }
}

#[test]
fn short_floats_are_rounded_once() {
    let f16s: Vec<(u16, f64)> = (0..0x7c00).map(|b| (b, f16::from_bits(b).to_f64())).collect();
    let bf16s: Vec<(u16, f64)> = (0..0x7f80).map(|b| (b, bf16::from_bits(b).to_f64())).collect();
    for (ty, all, overflow) in [(Type::F16, &f16s, (65520.0, 0x7c00)), (Type::BF16, &bf16s, (2f64.powi(128) - 2f64.powi(119), 0x7f80))] {
        for pair in all.windows(2).step_by(7) {
            let middle = (pair[0].1 + pair[1].1) / 2.0;
            // Just beside a midpoint: what a first rounding to f32 would put on it.
            for x in [pair[0].1, middle.next_down(), middle, middle.next_up(), middle * (1.0 + 1e-12), middle * (1.0 - 1e-12)] {
                let expected = Scalar::new(ty, u64::from(nearest(all, x, overflow)));
                assert_eq!(cast(Scalar::float(Type::F64, x), ty), Some(expected), "{x:e} as {ty}");
                assert_eq!(Scalar::float(ty, x), expected);
            }
        }
    }
    assert_eq!(cast(Scalar::float(Type::F64, 1e300), Type::F16).unwrap().bits, 0x7c00);
    assert_eq!(cast(Scalar::float(Type::F64, -1e300), Type::BF16).unwrap().bits, 0xff80);
    assert_eq!(cast(Scalar::float(Type::F64, 1e-300), Type::F16).unwrap().bits, 0);
}

#[test]
fn integers_become_short_floats_with_one_rounding() {
    // 2^60 + 2^52 lies between two bf16; one more is above the midpoint, and an f64 cannot tell.
    let middle = (1i128 << 60) + (1 << 52);
    let bf16 = |x: i128, ty| cast(Scalar::int(ty, x), Type::BF16).unwrap().as_f64();
    assert_eq!(bf16(middle, Type::U64), 2f64.powi(60));
    assert_eq!(bf16(middle + 1, Type::U64), 2f64.powi(60) + 2f64.powi(53));
    assert_eq!(bf16(-middle - 1, Type::I64), -(2f64.powi(60) + 2f64.powi(53)));
    assert_eq!(bf16(i128::from(i64::MIN), Type::I64), -(2f64.powi(63)));
    let f16 = |x: i128| cast(Scalar::int(Type::U32, x), Type::F16).unwrap().as_f64();
    assert_eq!(f16(2049), 2048.0);
    assert_eq!(f16(2051), 2052.0);
    assert_eq!(f16(65519), 65504.0);
    assert_eq!(f16(65520), f64::INFINITY);
}
