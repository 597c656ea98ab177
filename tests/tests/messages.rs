//! The index of messages: each line of the compiler that says something has an example, and `docs/messages.md` shows what is said of each.
//!
//! `WARPWRIGHT_BLESS=1 cargo test -p warpwright-tests --test messages` writes the page. `cargo run -p warpwright-tests --bin messages -- FILE` shows what is said of the examples of
//! a file, and from where; with `--missing` instead, what has no example.

use std::collections::{BTreeMap, BTreeSet};
use warpwright_codegen::diagnostic::Level;
use warpwright_tests::command::root;
use warpwright_tests::marked::is_blessing;
use warpwright_tests::messages::attributes::{errors_of_rustc, manifests};
use warpwright_tests::messages::texts::{Text, all_of};
use warpwright_tests::messages::types::OwnTypes;
use warpwright_tests::messages::{Said, Site, examples, files, said, sites};

/// Lines that no source by itself leads to: how many of a file, and why.
const WITHOUT: &[(&str, usize, &str)] = &[
    ("codegen/src/backend/opencl/atomics.rs", 1, "types refuse short elements first"),
    ("codegen/src/backend/opencl/mod.rs", 1, "a kernel that is not ready to be printed"),
    ("codegen/src/hir/check/call.rs", 1, "the arguments are counted first"),
    ("codegen/src/hir/check/expression.rs", 2, "numbers and operators that syn does not give"),
    ("codegen/src/hir/lower/expression.rs", 2, "types refuse it first"),
    ("codegen/src/hir/lower/place.rs", 1, "types refuse it first"),
    ("codegen/src/hir/mod.rs", 2, "kernels are looked for first, and errors that are said end it first"),
    ("review/src/lint/register_banks.rs", 1, "figures of ptxas"),
    ("review/src/lint/undone_by_assembler.rs", 1, "figures of ptxas"),
];

/// Texts of the attributes that no file of `tests/ui` leads to: the file, how the text begins, and why.
const OF_ATTRIBUTES_WITHOUT: &[(&str, &str, &str)] = &[
    ("dsl-macros/src/expand/module.rs", "the macro cannot see into the file of", "stable Rust refuses an attribute there first"),
    ("dsl-macros/src/expand/module.rs", "write the module inline", "the same"),
    ("dsl-macros/src/review/mod.rs", "is outside the kernel, which its file does not show", "a kernel that another macro makes"),
];

struct Shown {
    file: String,
    title: String,
    text: String,
    said: Vec<Said>,
}

fn shown() -> Vec<Shown> {
    let mut all = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a file of examples");
        let file = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        for example in examples(&text) {
            let said = said(&example.text);
            all.push(Shown { file: file.clone(), title: example.title, text: example.text, said });
        }
    }
    all
}

#[test]
fn every_message_has_an_example() {
    let shown = shown();
    let silent: Vec<String> =
        shown.iter().filter(|shown| shown.said.is_empty()).map(|shown| format!("{}: {}", shown.file, shown.title)).collect();
    assert!(silent.is_empty(), "nothing is said of\n{}", silent.join("\n"));
    let reached: BTreeSet<&Site> = shown.iter().flat_map(|shown| shown.said.iter().map(|said| &said.site)).collect();
    let all = sites();
    let mut without: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (site, line) in all.iter().filter(|(site, _)| !reached.contains(site)) {
        without.entry(&site.file).or_default().push(format!("{}:{}: {line}", site.file, site.line));
    }
    let expected: BTreeMap<&str, usize> = WITHOUT.iter().map(|(file, count, _)| (*file, *count)).collect();
    let mut wrong: Vec<String> = Vec::new();
    for (file, lines) in &without {
        if expected.get(file).copied().unwrap_or(0) != lines.len() {
            wrong.push(format!("{} lines of {file} have no example in `tests/messages`:\n  {}", lines.len(), lines.join("\n  ")));
        }
    }
    wrong.extend(expected.keys().filter(|file| !without.contains_key(*file)).map(|file| format!("every line of {file} has an example")));
    println!(
        "{} lines say something, {} of them without an example; {} examples",
        all.len(),
        without.values().map(Vec::len).sum::<usize>(),
        shown.len()
    );
    assert!(all.len() > 300);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the attributes say themselves, with the help: texts of their sources.
fn of_attributes() -> Vec<Text> {
    all_of("dsl-macros/src")
}

#[test]
fn every_message_of_the_attributes_has_an_example() {
    let (all, errors) = (of_attributes(), errors_of_rustc());
    let missing: Vec<&Text> = all.iter().filter(|text| !errors.iter().any(|error| text.is_in(error))).collect();
    let is_about = |text: &Text, row: &(&str, &str, &str)| text.file == row.0 && text.begins(row.1);
    let unknown = missing.iter().filter(|text| !OF_ATTRIBUTES_WITHOUT.iter().any(|row| is_about(text, row)));
    let unknown: Vec<String> = unknown.map(|text| format!("{}:{}: {text}", text.file, text.line)).collect();
    assert!(unknown.is_empty(), "no file of `tests/ui` leads to\n{}", unknown.join("\n"));
    let idle: Vec<_> = OF_ATTRIBUTES_WITHOUT.iter().filter(|row| !missing.iter().any(|text| is_about(text, row))).collect();
    assert!(idle.is_empty(), "{idle:?} are shown, or are no more");
    println!("{} texts of the attributes, {} of them without an example", all.len(), missing.len());
    assert!(all.len() > 12, "{}", all.len());
}

#[test]
fn every_message_of_the_manifest_has_an_example() {
    let (all, said) = (all_of("review/src/manifest.rs"), manifests());
    let missing = all.iter().filter(|text| !said.iter().any(|said| text.is_in(&said.said)));
    let missing: Vec<String> = missing.map(|text| format!("{}: {text}", text.line)).collect();
    assert!(missing.is_empty(), "no manifest leads to\n{}", missing.join("\n"));
    println!("{} texts of the manifest, {} examples", all.len(), said.len());
}

/// What the attributes and the manifest are told, as people read it.
fn page_of_attributes() -> String {
    let mut page = "\n## The attributes\n\nWhat `#[kernel]`, `#[device]` and `#[warpwright::module]` say of what they stand on, as `rustc` shows it; from `tests/ui`.\n".to_owned();
    let errors = errors_of_rustc();
    let mut shown: Vec<&String> = Vec::new();
    for text in of_attributes() {
        let Some(error) = errors.iter().find(|error| text.is_in(error)) else { continue };
        if !shown.contains(&error) && !shown.iter().any(|shown| text.is_in(shown)) {
            shown.push(error);
        }
    }
    shown.iter().for_each(|error| page += &format!("\n```text\n{error}\n```\n"));
    page += "\n## `Cargo.toml`\n";
    for one in manifests() {
        page += &format!("\n### {}\n\n```toml\n{}\n```\n\n```text\n{}\n```\n", one.title, one.shown, one.said);
    }
    page
}

/// What people read, of all examples.
fn page(shown: &[Shown]) -> String {
    let mut page = String::from(
        "# Messages\n\nWhat the compiler says of mistakes: a small source for each, and every finding of it. Written by `tests/tests/messages.rs` from `tests/messages`; by the \
         files of the compiler that say it. Lints have pages of their own (`warpwright explain`). What a program, the simulator and the command say is in [errors](errors.md).\n\n\
         Comments ask for what a source does not say: `// target` for other targets than sm_70, sm_80 and sm_90a, `// -D` and `// constant` for what the command is given, `// kernel` and \
         `// instance` for what a program asks for, `// file` for several files of a crate, `// there is no` for what `rustc` does not find.\n",
    );
    let mut file = "";
    for example in shown {
        if example.file != file {
            file = &example.file;
            page += &format!("\n## `{file}`\n");
        }
        page += &format!("\n### {}\n\n```rust,ignore\n{}```\n\n```text\n", example.title, example.text);
        for said in &example.said {
            let level = if said.level == Level::Error { "error" } else { "warning" };
            let lint = said.lint.map(|lint| format!("[{lint}]")).unwrap_or_default();
            let at = if said.at.is_empty() { String::new() } else { format!(" (at `{}`)", said.at) };
            page += &format!("{level}{lint}: {}{at}\n", said.message);
            if let Some(help) = &said.help {
                page += &format!("  help: {help}\n");
            }
        }
        page += "```\n";
    }
    page += &page_of_attributes();
    page += "\n## Without an example\n\nLines of the compiler that say something, and that no source by itself leads to:\n\n| file | lines | why there is no example |\n|---|---|---|\n";
    for (file, lines, why) in WITHOUT {
        page += &format!("| `{file}` | {lines} | {why} |\n");
    }
    page += "\nTexts of the attributes:\n\n| text | why there is no example |\n|---|---|\n";
    for (_, text, why) in OF_ATTRIBUTES_WITHOUT {
        page += &format!("| {text} … | {why} |\n");
    }
    page
}

#[test]
fn the_page_shows_what_is_said() {
    let path = root().join("docs/messages.md");
    let expected = page(&shown());
    if is_blessing() {
        std::fs::write(&path, expected).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).expect("the page");
    if let Some((found, expected)) = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected) {
        panic!("docs/messages.md says\n  {found}\nwhere it is now\n  {expected}\n(WARPWRIGHT_BLESS=1 writes it)");
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "WARPWRIGHT_BLESS=1 writes the page");
}

/// Types of the compiler say nothing to who reads a message.
#[test]
fn no_message_names_the_compilers_own_types() {
    let types = OwnTypes::of(&["codegen/src", "review/src", "dsl-macros/src"]);
    assert!(types.count() > 250, "{}", types.count());
    let mut wrong = Vec::new();
    for example in shown() {
        for said in &example.said {
            let text = format!("{} {}", said.message, said.help.as_deref().unwrap_or_default());
            wrong.extend(types.in_text(&text, &example.text).iter().map(|word| format!("`{word}` in: {text}")));
        }
    }
    for said in manifests() {
        wrong.extend(types.in_text(&said.said, &said.shown).iter().map(|word| format!("`{word}` in: {}", said.said)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
