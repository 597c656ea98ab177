//! Whether the clauses of `require(…)` hold for a variant on its targets.

use super::quantity::{distance, figure};
use super::{Figure, Open};
use crate::estimate::{Estimate, Known};
use crate::lint;
use proc_macro2::Span;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::hir::Clause;
use warpwright_codegen::ir::Loc;
use warpwright_codegen::syntax::Sense;
use warpwright_codegen::target::Target;

/// The clauses that do not hold (errors), and those that cannot be decided (of the lint `unchecked`).
pub fn judge(clauses: &[Clause], known: &Known, span: impl Fn(Loc) -> Span) -> Diagnostics {
    let mut found = Diagnostics::new();
    for clause in clauses {
        found.extend(judge_clause(clause, known, &span));
    }
    found
}

/// What is known on some targets alike.
struct Group<'k> {
    figure: Figure,
    targets: Vec<&'k Target>,
}

fn judge_clause(clause: &Clause, known: &Known, span: &impl Fn(Loc) -> Span) -> Option<Diagnostic> {
    let mut broken: Vec<Group<'_>> = Vec::new();
    let mut undecided: Vec<Group<'_>> = Vec::new();
    for estimate in &known.targets {
        let figure = match figure(clause.quantity.kind, known, estimate) {
            Ok(figure) => figure,
            Err(open) => return Some(undecided_by(clause, open, span)),
        };
        let holds = |value| clause.comparison.holds(value, clause.bound);
        match (holds(figure.least), holds(figure.most)) {
            (true, true) => {}
            // Between two ends that do not hold may lie one that does only for `==`.
            (false, false) if !(figure.least < clause.bound && clause.bound < figure.most) => add(&mut broken, figure, estimate),
            _ => add(&mut undecided, figure, estimate),
        }
    }
    let (groups, is_broken) = if broken.is_empty() { (undecided, false) } else { (broken, true) };
    let first = groups.first()?;
    let said: Vec<String> = groups.iter().map(|group| group.text(clause, is_broken)).collect();
    let finding = if is_broken {
        Diagnostic::error(clause.span, format!("`{clause}` does not hold: {}", said.join("; "))).of_lint("require")
    } else {
        Diagnostic::warning(clause.span, format!("`{clause}` is not decided: {}", said.join("; "))).of_lint("unchecked")
    };
    let causes = first.figure.causes.iter();
    let finding = causes.fold(finding, |finding, (loc, text)| finding.label(span(*loc), text));
    Some(finding.help(clause.quantity.help))
}

fn add<'k>(groups: &mut Vec<Group<'k>>, figure: Figure, estimate: &Estimate) {
    match groups.iter_mut().find(|group| group.figure.text == figure.text) {
        Some(group) => group.targets.push(estimate.target),
        None => groups.push(Group { figure, targets: vec![estimate.target] }),
    }
}

impl Group<'_> {
    /// `72 registers (estimated, 64 to 80) on sm_80 and sm_90, 8 too many`
    fn text(&self, clause: &Clause, is_broken: bool) -> String {
        let mut text = self.figure.text.clone();
        if self.figure.of_target {
            text = format!("{text} {}", lint::on(self.targets.iter().copied()));
        }
        // The end that is nearest to the bound.
        let short = match clause.quantity.sense {
            Sense::AtMost => self.figure.least - clause.bound,
            Sense::AtLeast => clause.bound - self.figure.most,
        };
        if is_broken && short > 0.0 { format!("{text}, {}", distance(clause.quantity, short)) } else { text }
    }
}

fn undecided_by(clause: &Clause, open: Open, span: &impl Fn(Loc) -> Span) -> Diagnostic {
    let finding = Diagnostic::warning(clause.span, format!("`{clause}` cannot be checked: {}", open.reason)).help(open.help);
    let finding = open.place.into_iter().fold(finding, |finding, (loc, text)| finding.label(span(loc), text));
    finding.of_lint("unchecked")
}

#[cfg(test)]
mod tests;
