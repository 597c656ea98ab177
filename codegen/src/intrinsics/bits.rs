//! Methods of integers that look at their bits: counts, rotations, reversals, powers of two.

use super::call_method;
use super::integer::int_like;
use crate::ir::intrinsic::OperandType::{Is, T};
use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::ir::{BinaryOp, Builder, CompareOp, Type, UnaryOp, Value};
use crate::target::Requirement;

const COUNT: OperandType = Is(Type::U32);
const BOOL: &[OperandType] = &[Is(Type::Bool)];
const ONE: &[OperandType] = &[T];
/// The types of which devices count bits; others go through them.
const WORDS: Class = Class::Only(&[Type::U32, Type::U64]);
const OTHERS: Class = Class::Only(&[Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::I64]);
const U32_ONLY: Class = Class::Only(&[Type::U32]);
const NOT_U32: Class = Class::Only(&[Type::I8, Type::U8, Type::I16, Type::U16, Type::I32, Type::I64, Type::U64]);

const fn forms(b32: &'static str, b64: &'static str) -> [PtxForm; 2] {
    [
        PtxForm { types: &[Type::U32], text: b32, needs: Requirement::since(20, 20) },
        PtxForm { types: &[Type::U64], text: b64, needs: Requirement::since(20, 20) },
    ]
}

const fn device(ptx: &'static [PtxForm], opencl: &'static str, eval: fn(Type, &[u64]) -> u64) -> Body {
    Body::Device(DeviceForm { ptx, opencl, opencl_prelude: "", eval: Eval::Lane(eval) })
}

pub(super) const ROWS: &[Intrinsic] = &[
    Intrinsic::new("count_ones", Call::Method, WORDS, ONE, &[COUNT], COUNT_ONES).cost(2).doc("how many bits are 1"),
    Intrinsic::method("count_ones", OTHERS, ONE, &[COUNT], |b, a| vec![count_in_word(b, "count_ones", a[0])]).doc("how many bits are 1"),
    Intrinsic::method("count_zeros", Class::Int, ONE, &[COUNT], |b, a| vec![of_complement(b, "count_ones", a[0])])
        .doc("how many bits are 0"),
    Intrinsic::new("leading_zeros", Call::Method, WORDS, ONE, &[COUNT], LEADING_ZEROS)
        .cost(3)
        .doc("how many bits from the highest on are 0"),
    Intrinsic::method("leading_zeros", OTHERS, ONE, &[COUNT], expand_leading_zeros).doc("how many bits from the highest on are 0"),
    Intrinsic::method("leading_ones", Class::Int, ONE, &[COUNT], |b, a| vec![of_complement(b, "leading_zeros", a[0])])
        .doc("how many bits from the highest on are 1"),
    Intrinsic::method("trailing_zeros", Class::Int, ONE, &[COUNT], expand_trailing_zeros).doc("how many bits from the lowest on are 0"),
    Intrinsic::method("trailing_ones", Class::Int, ONE, &[COUNT], |b, a| vec![of_complement(b, "trailing_zeros", a[0])])
        .doc("how many bits from the lowest on are 1"),
    Intrinsic::method("ilog2", Class::Int, ONE, &[COUNT], expand_ilog2)
        .exact(|a| a[0].checked_ilog2().map(i128::from))
        .doc("the highest bit's number; of 0 undefined"),
    Intrinsic::new("rotate_left", Call::Method, U32_ONLY, &[T, COUNT], ONE, ROTATE_LEFT).doc("rotated left, the count modulo the width"),
    Intrinsic::new("rotate_right", Call::Method, U32_ONLY, &[T, COUNT], ONE, ROTATE_RIGHT).doc("rotated right, the count modulo the width"),
    Intrinsic::method("rotate_left", NOT_U32, &[T, COUNT], ONE, |b, a| expand_rotate(b, a, [BinaryOp::Shl, BinaryOp::Shr]))
        .doc("rotated left, the count modulo the width"),
    Intrinsic::method("rotate_right", NOT_U32, &[T, COUNT], ONE, |b, a| expand_rotate(b, a, [BinaryOp::Shr, BinaryOp::Shl]))
        .doc("rotated right, the count modulo the width"),
    Intrinsic::new("reverse_bits", Call::Method, WORDS, ONE, ONE, REVERSE_BITS).cost(2).doc("the bits from the other end"),
    Intrinsic::method("reverse_bits", OTHERS, ONE, ONE, |b, a| reversed_in_word(b, "reverse_bits", a[0]))
        .doc("the bits from the other end"),
    Intrinsic::new("swap_bytes", Call::Method, U32_ONLY, ONE, ONE, SWAP_BYTES).doc("the bytes from the other end"),
    Intrinsic::method("swap_bytes", NOT_U32, ONE, ONE, expand_swap_bytes).doc("the bytes from the other end"),
    Intrinsic::method("is_power_of_two", Class::Unsigned, ONE, BOOL, expand_is_power_of_two)
        .exact(|a| Some(i128::from(a[0].count_ones() == 1)))
        .doc("whether one bit is 1"),
    Intrinsic::method("next_power_of_two", Class::Unsigned, ONE, ONE, expand_next_power_of_two)
        .exact(|a| i128::try_from(u128::try_from(a[0]).ok()?.checked_next_power_of_two()?).ok())
        .doc("the least power of two not below; 0 if it does not fit"),
];

const COUNT_ONES: Body =
    device(&forms("popc.b32 {d}, {0};", "popc.b64 {d}, {0};"), "((uint)popcount({0}))", |_, a| u64::from(a[0].count_ones()));

const LEADING_ZEROS: Body = device(&forms("clz.b32 {d}, {0};", "clz.b64 {d}, {0};"), "((uint)clz({0}))", |ty, a| {
    u64::from(a[0].leading_zeros() - (64 - ty.bits()))
});

const REVERSE_BITS: Body = Body::Device(DeviceForm {
    ptx: &forms("brev.b32 {d}, {0};", "brev.b64 {d}, {0};"),
    opencl: "warpwright_reverse_bits_{T}({0})",
    opencl_prelude: "inline uint warpwright_reverse_bits_uint(uint x) {\n\
                     \x20   x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);\n\
                     \x20   x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);\n\
                     \x20   x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);\n\
                     \x20   return as_uint(as_uchar4(x).wzyx);\n}\n\
                     inline ulong warpwright_reverse_bits_ulong(ulong x) {\n\
                     \x20   return ((ulong)warpwright_reverse_bits_uint((uint)x) << 32) | warpwright_reverse_bits_uint((uint)(x >> 32));\n}\n",
    eval: Eval::Lane(|ty, a| a[0].reverse_bits() >> (64 - ty.bits())),
});

const SWAP_BYTES: Body = device(
    &[PtxForm { types: &[Type::U32], text: "prmt.b32 {d}, {0}, 0, 0x0123;", needs: Requirement::since(20, 20) }],
    "as_uint(as_uchar4({0}).wzyx)",
    |_, a| u64::from((a[0] as u32).swap_bytes()),
);

const ROTATE_LEFT: Body = device(
    &[PtxForm { types: &[Type::U32], text: "shf.l.wrap.b32 {d}, {0}, {0}, {1};", needs: Requirement::since(32, 31) }],
    "rotate({0}, {1})",
    |_, a| u64::from((a[0] as u32).rotate_left(a[1] as u32)),
);

const ROTATE_RIGHT: Body = device(
    &[PtxForm { types: &[Type::U32], text: "shf.r.wrap.b32 {d}, {0}, {0}, {1};", needs: Requirement::since(32, 31) }],
    "rotate({0}, 0u - {1})",
    |_, a| u64::from((a[0] as u32).rotate_right(a[1] as u32)),
);

/// The bits of an integer, zero-extended to the word that devices count in.
fn to_word(b: &mut Builder<'_>, a: Value) -> Value {
    let unsigned = b.kernel.ty(a).to_unsigned();
    let bits = b.bitcast(a, unsigned);
    let word = if unsigned == Type::U64 { Type::U64 } else { Type::U32 };
    b.cast(bits, word)
}

/// Bits that the word of `a` has above its own.
fn spare_bits(b: &Builder<'_>, a: Value) -> i128 {
    i128::from(32u32.saturating_sub(b.kernel.ty(a).bits()))
}

fn count_in_word(b: &mut Builder<'_>, name: &str, a: Value) -> Value {
    let word = to_word(b, a);
    call_method(b, name, &[word])
}

fn of_complement(b: &mut Builder<'_>, name: &str, a: Value) -> Value {
    let complement = b.unary(UnaryOp::Not, a);
    call_method(b, name, &[complement])
}

fn expand_leading_zeros(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let count = count_in_word(b, "leading_zeros", a[0]);
    match spare_bits(b, a[0]) {
        0 => vec![count],
        spare => {
            let spare = b.int(Type::U32, spare);
            vec![b.binary(BinaryOp::Sub, count, spare)]
        }
    }
}

/// count_ones(!x & (x − 1)), which for 0 is the width.
fn expand_trailing_zeros(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let one = int_like(b, a[0], 1);
    let complement = b.unary(UnaryOp::Not, a[0]);
    let less = b.binary(BinaryOp::Sub, a[0], one);
    let low = b.binary(BinaryOp::And, complement, less);
    vec![call_method(b, "count_ones", &[low])]
}

fn expand_ilog2(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let zeros = call_method(b, "leading_zeros", a);
    let most = b.int(Type::U32, i128::from(b.kernel.ty(a[0]).bits() - 1));
    vec![b.binary(BinaryOp::Sub, most, zeros)]
}

/// (x << n) | (x >> (w − n)): shift counts are taken modulo the width, so −n does for w − n.
fn expand_rotate(b: &mut Builder<'_>, a: &[Value], [there, back]: [BinaryOp; 2]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    let bits = b.bitcast(a[0], ty.to_unsigned());
    if ty == Type::I32 {
        let name = if there == BinaryOp::Shl { "rotate_left" } else { "rotate_right" };
        let rotated = call_method(b, name, &[bits, a[1]]);
        return vec![b.bitcast(rotated, ty)];
    }
    let rest = b.unary(UnaryOp::Neg, a[1]);
    let (high, low) = (b.binary(there, bits, a[1]), b.binary(back, bits, rest));
    let rotated = b.binary(BinaryOp::Or, high, low);
    vec![b.bitcast(rotated, ty)]
}

/// A reversal in the word, shifted down to the type's width.
fn reversed_in_word(b: &mut Builder<'_>, name: &str, a: Value) -> Vec<Value> {
    let ty = b.kernel.ty(a);
    let word = to_word(b, a);
    let mut reversed = call_method(b, name, &[word]);
    let spare = spare_bits(b, a);
    if spare != 0 {
        let spare = b.int(Type::U32, spare);
        reversed = b.binary(BinaryOp::Shr, reversed, spare);
    }
    let bits = b.cast(reversed, ty.to_unsigned());
    vec![b.bitcast(bits, ty)]
}

/// 64 bits: both halves swapped, and each of them.
fn expand_swap_bytes(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ty = b.kernel.ty(a[0]);
    if ty.bits() < 64 {
        return reversed_in_word(b, "swap_bytes", a[0]);
    }
    let bits = b.bitcast(a[0], Type::U64);
    let count = b.int(Type::U32, 32);
    let high = b.binary(BinaryOp::Shr, bits, count);
    let (low, high) = (b.cast(bits, Type::U32), b.cast(high, Type::U32));
    let (low, high) = (call_method(b, "swap_bytes", &[low]), call_method(b, "swap_bytes", &[high]));
    let (low, high) = (b.cast(low, Type::U64), b.cast(high, Type::U64));
    let low = b.binary(BinaryOp::Shl, low, count);
    let joined = b.binary(BinaryOp::Or, low, high);
    vec![b.bitcast(joined, ty)]
}

fn expand_is_power_of_two(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let ones = call_method(b, "count_ones", a);
    let one = b.int(Type::U32, 1);
    vec![b.compare(CompareOp::Eq, ones, one)]
}

/// (MAX >> leading_zeros(x − 1)) + 1 where x > 1, else 1.
fn expand_next_power_of_two(b: &mut Builder<'_>, a: &[Value]) -> Vec<Value> {
    let (one, most) = (int_like(b, a[0], 1), int_like(b, a[0], -1));
    let less = b.binary(BinaryOp::Sub, a[0], one);
    let zeros = call_method(b, "leading_zeros", &[less]);
    let mask = b.binary(BinaryOp::Shr, most, zeros);
    let power = b.binary(BinaryOp::Add, mask, one);
    let is_above = b.compare(CompareOp::Gt, a[0], one);
    vec![b.select(is_above, power, one)]
}
