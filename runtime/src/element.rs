//! What a buffer's element or a by-value parameter may be, and how each type is named and laid out.

use half::{bf16, f16};
use std::fmt;
use std::mem::{align_of, offset_of, size_of};

/// A type that kernels may hold in memory: an element of a buffer, a parameter by value, a shared array's element.
///
/// Implemented by this library for scalars, arrays and tuples, and by `#[device]` and `#[warpwright::module]` for structs and
/// enums. Nobody else should: buffers move values to and from devices as plain bytes, laid out as [`Element::TYPE`] says, and
/// make new ones of zero bytes.
pub trait Element: Copy + Send + Sync + 'static {
    /// Its name and layout.
    const TYPE: ElementType;
}

/// Name and layout of an [`Element`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// A scalar, by Rust's name: `bool`, `u32`, `usize`, `f16`.
    Scalar(&'static str),
    /// An array and its length.
    Array(&'static ElementType, usize),
    /// A `#[repr(C)]` struct, or a C-like enum.
    Struct {
        /// The name that the kernel's unit knows it by.
        name: &'static str,
        /// Size in bytes, padding included.
        size: usize,
        /// Alignment in bytes.
        align: usize,
    },
    /// A tuple. rustc chooses its layout; devices lay it out as `repr(C)`: see [`ElementType::is_layout_c`].
    Tuple(&'static [TupleField]),
}

/// A field of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TupleField {
    /// Its type.
    pub ty: ElementType,
    /// Where rustc put it, in bytes.
    pub offset: usize,
}

impl ElementType {
    /// Size in bytes by the rules of `repr(C)`, with the host's `usize`.
    pub fn size(&self) -> usize {
        match self {
            ElementType::Scalar(name) => scalar_size(name),
            ElementType::Array(element, length) => element.size() * length,
            ElementType::Struct { size, .. } => *size,
            ElementType::Tuple(fields) => {
                let end = fields.iter().fold(0, |end: usize, field| end.next_multiple_of(field.ty.align()) + field.ty.size());
                end.next_multiple_of(self.align())
            }
        }
    }

    /// Alignment in bytes, with the host's `usize`.
    pub fn align(&self) -> usize {
        match self {
            ElementType::Scalar(name) => scalar_size(name),
            ElementType::Array(element, _) => element.align(),
            ElementType::Struct { align, .. } => *align,
            ElementType::Tuple(fields) => fields.iter().map(|field| field.ty.align()).max().unwrap_or(1),
        }
    }

    /// Whether every tuple within it has its fields where `repr(C)` puts them, so that host and device agree.
    pub fn is_layout_c(&self) -> bool {
        match self {
            ElementType::Scalar(_) | ElementType::Struct { .. } => true,
            ElementType::Array(element, _) => element.is_layout_c(),
            ElementType::Tuple(fields) => {
                let mut end = 0usize;
                fields.iter().all(|field| {
                    let expected = end.next_multiple_of(field.ty.align());
                    end = expected + field.ty.size();
                    field.offset == expected && field.ty.is_layout_c()
                })
            }
        }
    }

    /// Whether it holds a `usize` or `isize`, whose width the kernel's index type decides. Structs are not looked into.
    pub fn has_index(&self) -> bool {
        match self {
            ElementType::Scalar(name) => matches!(*name, "usize" | "isize"),
            ElementType::Array(element, _) => element.has_index(),
            ElementType::Struct { .. } => false,
            ElementType::Tuple(fields) => fields.iter().any(|field| field.ty.has_index()),
        }
    }
}

/// Size of the scalar of this name; its alignment is the same on every target we serve.
fn scalar_size(name: &str) -> usize {
    match name {
        "bool" | "i8" | "u8" => 1,
        "i16" | "u16" | "f16" | "bf16" => 2,
        "i32" | "u32" | "f32" => 4,
        "i64" | "u64" | "f64" => 8,
        _ => size_of::<usize>(),
    }
}

impl fmt::Display for ElementType {
    /// Rust text: `f32`, `[f16; 4]`, `(u32, f32)`, `Particle`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementType::Scalar(name) | ElementType::Struct { name, .. } => f.write_str(name),
            ElementType::Array(element, length) => write!(f, "[{element}; {length}]"),
            ElementType::Tuple(fields) => {
                f.write_str("(")?;
                for (i, field) in fields.iter().enumerate() {
                    let separator = if i == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", field.ty)?;
                }
                f.write_str(")")
            }
        }
    }
}

macro_rules! scalars {
    ($($t:ident)*) => {$(
        impl Element for $t {
            const TYPE: ElementType = {
                assert!(align_of::<$t>() == size_of::<$t>(), "hosts whose scalars are not aligned to their size are not served");
                ElementType::Scalar(stringify!($t))
            };
        }
    )*};
}

scalars!(bool i8 i16 i32 i64 u8 u16 u32 u64 isize usize f16 bf16 f32 f64);

impl<T: Element, const N: usize> Element for [T; N] {
    const TYPE: ElementType = ElementType::Array(&T::TYPE, N);
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),*))*) => {$(
        impl<$($t: Element),*> Element for ($($t,)*) {
            const TYPE: ElementType = ElementType::Tuple(&[$(TupleField { ty: $t::TYPE, offset: offset_of!(Self, $i) }),*]);
        }
    )*};
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_rust_text() {
        assert_eq!(<[[f16; 4]; 2]>::TYPE.to_string(), "[[f16; 4]; 2]");
        assert_eq!(<(u32, [f32; 3], bf16)>::TYPE.to_string(), "(u32, [f32; 3], bf16)");
    }

    #[test]
    fn sizes_are_rustc_s() {
        assert_eq!(<[[f16; 4]; 3]>::TYPE.size(), size_of::<[[f16; 4]; 3]>());
        assert_eq!(<(u64, u32)>::TYPE.size(), size_of::<(u64, u32)>());
        assert_eq!(<(u64, u32)>::TYPE.align(), align_of::<(u64, u32)>());
        assert_eq!(<(u8, u32, u8)>::TYPE.size(), 12);
    }

    #[test]
    fn a_tuple_that_rustc_reorders_is_noticed() {
        let field = |ty, offset| TupleField { ty, offset };
        let in_order = [field(u8::TYPE, 0), field(u32::TYPE, 4)];
        let reordered = [field(u8::TYPE, 4), field(u32::TYPE, 0)];
        assert!(ElementType::Tuple(Box::leak(Box::new(in_order))).is_layout_c());
        assert!(!ElementType::Tuple(Box::leak(Box::new(reordered))).is_layout_c());
        assert!(<(f32, f32)>::TYPE.is_layout_c());
    }

    #[test]
    fn index_types_are_found_within() {
        assert!(<[(u32, usize); 2]>::TYPE.has_index());
        assert!(!<[u64; 2]>::TYPE.has_index());
    }
}
