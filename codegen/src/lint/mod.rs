//! Findings about speed: what is worth a person's time, where, by how much, and the edit that mends it. LANGUAGE §8 has the table.
//!
//! One lint, one file, one line of [`LINTS`], one page beside the file (`NAME.md`: why, an example, the example mended, the source), one UI
//! case. A lint looks at one variant and what is known of it on all targets at once, and says each thing once.

use crate::diagnostic::Level;
use crate::estimate::Known;
use crate::hir::Lowered;
use crate::ir::Loc;
use proc_macro2::Span;

/// A lint.
pub struct Lint {
    /// Its name: the file's, `allow(NAME)`'s, `warpwright explain NAME`'s.
    pub name: &'static str,
    /// How grave its findings are unless the kernel says otherwise; `None`: silent.
    pub level: Option<Level>,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Its page, Markdown.
    pub page: &'static str,
    /// Finds.
    pub check: fn(&Subject<'_>, &mut Vec<Finding>),
}

/// Every lint, in the order of LANGUAGE §8.
pub const LINTS: &[&Lint] = &[];

/// What a lint looks at.
pub struct Subject<'a> {
    /// The kernel's source: spans behind locations.
    pub lowered: &'a Lowered,
    /// The variant and what is known of it.
    pub known: &'a Known,
    /// Where the source asks for things.
    pub sites: &'a Sites,
}

impl Subject<'_> {
    /// The span behind a location.
    pub fn span(&self, loc: Loc) -> Span {
        self.lowered.span(loc)
    }
}

/// Where a kernel's source asks for what findings are about.
#[derive(Clone, Debug)]
pub struct Sites {
    /// The kernel's name.
    pub name: Span,
    /// Arguments of `#[kernel(…)]` by name: `block`, `ilp`, `max_registers` ….
    pub arguments: Vec<(&'static str, Span)>,
}

impl Sites {
    /// Where the first of these arguments that is there stands; else the kernel's name.
    pub fn argument(&self, names: &[&str]) -> Span {
        let find = |name: &&str| self.arguments.iter().find(|(known, _)| known == name).map(|(_, span)| *span);
        names.iter().find_map(find).unwrap_or(self.name)
    }
}

/// What a lint found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The annotation or access that causes it.
    pub span: Span,
    /// The figure and the cause.
    pub message: String,
    /// Other places that belong to it.
    pub labels: Vec<(Span, String)>,
    /// The edit that mends it.
    pub help: String,
}
