//! The types of SSA values. All values are scalars; aggregates are taken apart when a kernel is lowered.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A memory space of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// By-value kernel parameters: read-only, uniform.
    Param,
    /// Buffers.
    Global,
    /// Constant memory: read-only.
    Constant,
    /// One copy per block of threads.
    Shared,
    /// Shared memory of all blocks of a cluster.
    Cluster,
    /// One copy per thread.
    Local,
}

impl Space {
    /// How many there are.
    pub const COUNT: usize = Space::ALL.len();

    const ALL: [(Space, &'static str); 6] = [
        (Space::Param, "param"),
        (Space::Global, "global"),
        (Space::Constant, "constant"),
        (Space::Shared, "shared"),
        (Space::Cluster, "cluster"),
        (Space::Local, "local"),
    ];
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Space::ALL.iter().find(|(s, _)| s == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Space {
    type Err = ();
    fn from_str(text: &str) -> Result<Space, ()> {
        Space::ALL.iter().find(|(_, name)| *name == text).map(|(s, _)| *s).ok_or(())
    }
}

/// The type of an SSA value.
///
/// `usize` and `isize` are gone at this level: they are `u32`/`i32` or, with `index = 64`, `u64`/`i64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the scalar types of Rust by their own names")]
pub enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// Eight bits: four of exponent, three of digits, no infinity. In memory alone: `as` makes it of floats and floats of it.
    E4M3,
    /// Likewise, with five bits of exponent, two of digits, and infinities.
    E5M2,
    F16,
    BF16,
    F32,
    F64,
    /// An address in a space; only in the `Addressed` stage. 64 bits in global memory, 32 bits elsewhere.
    Ptr(Space),
}

impl Type {
    /// Every scalar type, with its name in the text form (Rust's own).
    pub const SCALARS: [(Type, &'static str); 15] = [
        (Type::Bool, "bool"),
        (Type::I8, "i8"),
        (Type::I16, "i16"),
        (Type::I32, "i32"),
        (Type::I64, "i64"),
        (Type::U8, "u8"),
        (Type::U16, "u16"),
        (Type::U32, "u32"),
        (Type::U64, "u64"),
        (Type::E4M3, "e4m3"),
        (Type::E5M2, "e5m2"),
        (Type::F16, "f16"),
        (Type::BF16, "bf16"),
        (Type::F32, "f32"),
        (Type::F64, "f64"),
    ];

    /// Size in memory, in bytes. A `bool` is one byte.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Bool | Type::I8 | Type::U8 | Type::E4M3 | Type::E5M2 => 1,
            Type::I16 | Type::U16 | Type::F16 | Type::BF16 => 2,
            Type::I32 | Type::U32 | Type::F32 => 4,
            Type::I64 | Type::U64 | Type::F64 => 8,
            Type::Ptr(Space::Global) => 8,
            Type::Ptr(_) => 4,
        }
    }

    /// Width in bits; 1 for `bool`.
    pub fn bits(self) -> u32 {
        if self == Type::Bool { 1 } else { self.bytes() * 8 }
    }

    /// Whether it is a float of 8 bits: no arithmetic, no order, no equality; `as` from and to the other floats.
    pub fn is_float8(self) -> bool {
        matches!(self, Type::E4M3 | Type::E5M2)
    }

    /// Whether its values are floats of any width.
    pub fn is_any_float(self) -> bool {
        self.is_float() || self.is_float8()
    }

    /// Whether it is one of the four floating-point types that are computed in; those of 8 bits are not ([`Type::is_float8`]).
    pub fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::BF16 | Type::F32 | Type::F64)
    }

    /// Whether it is an integer type (`bool` is not).
    pub fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }

    /// Whether it is one of `i8 i16 i32 i64`.
    pub fn is_signed_int(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64)
    }

    /// The numbers of an integer type.
    pub fn numbers(self) -> RangeInclusive<i128> {
        let bits = self.bits();
        if self.is_signed_int() { -(1 << (bits - 1))..=(1 << (bits - 1)) - 1 } else { 0..=(1 << bits) - 1 }
    }

    /// Whether it is one of `u8 u16 u32 u64`.
    pub fn is_unsigned_int(self) -> bool {
        matches!(self, Type::U8 | Type::U16 | Type::U32 | Type::U64)
    }

    /// The unsigned integer type of the same width (`bool` stays).
    pub fn to_unsigned(self) -> Type {
        match self.bytes() {
            _ if self == Type::Bool => Type::Bool,
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::U32,
            _ => Type::U64,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Ptr(space) => write!(f, "ptr.{space}"),
            scalar => f.write_str(Type::SCALARS.iter().find(|(t, _)| t == scalar).map_or("", |(_, name)| name)),
        }
    }
}

impl FromStr for Type {
    type Err = ();
    fn from_str(text: &str) -> Result<Type, ()> {
        if let Some(space) = text.strip_prefix("ptr.") {
            return space.parse().map(Type::Ptr);
        }
        Type::SCALARS.iter().find(|(_, name)| *name == text).map(|(t, _)| *t).ok_or(())
    }
}
