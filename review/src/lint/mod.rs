//! Lints: each finds a cause of lost speed, and gives its place, its figure and the edit that fixes it (docs/check.md).
//!
//! One lint, one file, one line of [`LINTS`] and of [`LINT_NAMES`], one page beside the file (`NAME.md`: why, an example, its fix, the source), one UI
//! case. A lint looks at one variant and what is known of it on all targets at once, and says each thing once.

mod bank_conflict;
mod best_effort;
mod cluster_unplaceable;
mod constant_divergence;
mod costly_batch;
mod divergent_barrier;
mod divergent_branch;
mod divergent_exchange;
mod double_in_single;
mod half_tensor_rate;
mod local_memory;
mod low_occupancy;
mod meeting;
mod missing_barrier;
mod narrow_product;
mod nest;
mod operand_conflict;
mod partial_warp;
mod redundant_global_loads;
pub mod register_banks;
mod register_cliff;
mod register_spill;
mod rolled_loop;
mod scalar_pieces;
mod serial_loads;
mod shallow_pipeline;
mod shared_traffic;
mod sites;
mod slow_integer_division;
mod small_block;
mod tensor_products;
#[cfg(test)]
mod testing;
mod unchecked;
mod uncoalesced_access;
pub mod undone_by_assembler;
mod unwritten_shared;
pub mod wave_tail;
mod weigh;
mod what_if;

pub use sites::{LoopSite, Sites};
pub use what_if::Tried;

use crate::estimate::Known;
use proc_macro2::Span;
use std::collections::HashSet;
use warpwright_codegen::diagnostic::{Diagnostic, Level};
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir::Loc;
use warpwright_codegen::nearest::nearest;
use warpwright_codegen::pipeline::{Built, Scheduled};
use warpwright_codegen::syntax::{LINT_NAMES, Setting};
use warpwright_codegen::target::Target;

/// A lint.
pub struct Lint {
    /// Its name: the file's, `allow(NAME)`'s, `warpwright explain NAME`'s.
    pub name: &'static str,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Whether it is about what NVIDIA's devices make of a kernel, and so silent where none is a target.
    pub of_machine: bool,
    /// Its page, Markdown.
    pub page: &'static str,
    /// Finds.
    pub check: fn(&Subject<'_>, &mut Vec<Finding>),
}

/// Every lint, in the order of [`LINT_NAMES`].
pub const LINTS: &[&Lint] = &[
    &low_occupancy::LINT,
    &register_cliff::LINT,
    &register_spill::LINT,
    &partial_warp::LINT,
    &small_block::LINT,
    &uncoalesced_access::LINT,
    &bank_conflict::LINT,
    &divergent_branch::LINT,
    &missing_barrier::LINT,
    &divergent_barrier::LINT,
    &divergent_exchange::LINT,
    &unwritten_shared::LINT,
    &serial_loads::LINT,
    &costly_batch::LINT,
    &local_memory::LINT,
    &slow_integer_division::LINT,
    &double_in_single::LINT,
    &constant_divergence::LINT,
    &rolled_loop::LINT,
    &redundant_global_loads::LINT,
    &scalar_pieces::LINT,
    &shared_traffic::LINT,
    &shallow_pipeline::LINT,
    &half_tensor_rate::LINT,
    &narrow_product::LINT,
    &operand_conflict::LINT,
    &cluster_unplaceable::LINT,
    &wave_tail::LINT,
    &undone_by_assembler::LINT,
    &register_banks::LINT,
    &best_effort::LINT,
    &unchecked::LINT,
];

/// The lint of this name, else the nearest name that is one's.
pub fn find(name: &str) -> Result<&'static Lint, Option<&'static str>> {
    let found = LINTS.iter().find(|lint| lint.name == name).copied();
    found.ok_or_else(|| nearest(name, LINT_NAMES.iter().copied()))
}

/// What the lints find in one variant, each lint once at each place, at the levels that `setting` gives by name.
pub fn check(subject: &Subject<'_>, setting: impl Fn(&str) -> Option<Setting>) -> Vec<Diagnostic> {
    let mut all: Vec<Diagnostic> = Vec::new();
    for lint in LINTS {
        let Some(level) = setting(lint.name).unwrap_or(Setting::Warn).level() else { continue };
        if lint.of_machine && subject.known.targets.is_empty() {
            continue;
        }
        let mut found = Vec::new();
        (lint.check)(subject, &mut found);
        let mut places = HashSet::new();
        for Finding { span, message, labels, help } in found {
            let finding = Diagnostic { level, labels, ..Diagnostic::warning(span, message).help(help).of_lint(lint.name) };
            if places.insert(finding.place()) {
                all.push(finding);
            }
        }
    }
    all
}

/// What else to say of a finding of a lint, once: how it is silenced, and where more is said of it.
pub fn note(finding: &Diagnostic) -> Option<String> {
    let name = finding.lint.filter(|name| find(name).is_ok())?;
    let more = format!("`warpwright explain {name}` says more");
    Some(match finding.level {
        Level::Warning => format!("`#[kernel(allow({name}))]` silences this; {more}"),
        Level::Error => format!("this lint is denied here; {more}"),
    })
}

/// `on sm_80`, `on sm_80 and sm_90`, `on sm_80, sm_89 and sm_90`.
pub fn on<'t>(targets: impl IntoIterator<Item = &'t Target>) -> String {
    let names: Vec<&str> = targets.into_iter().map(|target| target.name).collect();
    match names[..] {
        [] => "on no target".to_owned(),
        [one] => format!("on {one}"),
        [ref most @ .., last] => format!("on {} and {last}", most.join(", ")),
    }
}

/// What holds on each target, equal words once: `32 of 64 warps on sm_80 and sm_90, 24 of 48 warps on sm_89`.
pub fn each(figures: impl IntoIterator<Item = (&'static Target, String)>) -> String {
    let mut groups: Vec<(String, Vec<&'static Target>)> = Vec::new();
    for (target, words) in figures {
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, targets)) => targets.push(target),
            None => groups.push((words, vec![target])),
        }
    }
    groups.into_iter().map(|(words, targets)| format!("{words} {}", on(targets))).collect::<Vec<_>>().join(", ")
}

/// What a lint looks at.
pub struct Subject<'a> {
    /// The kernel's source: spans behind locations.
    pub lowered: &'a Lowered<Scheduled>,
    /// The kernel as it was before its annotations were kept, if it has any: to try out what it would be without one.
    pub built: Option<&'a Built>,
    /// The variant and what is known of it.
    pub known: &'a Known,
    /// Where the source asks for things.
    pub sites: &'a Sites,
    /// What lints tried out of the variant.
    pub tried: Tried,
}

impl Subject<'_> {
    /// What it is looked at for.
    fn targets(&self) -> Vec<&'static Target> {
        self.known.targets.iter().map(|on| on.target).collect()
    }

    /// The span behind a location.
    pub fn span(&self, loc: Loc) -> Span {
        self.lowered.span(loc)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lint_has_a_page_that_begins_with_its_name() {
        for lint in LINTS {
            assert!(lint.page.starts_with(&format!("# {}\n\n", lint.name)), "{}", lint.name);
            for part in ["\n## Why\n", "\n## Example\n", "\n## Fix\n", "\n## Source\n"] {
                assert!(lint.page.contains(part), "the page of `{}` has no `{}`", lint.name, part.trim());
            }
            assert!(!lint.summary.is_empty() && !lint.summary.ends_with('.'), "{}", lint.name);
        }
    }

    #[test]
    fn kernels_can_name_every_lint() {
        assert!(LINTS.iter().map(|lint| lint.name).eq(LINT_NAMES.iter().copied()));
        assert_eq!(LINT_NAMES.iter().collect::<HashSet<_>>().len(), LINT_NAMES.len());
    }

    #[test]
    fn lints_are_found_by_name() {
        assert_eq!(find("unchecked").map(|lint| lint.name), Ok("unchecked"));
        assert_eq!(find("unchekced").map(|lint| lint.name), Err(Some("unchecked")));
        assert_eq!(find("zzzzzz").map(|lint| lint.name), Err(None));
    }

    #[test]
    fn equal_words_are_said_once() {
        let target = |name| Target::find(name).unwrap();
        let figures = [("sm_80", "a"), ("sm_89", "b"), ("sm_90", "a")].map(|(name, words)| (target(name), words.to_owned()));
        assert_eq!(each(figures), "a on sm_80 and sm_90, b on sm_89");
    }

    #[test]
    fn targets_are_listed_as_in_a_sentence() {
        let target = |name| Target::find(name).unwrap();
        assert_eq!(on([target("sm_80")]), "on sm_80");
        assert_eq!(on([target("sm_80"), target("sm_89"), target("sm_90")]), "on sm_80, sm_89 and sm_90");
    }
}
