//! Findings as `rustc` shows them.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::io::IsTerminal;
use warpwright_codegen::diagnostic::{self, Diagnostic, Diagnostics};

/// Prints findings to standard error, coloured on a terminal unless `NO_COLOR` is set.
pub(super) fn print(found: &Diagnostics, path: &str, text: &str) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    for finding in found.iter() {
        eprintln!("{}\n", renderer.render(&report(finding, path, text)));
    }
    if found.iter().any(|finding| finding.message.ends_with("is not known to the kernel")) {
        eprintln!("note: `{path}` is read alone: what other files mark with `#[device]` is not known here, only to `cargo build`\n");
    }
    let errors = found.iter().filter(|finding| finding.level == diagnostic::Level::Error).count();
    if errors > 0 {
        eprintln!("{errors} error{}", if errors == 1 { "" } else { "s" });
    }
}

fn report<'a>(finding: &'a Diagnostic, path: &'a str, text: &'a str) -> Vec<Group<'a>> {
    let level = match finding.level {
        diagnostic::Level::Error => Level::ERROR,
        diagnostic::Level::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(finding.message.as_str()));
    if let Some(range) = range(finding.span, text) {
        let mut snippet = Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(range));
        for (span, label) in &finding.labels {
            if let Some(range) = self::range(*span, text) {
                snippet = snippet.annotation(AnnotationKind::Context.span(range).label(label.as_str()));
            }
        }
        group = group.element(snippet);
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    vec![group]
}

/// The bytes of a span in the file. A span from nowhere (`call_site`) has none.
fn range(span: proc_macro2::Span, text: &str) -> Option<std::ops::Range<usize>> {
    let (start, end) = (span.start(), span.end());
    if start == end {
        return None;
    }
    let offset = |at: proc_macro2::LineColumn| {
        let line_start = text.split_inclusive('\n').take(at.line.checked_sub(1)?).map(str::len).sum::<usize>();
        let line = text.get(line_start..)?;
        let column = line.char_indices().nth(at.column).map_or(line.len(), |(index, _)| index);
        Some(line_start + column)
    };
    let range = offset(start)?..offset(end)?;
    (range.end <= text.len()).then_some(range)
}
