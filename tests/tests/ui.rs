//! What `rustc` shows for kernels that are wrong: one file of `tests/ui` for each class of mistake, the expected output beside it.
//!
//! `WARPWRIGHT_BLESS=1` writes the expectations anew; read what it wrote.

use std::fmt::Write;
use std::path::Path;
use warpwright_tests::built::{libraries, shown_by_rustc};
use warpwright_tests::command::root;
use warpwright_tests::marked::is_blessing;
use warpwright_tests::package::Package;

/// The files, by name and text.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let paths = std::fs::read_dir(folder).expect("the folder of mistakes").map(|entry| entry.expect("an entry").path());
    let mut sources: Vec<(String, String)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a file of mistakes");
            (path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned(), text)
        })
        .collect();
    sources.sort();
    sources
}

/// A text with `$WORKSPACE` for this repository, and without line numbers of its files but those of `ui`, as `rustc`'s own tests have it.
fn normalised(text: &str) -> String {
    let workspace = root().canonicalize().expect("the repository is there").display().to_string();
    let given = root().display().to_string();
    let text = text.replace(&given, "$WORKSPACE").replace(&workspace, "$WORKSPACE");
    // Where `rustc` runs in the repository, places are relative to it.
    let text =
        ["--> ", "::: "].iter().fold(text, |text, arrow| text.replace(&format!("{arrow}runtime/"), &format!("{arrow}$WORKSPACE/runtime/")));
    let text = text.replace("--> tests/ui/cudarc/", "--> ui/");
    let mut is_outside = false;
    let lines = text.lines().map(|line| {
        if let Some((arrow, (_, place))) = ["-->", ":::"].iter().find_map(|arrow| Some((arrow, line.split_once(&format!("{arrow} "))?))) {
            is_outside = place.starts_with("$WORKSPACE");
            let file = place.split(':').next().unwrap_or(place);
            return if is_outside { format!(" {arrow} {file}:LL:COL") } else { line.to_owned() };
        }
        // `help: …` is about the package's own file again.
        is_outside &= !line.starts_with(char::is_alphabetic);
        let (margin, rest) = line.split_at(line.find(" |").filter(|_| is_outside).unwrap_or(0));
        let is_number = !margin.trim().is_empty() && margin.trim().bytes().all(|byte| byte.is_ascii_digit());
        if is_number { format!("LL{rest}") } else { line.to_owned() }
    });
    lines.fold(String::new(), |text, line| text + &line + "\n")
}

#[test]
fn mistakes_are_shown_as_expected() {
    let folder = root().join("tests/ui");
    let sources = sources(&folder);
    assert!(sources.len() >= 20, "{} files of mistakes are found", sources.len());
    let package = Package::new(env!("CARGO_TARGET_TMPDIR"), "mistakes", &[]);
    let mut manifest = std::fs::read_to_string(package.folder.join("Cargo.toml")).expect("the package has a manifest");
    for (name, text) in &sources {
        package.write(&format!("ui/{name}.rs"), text);
        let _ = write!(manifest, "\n[[bin]]\nname = \"{name}\"\npath = \"ui/{name}.rs\"\n");
    }
    package.write("Cargo.toml", &manifest);
    let shown = package.shown();
    hold(&folder, sources.iter().map(|(name, _)| (name.as_str(), shown.get(name).map(String::as_str).unwrap_or_default())));
    println!("ran: mistakes_are_shown_as_expected ({} files on rustc)", sources.len());
}

/// The package above has no `cudarc`: it would build the runtime and `cudarc` once more. So `rustc` takes these files with what was built for the tests.
#[test]
fn what_is_lent_to_and_by_cudarc_stays_where_it_is_lent() {
    let folder = root().join("tests/ui/cudarc");
    let sources = sources(&folder);
    assert_eq!(sources.len(), 2, "files of mistakes in {}", folder.display());
    let libraries = libraries(&["cudarc", "warpwright"]);
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lent");
    let shown = sources.iter().map(|(name, text)| {
        let found = shown_by_rustc(&work, &format!("tests/ui/cudarc/{name}.rs"), &libraries);
        // Each function of a file but `main` and its kernel is one mistake.
        let mistakes = text.lines().filter(|line| line.starts_with("fn ")).count() - 2;
        assert!(found.len() >= mistakes, "{mistakes} mistakes in {name}.rs, and `rustc` finds {}:\n{}", found.len(), found.concat());
        (name.as_str(), found.iter().map(|message| message.trim_end()).collect::<Vec<_>>().join("\n\n"))
    });
    let shown: Vec<_> = shown.collect();
    hold(&folder, shown.iter().map(|(name, found)| (*name, found.as_str())));
    println!("ran: what_is_lent_to_and_by_cudarc_stays_where_it_is_lent ({} files on rustc)", sources.len());
}

/// Holds what `rustc` shows of files, by their names, to the expectations beside them.
fn hold<'s>(folder: &Path, shown: impl Iterator<Item = (&'s str, &'s str)>) {
    let mut differences = String::new();
    for (name, found) in shown {
        let found = normalised(found);
        assert!(found.lines().any(|line| line.starts_with("error")), "`rustc` finds nothing wrong in {name}.rs:\n{found}");
        let path = folder.join(name).with_extension("stderr");
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if expected == found {
            continue;
        }
        if is_blessing() {
            std::fs::write(&path, &found).expect("the expectation can be written");
        } else {
            let changes = similar::TextDiff::from_lines(&expected, &found);
            let _ = writeln!(differences, "{name}.stderr\n{}", changes.unified_diff());
        }
    }
    assert!(differences.is_empty(), "`rustc` shows something else (WARPWRIGHT_BLESS=1 writes it):\n{differences}");
}
