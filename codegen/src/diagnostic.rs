//! What the compiler says to the person: one finding, its place, its way out.
//!
//! Texts are lower case, names stand in backticks, figures stand beside their limit, and `help` is an edit.

use proc_macro2::Span;
use std::panic::Location;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Worth a person's time; compilation goes on.
    Warning,
    /// The kernel cannot be compiled as it stands.
    Error,
}

/// One finding about the user's source.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub level: Level,
    /// What is wrong, with the figure and the limit.
    pub message: String,
    /// The narrowest place that shows it.
    pub span: Span,
    /// Where that place ends, if `span` is but its first token: stable Rust joins no spans of the compiler's.
    pub end: Option<Span>,
    /// Other places that belong to it, each with what it has to do with it.
    pub labels: Vec<(Span, String)>,
    /// The edit that mends it.
    pub help: Option<String>,
    /// Whether `rustc` reports the same about the host twin, and better: the macro leaves it to `rustc`.
    pub by_rustc: bool,
    /// Whether `rustc` reports the same, and not so well: where it stands in an item that the macro does not look at by itself, `rustc` does.
    pub is_rustcs_too: bool,
    /// The lint that found it, by its name; `None`: a rule of the language.
    pub lint: Option<&'static str>,
    /// Where the compiler says it: what the index of messages is held to.
    pub raised_at: &'static Location<'static>,
}

impl Diagnostic {
    /// An error at `span`.
    #[track_caller]
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            level: Level::Error,
            message: message.into(),
            span,
            end: None,
            labels: Vec::new(),
            help: None,
            by_rustc: false,
            is_rustcs_too: false,
            lint: None,
            raised_at: Location::caller(),
        }
    }

    /// A warning at `span`.
    #[track_caller]
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { level: Level::Warning, ..Diagnostic::error(span, message) }
    }

    /// The file of its span, and where it begins and ends as lines and columns: what tells two places apart.
    pub fn place(&self) -> (String, [usize; 4]) {
        let (start, end) = (self.span.start(), self.span.end());
        (self.span.file(), [start.line, start.column, end.line, end.column])
    }

    /// The same with the edit that mends it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The same, as a finding that `rustc` makes too (types, names, borrows).
    #[must_use]
    pub fn by_rustc(mut self) -> Diagnostic {
        self.by_rustc = true;
        self
    }

    /// The same, as a finding that `rustc` makes too, in terms that help less.
    #[must_use]
    pub fn and_by_rustc(mut self) -> Diagnostic {
        self.is_rustcs_too = true;
        self
    }

    /// The same as a finding of the lint of this name.
    #[must_use]
    pub fn of_lint(mut self, name: &'static str) -> Diagnostic {
        self.lint = Some(name);
        self
    }

    /// The same as a warning: an annotation says `best_effort`.
    #[must_use]
    pub fn best_effort(self) -> Diagnostic {
        Diagnostic { level: Level::Warning, ..self.of_lint("best_effort") }
    }

    /// The same with another place that belongs to it.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }
}

/// Findings collected in one phase, in source order of discovery. A phase collects all it can find; the next phase starts only
/// on input without errors.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// None yet.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Adds all of `other`.
    pub fn append(&mut self, other: Diagnostics) {
        self.list.extend(other.list);
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.level == Level::Error)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Those for which `keep` gives something, in what it gives.
    pub fn filter_map(self, keep: impl FnMut(Diagnostic) -> Option<Diagnostic>) -> Diagnostics {
        Diagnostics { list: self.list.into_iter().filter_map(keep).collect() }
    }

    /// All of them, in the order found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Ends a phase: the findings as `Err` if one is an error. Warnings alone stay where they are.
    pub fn barrier(&mut self) -> Result<(), Diagnostics> {
        if self.has_errors() { Err(std::mem::take(self)) } else { Ok(()) }
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, more: I) {
        self.list.extend(more);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(all: I) -> Diagnostics {
        Diagnostics { list: all.into_iter().collect() }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics { list: vec![diagnostic] }
    }
}

impl From<syn::Error> for Diagnostics {
    fn from(error: syn::Error) -> Diagnostics {
        Diagnostics { list: error.into_iter().map(|e| Diagnostic::error(e.span(), e.to_string())).collect() }
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}
