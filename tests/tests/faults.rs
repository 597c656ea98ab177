//! Mistakes that are put into kernels, and what finds them: `tests/src/faults` has the table of mistakes, docs/faults.md the results.
//!
//! Every mutant is refused, or stopped by the simulator, or gives a wrong result, or is listed as equivalent with its reason
//! (`tests/src/faults/equivalent.rs`). `WARPWRIGHT_CASE=WORD` takes those of the tree's kernels that have a word in their name.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

#[path = "faults/published.rs"]
mod published;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use warpwright::{Device, Launch};
use warpwright_tests::faults::engine::{ENGINE_KERNELS, IR_MISTAKES, IrOutcome, SAME_IR, ir_mutants};
use warpwright_tests::faults::equivalent::EQUIVALENT;
use warpwright_tests::faults::kernels::SPECIMENS;
use warpwright_tests::faults::lints::{Said, of_clean, of_mutant};
use warpwright_tests::faults::mistakes::{MISTAKES, Mistake};
use warpwright_tests::faults::pages::{seen_early, verdicts};
use warpwright_tests::faults::sweep::{Judged, merged, sweep};
use warpwright_tests::faults::verdict::Verdict;
use warpwright_tests::marked::hold;
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faults.md")
}

/// The mutants of this folder's kernels, judged once for all tests.
fn specimens() -> &'static [Judged] {
    static ALL: LazyLock<Vec<Judged>> = LazyLock::new(judged_specimens);
    &ALL
}

fn judged_specimens() -> Vec<Judged> {
    let mut all = Vec::new();
    for specimen in SPECIMENS {
        let mut show = |launch: &Launch<'_>| {
            let found = sweep(launch, &|_| true);
            assert!(found.alarm.is_none(), "{} as it is: {:?}", specimen.name, found.alarm);
            all.extend(found.mutants);
        };
        (specimen.run)(&mut show).unwrap_or_else(|error| panic!("{}: {error}", specimen.name));
    }
    merged(all)
}

/// Launches of a case that are taken: some compute in several, and what one does not show another may.
const LAUNCHES: usize = 3;

/// A part of the names of the cases that are taken, of all their kernels.
fn word() -> Option<String> {
    std::env::var("WARPWRIGHT_CASE").ok()
}

/// The mutants of the tree's kernels, each launched as its first case does.
fn of_tree() -> Vec<Judged> {
    let (mut all, mut seen) = (Vec::new(), BTreeMap::<*const u8, (&str, usize)>::new());
    for case in CASES {
        if word().is_some_and(|word| !case.name.contains(&word)) {
            continue;
        }
        let mut inspect = |launch: &Launch<'_>| {
            let definition = std::ptr::from_ref(launch.definition()).cast();
            let (first, launches) = seen.entry(definition).or_insert((case.name, 0));
            *launches += 1;
            if *first != case.name || *launches > LAUNCHES {
                return;
            }
            let found = sweep(launch, &|_| true);
            assert!(found.alarm.is_none(), "{} as it is: {:?}", case.name, found.alarm);
            all.extend(found.mutants);
        };
        let mut bench = Bench { device: &Device::simulator(), random: Random::new(1), inspect: &mut inspect };
        let output = (case.run)(&mut bench).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(output.complaint(), None, "{} as it is", case.name);
    }
    merged(all)
}

/// Those that leave the same, though their code is another one, and that nobody has listed.
fn unexplained(all: &[Judged], which: &dyn Fn(Mistake) -> bool) -> Vec<String> {
    let mut counts: BTreeMap<(&str, Mistake), Vec<&Judged>> = BTreeMap::new();
    for one in all.iter().filter(|one| one.verdict == Verdict::SameResult && !one.is_same_code && which(one.edit.mistake)) {
        counts.entry((&one.kernel, one.edit.mistake)).or_default().push(one);
    }
    let mut wrong = Vec::new();
    for ((kernel, mistake), found) in counts {
        let listed: usize = EQUIVALENT.iter().filter(|row| row.kernel == kernel && row.mistake == mistake).map(|row| row.places).sum();
        if listed != found.len() {
            let shown: Vec<String> =
                found.iter().map(|one| format!("{}:{}: {} → {}", one.file, one.at.0, one.line, one.edit.with.trim())).collect();
            wrong.push(format!("{kernel}, {mistake:?}: {} mutants, {listed} explained\n  {}", found.len(), shown.join("\n  ")));
        }
    }
    wrong
}

#[test]
fn mistakes_in_the_specimens_are_found() {
    let all = specimens();
    let wrong = unexplained(all, &|_| true);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&str> =
        MISTAKES.iter().filter(|row| all.iter().all(|one| one.edit.mistake != row.mistake)).map(|row| row.name).collect();
    assert!(missing.is_empty(), "mistakes that no kernel has room for: {missing:?}");
    // What takes order away is found where the accesses are, or not at all.
    let astray: Vec<&Judged> = all.iter().filter(|one| one.verdict == Verdict::Behind && is_of_order(one.edit.mistake)).collect();
    assert!(astray.is_empty(), "{astray:#?}");
    hold(&page(), &[("specimens", verdicts(all))]);
    println!("ran: faults ({} mutants on simulator)", all.len());
}

/// Whether a mistake takes away order between accesses, or makes threads not meet.
fn is_of_order(mistake: Mistake) -> bool {
    mistake.row().is_of_order && mistake != Mistake::EveryBlock
}

#[test]
fn mistakes_in_the_tree_are_found() {
    let all = of_tree();
    // Of other mistakes, a launch of one block, a branch that its inputs do not take or a value that a bound is never equal to show nothing.
    let wrong = unexplained(&all, &is_of_order);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let astray: Vec<&Judged> = all.iter().filter(|one| one.verdict == Verdict::Behind && is_of_order(one.edit.mistake)).collect();
    assert!(astray.is_empty(), "{astray:#?}");
    let of = |verdict: Verdict| all.iter().filter(|one| one.verdict == verdict).count();
    let found = all.len() - of(Verdict::SameResult);
    assert!(found * 100 >= all.len() * 85, "{found} of {} mutants are found", all.len());
    println!("{} of {} mutants are found, {} leave the same", found, all.len(), of(Verdict::SameResult));
    if word().is_none() {
        hold(&page(), &[("tree", verdicts(&all))]);
    }
    println!("ran: faults of the tree ({} mutants on simulator)", all.len());
}

#[test]
fn what_is_seen_while_compiling() {
    let all = specimens();
    let mut counts: BTreeMap<&'static str, (usize, usize, BTreeMap<String, usize>)> = BTreeMap::new();
    let mut clean: BTreeMap<&str, Said> = BTreeMap::new();
    for one in all.iter().filter(|one| one.edit.mistake.row().is_of_order) {
        let as_it_is = clean.entry(&one.kernel).or_insert_with(|| of_clean(one).unwrap_or_else(|| panic!("{} is not found", one.kernel)));
        assert_eq!(*as_it_is, Said::default(), "a false alarm on {}", one.kernel);
        let said = of_mutant(one).unwrap_or_else(|| panic!("{}:{:?}: the edit is not where it should be", one.file, one.at));
        let row = counts.entry(one.edit.mistake.row().name).or_default();
        row.0 += 1;
        row.1 += usize::from(said.is_refused);
        said.lints.iter().for_each(|lint| *row.2.entry(lint.clone()).or_default() += 1);
        // What a lint of correctness says is so: the mutant is no equivalent one.
        assert!(said.lints.is_empty() || one.verdict != Verdict::SameResult, "a false alarm: {said:?} of {one:#?}");
    }
    hold(&page(), &[("lints", seen_early(&counts))]);
    println!("ran: lints of faults ({} kernels on the review)", clean.len());
}

#[test]
fn mistakes_in_ir_are_refused_or_found() {
    let mut table =
        "| mistake | mutants | verifier refuses | simulator stops | wrong result | same result |\n|---|---|---|---|---|---|\n".to_owned();
    let (mut mutants, mut same) = (0, BTreeMap::new());
    let clean: Vec<(String, IrOutcome)> = ENGINE_KERNELS.iter().map(|kernel| (kernel.text(), kernel.run(&kernel.text()))).collect();
    for (kernel, (text, outcome)) in ENGINE_KERNELS.iter().zip(&clean) {
        assert!(matches!(outcome, IrOutcome::Ended(_)), "{} as it is: {outcome:?}\n{text}", kernel.name);
    }
    for mistake in IR_MISTAKES {
        let mut counts = [0; 4];
        for (kernel, (text, before)) in ENGINE_KERNELS.iter().zip(&clean) {
            for (line, mutant) in ir_mutants(text, mistake) {
                mutants += 1;
                match kernel.run(&mutant) {
                    IrOutcome::Unread(why) => panic!("{}, {}: `{line}`: {why}", kernel.name, mistake.name),
                    IrOutcome::Refused(_) => counts[0] += 1,
                    IrOutcome::Fault(_) => counts[1] += 1,
                    after if after != *before => counts[2] += 1,
                    _ => {
                        counts[3] += 1;
                        *same.entry((kernel.name, mistake.name)).or_insert(0) += 1;
                    }
                }
            }
        }
        let all: usize = counts.iter().sum();
        assert!(all > 0, "no kernel has room for `{}`", mistake.name);
        table +=
            &format!("| {}: {} | {all} | {} | {} | {} | {} |\n", mistake.name, mistake.edit, counts[0], counts[1], counts[2], counts[3]);
    }
    let listed: BTreeMap<(&str, &str), usize> = SAME_IR.iter().map(|(kernel, mistake, places, _)| ((*kernel, *mistake), *places)).collect();
    assert_eq!(same, listed, "mutants that change nothing, and those that are explained");
    hold(&page(), &[("engine", table.trim_end().to_owned())]);
    println!("ran: faults of IR ({mutants} mutants on simulator)");
}
