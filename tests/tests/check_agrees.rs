//! `cargo check` and `warpwright check` say the same of the same crate: constants, device functions and types in other modules, renames, globs,
//! a library and programs beside it, generics; and what no file explains.

use std::collections::BTreeSet;
use warpwright_tests::package::{Finding, Package};

/// Where packages are written.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

/// Whether among the findings one is of this lint, in this file, at this line.
#[track_caller]
fn has(found: &BTreeSet<Finding>, lint: &str, file: &str, line: u64, message: &str) {
    let is_it = |(a, b, c, text): &&Finding| a == lint && b == file && *c == line && text.contains(message);
    assert!(found.iter().any(|finding| is_it(&finding)), "{lint} at {file}:{line}: {message}\nnot among {found:#?}");
}

const LIB: &str = "pub mod consts;
pub mod math;
mod kernels;
pub mod nested {
    pub mod inner {
        use super::super::consts as figures;
        use warpwright::prelude::*;
        #[kernel(block = figures::ODD)]
        pub fn odd(y: &mut Global<f32>) {
            y[global_id().x] = 1.0;
        }
    }
}
";

const CONSTS: &str = "pub const STRIDE: usize = SIDE * 2;
const SIDE: usize = 16;
pub const ODD: usize = 48;
pub const BLOCKS: [usize; 2] = [32, 64];
";

const MATH: &str = "use warpwright::prelude::*;
use super::consts::*;
#[device]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pair {
    pub a: f32,
    pub b: f32,
}
#[device]
impl Pair {
    pub fn sum(self) -> f32 {
        self.a + self.b
    }
}
#[device]
pub fn row(x: &Global<f32>, i: usize) -> f32 {
    x[i * STRIDE]
}
";

const KERNELS: &str = "use crate::consts::{self, STRIDE as STEP};
use crate::math::{Pair, row as fetch};
use warpwright::prelude::*;

#[kernel(block = 256)]
pub fn strided(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i * STEP];
}

#[kernel(block = 256)]
pub fn through_a_function(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = fetch(x, i);
}

#[kernel(block = 256)]
pub fn pairs(x: &Global<Pair>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].sum();
}

#[kernel(block = B, variants(B in [consts::ODD, 64]))]
pub fn racing<const B: usize>(y: &mut Global<f32>) {
    #[shared]
    let mut row: [f32; B];
    let t = thread_idx().x;
    row[t] = 1.0;
    y[global_id().x] = row[(t + consts::BLOCKS[0]) % B];
}

#[kernel(block = 64)]
pub fn with_the_program(y: &mut Global<f32>) {
    y[global_id().x] = super::consts::ODD as f32;
}

#[device]
pub struct Columns<'a> {
    pub x: &'a Global<f32>,
    pub y: &'a mut Global<f32>,
}

#[kernel(block = 256)]
pub fn grouped(c: Columns<'_>) {
    let i = global_id().x;
    c.y[i] = c.x[i * STEP];
}

#[kernel(block = 256)]
pub fn labelled(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = x[i * STEP];
    'rounds: for k in 0..n {
        if k > STEP {
            break 'rounds;
        }
        sum += 1.0;
    }
    y[i] = sum;
}
";

const MAIN: &str = "#![allow(dead_code)]
mod own;
use warpwright::prelude::*;
const STRIDE: usize = 8;
#[kernel(block = 256)]
fn strided(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i * STRIDE] + x[i * own::deep::STRIDE];
}
mod unknown {
    use warpwright::prelude::*;
    #[cfg(feature = \"big\")]
    const SIZE: usize = 2;
    #[cfg(not(feature = \"big\"))]
    const SIZE: usize = 3;
    const fn three() -> usize {
        let mut i = 0;
        while i < 3 {
            i += 1;
        }
        i
    }
    const COMPUTED: usize = three();
    macro_rules! constants {
        ($($name:ident)*) => { $(const $name: usize = 5;)* };
    }
    constants!(MADE);
    #[kernel(block = 64)]
    fn under_a_cfg(y: &mut Global<f32>) {
        y[SIZE] = 1.0;
    }
    #[kernel(block = 64)]
    fn of_a_function(y: &mut Global<f32>) {
        y[COMPUTED] = 1.0;
    }
    #[kernel(block = 64)]
    fn of_a_macro(y: &mut Global<f32>) {
        y[MADE] = 1.0;
    }
    #[kernel(block = 64)]
    fn of_a_crate(y: &mut Global<f32>) {
        y[everything::consts::ODD] = 1.0;
    }
    #[kernel(block = 64, allow(unchecked))]
    fn silenced(y: &mut Global<f32>) {
        y[MADE] = 1.0;
    }
}
fn main() {}
";

const OWN: &str = "pub mod deep {
    pub const STRIDE: usize = crate::STRIDE / super::HALF;
}
const HALF: usize = 2;
";

const BROKEN: &str = "use warpwright::prelude::*;
mod sizes {
    pub const THREADS: usize = 2048;
}
#[kernel(block = sizes::THREADS)]
fn too_large(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
fn main() {}
";

#[test]
fn the_same_is_said_of_a_library_and_of_programs() {
    let files = [
        ("src/lib.rs", LIB),
        ("src/consts.rs", CONSTS),
        ("src/math/mod.rs", MATH),
        ("src/kernels.rs", KERNELS),
        ("src/main.rs", MAIN),
        ("src/own.rs", OWN),
        ("src/bin/broken.rs", BROKEN),
    ];
    let package = Package::new(FOLDER, "everything", &files);
    let by_cargo = package.cargo(&["--lib", "--bins"]);
    // What `rustc` alone knows is no part of the comparison.
    let by_cargo: BTreeSet<Finding> = by_cargo.into_iter().filter(|(lint, ..)| lint != "warning").collect();
    let by_command = package.command(&["src/lib.rs", "src/math/mod.rs", "src/kernels.rs", "src/main.rs", "src/bin/broken.rs"]);
    assert_eq!(by_cargo, by_command);
    has(&by_cargo, "partial_warp", "src/lib.rs", 8, "48");
    has(&by_cargo, "uncoalesced_access", "src/kernels.rs", 8, "");
    has(&by_cargo, "uncoalesced_access", "src/math/mod.rs", 18, "");
    has(&by_cargo, "uncoalesced_access", "src/main.rs", 8, "");
    has(&by_cargo, "missing_barrier", "src/kernels.rs", 29, "");
    // A lifetime and a label in the kernel.
    has(&by_cargo, "uncoalesced_access", "src/kernels.rs", 46, "");
    has(&by_cargo, "uncoalesced_access", "src/kernels.rs", 52, "");
    has(&by_cargo, "error", "src/bin/broken.rs", 5, "2048");
    has(&by_cargo, "unchecked", "src/main.rs", 30, "`SIZE` is under `#[cfg(feature = \"big\")]`");
    has(&by_cargo, "unchecked", "src/main.rs", 34, "`COMPUTED` is computed in a way that only `rustc` knows");
    has(&by_cargo, "unchecked", "src/main.rs", 38, "`MADE` may be made by `constants!`");
    has(&by_cargo, "unchecked", "src/main.rs", 42, "`everything::consts::ODD` comes from the crate `everything`");
    assert_eq!(by_cargo.iter().filter(|(lint, ..)| lint == "unchecked").count(), 4);
}

/// What is found depends on a file that is not touched, and follows one that is.
#[test]
fn a_constant_edited_in_another_module_is_seen() {
    let kernel = "use warpwright::prelude::*;
#[kernel(block = 256)]
pub fn strided(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i * crate::a::b::STRIDE];
}
";
    let files = [
        ("src/lib.rs", "pub mod a;\npub mod k;\n"),
        ("src/a.rs", "pub mod b;\n"),
        ("src/a/b.rs", "pub const STRIDE: usize = 1;\n"),
        ("src/k.rs", kernel),
    ];
    let package = Package::new(FOLDER, "edited", &files);
    assert_eq!(package.cargo(&[]), BTreeSet::new());
    for (stride, is_found) in [(32, true), (1, false), (8, true)] {
        package.write("src/a/b.rs", &format!("pub const STRIDE: usize = {stride};\n"));
        let found = package.cargo(&[]);
        assert_eq!(
            found.iter().any(|(lint, file, line, _)| lint == "uncoalesced_access" && file == "src/k.rs" && *line == 5),
            is_found,
            "{found:?}"
        );
        assert_eq!(found, package.command(&["src/k.rs"]));
    }
}

/// Two kernels with findings, one of which says itself what they are.
const SMALL_BLOCKS: &str = "use warpwright::prelude::*;
#[kernel(block = 48)]
pub fn small(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
#[kernel(block = 48, warn(partial_warp), allow(small_block))]
pub fn insists(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
";

/// The manifest's word for all findings, the kernel's own before it, and the variable before the manifest, for both.
#[test]
fn the_manifest_says_what_findings_are() {
    let package = Package::new(FOLDER, "findings", &[("src/lib.rs", SMALL_BLOCKS)]);
    let plain = std::fs::read_to_string(package.folder.join("Cargo.toml")).expect("the manifest");
    let lints = |found: &BTreeSet<Finding>| found.iter().map(|(lint, _, line, _)| (lint.clone(), *line)).collect::<Vec<_>>();
    let warned = vec![("partial_warp".to_owned(), 2), ("partial_warp".to_owned(), 6), ("small_block".to_owned(), 2)];
    for (word, expected) in [("", warned.clone()), ("warn", warned), ("off", vec![("partial_warp".to_owned(), 6)])] {
        let section = if word.is_empty() { String::new() } else { format!("\n[package.metadata.warpwright]\nfindings = \"{word}\"\n") };
        package.write("Cargo.toml", &format!("{plain}{section}"));
        let found = package.cargo(&[]);
        assert_eq!(lints(&found), expected, "{word}");
        assert_eq!(found, package.command(&["src/lib.rs"]), "{word}");
    }
}

/// Findings that are denied are errors of both, and the variable comes before the manifest for both.
#[test]
fn denied_findings_are_errors_and_the_variable_comes_first() {
    let package = Package::new(FOLDER, "denied", &[("src/lib.rs", SMALL_BLOCKS)]);
    let plain = std::fs::read_to_string(package.folder.join("Cargo.toml")).expect("the manifest");
    let messages = |found: &BTreeSet<Finding>| -> BTreeSet<(u64, String)> {
        found.iter().map(|(_, _, line, message)| (*line, message.clone())).collect()
    };
    // Each with what is said at which level, of the first kernel and of the second.
    let (denied, warned, silent) = (("error", 2), ("small_block", 2), ("", 0));
    for (word, variable, (level, count)) in [
        ("deny", None, denied),
        ("off", Some("deny"), denied),
        ("warn", Some("deny"), denied),
        ("deny", Some("warn"), warned),
        ("deny", Some("off"), silent),
    ] {
        let case = format!("{word}, {variable:?}");
        package.write("Cargo.toml", &format!("{plain}\n[package.metadata.warpwright]\nfindings = \"{word}\"\n"));
        let variables: Vec<(&str, &str)> = variable.map(|word| ("WARPWRIGHT_FINDINGS", word)).into_iter().collect();
        let checked = package.check(&[], &variables);
        let by_command = package.command_with(&["src/lib.rs"], &variables);
        assert_eq!(messages(&checked.found), messages(&by_command), "{case}");
        assert_eq!(checked.is_right, level != "error", "{case}");
        let of_first: Vec<&Finding> = checked.found.iter().filter(|(_, _, line, _)| *line == 2).collect();
        assert_eq!(of_first.len(), count, "{case}: {of_first:?}");
        assert!(count == 0 || of_first.iter().any(|(found, ..)| found == level), "{case}: {of_first:?}");
        // What the second says itself is said whatever the crate says.
        let of_second: Vec<_> = checked.found.iter().filter(|(_, _, line, _)| *line == 6).map(|(lint, ..)| lint.as_str()).collect();
        assert_eq!(of_second, ["partial_warp"], "{case}");
    }
    let checked = package.check(&[], &[("WARPWRIGHT_FINDINGS", "denied")]);
    let said: Vec<&str> = checked.found.iter().map(|(.., message)| message.as_str()).collect();
    assert!(!checked.is_right && said.contains(&"`WARPWRIGHT_FINDINGS` is `denied`"), "{said:?}");
}
