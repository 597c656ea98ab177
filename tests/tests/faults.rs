//! Mistakes that are put into kernels, and what finds them: `tests/src/faults` has the table of mistakes, docs/faults.md the results.
//!
//! Every mutant is refused, or stopped by the simulator, or gives a wrong result by a mistake of values, or does what the kernel does, which the test shows or
//! `tests/src/faults/equivalent.rs` tells. `WARPWRIGHT_CASE=WORD` takes those of the tree's kernels that have a word in their name.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

#[path = "faults/published.rs"]
mod published;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use warpwright::{Device, Launch};
use warpwright_tests::faults::alone::ALONE;
use warpwright_tests::faults::engine::{ENGINE_KERNELS, IR_MISTAKES};
use warpwright_tests::faults::engine_runs::{ELSEWHERE_IR, Fate, Fates, ListedIr, SAME_IR, fates, fates_of_launch, ir_table, of_fate};
use warpwright_tests::faults::equivalent::{unlisted, untold};
use warpwright_tests::faults::kernels::{SPECIMENS, Specimen};
use warpwright_tests::faults::lints::{Said, of_clean, of_mutant};
use warpwright_tests::faults::mistakes::{Edit, MISTAKES};
use warpwright_tests::faults::pages::{exceptions, in_short, seen_early, verdicts};
use warpwright_tests::faults::plain::PLAIN;
use warpwright_tests::faults::products::PRODUCTS;
use warpwright_tests::faults::rings::RINGS;
use warpwright_tests::faults::staples::{STAPLES, is_all, is_limited, is_wanted};
use warpwright_tests::faults::sweep::{Judged, merged, sweep};
use warpwright_tests::faults::tree::{Place, unswept};
use warpwright_tests::faults::verdict::Verdict;
use warpwright_tests::faults::whole::MORE;
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
    of_specimens(SPECIMENS, &|_, _| true)
}

/// The mutants of these kernels: those that are wanted, by the kernel's name and the edit. A mutant that is found at its line is not tried in the kernel's next launch.
fn of_specimens<'s>(specimens: impl IntoIterator<Item = &'s Specimen>, wanted: &dyn Fn(&str, &Edit) -> bool) -> Vec<Judged> {
    let mut all: Vec<Judged> = Vec::new();
    for specimen in specimens {
        let mut show = |launch: &Launch<'_>| {
            let is_found = |one: &Judged, edit: &Edit| {
                one.kernel == launch.definition().name && one.edit == *edit && one.verdict <= Verdict::AtItsLine
            };
            let found = sweep(launch, &|edit| wanted(specimen.name, edit) && !all.iter().any(|one| is_found(one, edit)));
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

/// Whether a case is taken.
fn is_named(name: &str) -> bool {
    word().is_none_or(|word| name.contains(&word))
}

/// Draws of inputs: the first is for all mutants, the others are for those that do the same, and neither the test nor a list tells why.
const DRAWS: RangeInclusive<u64> = 1..=3;

/// The kernels of the table, and which case was the first to launch each.
type Owners = BTreeMap<*const u8, &'static str>;

/// The mutants of the tree's kernels, each launched as its first case does.
fn of_tree() -> Vec<Judged> {
    let (mut all, mut owners) = (Vec::new(), Owners::new());
    for case in CASES.iter().filter(|case| is_named(case.name)) {
        let mut found: Vec<Judged> = Vec::new();
        for draw in DRAWS {
            let open = unlisted(&found);
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
    hold(&page(), &[("specimens in short", in_short(all)), ("exceptions", exceptions()), ("specimens", verdicts(all))]);
    println!("ran: faults ({} mutants on simulator)", all.len());
}

#[test]
fn mistakes_in_the_tree_are_found() {
    let by_hand = STAPLES.iter().chain(ALONE).chain(PRODUCTS).chain(PLAIN).filter(|specimen| is_named(specimen.name));
    if is_all() {
        let limited = by_hand.chain(MORE).filter(|specimen| is_limited(specimen.name) && is_named(specimen.name));
        return held_tree(&of_specimens(limited, &is_wanted), |all| vec![("every mistake", verdicts(all))]);
    }
    // Side by side: neither waits for the other.
    let all = thread::scope(|scope| {
        let by_hand = scope.spawn(|| of_specimens(by_hand, &is_wanted));
        let mut all = of_tree();
        all.extend(by_hand.join().unwrap_or_else(|panic| resume_unwind(panic)));
        merged(all)
    });
    if word().is_none() {
        let swept: Vec<Place> = all.iter().map(|one| (one.home.to_owned(), one.kernel.clone())).collect();
        let wrong = unswept(&swept);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    held_tree(&all, |all| vec![("tree in short", in_short(all)), ("tree", verdicts(all))]);
}

/// Holds mutants of the tree to the lists of what is told of them; and to tables, if they are of all kernels.
fn held_tree(all: &[Judged], tables: fn(&[Judged]) -> Vec<(&'static str, String)>) {
    let wrong = untold(all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if word().is_none() {
        hold(&page(), &tables(all));
    }
    println!("ran: faults of the tree ({} mutants on simulator)", all.len());
}

#[test]
fn what_is_seen_while_compiling() {
    let all = specimens();
    let mut counts: BTreeMap<&'static str, (usize, usize, BTreeMap<String, usize>)> = BTreeMap::new();
    let mut clean: BTreeMap<&str, Said> = BTreeMap::new();
    for one in all {
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
    let all: Vec<(&str, Fates)> = ENGINE_KERNELS
        .iter()
        .map(|kernel| (kernel.name, fates(kernel.name, &[kernel.source()], &kernel.text(), &|text| kernel.run(text))))
        .collect();
    for mistake in IR_MISTAKES {
        let has_room = all.iter().any(|(_, fates)| fates.iter().any(|(name, ..)| *name == mistake.name));
        assert!(has_room, "no kernel has room for `{}`", mistake.name);
    }
    held_ir("engine", &all);
}

/// Cases of the tree's kernels whose copies run ahead.
const PIPELINED: [&str; 2] = ["convolution of tiles: one ahead", "stencil of planes: three ahead"];

#[test]
fn mistakes_in_ir_of_the_tree_are_refused_or_found() {
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| PIPELINED.contains(&case.name)) {
        let mut inspect = |launch: &Launch<'_>| all.push((case.name, fates_of_launch(case.name, launch)));
        let mut bench = Bench { device: &Device::simulator(), random: Random::new(1), inspect: &mut inspect };
        let output = (case.run)(&mut bench).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        assert_eq!(output.complaint(), None, "{} as it is", case.name);
    }
    for ring in RINGS {
        let mut show = |launch: &Launch<'_>| all.push((ring.name, fates_of_launch(ring.name, launch)));
        (ring.run)(&mut show).unwrap_or_else(|error| panic!("{}: {error}", ring.name));
    }
    assert_eq!(all.len(), PIPELINED.len() + RINGS.len(), "kernels that are launched once");
    held_ir("engine of the tree", &all);
}

/// Holds what mutants of IR come to to the lists of those that change nothing and of those that are stopped elsewhere, and to a table.
fn held_ir(section: &str, all: &[(&str, Fates)]) {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let listed = |list: ListedIr| -> BTreeMap<(&str, &str), usize> {
        let rows = list.iter().filter(|(kernel, ..)| names.contains(kernel));
        rows.map(|(kernel, mistake, places, _)| ((*kernel, *mistake), *places)).collect()
    };
    let found = |fate: Fate| of_fate(all.iter().map(|(name, fates)| (*name, fates)), fate);
    let lines = |fate: Fate| {
        let of = |(name, fates): &(&str, Fates)| {
            let of = fates.iter().filter(|(_, of, _)| *of == fate);
            of.map(|(mistake, _, line)| format!("{name}, {mistake}: {line}\n")).collect::<String>()
        };
        all.iter().map(of).collect::<String>()
    };
    for (fate, list, what) in [
        (Fate::SameResult, SAME_IR, "that change nothing"),
        (Fate::Elsewhere, ELSEWHERE_IR, "whose fault is not in the loop that is changed"),
    ] {
        assert_eq!(found(fate), listed(list), "mutants {what}, and those that are listed; here are the mutants:\n{}", lines(fate));
    }
    hold(&page(), &[(section, ir_table(all.iter().map(|(_, fates)| fates)))]);
    println!("ran: {section} ({} mutants of IR on simulator)", all.iter().map(|(_, fates)| fates.len()).sum::<usize>());
}
