//! The tables of docs/faults.md.

use super::equivalent::{BEHIND, IN_ORDER, Listed};
use super::mistakes::MISTAKES;
use super::sameness::Same;
use super::sweep::Judged;
use super::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// A row of each mistake: how many kernels and mutants, and what became of them.
pub fn verdicts(all: &[Judged]) -> String {
    let mut table = "| mistake | kernels | mutants | refused | fault at its line | fault names its line | fault behind it | on a weak memory | wrong result | not reached | same code | same value | listed |\n\
                     |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let row = |name: &str, of: &[&Judged]| {
        let kernels: BTreeSet<&str> = of.iter().map(|one| one.kernel.as_str()).collect();
        let count = |verdict: Verdict| of.iter().filter(|one| one.verdict == verdict).count().to_string();
        let same = |same: Same| of.iter().filter(|one| one.same == Some(same)).count().to_string();
        let verdicts = [Verdict::Refused, Verdict::AtItsLine, Verdict::Named, Verdict::Behind, Verdict::OnWeakMemory, Verdict::WrongResult];
        let found = verdicts.map(count);
        let no_fault = [Same::NotReached, Same::Code, Same::Value, Same::Untold].map(same);
        format!("| {name} | {} | {} | {} | {} |\n", kernels.len(), of.len(), found.join(" | "), no_fault.join(" | "))
    };
    for mistake in MISTAKES {
        let of: Vec<&Judged> = all.iter().filter(|one| one.edit.mistake == mistake.mistake).collect();
        table += &row(&format!("{}: {}", mistake.name, mistake.edit), &of);
    }
    table += &row("all", &all.iter().collect::<Vec<_>>());
    table.trim_end().to_owned()
}

/// The same in short: how many mutants are stopped, and how many are not.
pub fn in_short(all: &[Judged]) -> String {
    let mut table = "| mistake | mutants | refused | stopped in an ordinary run | of those at its line | of those that name it | only on a weak memory | another result, no fault | the same result |\n\
                     |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let row = |name: &str, of: &[&Judged]| {
        let count = |verdict: Verdict| of.iter().filter(|one| one.verdict == verdict).count();
        let at_its_line = count(Verdict::AtItsLine);
        let named = count(Verdict::Named);
        let stopped = at_its_line + named + count(Verdict::Behind);
        let rest = [Verdict::OnWeakMemory, Verdict::WrongResult, Verdict::SameResult].map(count);
        let [weak, wrong, same] = rest;
        format!(
            "| {name} | {} | {} | {stopped} | {at_its_line} | {named} | {weak} | {wrong} | {same} |\n",
            of.len(),
            count(Verdict::Refused)
        )
    };
    for mistake in MISTAKES {
        table += &row(mistake.name, &all.iter().filter(|one| one.edit.mistake == mistake.mistake).collect::<Vec<_>>());
    }
    table += &row("all", &all.iter().collect::<Vec<_>>());
    table.trim_end().to_owned()
}

/// The mistakes of order that leave another result without a fault, and the faults that are not at the changed line, each with its reason.
pub fn exceptions() -> String {
    let mut table = "| kernel | mistake | mutants | what becomes of it | why |\n|---|---|---|---|---|\n".to_owned();
    let row = |listed: &Listed, what: &str| {
        format!("| `{}` | {} | {} | {what} | {} |\n", listed.kernel, listed.mistake.row().name, listed.places, listed.reason)
    };
    table.extend(IN_ORDER.iter().map(|listed| row(listed, "another result, no fault")));
    table.extend(BEHIND.iter().map(|listed| row(listed, "a fault elsewhere")));
    table.trim_end().to_owned()
}

/// Of each mistake, how many mutants the compiler refuses, and how many the lints see.
pub fn seen_early(counts: &BTreeMap<&'static str, (usize, usize, BTreeMap<String, usize>)>) -> String {
    let mut table = "| mistake | mutants | refused | lints |\n|---|---|---|---|\n".to_owned();
    for mistake in MISTAKES {
        let name = mistake.name;
        let Some((mutants, refused, lints)) = counts.get(name) else { continue };
        let lints: Vec<String> = lints.iter().map(|(lint, count)| format!("`{lint}` {count}")).collect();
        table += &format!("| {name} | {mutants} | {refused} | {} |\n", lints.join(", "));
    }
    table.trim_end().to_owned()
}
