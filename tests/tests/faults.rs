//! Mistakes that are put into kernels, and what finds them: `tests/src/faults` has the table of mistakes, docs/faults.md the results.
//!
//! Every mutant is refused, or stopped by the simulator, or gives a wrong result by a mistake of values, or does what the kernel does, which the test shows or
//! `tests/src/faults/equivalent.rs` tells. `WARPWRIGHT_CASE=WORD` takes those of the tree's kernels that have a word in their name.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

#[path = "faults/published.rs"]
mod published;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use warpwright::{Device, Launch};
use warpwright_tests::faults::engine::{ENGINE_KERNELS, IR_MISTAKES, IrOutcome, SAME_IR, ir_mutants};
use warpwright_tests::faults::equivalent::untold;
use warpwright_tests::faults::kernels::{SPECIMENS, Specimen};
use warpwright_tests::faults::lints::{Said, of_clean, of_mutant};
use warpwright_tests::faults::mistakes::{Edit, MISTAKES};
use warpwright_tests::faults::pages::{seen_early, verdicts};
use warpwright_tests::faults::sameness::Same;
use warpwright_tests::faults::staples::STAPLES;
use warpwright_tests::faults::sweep::{Judged, merged, sweep};
use warpwright_tests::faults::verdict::Verdict;
use warpwright_tests::marked::hold;
use warpwright_tests::random::Random;
use warpwright_tests::table::{Bench, CASES, Case};

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faults.md")
}

/// The mutants of this folder's kernels, judged once for all tests.
fn specimens() -> &'static [Judged] {
    static ALL: LazyLock<Vec<Judged>> = LazyLock::new(judged_specimens);
    &ALL
}

fn judged_specimens() -> Vec<Judged> {
    of_specimens(SPECIMENS)
}

fn of_specimens(specimens: &[Specimen]) -> Vec<Judged> {
    let mut all = Vec::new();
    for specimen in specimens.iter().filter(|specimen| word().is_none_or(|word| specimen.name.contains(&word))) {
        let begin = std::time::Instant::now();
        let mut show = |launch: &Launch<'_>| {
            let found = sweep(launch, &|_| true);
            assert!(found.alarm.is_none(), "{} as it is: {:?}", specimen.name, found.alarm);
            all.extend(found.mutants);
        };
        (specimen.run)(&mut show).unwrap_or_else(|error| panic!("{}: {error}", specimen.name));
        println!("TIME {} {:?} {}", specimen.name, begin.elapsed(), all.len());
    }
    merged(all)
}

/// Launches of a case that are taken: some compute in several, and what one does not show another may.
const LAUNCHES: usize = 3;

/// A part of the names of the cases that are taken, of all their kernels.
fn word() -> Option<String> {
    std::env::var("WARPWRIGHT_CASE").ok()
}

/// Draws of inputs: the first is for all mutants, the others are for those that do the same, and nothing tells why.
const DRAWS: RangeInclusive<u64> = 1..=3;

/// The kernels of the table, and which case was the first to launch each.
type Owners = BTreeMap<*const u8, &'static str>;

/// The mutants of the tree's kernels, each launched as its first case does.
fn of_tree() -> Vec<Judged> {
    let (mut all, mut owners) = (Vec::new(), Owners::new());
    for case in CASES.iter().filter(|case| word().is_none_or(|word| case.name.contains(&word))) {
        let mut found: Vec<Judged> = Vec::new();
        for draw in DRAWS {
            let open: Vec<Judged> = found.iter().filter(|one| one.same == Some(Same::Untold)).cloned().collect();
            if draw > *DRAWS.start() && open.is_empty() {
                break;
            }
            let is_open = |edit: &Edit| draw == *DRAWS.start() || open.iter().any(|one| one.edit == *edit);
            found.extend(of_case(case, draw, &mut owners, &is_open));
            found = merged(found);
        }
        all.extend(found);
    }
    merged(all)
}

/// The mutants of the kernels that a case is the first to launch.
fn of_case(case: &'static Case, draw: u64, owners: &mut Owners, wanted: &dyn Fn(&Edit) -> bool) -> Vec<Judged> {
    let (mut all, mut launches) = (Vec::new(), BTreeMap::new());
    let mut inspect = |launch: &Launch<'_>| {
        let definition = std::ptr::from_ref(launch.definition()).cast();
        let count = launches.entry(definition).or_insert(0);
        *count += 1;
        if *owners.entry(definition).or_insert(case.name) != case.name || *count > LAUNCHES {
            return;
        }
        let found = sweep(launch, wanted);
        assert!(found.alarm.is_none(), "{} as it is: {:?}", case.name, found.alarm);
        all.extend(found.mutants);
    };
    let mut bench = Bench { device: &Device::simulator(), random: Random::new(draw), inspect: &mut inspect };
    let output = (case.run)(&mut bench).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert_eq!(output.complaint(), None, "{} as it is", case.name);
    all
}

#[test]
fn mistakes_in_the_specimens_are_found() {
    let all = specimens();
    let wrong = untold(all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing: Vec<&str> =
        MISTAKES.iter().filter(|row| all.iter().all(|one| one.edit.mistake != row.mistake)).map(|row| row.name).collect();
    assert!(missing.is_empty(), "mistakes that no kernel has room for: {missing:?}");
    hold(&page(), &[("specimens", verdicts(all))]);
    println!("ran: faults ({} mutants on simulator)", all.len());
}

#[test]
fn mistakes_in_the_tree_are_found() {
    let all = if std::env::var_os("ONLY_STAPLES").is_some() { of_specimens(STAPLES) } else { of_tree() };
    let wrong = untold(&all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
