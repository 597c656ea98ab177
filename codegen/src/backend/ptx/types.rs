//! Which types instructions name for those of the IR.

use super::code::RegisterClass;
use super::words::Word;
use crate::ir::Type;

/// The type of an instruction that computes in a type: 8 bits are computed in 16.
pub(super) fn suffix(ty: Type) -> Word {
    match ty {
        Type::Bool => Word::Pred,
        Type::I8 | Type::I16 => Word::S16,
        Type::U8 | Type::U16 | Type::E4M3 | Type::E5M2 => Word::U16,
        Type::I32 => Word::S32,
        Type::U32 => Word::U32,
        Type::I64 => Word::S64,
        Type::U64 => Word::U64,
        Type::F16 => Word::F16,
        Type::BF16 => Word::Bf16,
        Type::F32 => Word::F32,
        Type::F64 => Word::F64,
        Type::Ptr(_) => unsigned(ty.bytes() * 8),
    }
}

/// Of the types of 8, 16, 32 and 64 bits, the one of a width.
fn of_width(bits: u32, types: [Word; 4]) -> Word {
    types[(bits.max(8).ilog2() as usize - 3).min(3)]
}

/// The unsigned type of a width.
pub(super) fn unsigned(bits: u32) -> Word {
    of_width(bits, [Word::U8, Word::U16, Word::U32, Word::U64])
}

/// The signed type of a width.
pub(super) fn signed(bits: u32) -> Word {
    of_width(bits, [Word::S8, Word::S16, Word::S32, Word::S64])
}

/// The untyped one of a width.
pub(super) fn untyped(bits: u32) -> Word {
    of_width(bits, [Word::B8, Word::B16, Word::B32, Word::B64])
}

/// The type of an instruction that moves a type's bits between registers.
pub(super) fn bits_suffix(ty: Type) -> Word {
    RegisterClass::of(ty).ty()
}

/// The type of bitwise instructions, which want untyped operands: as wide as the register.
pub(super) fn logic_suffix(ty: Type) -> Word {
    let ty = bits_suffix(ty);
    ty.bits().map_or(ty, untyped)
}

/// The type of loads and stores: what stands in memory. A `bool` is a byte.
pub(super) fn memory_suffix(ty: Type) -> Word {
    match ty {
        Type::Bool | Type::U8 | Type::E4M3 | Type::E5M2 => Word::U8,
        Type::I8 => Word::S8,
        Type::F16 | Type::BF16 => Word::B16,
        _ => suffix(ty),
    }
}
