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
use warpwright_tests::messages::own_types;
use warpwright_tests::messages::texts::{Text, all_of};
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
        let in_child = |which: &str| {
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
    let has: BTreeSet<String> = entries(sections).map(|entry| entry.kind.clone()).collect();
    let known: BTreeSet<String> = has.union(without).cloned().collect();
    println!("{} of {} kinds of {what} have an example; {} examples", has.len(), all.len(), entries(sections).count());
    let (missing, idle): (Vec<_>, Vec<_>) = (all.difference(&known).collect(), known.difference(all).collect());
    assert!(missing.is_empty(), "without an example, and not listed as such: {missing:?}");
    assert!(idle.is_empty(), "there is no such {what}: {idle:?}");
    assert!(has.is_disjoint(without), "they have examples: {:?}", has.intersection(without));
}

/// Each of these texts is in what some of these sections say, or is about a row of the table, and of no row is nothing missing. Gives how many have no example.
fn all_shown(texts: &[&Text], sections: &[&[Section]], table: &[Without]) -> usize {
    let is_shown = |text: &Text| sections.iter().any(|sections| entries(sections).any(|entry| text.is_in(&entry.said)));
    let missing: Vec<&Text> = texts.iter().copied().filter(|text| !is_shown(text)).collect();
    let unknown: Vec<String> = missing
        .iter()
        .filter(|text| !table.iter().any(|row| is_about(row, text)))
        .map(|text| format!("{}:{}: {text}", text.file, text.line))
        .collect();
    assert!(unknown.is_empty(), "no example of `tests/tests/errors` leads to\n{}", unknown.join("\n"));
    let idle: Vec<_> = table.iter().filter(|row| !missing.iter().any(|text| is_about(row, text))).collect();
    assert!(idle.is_empty(), "{idle:?} are shown, or are no more");
    missing.len()
}

#[test]
fn every_text_of_the_command_has_an_example() {
    let Some(shown) = shown() else { return };
    let all = sites::of_command();
    let without = all_shown(&all.iter().collect::<Vec<_>>(), &[&shown.command], without::OF_COMMAND);
    println!("{} texts of the command, {without} of them without an example", all.len());
    assert!(all.len() > 90, "{}", all.len());
}

/// Whether a file is this one, or in this folder.
fn is_in(file: &str, path: &str) -> bool {
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[test]
fn every_text_of_the_runtime_has_an_example() {
    let Some(shown) = shown() else { return };
    let all: Vec<Text> = ["runtime/src", "kernels/src/staples"].into_iter().flat_map(all_of).collect();
    for (path, _) in without::NO_ERRORS.iter().chain(without::FILES) {
        assert!(all.iter().any(|text| is_in(&text.file, path)), "{path} has no text");
    }
    let is_of = |text: &&Text, paths: &[(&str, &str)]| paths.iter().any(|(path, _)| is_in(&text.file, path));
    let errors: Vec<&Text> = all.iter().filter(|text| !is_of(text, without::NO_ERRORS)).collect();
    let (in_files, alone): (Vec<&Text>, Vec<&Text>) = errors.iter().partition(|text| is_of(text, without::FILES));
    let without = all_shown(&alone, &[&shown.host, &shown.faults, &shown.command], without::OF_RUNTIME);
    println!("{} texts of the runtime and the library of staples, {} of them without an example", errors.len(), without + in_files.len());
    assert!(alone.len() > 250, "{}", alone.len());
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
    without::errors().iter().for_each(|(error, why)| row(&error.to_string(), why));
    without::FAULTS.iter().for_each(|(kind, why)| row(&kind.to_string(), why));
    let texts = [sites::of_command(), all_of("runtime/src"), all_of("kernels/src/staples")].concat();
    for listed in [without::OF_COMMAND, without::OF_RUNTIME].concat() {
        let text = texts.iter().find(|text| is_about(&listed, text)).unwrap_or_else(|| panic!("{listed:?} is no more"));
        row(&text.to_string(), listed.2);
    }
    without::FILES.iter().for_each(|(file, why)| row(&format!("all of `{file}`"), why));
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
