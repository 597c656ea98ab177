//! The index of errors, `docs/errors.md`: every error of a program, every fault that the simulator finds and every text that stops the command has an example, or
//! stands in a list with the reason why it has none.
//!
//! `WARPWRIGHT_BLESS=1 cargo test -p warpwright-tests --test errors` writes the page.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

#[path = "errors/command.rs"]
mod command;
#[path = "errors/drivers.rs"]
mod drivers;
#[path = "errors/host/mod.rs"]
mod host;
#[path = "errors/page.rs"]
mod page;
#[path = "errors/simulated.rs"]
mod simulated;
#[path = "errors/sites.rs"]
mod sites;
#[path = "errors/variants.rs"]
mod variants;

use page::{Entry, Section};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use warpwright::Error;
use warpwright_runtime::sim::FaultKind;
use warpwright_tests::command::root;
use warpwright_tests::marked::hold;
use warpwright_tests::messages::own_types;
use warpwright_tests::ptx_interpreter::{IS_POSSIBLE, again};

/// All that has an example.
struct Shown {
    host: Vec<Section>,
    faults: Vec<Section>,
    command: Vec<Section>,
}

/// All of it, made once; `None` where the stand-in for a driver cannot be.
fn shown() -> Option<&'static Shown> {
    static ALL: LazyLock<Shown> = LazyLock::new(|| {
        // This links the stand-in under the driver's name, for the children.
        again("errors", &["a_driver_is_there"], "9.0");
        let in_child = |which: &str| {
            let none = drivers::without("errors-none");
            let variables = match which {
                "none" => none.variables.clone(),
                "old" => drivers::of_cuda("11.4"),
                _ => drivers::with(),
            };
            drivers::run(which, "examples_of_a_child", &variables)
        };
        Shown { host: host::entries(in_child), faults: simulated::entries(), command: command::entries() }
    });
    if !IS_POSSIBLE {
        println!("skipped: errors (no PTX interpreter: this is not Linux)");
        return None;
    }
    Some(&ALL)
}

fn entries(sections: &[Section]) -> impl Iterator<Item = &Entry> {
    sections.iter().flat_map(|section| &section.entries)
}

/// Nothing else is asked where the stand-in is.
#[test]
fn a_driver_is_there() {
    if warpwright_tests::ptx_interpreter::is_here() {
        assert!(warpwright::Device::cuda(0).is_ok());
    }
}

/// Says what examples say that need a program of their own; nothing where this is none.
#[test]
fn examples_of_a_child() {
    if let Some(child) = drivers::child() {
        host::print(&child);
    }
}

/// Errors without an example: with what they say, and why.
fn errors_without() -> Vec<(Error, &'static str)> {
    let refused = Error::DeviceCompiler {
        kernel: "saxpy",
        compiler: "the CUDA driver's assembler (CUDA 12.4)".to_owned(),
        code: "CUDA_ERROR_INVALID_PTX (218)".to_owned(),
        log: "ptxas application ptx input, line 20; fatal : Parsing error near '}': syntax error".into(),
    };
    vec![(refused, "takes a driver that refuses what the compiler emits, which would be a mistake of the compiler")]
}

/// Faults without an example: the same.
const FAULTS_WITHOUT: &[(FaultKind, &str)] = &[(FaultKind::IntervalLimit, "2³² barriers in one launch take days")];

/// Texts of the command without an example: the file, how the text begins, and why.
const TEXTS_WITHOUT: &[(&str, &str, &str)] = &[
    ("src/cli/compare/page/mod.rs", "the page cannot be made: ", "a mistake in a template of ours, which a test of the page finds"),
    ("src/cli/compare/revision.rs", "` cannot be made: ", "names the process and the commit"),
    ("src/cli/launch/mod.rs", "` has no value", "names are looked at before"),
    ("src/cli/launch/values.rs", "would have ", "names how much memory the machine has left"),
    ("src/cli/launch/variant.rs", "` is no number of the kernel's", "names are looked at before"),
    ("src/cli/mod.rs", "this is a mistake of warpwright's own; please report it", "nothing is known to lead to it"),
    ("src/cli/mod.rs", "no thread can be started: ", "the machine has no room for a thread"),
    ("src/cli/mod.rs", "the output cannot be written: ", "`command_terminal` writes to a full device"),
];

#[test]
fn every_error_has_an_example() {
    let Some(shown) = shown() else { return };
    let variant = |error: &Error| format!("{error:?}").split(':').next().unwrap_or_default().to_owned();
    let without = errors_without().iter().map(|(error, _)| variant(error)).collect();
    complete("error", &variants::of_errors(), &shown.host, &without);
}

#[test]
fn every_fault_has_an_example() {
    let Some(shown) = shown() else { return };
    let without = FAULTS_WITHOUT.iter().map(|(kind, _)| simulated::variant(&format!("{kind:?}"))).collect();
    complete("fault", &variants::of_faults(), &shown.faults, &without);
}

/// All of these are among the examples or among those without, and none among both.
fn complete(what: &str, all: &BTreeSet<String>, sections: &[Section], without: &BTreeSet<String>) {
    let has: BTreeSet<String> = entries(sections).map(|entry| entry.kind.clone()).collect();
    let known: BTreeSet<String> = has.union(without).cloned().collect();
    println!("{} of {} kinds of {what} have an example; {} examples", has.len(), all.len(), entries(sections).count());
    let (missing, idle): (Vec<_>, Vec<_>) = (all.difference(&known).collect(), known.difference(all).collect());
    assert!(missing.is_empty(), "without an example, and not listed as such: {missing:?}");
    assert!(idle.is_empty(), "there is no such {what}: {idle:?}");
    assert!(has.is_disjoint(without), "they have examples: {:?}", has.intersection(without));
}

/// Whether a row of those without is about a text.
fn is_listed(text: &sites::Text, (file, begins, _): &(&str, &str, &str)) -> bool {
    text.file == *file && text.pieces.iter().any(|piece| piece.starts_with(begins))
}

#[test]
fn every_text_of_the_command_has_an_example() {
    let Some(shown) = shown() else { return };
    let all = sites::of_command();
    let is_shown = |text: &sites::Text| entries(&shown.command).any(|entry| text.is_in(&entry.said));
    let missing: Vec<String> = all
        .iter()
        .filter(|text| !is_shown(text) && !TEXTS_WITHOUT.iter().any(|row| is_listed(text, row)))
        .map(|text| format!("{}:{}: {text}", text.file, text.line))
        .collect();
    assert!(missing.is_empty(), "no command line of `errors/command.rs` leads to\n{}", missing.join("\n"));
    let idle: Vec<_> = TEXTS_WITHOUT.iter().filter(|row| !all.iter().any(|text| is_listed(text, row) && !is_shown(text))).collect();
    assert!(idle.is_empty(), "{idle:?} are shown, or are no more");
    println!("{} texts of the command, {} of them without an example", all.len(), TEXTS_WITHOUT.len());
    assert!(all.len() > 90, "{}", all.len());
}

#[test]
fn no_message_names_a_type_that_users_do_not_know() {
    let Some(shown) = shown() else { return };
    let types = own_types(&["codegen/src", "review/src", "runtime/src", "src"]);
    assert!(types.len() > 250, "{}", types.len());
    // What users name is exported, or a word of the language.
    let known: String = ["src/lib.rs", "runtime/src/lib.rs", "runtime/src/prelude/mod.rs", "docs/language.md"]
        .iter()
        .map(|file| std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}")))
        .collect();
    let known: BTreeSet<&str> = known.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut wrong = Vec::new();
    for entry in [&shown.host, &shown.faults, &shown.command].into_iter().flat_map(|sections| entries(sections)) {
        let words = entry.said.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !entry.shown.contains(*word));
        let own = words.filter(|word| types.contains(*word) && !known.contains(word));
        wrong.extend(own.map(|word| format!("`{word}` in: {}", entry.said)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_shows_what_is_said() {
    let Some(shown) = shown() else { return };
    let mut without = "| message | why there is no example |\n|---|---|\n".to_owned();
    let mut row = |said: &str, why: &str| without += &format!("| {} | {why} |\n", said.lines().collect::<Vec<_>>().join("<br>"));
    errors_without().iter().for_each(|(error, why)| row(&error.to_string(), why));
    FAULTS_WITHOUT.iter().for_each(|(kind, why)| row(&kind.to_string(), why));
    let texts = sites::of_command();
    for listed in TEXTS_WITHOUT {
        let text = texts.iter().find(|text| is_listed(text, listed)).unwrap_or_else(|| panic!("{listed:?} is no more"));
        row(&text.to_string(), listed.2);
    }
    let sections = [
        ("host", page::text(&shown.host)),
        ("faults", page::text(&shown.faults)),
        ("command", page::text(&shown.command)),
        ("without", without),
    ];
    hold(&root().join("docs/errors.md"), &sections);
    println!("ran: errors ({} examples on simulator, host twin, PTX interpreter, command)", {
        [&shown.host, &shown.faults, &shown.command].into_iter().map(|sections| entries(sections).count()).sum::<usize>()
    });
}
