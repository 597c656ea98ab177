//! Where a span stands in the user's files, for programs parsed from text.

use super::{Program, Unit};
use proc_macro2::Span;
use std::fmt;
use syn::spanned::Spanned;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePlace {
    /// The file, as the unit names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl fmt::Display for SourcePlace {
    /// `src/main.rs:12:5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl Program {
    /// The place of a span that a unit of the program was parsed with; `None` for spans from nowhere.
    pub fn place(&self, span: Span) -> Option<SourcePlace> {
        // Each parsed text is a file of its own to proc-macro2, with a name of its own.
        let text = span.file();
        self.units.iter().find(|unit| unit.items.first().is_some_and(|item| item.span().file() == text)).map(|unit| unit.place(span))
    }
}

impl Unit {
    /// The place of a span of this unit.
    pub fn place(&self, span: Span) -> SourcePlace {
        let start = span.start();
        let line = u32::try_from(start.line).unwrap_or(u32::MAX);
        let column = u32::try_from(start.column).unwrap_or(u32::MAX);
        let first = if line <= 1 { self.column_offset } else { 0 };
        SourcePlace {
            file: self.file.clone(),
            line: line.saturating_add(self.line_offset),
            column: column.saturating_add(1).saturating_add(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_placed_in_their_own_unit() {
        let mut program = Program::default();
        program.add(Unit::parse("a.rs", 10, 5, "fn first() {}").unwrap());
        program.add(Unit::parse("b.rs", 1, 1, "\n  fn second() {}").unwrap());
        let spans: Vec<_> = program.units.iter().map(|unit| unit.items[0].span()).collect();
        assert_eq!(program.place(spans[0]).unwrap().to_string(), "a.rs:10:5");
        assert_eq!(program.place(spans[1]).unwrap().to_string(), "b.rs:2:3");
        assert_eq!(program.place(Span::call_site()), None);
    }
}
