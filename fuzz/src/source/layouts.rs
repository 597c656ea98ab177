//! Types as memory holds them: elements of buffers of structs, and what is passed by value.
//!
//! Each scalar of a value is a column: all elements of it have their contents from one seed. So devices, which take bytes, and the program of host twins, which takes values, have the same.

use super::contents::contents;
use super::types::Scalar;

/// A type in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A scalar.
    Scalar(Scalar),
    /// A float of 8 bits, by its name.
    Float8(&'static str),
    /// `usize`, which is as wide as the kernel says: below 256.
    Index,
    /// An enum.
    Enum {
        /// Its name.
        name: String,
        /// Its variants, each with its number.
        variants: Vec<(&'static str, i64)>,
        /// The integer that it is.
        repr: Scalar,
    },
    /// An array.
    Array(Box<Layout>, usize),
    /// A struct.
    Struct {
        /// Its name.
        name: String,
        /// Its fields in order.
        fields: Vec<(String, Layout)>,
        /// What its attribute aligns it to; 1 if it says nothing.
        align: usize,
    },
}

impl Layout {
    /// As source says it, its items within this path.
    pub fn name(&self, path: &str) -> String {
        match self {
            Layout::Scalar(scalar) => scalar.name().to_owned(),
            Layout::Float8(name) => (*name).to_owned(),
            Layout::Index => "usize".to_owned(),
            Layout::Enum { name, .. } | Layout::Struct { name, .. } => format!("{path}{name}"),
            Layout::Array(inner, len) => format!("[{}; {len}]", inner.name(path)),
        }
    }

    fn align(&self, wide: usize) -> usize {
        match self {
            Layout::Float8(_) => 1,
            Layout::Scalar(scalar) | Layout::Enum { repr: scalar, .. } => scalar.bytes(),
            Layout::Index => wide,
            Layout::Array(inner, _) => inner.align(wide),
            Layout::Struct { fields, align, .. } => fields.iter().map(|(_, field)| field.align(wide)).fold(*align, usize::max),
        }
    }

    /// Bytes of it, where `usize` has so many.
    pub fn size(&self, wide: usize) -> usize {
        match self {
            Layout::Float8(_) => 1,
            Layout::Scalar(scalar) | Layout::Enum { repr: scalar, .. } => scalar.bytes(),
            Layout::Index => wide,
            Layout::Array(inner, len) => inner.size(wide) * len,
            Layout::Struct { fields, .. } => {
                let place = |at: usize, field: &Layout| at.next_multiple_of(field.align(wide)) + field.size(wide);
                fields.iter().fold(0, |at, (_, field)| place(at, field)).next_multiple_of(self.align(wide))
            }
        }
    }

    /// Whether every byte of it may be anything: no padding, no `bool`, no enum.
    pub fn is_plain(&self) -> bool {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        let filled: usize = leaves.iter().map(|leaf| leaf.size(8)).sum();
        let are_numbers = leaves
            .iter()
            .all(|leaf| matches!(leaf, Layout::Float8(_)) || matches!(leaf, Layout::Scalar(scalar) if *scalar != Scalar::Bool));
        are_numbers && filled == self.size(8)
    }

    fn leaves<'l>(&'l self, all: &mut Vec<&'l Layout>) {
        match self {
            Layout::Scalar(_) | Layout::Float8(_) | Layout::Index | Layout::Enum { .. } => all.push(self),
            Layout::Array(inner, len) => (0..*len).for_each(|_| inner.leaves(all)),
            Layout::Struct { fields, .. } => fields.iter().for_each(|(_, field)| field.leaves(all)),
        }
    }

    /// What its column is made as. Of `bool`, enums and indices a byte says which.
    fn column(&self) -> &'static str {
        match self {
            Layout::Scalar(scalar) if *scalar != Scalar::Bool => scalar.name(),
            _ => "u8",
        }
    }

    /// The bytes of so many elements from a seed.
    pub fn bytes(&self, seed: u64, len: usize, wide: usize) -> Vec<u8> {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        let columns: Vec<Vec<u8>> = leaves.iter().zip(seed..).map(|(leaf, seed)| contents(seed, leaf.column(), len)).collect();
        let size = self.size(wide);
        let mut bytes = vec![0; size * len];
        for element in 0..len {
            let mut rest = columns.iter();
            self.put(&mut rest, element, wide, element * size, &mut bytes);
        }
        bytes
    }

    fn put(&self, columns: &mut std::slice::Iter<'_, Vec<u8>>, element: usize, wide: usize, at: usize, bytes: &mut [u8]) {
        match self {
            Layout::Array(inner, len) => {
                (0..*len).for_each(|n| inner.put(columns, element, wide, at + n * inner.size(wide), bytes));
            }
            Layout::Struct { fields, .. } => {
                let mut at = at;
                for (_, field) in fields {
                    at = at.next_multiple_of(field.align(wide));
                    field.put(columns, element, wide, at, bytes);
                    at += field.size(wide);
                }
            }
            Layout::Scalar(_) | Layout::Float8(_) | Layout::Index | Layout::Enum { .. } => {
                let Some(column) = columns.next() else { return };
                let size = self.size(wide);
                let number = match self {
                    Layout::Scalar(Scalar::Bool) => i64::from(column[element] & 1),
                    Layout::Enum { variants, .. } => variants[column[element] as usize % variants.len()].1,
                    Layout::Scalar(_) => return bytes[at..at + size].copy_from_slice(&column[element * size..][..size]),
                    _ => column[element].into(),
                };
                bytes[at..at + size].copy_from_slice(&number.to_le_bytes()[..size]);
            }
        }
    }

    /// The same elements as an expression of the program of host twins, a `Vec`. `path`: where the kernel's items are.
    pub fn values(&self, seed: u64, len: usize, path: &str) -> String {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        let columns: String = leaves
            .iter()
            .enumerate()
            .map(|(at, leaf)| format!("let c{at}_ = crate::contents({}, {:?}, {len}); ", seed + at as u64, leaf.column()))
            .collect();
        format!("{{ {columns}(0..{len}usize).map(|i_| {}).collect::<Vec<_>>() }}", self.value(&mut 0, path))
    }

    fn value(&self, column: &mut usize, path: &str) -> String {
        let leaf = *column;
        match self {
            Layout::Array(inner, len) => {
                let parts: Vec<String> = (0..*len).map(|_| inner.value(column, path)).collect();
                return format!("[{}]", parts.join(", "));
            }
            Layout::Struct { name, fields, .. } => {
                let parts: Vec<String> = fields.iter().map(|(name, field)| format!("{name}: {}", field.value(column, path))).collect();
                return format!("{path}{name} {{ {} }}", parts.join(", "));
            }
            _ => *column += 1,
        }
        match self {
            Layout::Float8(name) => format!("{name}::from_bits(c{leaf}_[i_])"),
            Layout::Scalar(Scalar::Bool) => format!("c{leaf}_[i_] & 1 == 1"),
            Layout::Scalar(scalar) => {
                let n = scalar.bytes();
                format!("<{}>::from_le_bytes(c{leaf}_[i_ * {n}..][..{n}].try_into().unwrap())", scalar.name())
            }
            Layout::Enum { name, variants, .. } => {
                let count = variants.len();
                let arm = |(at, variant): (usize, &(&str, i64))| {
                    let number = if at + 1 == count { "_".to_owned() } else { at.to_string() };
                    format!("{number} => {path}{name}::{}", variant.0)
                };
                let arms: Vec<String> = variants.iter().enumerate().map(arm).collect();
                format!("match c{leaf}_[i_] % {count} {{ {} }}", arms.join(", "))
            }
            _ => format!("c{leaf}_[i_] as usize"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_repr_c_puts_them() {
        let fields = vec![
            ("a".to_owned(), Layout::Scalar(Scalar::U8)),
            ("n".to_owned(), Layout::Index),
            ("b".to_owned(), Layout::Array(Box::new(Layout::Scalar(Scalar::I16)), 3)),
        ];
        let of = |align| Layout::Struct { name: "R".to_owned(), fields: fields.clone(), align };
        assert_eq!([of(1).size(4), of(1).size(8), of(16).size(4)], [16, 24, 16]);
        assert!(!of(1).is_plain());
        let bytes = of(1).bytes(5, 2, 4);
        assert_eq!(bytes[..1], contents(5, "u8", 2)[..1]);
        assert_eq!(bytes[16 + 4..][..4], [contents(6, "u8", 2)[1], 0, 0, 0]);
        assert_eq!(bytes[10..12], contents(8, "i16", 2)[..2]);
        assert!(of(1).values(5, 2, "inner::").contains("inner::R { a: <u8>::from_le_bytes("));
    }
}
