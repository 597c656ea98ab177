//! Findings as `rustc` shows them.

use super::complain;
use super::style::{self, Stream};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use proc_macro2::Span;
use std::collections::HashSet;
use warpwright_codegen::diagnostic::{self, Diagnostic, Diagnostics};
use warpwright_review::lint;

/// Prints findings to standard error, each place in the file (path and text) it belongs to.
pub(super) fn print<'f>(found: &Diagnostics, file: impl Fn(Span) -> (&'f str, &'f str)) {
    let renderer = if style::colour(Stream::Err) { Renderer::styled() } else { Renderer::plain() };
    let mut noted = HashSet::new();
    for finding in found.iter() {
        let note = lint::note(finding).filter(|_| noted.insert((finding.lint, finding.level)));
        complain(&format!("{}\n", renderer.render(&report(finding, note.as_deref(), &file))));
    }
}

fn report<'a, 'f: 'a>(finding: &'a Diagnostic, note: Option<&'a str>, file: &impl Fn(Span) -> (&'f str, &'f str)) -> Vec<Group<'a>> {
    let level = match finding.level {
        diagnostic::Level::Error => Level::ERROR,
        diagnostic::Level::Warning => Level::WARNING,
    };
    let title = level.primary_title(finding.message.as_str());
    let mut group = Group::with_title(match finding.lint {
        Some(name) => title.id(name),
        None => title,
    });
    let (path, text) = file(finding.span);
    if let Some(range) = range(finding.span, text) {
        // What is in another file than the finding comes below it.
        let mut snippets = vec![(path, Snippet::source(text).path(path).annotation(AnnotationKind::Primary.span(range)))];
        for (span, label) in &finding.labels {
            let (path, text) = file(*span);
            let Some(range) = self::range(*span, text) else { continue };
            let annotation = AnnotationKind::Context.span(range).label(label.as_str());
            match snippets.iter().position(|(known, _)| *known == path) {
                Some(at) => {
                    let (path, snippet) = snippets.remove(at);
                    snippets.insert(at, (path, snippet.annotation(annotation)));
                }
                None => snippets.push((path, Snippet::source(text).path(path).annotation(annotation))),
            }
        }
        group = snippets.into_iter().fold(group, |group, (_, snippet)| group.element(snippet));
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
pub(super) fn range(span: Span, text: &str) -> Option<std::ops::Range<usize>> {
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
