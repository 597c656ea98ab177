//! The tables of docs/faults.md.

use super::mistakes::MISTAKES;
use super::sweep::Judged;
use super::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// A row of each mistake: how many kernels and mutants, and what became of them.
pub fn verdicts(all: &[Judged]) -> String {
    let mut table = "| mistake | kernels | mutants | refused | fault at its line | fault behind it | wrong result | same result |\n\
                     |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let row = |name: &str, of: &[&Judged]| {
        let kernels: BTreeSet<&str> = of.iter().map(|one| one.kernel.as_str()).collect();
        let count = |verdict: Verdict| of.iter().filter(|one| one.verdict == verdict).count().to_string();
        let counts: Vec<String> =
            [Verdict::Refused, Verdict::AtItsLine, Verdict::Behind, Verdict::WrongResult, Verdict::SameResult].map(count).to_vec();
        format!("| {name} | {} | {} | {} |\n", kernels.len(), of.len(), counts.join(" | "))
    };
    for mistake in MISTAKES {
        let of: Vec<&Judged> = all.iter().filter(|one| one.edit.mistake == mistake.mistake).collect();
        table += &row(&format!("{}: {}", mistake.name, mistake.edit), &of);
    }
    table += &row("all", &all.iter().collect::<Vec<_>>());
    table.trim_end().to_owned()
}

/// Of each mistake, how many mutants the compiler refuses, and how many the lints see.
pub fn seen_early(counts: &BTreeMap<&'static str, (usize, usize, BTreeMap<String, usize>)>) -> String {
    let mut table = "| mistake | mutants | refused | lints |\n|---|---|---|---|\n".to_owned();
    for (name, (mutants, refused, lints)) in counts {
        let lints: Vec<String> = lints.iter().map(|(lint, count)| format!("`{lint}` {count}")).collect();
        table += &format!("| {name} | {mutants} | {refused} | {} |\n", lints.join(", "));
    }
    table.trim_end().to_owned()
}
