//! What was found in a kernel is kept: a kernel that nobody touched is not reviewed again, by a library's tests neither, and what is said of it stands
//! where it stands now. Reviews are counted by the file that `WARPWRIGHT_REVIEWS` names, not timed.

use std::collections::BTreeSet;
use std::fs;
use warpwright_tests::package::{Finding, Package};

const LIB: &str = "pub mod consts;
pub mod copies;
pub mod math;
pub mod rows;
macro_rules! made {
    ($name:ident) => {
        #[kernel(block = 48)]
        pub fn $name(y: &mut Global<f32>) {
            y[global_id().x] = 1.0;
        }
    };
}
use warpwright::prelude::*;
made!(one);
made!(two);
#[warpwright::module]
pub mod marked {
    use warpwright::prelude::*;
    fn offset(i: usize) -> usize {
        i * 3
    }
    #[kernel(block = 64)]
    pub fn in_a_module(x: &Global<f32>, y: &mut Global<f32>) {
        let i = global_id().x;
        y[i] = x[offset(i)];
    }
}
";

const CONSTS: &str = "pub const STRIDE: usize = 32;
pub const OTHER: usize = 1;
";

const MATH: &str = "use warpwright::prelude::*;
use crate::consts::STRIDE;
#[device]
pub fn row(x: &Global<f32>, i: usize) -> f32 {
    x[i * STRIDE]
}
";

const ROWS: &str = "use crate::consts::{OTHER, STRIDE};
use crate::math::row;
use warpwright::prelude::*;

#[kernel(block = 256)]
pub fn strided(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i * STRIDE];
}

#[kernel(block = 256)]
pub fn through_a_function(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = row(x, i);
}

#[kernel(block = 256)]
pub fn other(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i * OTHER];
}
";

const COPIES: &str = "use warpwright::prelude::*;

#[kernel(block = B, variants(B in [48, 64]))]
pub fn copy<const B: usize>(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
";

const FILES: [(&str, &str); 5] =
    [("src/lib.rs", LIB), ("src/consts.rs", CONSTS), ("src/math.rs", MATH), ("src/rows.rs", ROWS), ("src/copies.rs", COPIES)];

const ALL: [&str; 7] = ["copy", "in_a_module", "one", "other", "strided", "through_a_function", "two"];

fn package(name: &str) -> Package {
    Package::new(env!("CARGO_TARGET_TMPDIR"), name, &FILES)
}

/// What a check says, and the kernels that it reviewed, and those that it knew.
struct Seen {
    found: BTreeSet<Finding>,
    reviewed: Vec<String>,
    known: Vec<String>,
}

fn check(package: &Package, arguments: &[&str], variables: &[(&str, &str)]) -> Seen {
    let log = package.folder.join("reviews");
    let _ = fs::remove_file(&log);
    let variables = [variables, &[("WARPWRIGHT_REVIEWS", log.to_str().expect("text"))]].concat();
    let found = package.check(arguments, &variables).found;
    let text = fs::read_to_string(&log).unwrap_or_default();
    let of = |word: &str| {
        let lines = text.lines().filter(|line| line.starts_with(word));
        let mut names: Vec<String> =
            lines.map(|line| line.split(' ').nth(2).and_then(|path| path.rsplit("::").next()).expect("a kernel").to_owned()).collect();
        names.sort();
        names
    };
    Seen { found, reviewed: of("reviewed "), known: of("known ") }
}

/// Where a lint finds something: file and line.
fn places(found: &BTreeSet<Finding>, lint: &str) -> Vec<(String, u64)> {
    found.iter().filter(|(name, ..)| name == lint).map(|(_, file, line, _)| (file.clone(), *line)).collect()
}

fn place(file: &str, line: u64) -> (String, u64) {
    (format!("src/{file}.rs"), line)
}

/// An edit, and what is reviewed for it; what is said is what the command says, who keeps nothing.
#[track_caller]
fn edit(package: &Package, path: &str, text: &str, reviewed: &[&str]) -> BTreeSet<Finding> {
    package.write(path, text);
    let seen = check(package, &["--lib"], &[]);
    assert_eq!(seen.reviewed, reviewed, "{path}");
    assert_eq!(seen.known.len(), ALL.len() - reviewed.len(), "{:?}", seen.known);
    // The command sees no kernels that a macro makes.
    let mut ours = seen.found.clone();
    ours.retain(|(_, file, line, _)| !(file == "src/lib.rs" && *line < 16));
    assert_eq!(ours, package.command(&["src/lib.rs", "src/math.rs", "src/rows.rs", "src/copies.rs"]));
    seen.found
}

#[test]
fn only_what_an_edit_changes_is_reviewed() {
    let package = package("kept");
    // The library and its tests, two processes at once, and each kernel once.
    let seen = check(&package, &["--all-targets"], &[]);
    assert_eq!(seen.reviewed, ALL);
    assert_eq!(seen.known, ALL);
    let uncoalesced = |found: &BTreeSet<Finding>| places(found, "uncoalesced_access");
    let at_first = [place("lib", 25), place("math", 5), place("rows", 8)];
    assert_eq!(uncoalesced(&seen.found), at_first);
    assert_eq!(places(&seen.found, "partial_warp"), [place("copies", 3), place("lib", 7)]);

    // Nothing is changed, but the files are written again.
    assert_eq!(uncoalesced(&edit(&package, "src/rows.rs", ROWS, &[])), at_first);
    // A token of one kernel.
    let edited = ROWS.replace("y[i] = x[i * OTHER];", "y[i] = x[i * OTHER * 8];");
    let found = edit(&package, "src/rows.rs", &edited, &["other"]);
    assert_eq!(uncoalesced(&found), [place("lib", 25), place("math", 5), place("rows", 8), place("rows", 20)]);
    // Taken back: known still.
    edit(&package, "src/rows.rs", ROWS, &[]);
    // Moved within the file, with others before it, and with another column: nothing is reviewed, and all is said at the new place.
    let moved = ROWS.replacen("\n#[kernel", "\npub const MORE: usize = 3;\n\n  #[kernel", 1);
    let found = edit(&package, "src/rows.rs", &moved, &[]);
    assert_eq!(uncoalesced(&found), [place("lib", 25), place("math", 5), place("rows", 10)]);
    // The same in the file of a device function.
    let found = edit(&package, "src/math.rs", &format!("// A line.\n{MATH}"), &[]);
    assert_eq!(uncoalesced(&found), [place("lib", 25), place("math", 6), place("rows", 10)]);
    // A comment in a kernel is text of it: what stands behind it has another place in it.
    let found = edit(&package, "src/rows.rs", &moved.replacen("    y[i] = x", "    // ä\n    y[i] = x", 1), &["strided"]);
    assert_eq!(uncoalesced(&found), [place("lib", 25), place("math", 6), place("rows", 11)]);
    // What a kernel names, and what that names.
    let found = edit(&package, "src/consts.rs", &CONSTS.replace("32", "1"), &["strided", "through_a_function"]);
    assert_eq!(uncoalesced(&found), [place("lib", 25)]);
    // `STRIDE` is what it was: known.
    let found = edit(&package, "src/consts.rs", &CONSTS.replace("OTHER: usize = 1", "OTHER: usize = 16"), &["other"]);
    assert_eq!(uncoalesced(&found).len(), 4);
    // Another meaning of a name, with no text changed that the kernel's own is: `STRIDE` is another constant.
    let renamed = moved.replacen("{OTHER, STRIDE}", "{OTHER, OTHER as STRIDE}", 1).replacen("    y[i] = x", "    // ä\n    y[i] = x", 1);
    edit(&package, "src/rows.rs", &renamed, &["strided"]);
    // A helper of a module.
    let found = edit(&package, "src/lib.rs", &LIB.replace("i * 3", "i"), &["in_a_module"]);
    assert!(!uncoalesced(&found).contains(&place("lib", 25)));
    // What a module's mark makes a device function is none without the mark.
    edit(&package, "src/lib.rs", &LIB.replace("#[warpwright::module]\n", "\n"), &["in_a_module"]);
}

#[test]
fn settings_are_part_of_the_question() {
    let package = package("kept-settings");
    let plain = fs::read_to_string(package.folder.join("Cargo.toml")).expect("the manifest");
    let with = |line: &str| package.write("Cargo.toml", &format!("{plain}\n[package.metadata.warpwright]\n{line}\n"));
    let seen = |variables: &[(&str, &str)]| {
        let seen = check(&package, &["--lib"], variables);
        assert!(seen.known.is_empty() || seen.reviewed.is_empty());
        (seen.reviewed.len(), seen.found.len(), seen.found)
    };
    let (reviewed, count, found) = seen(&[]);
    assert!(reviewed == ALL.len() && count >= 5);
    with("findings = \"off\"");
    assert_eq!(seen(&[]).1, 0);
    with("findings = \"deny\"");
    let denied = seen(&[]);
    assert_eq!((denied.0, denied.1), (ALL.len(), count));
    assert!(denied.2.iter().all(|(level, ..)| level == "error"));
    // The variable comes first, and says what is known already.
    assert_eq!(seen(&[("WARPWRIGHT_FINDINGS", "off")]).0, 0);
    with("targets = [\"sm_90\"]");
    let (reviewed, _, on_one) = seen(&[]);
    assert!(reviewed == ALL.len() && on_one != found, "{on_one:?}");
    // Back to what it was, all is known.
    package.write("Cargo.toml", &plain);
    assert_eq!(seen(&[]), (0, count, found));
    // A level of the kernel's own.
    package.write("src/copies.rs", &COPIES.replace("block = B,", "block = B, allow(partial_warp),"));
    let seen = check(&package, &["--lib"], &[]);
    assert_eq!((seen.reviewed, seen.found.len()), (vec!["copy".to_owned()], count - 1));
}

#[test]
fn broken_files_are_ignored_and_nothing_is_kept_where_nothing_may_be() {
    let package = package("kept-broken");
    let again = || {
        package.write("src/lib.rs", LIB);
        check(&package, &["--lib"], &[])
    };
    let first = again();
    let memory = package.memory();
    let files = || -> Vec<_> { fs::read_dir(&memory).expect("the memory").map(|entry| entry.expect("a file").path()).collect() };
    // One file for each kernel; those of one macro at other places are two questions about kernels of other names.
    assert_eq!(files().len(), ALL.len());
    for damage in
        [&|_: &str| String::new(), &|text: &str| text[..text.len() / 2].to_owned(), &|text: &str| text.replace("lint", "hint") + "x"]
            as [&dyn Fn(&str) -> String; 3]
    {
        for file in files() {
            let text = fs::read_to_string(&file).expect("a file");
            fs::write(&file, damage(&text)).expect("it can be written");
        }
        let seen = again();
        assert_eq!((&seen.found, seen.reviewed.len()), (&first.found, ALL.len()));
        assert_eq!(again().known, ALL);
    }
    // No folder.
    fs::remove_dir_all(&memory).expect("it can be removed");
    assert_eq!(again().reviewed, ALL);
    // A file where the folder should be.
    fs::remove_dir_all(&memory).expect("it can be removed");
    fs::write(&memory, "in the way").expect("it can be written");
    let seen = again();
    assert_eq!((&seen.found, seen.reviewed.len()), (&first.found, ALL.len()));
    fs::remove_file(&memory).expect("it can be removed");
    // Without incremental compilation nothing is kept.
    package.write("src/lib.rs", LIB);
    let plain = fs::read_to_string(package.folder.join("Cargo.toml")).expect("the manifest");
    package.write("Cargo.toml", &format!("{plain}\n[profile.dev.package.{}]\nincremental = false\n", package.name()));
    let seen = check(&package, &["--lib"], &[]);
    assert_eq!((&seen.found, seen.reviewed.len()), (&first.found, ALL.len()));
    package.write("Cargo.toml", &plain);
    assert!(!memory.exists());
    // Cargo removes the memory with what `rustc` keeps.
    again();
    assert!(memory.exists());
    package.clean();
    assert!(!memory.exists());
}
