//! Which variants are worth measuring: rules by static figures, then a ranking by prediction.

use crate::cli::compare::Variant;
use std::collections::HashMap;

/// What becomes of a variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// A rule of [`RULES`] removes it.
    Removed(usize),
    /// It may be measured.
    Open,
}

/// A reason not to measure a variant.
pub(super) struct Rule {
    /// As the report says it.
    pub(super) reason: &'static str,
    applies: fn(&Variant) -> bool,
}

/// Every rule but the one about doubles, in the order they are asked.
pub(super) const RULES: &[Rule] = &[
    Rule { reason: "do not compile", applies: |variant| variant.compiled().is_none() },
    Rule { reason: "no block of them fits a multiprocessor", applies: |variant| occupancy(variant) == Some(0) },
    Rule {
        reason: "need more registers than a thread can have",
        applies: |variant| variant.compiled().is_some_and(|compiled| compiled.known.targets[0].registers.needed > 255),
    },
    Rule { reason: "compile to the same PTX as another", applies: |_| false },
];

/// The last rule: it is about pairs.
const SAME: usize = RULES.len() - 1;

fn occupancy(variant: &Variant) -> Option<u32> {
    variant.compiled()?.known.targets[0].occupancy.as_ref().map(|occupancy| occupancy.blocks)
}

/// What becomes of all variants.
pub(super) struct Plan {
    pub(super) fates: Vec<Fate>,
    /// Those that no rule removes, the best prediction first, each with it: launches a second, or operations, or bytes.
    pub(super) ranked: Vec<(usize, f64)>,
    /// How many of them are measured, at least one.
    pub(super) most: usize,
}

impl Plan {
    /// How many a rule removed.
    pub(super) fn removed(&self, rule: usize) -> usize {
        self.fates.iter().filter(|fate| **fate == Fate::Removed(rule)).count()
    }
}

/// Prunes and ranks; `share` per cent of all variants are to be measured.
pub(super) fn plan(variants: &[Variant], share: u32) -> Plan {
    let mut texts: HashMap<String, usize> = HashMap::new();
    let mut fates = Vec::new();
    for (n, variant) in variants.iter().enumerate() {
        let rule = RULES.iter().position(|rule| (rule.applies)(variant));
        let text = variant.compiled().and_then(|compiled| compiled.ptx[0].as_ref());
        fates.push(match (rule, text) {
            (Some(rule), _) => Fate::Removed(rule),
            (None, Some(text)) if *texts.entry(text.to_string()).or_insert(n) != n => Fate::Removed(SAME),
            _ => Fate::Open,
        });
    }
    let speed = |n: usize| variants[n].compiled().and_then(|compiled| compiled.yardstick.speed(compiled, 0)).unwrap_or(0.0);
    let left = (0..variants.len()).filter(|n| fates[*n] == Fate::Open);
    let mut ranked: Vec<(usize, f64)> = left.map(|n| (n, speed(n))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let most = (variants.len() * share as usize / 100).max(1);
    Plan { fates, ranked, most }
}
