//! Findings without tokens: what can leave the place where text is read, and be kept.

use super::here::Here;
use proc_macro2::{LineColumn, Span};
use warpwright_codegen::diagnostic::{Diagnostic, Level};
use warpwright_review::crates::{Reached, Spot};

/// A finding, its places told by `At`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plain<At> {
    pub(super) level: Level,
    pub(super) message: String,
    pub(super) at: At,
    pub(super) labels: Vec<(At, String)>,
    pub(super) help: Option<String>,
    pub(super) lint: Option<&'static str>,
    /// How many columns of its line the place has; 0: it goes on to the next.
    pub(super) width: usize,
    /// Whether `rustc` says it, too, of the item that it is in.
    pub(super) is_rustcs_too: bool,
}

/// A finding in a program, wherever that stands; a place that is `None` is nowhere.
pub(super) type Found = Plain<Option<Spot>>;

/// A finding in files.
pub(super) type Placed = Plain<At>;

/// A place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct At {
    /// The one in the kernel that leads there.
    own: Option<LineColumn>,
    /// `src/shapes.rs:12:5`, if it is not in the kernel.
    elsewhere: Option<String>,
    /// The same within the kernel's file, which the unit may share.
    beside: Option<LineColumn>,
}

impl At {
    fn of(spot: Spot, reached: &Reached) -> At {
        let Some(place) = reached.place_of(spot) else { return At::default() };
        let Some(origin) = reached.origin(spot.unit) else { return At { own: Some(place), ..At::default() } };
        let [own, other] = [reached.unit, spot.unit].map(|unit| &reached.program.units[unit.0].file);
        let elsewhere = format!("{other}:{}:{}", place.line, place.column + 1);
        At { own: Some(origin.start()), elsewhere: Some(elsewhere), beside: (own == other).then_some(place) }
    }
}

impl<At> Plain<At> {
    /// The same with its places told otherwise.
    fn map<To>(self, mut to: impl FnMut(At) -> To) -> Plain<To> {
        Plain {
            level: self.level,
            at: to(self.at),
            labels: self.labels.into_iter().map(|(at, text)| (to(at), text)).collect(),
            message: self.message,
            help: self.help,
            lint: self.lint,
            width: self.width,
            is_rustcs_too: self.is_rustcs_too,
        }
    }
}

impl Found {
    pub(super) fn of(finding: Diagnostic, reached: &Reached) -> Found {
        let Diagnostic { level, message, span, end: _, labels, help, by_rustc: _, is_rustcs_too, lint, raised_at: _ } = finding;
        let (start, end) = (span.start(), span.end());
        let width = if start.line == end.line { end.column.saturating_sub(start.column) } else { 0 };
        Plain { level, message, at: span, labels, help, lint, width, is_rustcs_too }.map(|span| reached.spot(span))
    }

    /// The same where the program stands.
    pub(super) fn placed(self, reached: &Reached) -> Placed {
        self.map(|spot| spot.map_or_else(At::default, |spot| At::of(spot, reached)))
    }
}

impl Placed {
    /// The finding at the compiler's tokens. What lies in an item of another unit is found at the name that leads there, and says where it is.
    /// `is_of_text`: its places are of the unit's own text, not of the file. `None`: `rustc` says it of that item.
    pub(super) fn at_tokens(mut self, here: &Here, is_of_text: bool) -> Option<Diagnostic> {
        for at in std::iter::once(&mut self.at).chain(self.labels.iter_mut().map(|(at, _)| at)) {
            if at.beside.is_some_and(|beside| here.has(beside, is_of_text)) {
                *at = At { own: at.beside, ..At::default() };
            }
        }
        if self.is_rustcs_too && self.at.elsewhere.is_some() {
            return None;
        }
        // Where something elsewhere is named, the place is the name.
        let is_whole = self.width > 0 && self.at.elsewhere.is_none();
        let end = self.at.own.filter(|_| is_whole).map(|own| LineColumn { column: own.column + self.width, ..own });
        let span = |at: &At| at.own.map_or_else(Span::call_site, |at| here.span(at, is_of_text));
        let mut message = self.message;
        message.extend(self.at.elsewhere.iter().map(|place| format!("\nat {place}")));
        let (own, others): (Vec<_>, Vec<_>) = self.labels.iter().partition(|(at, _)| at.elsewhere.is_none());
        message.extend(others.into_iter().map(|(at, text)| format!("\n{}: {text}", at.elsewhere.as_deref().unwrap_or_default())));
        Some(Diagnostic {
            level: self.level,
            end: end.and_then(|end| here.last_before(end, is_of_text)),
            labels: own.into_iter().map(|(at, text)| (span(at), text.clone())).collect(),
            help: self.help,
            lint: self.lint,
            ..Diagnostic::error(span(&self.at), message)
        })
    }
}
