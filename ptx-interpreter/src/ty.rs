//! The types of PTX (PTX ISA, "Fundamental Types").

/// A type of an instruction or a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Tf32,
    E4m3,
    E5m2,
    E4m3x2,
    E5m2x2,
}

/// Each type with its word and its bits; a predicate has one.
const TYPES: &[(&str, Ty, u32)] = &[
    ("pred", Ty::Pred, 1),
    ("b8", Ty::B8, 8),
    ("b16", Ty::B16, 16),
    ("b32", Ty::B32, 32),
    ("b64", Ty::B64, 64),
    ("u8", Ty::U8, 8),
    ("u16", Ty::U16, 16),
    ("u32", Ty::U32, 32),
    ("u64", Ty::U64, 64),
    ("s8", Ty::S8, 8),
    ("s16", Ty::S16, 16),
    ("s32", Ty::S32, 32),
    ("s64", Ty::S64, 64),
    ("f16", Ty::F16, 16),
    ("f16x2", Ty::F16x2, 32),
    ("bf16", Ty::Bf16, 16),
    ("bf16x2", Ty::Bf16x2, 32),
    ("f32", Ty::F32, 32),
    ("f64", Ty::F64, 64),
    ("tf32", Ty::Tf32, 32),
    ("e4m3", Ty::E4m3, 8),
    ("e5m2", Ty::E5m2, 8),
    ("e4m3x2", Ty::E4m3x2, 16),
    ("e5m2x2", Ty::E5m2x2, 16),
];

impl Ty {
    /// The type of a word, without its dot.
    pub(crate) fn named(word: &str) -> Option<Ty> {
        TYPES.iter().find(|(name, ..)| *name == word).map(|(_, ty, _)| *ty)
    }

    /// Its word.
    pub(crate) fn word(self) -> &'static str {
        TYPES.iter().find(|(_, ty, _)| *ty == self).map_or("", |(name, ..)| name)
    }

    pub(crate) fn bits(self) -> u32 {
        TYPES.iter().find(|(_, ty, _)| *ty == self).map_or(0, |(.., bits)| *bits)
    }

    pub(crate) fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64)
    }

    /// Whether it is one of whole numbers: `.u` or `.s`.
    pub(crate) fn is_int(self) -> bool {
        self.is_signed() || matches!(self, Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64)
    }

    /// Whether it is untyped bits.
    pub(crate) fn is_untyped(self) -> bool {
        matches!(self, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64)
    }
}

/// The lowest bits of a value, the others zero.
pub(crate) fn low(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// A value of so many bits with its sign extended to 64.
pub(crate) fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused) as i64 >> unused
}
