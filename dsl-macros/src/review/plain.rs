//! Findings without tokens: what can leave the place where text is read, and be kept.

use super::here::Here;
use proc_macro2::{LineColumn, Span};
use warpwright_codegen::crates::{Crate, Reached};
use warpwright_codegen::diagnostic::{Diagnostic, Level};

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plain {
    level: Level,
    message: String,
    at: At,
    labels: Vec<(At, String)>,
    help: Option<String>,
    lint: Option<&'static str>,
    /// Whether it says that the kernel names something unknown.
    pub(super) is_about_names: bool,
    /// Whether its places are of the unit's own text, not of the file.
    pub(super) is_of_fragment: bool,
}

/// A place.
#[derive(Clone, Debug, PartialEq)]
struct At {
    /// The one in the kernel that leads there.
    own: Option<LineColumn>,
    /// `src/shapes.rs:12:5`, if it is not in the kernel.
    elsewhere: Option<String>,
    /// The same within the kernel's file, which the unit may share.
    beside: Option<LineColumn>,
}

impl At {
    fn of(span: Span, files: &Crate, reached: &Reached) -> At {
        match (reached.origin(span), files.place(span)) {
            (_, None) => At { own: None, elsewhere: None, beside: None },
            (None, Some(_)) => At { own: Some(span.start()), elsewhere: None, beside: None },
            (Some(origin), Some(place)) => {
                let is_beside = span.file() == origin.file();
                let beside = is_beside.then(|| span.start());
                At { own: Some(origin.start()), elsewhere: Some(place.to_string()), beside }
            }
        }
    }
}

impl Plain {
    pub(super) fn of(finding: Diagnostic, files: &Crate, reached: &Reached) -> Plain {
        let at = |span| At::of(span, files, reached);
        Plain {
            level: finding.level,
            at: at(finding.span),
            labels: finding.labels.into_iter().map(|(span, text)| (at(span), text)).collect(),
            message: finding.message,
            help: finding.help,
            lint: finding.lint,
            is_about_names: false,
            is_of_fragment: false,
        }
    }

    /// The same, saying that the kernel names something unknown.
    pub(super) fn about_names(self) -> Plain {
        Plain { is_about_names: true, ..self }
    }

    /// The finding at the compiler's tokens. What lies in an item of another unit is found at the name that leads there, and says where it is.
    pub(super) fn at_tokens(mut self, here: &Here) -> Diagnostic {
        let is_of_fragment = self.is_of_fragment;
        for at in std::iter::once(&mut self.at).chain(self.labels.iter_mut().map(|(at, _)| at)) {
            if at.beside.is_some_and(|beside| here.has(beside, is_of_fragment)) {
                *at = At { own: at.beside, elsewhere: None, beside: None };
            }
        }
        let span = |at: &At| at.own.map_or_else(Span::call_site, |at| here.span(at, self.is_of_fragment));
        let mut message = self.message;
        message.extend(self.at.elsewhere.iter().map(|place| format!("\nat {place}")));
        let (own, others): (Vec<_>, Vec<_>) = self.labels.iter().partition(|(at, _)| at.elsewhere.is_none());
        message.extend(others.into_iter().map(|(at, text)| format!("\n{}: {text}", at.elsewhere.as_deref().unwrap_or_default())));
        Diagnostic {
            level: self.level,
            message,
            span: span(&self.at),
            labels: own.into_iter().map(|(at, text)| (span(at), text.clone())).collect(),
            help: self.help,
            by_rustc: false,
            lint: self.lint,
        }
    }
}
