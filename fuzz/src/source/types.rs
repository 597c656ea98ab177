//! The scalar types of the language, and what the generator must know of each.

/// A scalar type. `usize` is none of them: its width differs between the host and devices, so only indices have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalar {
    /// `u32`: the plainest.
    U32,
    /// `i32`.
    I32,
    /// `f32`.
    F32,
    /// `u64`.
    U64,
    /// `i64`.
    I64,
    /// `f64`.
    F64,
    /// `u8`.
    U8,
    /// `i8`.
    I8,
    /// `u16`.
    U16,
    /// `i16`.
    I16,
    /// `f16`.
    F16,
    /// `bf16`.
    Bf16,
    /// `bool`.
    Bool,
}

use Scalar::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Scalar {
    /// All of them, the plainest first.
    pub const ALL: [Scalar; 13] = [U32, I32, F32, U64, I64, F64, U8, I8, U16, I16, F16, Bf16, Bool];
    /// Integers.
    pub const INTEGERS: [Scalar; 8] = [U32, I32, U64, I64, U8, I8, U16, I16];
    /// Floats.
    pub const FLOATS: [Scalar; 4] = [F32, F64, F16, Bf16];
    /// What buffers hold: every bit pattern is a value.
    pub const ELEMENTS: [Scalar; 12] = [U32, I32, F32, U64, I64, F64, U8, I8, U16, I16, F16, Bf16];
    /// What the generator asks atomics for.
    pub const ATOMIC: [Scalar; 4] = [U32, I32, U64, I64];

    /// As source says it.
    pub fn name(self) -> &'static str {
        match self {
            U32 => "u32",
            I32 => "i32",
            F32 => "f32",
            U64 => "u64",
            I64 => "i64",
            F64 => "f64",
            U8 => "u8",
            I8 => "i8",
            U16 => "u16",
            I16 => "i16",
            F16 => "f16",
            Bf16 => "bf16",
            Bool => "bool",
        }
    }

    /// Bytes in memory.
    pub fn bytes(self) -> usize {
        match self {
            Bool | U8 | I8 => 1,
            U16 | I16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 => 8,
        }
    }

    /// Bits.
    pub fn bits(self) -> usize {
        self.bytes() * 8
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        Scalar::FLOATS.contains(&self)
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        Scalar::INTEGERS.contains(&self)
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// Whether rustc has literals of it.
    pub fn has_literals(self) -> bool {
        !matches!(self, F16 | Bf16)
    }

    /// The integer of the same width without a sign.
    pub fn unsigned(self) -> Scalar {
        match self.bytes() {
            1 => U8,
            2 => U16,
            4 => U32,
            _ => U64,
        }
    }
}
