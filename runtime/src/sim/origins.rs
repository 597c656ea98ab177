//! The lines that a fault comes from: what computes an index, the conditions that let the thread come to it, who writes what is waited for.

use super::error::{AccessKind, Fault, FaultKind, FaultPlace};
use super::program::Program;
use std::fmt;
use warpwright_codegen::analysis::origins;
use warpwright_codegen::ir::{Location, Object};

/// Most lines that are named of one kind: the nearest ones.
const MOST_LINES: usize = 6;

/// Lines that a fault comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// What they do.
    pub role: OriginRole,
    /// The lines, in the order of the source.
    pub places: Vec<FaultPlace>,
}

/// What lines have to do with a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginRole {
    /// They compute the index.
    Index,
    /// They are the conditions under which the thread came to the access, or compute them.
    Condition,
    /// They write what the thread waits for, or what the index or the condition was loaded from.
    Writer {
        /// The object.
        object: String,
    },
}

impl Fault {
    /// The same, with the lines that it comes from; `step` is where the thread stands.
    pub(super) fn with_origins(mut self: Box<Fault>, program: &Program, step: usize) -> Box<Fault> {
        let Some(inst) = program.insts.get(step).copied().flatten() else { return self };
        let kernel = &program.kernel;
        let role_of = |object: Object| OriginRole::Writer { object: kernel.objects[object].name.clone() };
        let mut origins: Vec<(OriginRole, Vec<Location>)> = match self.kind {
            FaultKind::OutOfBounds { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::Uninitialised { .. }
            // Two that write the same element may both be where they should not.
            | FaultKind::Race { access: AccessKind::Write, other_access: AccessKind::Write, .. } => {
                // Conditions guard bounds; who has written, or writes too, is no matter of theirs.
                let is_of_bounds = matches!(self.kind, FaultKind::OutOfBounds { .. } | FaultKind::Misaligned { .. });
                let found = origins::of_access(kernel, inst, is_of_bounds);
                let loaded = found.loaded.into_iter().map(|one| (role_of(one.object), one.places));
                [(OriginRole::Index, found.index), (OriginRole::Condition, found.conditions)].into_iter().chain(loaded).collect()
            }
            FaultKind::Deadlock { .. } | FaultKind::EndlessLoop => {
                origins::writers(kernel, inst).into_iter().map(|one| (role_of(one.object), one.places)).collect()
            }
            _ => Vec::new(),
        };
        origins.retain(|(role, places)| matches!(role, OriginRole::Writer { .. }) || !places.is_empty());
        self.origins = origins.into_iter().map(|(role, places)| Origin { role, places: nearest(program, &places) }).collect();
        self
    }
}

/// The first of these places, in the order of the source.
fn nearest(program: &Program, places: &[Location]) -> Vec<FaultPlace> {
    let place = |at: &Location| FaultPlace { file: program.file(at.file), line: at.line, column: at.column };
    let mut found: Vec<FaultPlace> = places.iter().take(MOST_LINES).map(place).collect();
    found.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    found
}

/// What is said of the lines that a fault in this file comes from.
pub(super) struct DisplayedOrigins<'a>(pub(super) &'a str, pub(super) &'a [Origin]);

impl fmt::Display for DisplayedOrigins<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, Origin { role, places }) in self.1.iter().enumerate() {
            f.write_str(if n == 0 { "; note: " } else { "; " })?;
            let lines = DisplayedLines(self.0, places);
            match role {
                OriginRole::Index => write!(f, "the index comes from {lines}"),
                OriginRole::Condition => write!(f, "the condition that the thread passed comes from {lines}"),
                OriginRole::Writer { object } if places.is_empty() => write!(f, "nothing outside the loop writes `{object}`"),
                OriginRole::Writer { object } => write!(f, "`{object}` is written on {lines}"),
            }?;
        }
        Ok(())
    }
}

/// Lines of this file by their numbers, of others with the file.
struct DisplayedLines<'a>(&'a str, &'a [FaultPlace]);

impl fmt::Display for DisplayedLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DisplayedLines(here, places) = self;
        let (own, others): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.file == *here);
        let own = own.iter().map(|place| place.line.to_string());
        let others = others.iter().map(|place| format!("{}:{}", place.file, place.line));
        let (own, mut all): (usize, Vec<String>) = (own.len(), own.chain(others).collect());
        let last = all.pop().unwrap_or_default();
        // What begins with a file has no `line` before it.
        f.write_str(match own {
            0 => "",
            1 => "line ",
            _ => "lines ",
        })?;
        match all.is_empty() {
            true => f.write_str(&last),
            false => write!(f, "{} and {last}", all.join(", ")),
        }
    }
}
