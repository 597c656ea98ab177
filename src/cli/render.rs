//! Findings as `rustc` shows them.

use super::complain;
use super::style::{self, Stream};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::collections::HashSet;
use warpwright_codegen::diagnostic::{self, Diagnostic, Diagnostics};
use warpwright_codegen::lint;

/// Prints findings to standard error, each in the file (path and text) it belongs to.
pub(super) fn print<'f>(found: &Diagnostics, file: impl Fn(&Diagnostic) -> (&'f str, &'f str)) {
    let renderer = if style::colour(Stream::Err) { Renderer::styled() } else { Renderer::plain() };
    let mut noted = HashSet::new();
    for finding in found.iter() {
        let (path, text) = file(finding);
        let note = lint::note(finding).filter(|_| noted.insert((finding.lint, finding.level)));
        complain(&format!("{}\n", renderer.render(&report(finding, note.as_deref(), path, text))));
    }
}

fn report<'a>(finding: &'a Diagnostic, note: Option<&'a str>, path: &'a str, text: &'a str) -> Vec<Group<'a>> {
    let level = match finding.level {
        diagnostic::Level::Error => Level::ERROR,
        diagnostic::Level::Warning => Level::WARNING,
    };
    let title = level.primary_title(finding.message.as_str());
    let mut group = Group::with_title(match finding.lint {
        Some(name) => title.id(name),
        None => title,
    });
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
    if let Some(note) = note {
        group = group.element(Level::NOTE.message(note));
    }
    vec![group]
}

/// The bytes of a span in the file; of one that is empty, the character behind it. A span from nowhere (`call_site`) has none.
pub(super) fn range(span: proc_macro2::Span, text: &str) -> Option<std::ops::Range<usize>> {
    let (start, end) = (span.start(), span.end());
    let offset = |at: proc_macro2::LineColumn| {
        let line_start = text.split_inclusive('\n').take(at.line.checked_sub(1)?).map(str::len).sum::<usize>();
        let line = text.get(line_start..)?;
        let column = line.char_indices().nth(at.column).map_or(line.len(), |(index, _)| index);
        Some(line_start + column)
    };
    let (from, to) = (offset(start)?, offset(end)?);
    let next = text.get(from..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let range = from..to.max(from + next);
    (range.end <= text.len() && !text.is_empty()).then_some(range)
}
