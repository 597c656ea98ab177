//! What is said of clauses that do not hold, or of which nothing is known.

use super::*;
use crate::estimate::demand;
use crate::estimate::estimate;
use warpwright_codegen::analysis::access::{AccessFact, AccessKind, Pattern, Range, Total, Uncertainty};
use warpwright_codegen::ir::{Object, Space};
use warpwright_codegen::pipeline::Legal;
use warpwright_codegen::syntax::{QUANTITIES, Relation};
use warpwright_codegen::text::parse_kernel;

/// A kernel of 256 threads that stores to `y`, on sm_80 and sm_90, with 72 registers estimated on the one and 80 on the other.
fn known(block: &str) -> Known {
    let text = format!(
        "kernel \"k\" legal\n{block}param m0 \"y\": global mut [f32]\n{{\n  v0: u32 = const 0\n  v1: f32 = const 1.0\n  store m0[v0], v1\n  return\n}}\n"
    );
    let kernel = parse_kernel(&text).unwrap();
    let targets = ["sm_80", "sm_90"].map(|name| Target::find(name).unwrap());
    let mut known = estimate(&Legal::verified(kernel).unwrap(), &targets);
    for (estimate, registers) in known.targets.iter_mut().zip([72, 80]) {
        let found = &mut estimate.registers;
        (found.estimate, found.low, found.high, found.peak) = (registers, registers - 8, registers + 8, Vec::new());
        estimate.occupancy = demand::of_kernel(&known.legal, registers, 0, estimate.target);
    }
    known.facts.accesses.clear();
    known
}

fn access(space: Space, pattern: Pattern) -> AccessFact {
    let inst = warpwright_codegen::ir::Inst(0);
    AccessFact {
        inst,
        loc: Loc(0),
        object: Object(0),
        space,
        kind: AccessKind::Store,
        bytes: 4,
        pattern,
        offset: 0,
        lanes: Range { least: 32, most: 32 },
        uncertainty: Uncertainty::None,
        is_rare: false,
        loops: 0,
        total: Total::default(),
        by_data: false,
        by_thread: false,
        sharing: None,
        moves: None,
        part: 0,
        is_ahead: false,
        lines: 0,
        bank_passes: 0,
    }
}

/// What is said of one clause.
#[track_caller]
fn said(known: &Known, name: &str, comparison: Relation, bound: f64) -> Option<String> {
    let quantity = QUANTITIES.iter().find(|quantity| quantity.name == name).unwrap();
    let clause = Clause { quantity, comparison, bound, span: Span::call_site() };
    let found = judge(&[clause], known, |_| Span::call_site());
    let mut texts = found.iter().map(|finding| format!("{}: {}", finding.lint.unwrap(), finding.message));
    let first = texts.next();
    assert_eq!(texts.next(), None);
    first
}

#[test]
fn what_does_not_hold_says_by_how_much_and_where() {
    let known = known("block = 256, 1, 1\n");
    assert_eq!(said(&known, "registers", Relation::AtMost, 80.0), None);
    assert_eq!(
        said(&known, "registers", Relation::AtMost, 72.0).as_deref(),
        Some("require: `registers <= 72` does not hold: 80 registers (estimated, 72 to 88) on sm_90, 8 too many")
    );
    assert_eq!(
        said(&known, "registers", Relation::Below, 64.0).as_deref(),
        Some(
            "require: `registers < 64` does not hold: 72 registers (estimated, 64 to 80) on sm_80, 8 too many; \
             80 registers (estimated, 72 to 88) on sm_90, 16 too many"
        )
    );
    // 65,536 registers of a multiprocessor hold three blocks of 256 × 72 or 80.
    assert_eq!(
        said(&known, "occupancy", Relation::AtLeast, 0.5).as_deref(),
        Some(
            "require: `occupancy >= 0.5` does not hold: 37.5 % occupancy (estimated, 37.5 to 50 %), limited by registers on sm_80, \
             12.5 percent points short; 37.5 % occupancy (estimated, 25 to 37.5 %), limited by registers on sm_90, 12.5 percent points short"
        )
    );
    assert_eq!(said(&known, "occupancy", Relation::Equal, 0.375), None);
    assert_eq!(said(&known, "shared", Relation::AtMost, 0.0), None);
    assert_eq!(said(&known, "local_bytes", Relation::Equal, 0.0), None);
}

#[test]
fn an_open_block_leaves_occupancy_open() {
    let expected = "unchecked: `occupancy >= 0.5` cannot be checked: the launch chooses the block";
    assert_eq!(said(&known(""), "occupancy", Relation::AtLeast, 0.5).as_deref(), Some(expected));
}

#[test]
fn the_worst_access_counts_and_unknown_ones_leave_it_open() {
    let mut known = known("block = 256, 1, 1\n");
    let global =
        |least, most| Pattern::Global { sectors: Range { least, most }, bytes: Range { least: 128, most: 128 }, stride: None, step: None };
    known.facts.accesses.push(access(Space::Global, global(4, 4)));
    assert_eq!(said(&known, "sectors_per_request", Relation::AtMost, 4.0), None);
    known.facts.accesses.push(access(Space::Global, global(4, 5)));
    assert_eq!(
        said(&known, "sectors_per_request", Relation::AtMost, 4.0).as_deref(),
        Some("unchecked: `sectors_per_request <= 4` is not decided: 4 to 5 sectors at worst")
    );
    known.facts.accesses.push(AccessFact { is_rare: true, ..access(Space::Global, global(9, 9)) });
    known.facts.accesses.push(access(Space::Global, global(32, 32)));
    assert_eq!(said(&known, "sectors_per_request", Relation::AtMost, 32.0), None);
    assert_eq!(
        said(&known, "sectors_per_request", Relation::AtMost, 4.0).as_deref(),
        Some("require: `sectors_per_request <= 4` does not hold: 32 sectors at worst, 28 too many")
    );
    known.facts.accesses.truncate(1);
    known.facts.accesses.push(access(Space::Global, Pattern::Unknown));
    assert_eq!(
        said(&known, "sectors_per_request", Relation::AtMost, 4.0).as_deref(),
        Some(
            "unchecked: `sectors_per_request <= 4` is not decided: 4 sectors at worst where it is known, and an access whose pattern is not"
        )
    );
    let degree = |n| Pattern::Shared { degree: Range { least: n, most: n }, stride: None };
    known.facts.accesses.push(access(Space::Shared, degree(1)));
    assert_eq!(said(&known, "bank_conflicts", Relation::Equal, 0.0), None);
    known.facts.accesses.push(access(Space::Shared, degree(32)));
    assert_eq!(
        said(&known, "bank_conflicts", Relation::Equal, 0.0).as_deref(),
        Some("require: `bank_conflicts == 0` does not hold: 31 bank conflicts at worst, 31 too many")
    );
}
