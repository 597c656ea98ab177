//! Floats of 8 bits, made of `f32` and made `f32`: what `as` becomes. Other floats go through `f32`.
//!
//! To nearest, ties to even; what is greater than the greatest finite value becomes it, infinities too, and NaN stays NaN: as the hardware's `cvt.rn.satfinite` has it.

use super::{by_name, called};
use crate::ir::intrinsic::OperandType::{Is, T, UnsignedT};
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::ir::{BinaryOp, Builder, CompareOp, Scalar, Type, UnaryOp, Value};
use crate::target::Requirement;

/// Each type with the functions that make it of `f32`, and `f32` of it.
const FUNCTIONS: [(Type, &str, &str); 2] =
    [(Type::E4M3, called::F32_TO_E4M3, called::E4M3_TO_F32), (Type::E5M2, called::F32_TO_E5M2, called::E5M2_TO_F32)];

/// `value as to`, for every pair of scalar types that has it.
pub(crate) fn convert(b: &mut Builder<'_>, value: Value, to: Type) -> Value {
    let from = b.kernel.ty(value);
    if from == to || !from.is_float8() && !to.is_float8() {
        return b.cast(value, to);
    }
    let single = match FUNCTIONS.iter().find(|(ty, ..)| *ty == from) {
        Some((_, _, widened)) => call(b, widened, value, Type::F32),
        None if from == Type::F64 => odd_single(b, value),
        None => b.cast(value, Type::F32),
    };
    match FUNCTIONS.iter().find(|(ty, ..)| *ty == to) {
        Some((_, narrowed, _)) => call(b, narrowed, single, to),
        None => b.cast(single, to),
    }
}

/// Whether a row is what `as` becomes.
pub(crate) fn is_cast(row: &Intrinsic) -> bool {
    FUNCTIONS.iter().any(|(_, narrowed, widened)| [*narrowed, *widened].contains(&row.name))
}

fn call(b: &mut Builder<'_>, name: &str, value: Value, to: Type) -> Value {
    by_name(name, None).map_or(value, |row| b.intrinsic(row, vec![value], to))
}

/// An `f64` as `f32`, rounded to odd: towards zero, the last bit set if that lost anything. Rounding it again is as rounding once.
fn odd_single(b: &mut Builder<'_>, value: Value) -> Value {
    let nearest = b.cast(value, Type::F32);
    let back = b.cast(nearest, Type::F64);
    let [size, size_of_back] = [value, back].map(|value| b.unary(UnaryOp::Abs, value));
    let is_above = b.compare(CompareOp::Gt, size_of_back, size);
    let is_other = b.compare(CompareOp::Ne, back, value);
    let [one, last] = [is_above, is_other].map(|is| b.cast(is, Type::U32));
    let bits = b.bitcast(nearest, Type::U32);
    let bits = b.binary(BinaryOp::Sub, bits, one);
    let bits = b.binary(BinaryOp::Or, bits, last);
    b.bitcast(bits, Type::F32)
}

/// The instructions of pairs (PTX ISA, "cvt"). The other of the pair is zero.
const PAIRS: Requirement = Requirement::since(89, 81);

const ANY: Requirement = Requirement::since(20, 50);

/// The two spellings in PTX, by the instruction and by bits.
macro_rules! forms {
    ($by_instruction:expr, $by_bits:expr) => {
        &[PtxForm { types: &[], text: $by_instruction, needs: PAIRS }, PtxForm { types: &[], text: $by_bits, needs: ANY }]
    };
}

/// Bits of a normal number are rounded where they stand: `$drop` of them go, and the exponent's bias is changed by `$bias`. What is below `$normal` is
/// added to `$unit`, a float whose last bit is the last of the type.
macro_rules! narrowing {
    ($pairs:literal, $drop:literal, $half:literal, $bias:literal, $most:literal, $normal:literal, $unit:literal) => {
        forms!(
            concat!("mov.f32 {tmp0:f32}, 0f00000000;\ncvt.rn.satfinite.", $pairs, ".f32 {d}, {tmp0:f32}, {0};"),
            concat!(
                "abs.f32 {tmp0:f32}, {0};\n",
                "mov.b32 {tmp1:b32}, {tmp0:f32};\n",
                "bfe.u32 {tmp2:b32}, {tmp1:b32}, ",
                $drop,
                ", 1;\n",
                "add.u32 {tmp1:b32}, {tmp1:b32}, {tmp2:b32};\n",
                "add.u32 {tmp1:b32}, {tmp1:b32}, ",
                $half,
                ";\n",
                "shr.u32 {tmp1:b32}, {tmp1:b32}, ",
                $drop,
                ";\n",
                "sub.u32 {tmp1:b32}, {tmp1:b32}, ",
                $bias,
                ";\n",
                "min.u32 {tmp1:b32}, {tmp1:b32}, ",
                $most,
                ";\n",
                "add.f32 {tmp3:f32}, {tmp0:f32}, 0f",
                $unit,
                ";\n",
                "mov.b32 {tmp2:b32}, {tmp3:f32};\n",
                "sub.u32 {tmp2:b32}, {tmp2:b32}, 0x",
                $unit,
                ";\n",
                "setp.lt.f32 {tmp4:pred}, {tmp0:f32}, 0f",
                $normal,
                ";\n",
                "selp.b32 {tmp1:b32}, {tmp2:b32}, {tmp1:b32}, {tmp4:pred};\n",
                "setp.num.f32 {tmp4:pred}, {0}, {0};\n",
                "selp.b32 {tmp1:b32}, {tmp1:b32}, 127, {tmp4:pred};\n",
                "mov.b32 {tmp2:b32}, {0};\n",
                "shr.u32 {tmp2:b32}, {tmp2:b32}, 24;\n",
                "and.b32 {tmp2:b32}, {tmp2:b32}, 128;\n",
                "or.b32 {tmp1:b32}, {tmp1:b32}, {tmp2:b32};\n",
                "cvt.u16.u32 {d}, {tmp1:b32};"
            )
        )
    };
}

/// The same in C.
macro_rules! narrowing_in_c {
    ($name:literal, $drop:literal, $half:literal, $bias:literal, $most:literal, $normal:literal, $unit:literal) => {
        concat!(
            "uchar ",
            $name,
            "(float x) {\n",
            "    const uint size = as_uint(x) & 0x7fffffffu;\n",
            "    uint bits = min(((size + ",
            $half,
            "u + (size >> ",
            $drop,
            " & 1u)) >> ",
            $drop,
            ") - ",
            $bias,
            "u, ",
            $most,
            "u);\n",
            "    if (size < 0x",
            $normal,
            "u) {\n",
            "        bits = as_uint(as_float(size) + as_float(0x",
            $unit,
            "u)) - 0x",
            $unit,
            "u;\n",
            "    }\n",
            "    if (size > 0x7f800000u) {\n",
            "        bits = 127u;\n",
            "    }\n",
            "    return (uchar)(bits | (as_uint(x) >> 24 & 128u));\n}\n"
        )
    };
}

const fn conversion(
    name: &'static str,
    [from, to]: [&'static [OperandType]; 2],
    ptx: &'static [PtxForm],
    [opencl, opencl_prelude]: [&'static str; 2],
    eval: fn(Type, &[u64]) -> u64,
) -> Intrinsic {
    let body = Body::Device(DeviceForm { ptx, opencl, opencl_prelude, eval: Eval::Lane(eval) });
    Intrinsic::new(name, Call::Pass, Class::None, from, to, body).cost(2)
}

const F32: &[OperandType] = &[Is(Type::F32)];
const E4M3: &[OperandType] = &[Is(Type::E4M3)];
const E5M2: &[OperandType] = &[Is(Type::E5M2)];

fn narrowed(word: u64, ty: Type) -> u64 {
    Scalar::float(ty, Scalar::new(Type::F32, word).as_f64()).bits
}

fn widened(word: u64, ty: Type) -> u64 {
    Scalar::float(Type::F32, Scalar::new(ty, word).as_f64()).bits
}

const BOTH: Class = Class::Only(&[Type::E4M3, Type::E5M2]);
const OF_E4M3: Class = Class::Only(&[Type::E4M3]);
const OF_E5M2: Class = Class::Only(&[Type::E5M2]);

type Expand = fn(&mut Builder<'_>, &[Value]) -> Vec<Value>;

const fn associated(name: &'static str, over: Class, from: &'static [OperandType], expand: Expand) -> Intrinsic {
    Intrinsic::new(name, Call::Associated, over, from, &[T], Body::Expand(expand))
        .doc("rounded to nearest even, kept within the finite values")
}

pub(super) const ROWS: &[Intrinsic] = &[
    conversion(
        called::F32_TO_E4M3,
        [F32, E4M3],
        narrowing!("e4m3x2", "20", "524287", "960", "126", "3c800000", "46800000"),
        ["warpwright_f32_to_e4m3({0})", narrowing_in_c!("warpwright_f32_to_e4m3", "20", "524287", "960", "126", "3c800000", "46800000")],
        |_, words| narrowed(words[0], Type::E4M3),
    )
    .doc("an `f32` as `e4m3`"),
    conversion(
        called::F32_TO_E5M2,
        [F32, E5M2],
        narrowing!("e5m2x2", "21", "1048575", "448", "123", "38800000", "43000000"),
        ["warpwright_f32_to_e5m2({0})", narrowing_in_c!("warpwright_f32_to_e5m2", "21", "1048575", "448", "123", "38800000", "43000000")],
        |_, words| narrowed(words[0], Type::E5M2),
    )
    .doc("an `f32` as `e5m2`"),
    conversion(
        called::E4M3_TO_F32,
        [E4M3, F32],
        // Shifted to where `f16` has exponent and digits, its value is 2^-8 of what it is: the biases are 15 and 7.
        forms!(
            "cvt.rn.f16x2.e4m3x2 {tmp0:b32}, {0};\ncvt.u16.u32 {tmp1:b16}, {tmp0:b32};\ncvt.f32.f16 {d}, {tmp1:b16};",
            "and.b16 {tmp0:b16}, {0}, 127;\n\
             shl.b16 {tmp1:b16}, {tmp0:b16}, 7;\n\
             and.b16 {tmp2:b16}, {0}, 128;\n\
             shl.b16 {tmp2:b16}, {tmp2:b16}, 8;\n\
             or.b16 {tmp1:b16}, {tmp1:b16}, {tmp2:b16};\n\
             cvt.f32.f16 {tmp3:f32}, {tmp1:b16};\n\
             mul.f32 {tmp3:f32}, {tmp3:f32}, 0f43800000;\n\
             setp.eq.u16 {tmp4:pred}, {tmp0:b16}, 127;\n\
             mov.f32 {tmp5:f32}, 0f7FFFFFFF;\n\
             selp.f32 {d}, {tmp5:f32}, {tmp3:f32}, {tmp4:pred};"
        ),
        [
            "warpwright_e4m3_to_f32({0})",
            // The same with the bias of `float`, but that subnormal numbers need not be kept by devices: they are counted.
            "float warpwright_e4m3_to_f32(uchar x) {\n\
             \x20   const uint size = x & 127u;\n\
             \x20   const float value = size < 8u ? size * 0x1p-9f : as_float(size == 127u ? 0x7fffffffu : (size << 20) + 0x3c000000u);\n\
             \x20   return x & 128u ? -value : value;\n}\n",
        ],
        |_, words| widened(words[0], Type::E4M3),
    )
    .doc("an `e4m3` as `f32`, exactly"),
    conversion(
        called::E5M2_TO_F32,
        [E5M2, F32],
        // It is the upper half of an `f16`.
        &[PtxForm { types: &[], text: "shl.b16 {tmp0:b16}, {0}, 8;\ncvt.f32.f16 {d}, {tmp0:b16};", needs: ANY }],
        [
            "warpwright_e5m2_to_f32({0})",
            "float warpwright_e5m2_to_f32(uchar x) {\n\
             \x20   const ushort bits = (ushort)x << 8;\n\
             \x20   return vload_half(0, (const half *)&bits);\n}\n",
        ],
        |_, words| widened(words[0], Type::E5M2),
    )
    .doc("an `e5m2` as `f32`, exactly"),
    associated("from_f32", OF_E4M3, F32, |b, a| vec![convert(b, a[0], Type::E4M3)]),
    associated("from_f32", OF_E5M2, F32, |b, a| vec![convert(b, a[0], Type::E5M2)]),
    associated("from_f64", OF_E4M3, &[Is(Type::F64)], |b, a| vec![convert(b, a[0], Type::E4M3)]),
    associated("from_f64", OF_E5M2, &[Is(Type::F64)], |b, a| vec![convert(b, a[0], Type::E5M2)]),
    associated("from_bits", OF_E4M3, &[UnsignedT], |b, a| vec![b.bitcast(a[0], Type::E4M3)]).doc("the float of these bits"),
    associated("from_bits", OF_E5M2, &[UnsignedT], |b, a| vec![b.bitcast(a[0], Type::E5M2)]).doc("the float of these bits"),
    Intrinsic::method("to_bits", BOTH, &[T], &[UnsignedT], |b, a| vec![b.bitcast(a[0], Type::U8)]).doc("the bits as an unsigned integer"),
    Intrinsic::method("to_f32", BOTH, &[T], F32, |b, a| vec![convert(b, a[0], Type::F32)]).doc("widened, exactly"),
    Intrinsic::method("to_f64", BOTH, &[T], &[Is(Type::F64)], |b, a| vec![convert(b, a[0], Type::F64)]).doc("widened, exactly"),
];

#[cfg(test)]
mod tests {
    use super::{narrowed, widened};
    use crate::ir::{Scalar, Type};

    /// Every float of 8 bits, by the formats' definition (OCP "8-bit floating point specification", revision 1.0): none of NaN and infinity.
    fn value(ty: Type, bits: u8) -> Option<f64> {
        let (digits, bias) = if ty == Type::E4M3 { (3, 7) } else { (2, 15) };
        let (exponent, rest) = (i32::from(bits & 127) >> digits, f64::from(bits & ((1 << digits) - 1)) / f64::from(1 << digits));
        let is_number = if ty == Type::E4M3 { bits & 127 != 127 } else { exponent != 31 };
        let size = if exponent == 0 { rest * 2f64.powi(1 - bias) } else { (1.0 + rest) * 2f64.powi(exponent - bias) };
        is_number.then_some(if bits & 128 == 0 { size } else { -size })
    }

    #[test]
    fn floats_of_8_bits_are_those_of_the_definition() {
        for ty in [Type::E4M3, Type::E5M2] {
            for bits in 0..=255u8 {
                let wide = f32::from_bits(widened(bits.into(), ty) as u32);
                match value(ty, bits) {
                    Some(value) => {
                        assert_eq!((f64::from(wide), wide.is_sign_negative()), (value, bits > 127), "{ty} {bits:#x}");
                        assert_eq!(narrowed(wide.to_bits().into(), ty), bits.into(), "{ty} {bits:#x}");
                    }
                    None => assert!(!wide.is_finite(), "{ty} {bits:#x}"),
                }
            }
        }
    }

    #[test]
    fn between_two_the_nearest_is_taken_and_beyond_all_the_greatest() {
        for ty in [Type::E4M3, Type::E5M2] {
            let all: Vec<f64> = (0..127u8).map_while(|bits| value(ty, bits)).collect();
            let bits = |x: f64| narrowed(u64::from((x as f32).to_bits()), ty);
            for (n, pair) in all.windows(2).enumerate() {
                let middle = (pair[0] + pair[1]) / 2.0;
                let [below, above] = [f32::from_bits((middle as f32).to_bits() - 1), f32::from_bits((middle as f32).to_bits() + 1)];
                assert_eq!(bits(below.into()), n as u64, "{ty} {below}");
                assert_eq!(bits(middle), (n + n % 2) as u64, "{ty} {middle}");
                assert_eq!(bits(above.into()), n as u64 + 1, "{ty} {above}");
                assert_eq!(bits(-f64::from(above)), n as u64 + 129, "{ty} {above}");
            }
            let most = all.len() as u64 - 1;
            for x in [all[most as usize] * 1.01, 1e9, f64::INFINITY] {
                assert_eq!((bits(x), bits(-x)), (most, most + 128), "{ty} {x}");
            }
            assert!(Scalar::new(ty, bits(f64::NAN)).as_f64().is_nan());
        }
    }
}
