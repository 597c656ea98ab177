//! What an annotation's pass has to say, in the kernel's own locations.

use crate::diagnostic::Diagnostic;
use crate::ir::Loc;
use proc_macro2::Span;

/// A promise that cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The annotation.
    pub loc: Loc,
    /// What is in the way.
    pub message: String,
    /// The places that belong to it: accesses, variables, barriers.
    pub labels: Vec<(Loc, String)>,
    /// The edit that helps.
    pub help: String,
    /// Whether the annotation says `best_effort`.
    pub is_warning: bool,
}

impl Refusal {
    /// One whose annotation is filled in by who reports it.
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal { loc: Loc(0), message: message.into(), labels: Vec::new(), help: help.into(), is_warning: false }
    }

    /// The same with another place that belongs to it.
    pub(super) fn label(mut self, loc: Loc, text: impl Into<String>) -> Refusal {
        self.labels.push((loc, text.into()));
        self
    }

    /// As a diagnostic of the source.
    pub(crate) fn diagnostic(self, span: impl Fn(Loc) -> Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(span(self.loc), self.message).help(self.help);
        if self.is_warning {
            diagnostic = diagnostic.best_effort();
        }
        for (loc, text) in self.labels {
            diagnostic = diagnostic.label(span(loc), text);
        }
        diagnostic
    }
}

/// An annotation with these arguments as it is written: on a loop, or as an argument of `#[kernel]`.
pub(super) fn written(name: &str, arguments: &str, of_kernel: bool) -> String {
    if of_kernel { format!("`{name}({arguments})`") } else { format!("`#[{name}({arguments})]`") }
}
