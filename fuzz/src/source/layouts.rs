//! Types as memory holds them: elements of buffers of structs, and what is passed by value.
//!
//! Each scalar of a value is a column: all elements of it have their contents from one seed. Devices and the program of host twins take the same bytes.

use super::contents::{Column, placed};
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
        let leaves = self.leaves(8);
        let filled: usize = leaves.iter().map(|(leaf, _)| leaf.size(8)).sum();
        let are_numbers = leaves
            .iter()
            .all(|(leaf, _)| matches!(leaf, Layout::Float8(_)) || matches!(leaf, Layout::Scalar(scalar) if *scalar != Scalar::Bool));
        are_numbers && filled == self.size(8)
    }

    /// Its scalars in order, each with the byte where it begins.
    fn leaves(&self, wide: usize) -> Vec<(&Layout, usize)> {
        let mut all = Vec::new();
        self.leaves_from(wide, 0, &mut all);
        all
    }

    fn leaves_from<'l>(&'l self, wide: usize, at: usize, all: &mut Vec<(&'l Layout, usize)>) {
        match self {
            Layout::Scalar(_) | Layout::Float8(_) | Layout::Index | Layout::Enum { .. } => all.push((self, at)),
            Layout::Array(inner, len) => (0..*len).for_each(|n| inner.leaves_from(wide, at + n * inner.size(wide), all)),
            Layout::Struct { fields, .. } => {
                let mut at = at;
                for (_, field) in fields {
                    at = at.next_multiple_of(field.align(wide));
                    field.leaves_from(wide, at, all);
                    at += field.size(wide);
                }
            }
        }
    }

    /// What its column is made as. Of `bool`, enums and indices a byte says which.
    fn column(&self) -> &'static str {
        match self {
            Layout::Scalar(scalar) if *scalar != Scalar::Bool => scalar.name(),
            _ => "u8",
        }
    }

    /// The numbers that a byte of its column says one of, if it is no number itself.
    fn numbers(&self) -> Vec<i64> {
        match self {
            Layout::Scalar(Scalar::Bool) => vec![0, 1],
            Layout::Enum { variants, .. } => variants.iter().map(|(_, number)| *number).collect(),
            _ => Vec::new(),
        }
    }

    /// The bytes of so many elements from a seed.
    pub fn bytes(&self, seed: u64, len: usize, wide: usize) -> Vec<u8> {
        let leaves = self.leaves(wide);
        let numbers: Vec<Vec<i64>> = leaves.iter().map(|(leaf, _)| leaf.numbers()).collect();
        let column =
            |((leaf, at), numbers): (&(&Layout, usize), _)| Column { scalar: leaf.column(), at: *at, size: leaf.size(wide), numbers };
        let columns: Vec<Column> = leaves.iter().zip(numbers.iter().map(Vec::as_slice)).map(column).collect();
        placed(seed, len, self.size(wide), &columns)
    }

    /// The same elements as an expression of the program of host twins, a `Vec`. `path`: where the kernel's items are.
    pub fn values(&self, seed: u64, len: usize, path: &str) -> String {
        // The host's `usize`.
        let wide = 8;
        let column = |(leaf, at): &(&Layout, usize)| {
            let (scalar, size, numbers) = (leaf.column(), leaf.size(wide), leaf.numbers());
            format!("Column {{ scalar: {scalar:?}, at: {at}, size: {size}, numbers: &{numbers:?} }}")
        };
        let columns: Vec<String> = self.leaves(wide).iter().map(column).collect();
        let (name, size) = (self.name(path), self.size(wide));
        format!("unsafe {{ use crate::Column; crate::values::<{name}>(&crate::placed({seed}, {len}, {size}, &[{}])) }}", columns.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::contents::contents;
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
        assert!(
            of(1)
                .values(5, 2, "inner::")
                .contains("values::<inner::R>(&crate::placed(5, 2, 24, &[Column { scalar: \"u8\", at: 0, size: 1, numbers: &[] }")
        );
    }
}
