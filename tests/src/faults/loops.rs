//! Which loop or statement of a kernel's text a line belongs to: where a fault is expected, if the compiler's own instructions for that loop are wrong.

use super::verdict::{other_line, within};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use warpwright_runtime::definition::SourceText;
use warpwright_runtime::sim::Fault;

/// The first and the last line of a part of a text, from 1.
type Lines = (u32, u32);

/// A part of a source: where a fault is expected.
pub struct Part {
    source: SourceText,
    lines: Lines,
}

impl Part {
    /// Whether a fault names a line of it.
    pub fn has_fault(&self, fault: &Fault) -> bool {
        let is_here = |line: u32| (self.lines.0..=self.lines.1).contains(&within(&self.source, line));
        fault.file == self.source.file && (is_here(fault.line) || other_line(&fault.kind).is_some_and(is_here))
    }
}

/// What a line of a file is a part of. In the first of the sources, the kernel: a loop, or a statement. In another one, which is called: the whole function.
pub fn part_around(sources: &[SourceText], file: &str, line: u32) -> Option<Part> {
    let count = |source: &SourceText| source.text.lines().count() as u32;
    let has_line = |source: &SourceText| source.file == file && (1..=count(source)).contains(&within(source, line));
    let at = sources.iter().position(has_line)?;
    let source = sources[at];
    let lines = if at == 0 { Parts::of(source.text).around(within(&source, line))? } else { (1, count(&source)) };
    Some(Part { source, lines })
}

/// The loops and the statements of a text.
#[derive(Default)]
struct Parts {
    pipelined: Vec<Lines>,
    loops: Vec<Lines>,
    statements: Vec<Lines>,
}

fn lines_of(node: &impl Spanned) -> Lines {
    let span = node.span();
    (span.start().line as u32, span.end().line as u32)
}

impl Parts {
    /// Those of an item's text.
    fn of(text: &str) -> Parts {
        let mut parts = Parts::default();
        if let Ok(file) = syn::parse_file(text) {
            parts.visit_file(&file);
        }
        parts
    }

    /// The pipelined loop with a line; of a line outside of those, its innermost loop, or else its innermost statement.
    fn around(&self, line: u32) -> Option<Lines> {
        let smallest = |parts: &[Lines]| {
            let with_line = parts.iter().filter(|(first, last)| (*first..=*last).contains(&line));
            with_line.min_by_key(|(first, last)| last - first).copied()
        };
        smallest(&self.pipelined).or_else(|| smallest(&self.loops)).or_else(|| smallest(&self.statements))
    }
}

impl<'a> Visit<'a> for Parts {
    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        self.statements.push(lines_of(statement));
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_for_loop(&mut self, repeated: &'a syn::ExprForLoop) {
        self.loops.push(lines_of(repeated));
        if repeated.attrs.iter().any(|attribute| attribute.path().is_ident("pipeline")) {
            self.pipelined.push(lines_of(repeated));
        }
        visit::visit_expr_for_loop(self, repeated);
    }
}
