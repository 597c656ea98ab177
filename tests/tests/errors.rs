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
#[path = "errors/without.rs"]
mod without;

use page::{Entry, Section};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use warpwright::Error;
use warpwright_runtime::sim::{LOOP_LIMIT, WEAK_MEMORY};
use warpwright_tests::command::root;
use warpwright_tests::marked::hold;
use warpwright_tests::messages::texts::{Text, all_of};
use warpwright_tests::messages::types::OwnTypes;
use warpwright_tests::ptx_interpreter::{IS_POSSIBLE, again};
use without::{Without, is_about};

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
        let in_child = |which: &str, conditions: &[(&'static str, &'static str)]| {
            if which.starts_with(host::EACH) {
                let told = drivers::told(conditions);
                return drivers::run(which, "examples_of_a_child", &told.variables);
            }
            let none = drivers::without("errors-none");
            let others = drivers::other_libraries("errors-other-libraries");
            let variables = match which {
                "none" => none.variables.clone(),
                "other libraries" => others.variables.clone(),
                "old" => drivers::of_cuda("11.4"),
                "limits" => vec![(LOOP_LIMIT, "1000".to_owned())],
                "no turns" => vec![(LOOP_LIMIT, "many".to_owned())],
                "no seed" => vec![(WEAK_MEMORY, "much".to_owned())],
                _ => drivers::with_gpu_alone(&none),
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

#[test]
fn every_error_has_an_example() {
    let Some(shown) = shown() else { return };
    let variant = |error: &Error| format!("{error:?}").split(':').next().unwrap_or_default().to_owned();
    let without = without::errors().iter().map(|(error, _)| variant(error)).collect();
    complete("error", &variants::of_errors(), &shown.host, &without);
}

#[test]
fn every_fault_has_an_example() {
    let Some(shown) = shown() else { return };
    let without = without::FAULTS.iter().map(|(kind, _)| simulated::variant(&format!("{kind:?}"))).collect();
    complete("fault", &variants::of_faults(), &shown.faults, &without);
}

/// All of these are among the examples or among those without, and none among both.
fn complete(what: &str, all: &BTreeSet<String>, sections: &[Section], without: &BTreeSet<String>) {
    let has: BTreeSet<String> = entries(sections).map(|entry| entry.kind.clone()).filter(|kind| !kind.is_empty()).collect();
    let known: BTreeSet<String> = has.union(without).cloned().collect();
    println!("{} of {} kinds of {what} have an example; {} examples", has.len(), all.len(), entries(sections).count());
    let (missing, idle): (Vec<_>, Vec<_>) = (all.difference(&known).collect(), known.difference(all).collect());
    assert!(missing.is_empty(), "without an example, and not listed as such: {missing:?}");
    assert!(idle.is_empty(), "there is no such {what}: {idle:?}");
    assert!(has.is_disjoint(without), "they have examples: {:?}", has.intersection(without));
}

/// Those of these texts that are in nothing that these sections say.
fn not_shown(texts: Vec<Text>, sections: &[&[Section]]) -> Vec<Text> {
    let is_shown = |text: &Text| sections.iter().any(|sections| entries(sections).any(|entry| text.is_in(&entry.said)));
    texts.into_iter().filter(|text| !is_shown(text)).collect()
}

/// Each of these texts, which have no example, is about a row of the table, and no row is about none.
fn all_listed(texts: &[Text], table: &[Without]) {
    let unknown = texts.iter().filter(|text| !table.iter().any(|row| is_about(row, text)));
    let unknown: Vec<String> = unknown.map(|text| format!("{}:{}: {text}", text.file, text.line)).collect();
    assert!(unknown.is_empty(), "no example of `tests/tests/errors` leads to\n{}", unknown.join("\n"));
    let idle: Vec<_> = table.iter().filter(|row| !texts.iter().any(|text| is_about(row, text))).collect();
    assert!(idle.is_empty(), "{idle:?} are shown, or are no more");
}

#[test]
fn every_text_of_the_command_has_an_example() {
    let Some(shown) = shown() else { return };
    let all = sites::of_command();
    let without = not_shown(all.clone(), &[&shown.command]);
    println!("{} texts of the command, {} of them without an example", all.len(), without.len());
    all_listed(&without, without::OF_COMMAND);
    assert!(all.len() > 90, "{}", all.len());
}

/// The first row about a text's file, or a folder that it is in.
fn row_of_file<'r>(text: &Text, rows: &'r [(&'r str, &'r str)]) -> Option<&'r (&'r str, &'r str)> {
    rows.iter().find(|(path, _)| text.file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Every text of the runtime and of the library of staples that may become an error.
fn texts_of_runtime() -> Vec<Text> {
    let all = ["runtime/src", "kernels/src/staples"].into_iter().flat_map(all_of);
    let is_error =
        |text: &Text| row_of_file(text, without::NO_ERRORS).is_none() && !without::NO_ERROR_TEXTS.iter().any(|row| is_about(row, text));
    all.filter(is_error).collect()
}

#[test]
fn every_text_of_the_runtime_has_an_example() {
    let Some(shown) = shown() else { return };
    let all = texts_of_runtime();
    let without = not_shown(all.clone(), &[&shown.host, &shown.faults, &shown.command]);
    println!("{} texts of the runtime and the library of staples, {} of them without an example", all.len(), without.len());
    let all_texts: Vec<Text> = all_of("runtime/src");
    let idle = without::NO_ERROR_TEXTS.iter().filter(|row| !all_texts.iter().any(|text| is_about(row, text)));
    let idle: Vec<_> = idle.collect();
    assert!(idle.is_empty(), "{idle:?} are no more");
    all_listed(&without, without::OF_RUNTIME);
    assert!(all.len() > 350, "{}", all.len());
}

#[test]
fn no_message_names_a_type_that_users_do_not_know() {
    let Some(shown) = shown() else { return };
    let types = OwnTypes::of(&["codegen/src", "review/src", "runtime/src", "kernels/src/staples", "src"]);
    assert!(types.count() > 400, "{}", types.count());
    let mut wrong = Vec::new();
    for entry in [&shown.host, &shown.faults, &shown.command].into_iter().flat_map(|sections| entries(sections)) {
        let own = types.in_text(&entry.said, &entry.shown);
        wrong.extend(own.iter().map(|word| format!("`{word}` in: {}", entry.said)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_shows_what_is_said() {
    let Some(shown) = shown() else { return };
    let mut without = "| message | why there is no example |\n|---|---|\n".to_owned();
    let mut row = |said: &str, why: &str| without += &format!("| {} | {why} |\n", said.lines().collect::<Vec<_>>().join("<br>"));
    without::errors().iter().for_each(|(error, why)| row(&error.to_string(), why));
    without::FAULTS.iter().for_each(|(kind, why)| row(&kind.to_string(), why));
    let mut why = |text: &Text, table: &[Without]| {
        let why = table.iter().find(|row| is_about(row, text)).map(|row| row.2);
        row(&text.to_string(), why.unwrap_or_else(|| panic!("{text} has no example")));
    };
    let of_command = not_shown(sites::of_command(), &[&shown.command]);
    of_command.iter().for_each(|text| why(text, without::OF_COMMAND));
    let of_runtime = not_shown(texts_of_runtime(), &[&shown.host, &shown.faults, &shown.command]);
    of_runtime.iter().for_each(|text| why(text, without::OF_RUNTIME));
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
