//! What tells whether a mistake changes anything in a launch: the kernel as it is, with an assertion beside what is edited.
//!
//! The assertion holds as long as the mutant would compute what the kernel does. If no thread breaks it, the mutant does the same from the first step to the last.

use std::ops::Range;
use syn::spanned::Spanned;

/// A place of a text, and when the mutant does there what the kernel does.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Bytes of the text: an expression or a statement.
    range: Range<usize>,
    /// Whether it is a statement.
    is_statement: bool,
    /// The condition, in the kernel's language. None: the mutant does something else whenever a thread comes here.
    same: Option<String>,
}

impl Probe {
    /// Of an expression whose mutant has another value whenever a thread computes it.
    pub(super) fn reached(node: &impl Spanned) -> Probe {
        Probe { range: node.span().byte_range(), is_statement: false, same: None }
    }

    /// Of an expression whose mutant has the same value where this condition holds.
    pub(super) fn same(node: &impl Spanned, condition: String) -> Probe {
        Probe { same: Some(condition), ..Probe::reached(node) }
    }

    /// The same of a statement.
    pub(super) fn of_statement(self) -> Probe {
        Probe { is_statement: true, ..self }
    }

    /// The text with an assertion that fails where a thread comes here.
    pub fn where_reached(&self, text: &str) -> String {
        self.with(text, "false")
    }

    /// The text with an assertion that fails where the mutant would do something else, if it need not.
    pub fn where_different(&self, text: &str) -> Option<String> {
        self.same.as_ref().map(|same| self.with(text, same))
    }

    fn with(&self, text: &str, condition: &str) -> String {
        let (before, node, after) = (&text[..self.range.start], &text[self.range.clone()], &text[self.range.end..]);
        let (open, close) = if self.is_statement { ("", "") } else { ("({", "})") };
        format!("{before}{open} assert!({condition}); {node} {close}{after}")
    }
}
