//! The catalogues of GPUVerify and Oclgrind: our kernel of each case gets the verdict that is written beside it.

use super::page;
use warpwright_codegen::syntax::{Program, Unit};
use warpwright_tests::faults::catalogues::{GPUVERIFY, OCLGRIND, Ours, Outcome, Published, Theirs, run, source};
use warpwright_tests::faults::lints::of_program;
use warpwright_tests::marked::hold;

/// The row of a case; what is wrong, if our verdict is another one.
fn row(case: &Published) -> Result<String, String> {
    let text = source(case.body);
    let verdict = match (run(&text, case.blocks), case.ours) {
        (Outcome::Fault(fault), Ours::Fault(words)) if fault.contains(words) => format!("simulator: {words}"),
        (Outcome::Refused(why), Ours::Refused(words)) if why.contains(words) => "the compiler refuses it".to_owned(),
        (Outcome::Ran, Ours::Clean) => "accepts".to_owned(),
        (Outcome::Fault(found) | Outcome::Refused(found), expected) => return Err(format!("{}: {found}, not {expected:?}", case.name)),
        (Outcome::Ran, expected) => return Err(format!("{}: it runs, not {expected:?}", case.name)),
    };
    let mut program = Program::default();
    let lints = match Unit::parse("k.rs", 1, 1, &text) {
        Ok(unit) => {
            let unit = program.add(unit);
            of_program(&program, unit, "k").lints
        }
        Err(_) => Default::default(),
    };
    if case.ours == Ours::Clean && !lints.is_empty() {
        return Err(format!("{}: a false alarm, {lints:?}", case.name));
    }
    let lints: Vec<String> = lints.iter().map(|lint| format!("`{lint}`")).collect();
    let theirs = match case.theirs {
        Theirs::Reports => "reports",
        Theirs::Accepts => "accepts",
    };
    let agrees = (case.theirs == Theirs::Accepts) == (case.ours == Ours::Clean);
    if agrees != case.why.is_empty() {
        return Err(format!("{}: the verdicts {}, and `why` says otherwise", case.name, if agrees { "agree" } else { "differ" }));
    }
    Ok(format!("| {} | {} | {theirs} | {verdict} | {} | {} |\n", case.name, case.about, lints.join(", "), case.why))
}

fn held(section: &str, tool: &str, cases: &[&Published]) {
    let mut table = format!("| case | about | {tool} | we | lints | why they differ |\n|---|---|---|---|---|---|\n");
    let mut wrong = Vec::new();
    for case in cases {
        match row(case) {
            Ok(row) => table += &row,
            Err(what) => wrong.push(what),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    hold(&page(), &[(section, table.trim_end().to_owned())]);
    println!("ran: {section} ({} cases on simulator)", cases.len());
}

#[test]
fn oclgrinds_cases_get_their_verdicts() {
    held("oclgrind", "Oclgrind", &OCLGRIND.iter().collect::<Vec<_>>());
}

#[test]
fn gpuverifys_cases_get_their_verdicts() {
    held("gpuverify", "GPUVerify", &GPUVERIFY.iter().copied().flatten().collect::<Vec<_>>());
}
