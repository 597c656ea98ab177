//! Virtual registers, and operands: registers or constants written in place.

use crate::ir::{Scalar, Type};
use std::fmt;

/// The kinds of registers. All but predicates are untyped or float: an untyped register serves every type of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Predicate,
    Half,
    Word,
    Float,
    Long,
    Double,
}

impl Class {
    /// Each with its prefix and the type it is declared with, in the order of the variants.
    pub(super) const ALL: [(Class, &'static str, &'static str); 6] = [
        (Class::Predicate, "%p", "pred"),
        (Class::Half, "%rs", "b16"),
        (Class::Word, "%r", "b32"),
        (Class::Float, "%f", "f32"),
        (Class::Long, "%rd", "b64"),
        (Class::Double, "%fd", "f64"),
    ];

    /// Where values of a type live. Of 8 bits in 16, extended by their sign.
    pub(super) fn of(ty: Type) -> Class {
        match ty {
            Type::Bool => Class::Predicate,
            Type::F32 => Class::Float,
            Type::F64 => Class::Double,
            _ => match ty.bytes() {
                1 | 2 => Class::Half,
                4 => Class::Word,
                _ => Class::Long,
            },
        }
    }

    /// Where a template's scratch register of a PTX type lives.
    pub(super) fn of_ptx(ty: &str) -> Class {
        match ty {
            "pred" => Class::Predicate,
            "f32" => Class::Float,
            "f64" => Class::Double,
            _ if ty.ends_with("64") => Class::Long,
            _ if ty.ends_with("16") => Class::Half,
            _ => Class::Word,
        }
    }
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg {
    pub(super) class: Class,
    pub(super) number: u32,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Class::ALL[self.class as usize].1, self.number)
    }
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operand {
    Reg(Reg),
    /// A constant. Not every instruction takes one, and none takes one of a 16-bit float: those see its bits.
    Constant(Scalar),
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Operand {
        Operand::Reg(reg)
    }
}

impl Operand {
    /// A `u32` constant.
    pub(super) fn word(value: u32) -> Operand {
        Operand::Constant(Scalar::u32(value))
    }

    /// An integer constant of a type.
    pub(super) fn int(ty: Type, value: i128) -> Operand {
        Operand::Constant(Scalar::int(ty, value))
    }

    /// The constant, if it is one.
    pub(super) fn constant(self) -> Option<Scalar> {
        match self {
            Operand::Constant(scalar) => Some(scalar),
            Operand::Reg(_) => None,
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = match self {
            Operand::Reg(reg) => return reg.fmt(f),
            Operand::Constant(scalar) => scalar,
        };
        match scalar.ty {
            Type::F32 => write!(f, "0f{:08X}", scalar.bits),
            Type::F64 => write!(f, "0d{:016X}", scalar.bits),
            Type::F16 | Type::BF16 => write!(f, "0x{:04X}", scalar.bits),
            // Decimal literals are signed 64-bit integers.
            Type::U64 | Type::I64 if scalar.bits > 1 << 62 => write!(f, "0x{:X}", scalar.bits),
            _ => write!(f, "{}", scalar.as_int()),
        }
    }
}

/// The type suffix of an instruction that computes in a type: 8 bits are computed in 16.
pub(super) fn suffix(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "pred",
        Type::I8 | Type::I16 => "s16",
        Type::U8 | Type::U16 => "u16",
        Type::I32 => "s32",
        Type::U32 => "u32",
        Type::I64 => "s64",
        Type::U64 => "u64",
        Type::F16 => "f16",
        Type::BF16 => "bf16",
        Type::F32 => "f32",
        Type::F64 => "f64",
        Type::Ptr(_) if ty.bytes() == 8 => "u64",
        Type::Ptr(_) => "u32",
    }
}

/// The suffix of an instruction that moves a type's bits between registers.
pub(super) fn bits_suffix(ty: Type) -> &'static str {
    match Class::of(ty) {
        Class::Predicate => "pred",
        Class::Half => "b16",
        Class::Word => "b32",
        Class::Float => "f32",
        Class::Long => "b64",
        Class::Double => "f64",
    }
}

/// The suffix of bitwise instructions, which want untyped operands: as wide as the register.
pub(super) fn logic_suffix(ty: Type) -> &'static str {
    match Class::of(ty) {
        Class::Predicate => "pred",
        Class::Half => "b16",
        Class::Word | Class::Float => "b32",
        Class::Long | Class::Double => "b64",
    }
}

/// The suffix of loads and stores: what stands in memory. A `bool` is a byte.
pub(super) fn memory_suffix(ty: Type) -> &'static str {
    match ty {
        Type::Bool | Type::U8 => "u8",
        Type::I8 => "s8",
        Type::F16 | Type::BF16 => "b16",
        _ => suffix(ty),
    }
}
