//! What comes with the crates: licences, known advisories, and unsafe code, each counted and held to a table.
//!
//! `deny.toml` says the same to `cargo deny`, which asks the advisories' database itself; here nothing is fetched. `WARPWRIGHT_BLESS=1 cargo test -p
//! warpwright-tests --test supply_chain` writes the count of unsafe code into `docs/trust.md`.

use semver::{Version, VersionReq};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use syn::visit::{self, Visit};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use warpwright_tests::command::root;
use warpwright_tests::marked::hold;

/// What a program that uses the crates can be shipped under without asking anybody; also in `deny.toml`, which a test compares.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// `cargo metadata` of the workspace.
fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--features", "cli"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

#[test]
fn every_licence_is_permissive() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let mut refused = Vec::new();
    for package in packages {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        let is_met = spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX)
            .is_ok_and(|expression| expression.evaluate(|asked| asked.license.id().is_some_and(|id| LICENCES.contains(&id.name))));
        if !is_met {
            refused.push(format!("{name}: {licence:?}"));
        }
    }
    println!("{} packages", packages.len());
    assert!(packages.len() > 150);
    assert!(refused.is_empty(), "not under {LICENCES:?}:\n{}", refused.join("\n"));
    let deny = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let deny = DeTable::parse(&deny).expect("TOML");
    let allowed: Vec<&str> = list(field(table(field(deny.get_ref(), "licenses")), "allow")).map(word).collect();
    assert_eq!(allowed, LICENCES, "deny.toml");
}

// Values of TOML, without `toml`'s feature for serde: with it here the crates that use `toml` would be built twice, once more for the macro.

fn field<'v, 't>(table: &'v DeTable<'t>, name: &str) -> &'v DeValue<'t> {
    table.get(name).unwrap_or_else(|| panic!("no `{name}`")).get_ref()
}

fn table<'v, 't>(value: &'v DeValue<'t>) -> &'v DeTable<'t> {
    let DeValue::Table(table) = value else { panic!("{value:?} is no table") };
    table
}

fn list<'v, 't>(value: &'v DeValue<'t>) -> impl Iterator<Item = &'v DeValue<'t>> {
    let DeValue::Array(list) = value else { panic!("{value:?} is no list") };
    list.iter().map(Spanned::get_ref)
}

fn word<'v>(value: &'v DeValue<'_>) -> &'v str {
    let DeValue::String(word) = value else { panic!("{value:?} is no text") };
    word
}

/// Whether one of these requirements takes a version.
fn matches(requirements: &DeValue<'_>, version: &Version) -> bool {
    list(requirements).map(word).any(|text| {
        let requirement = VersionReq::parse(text).unwrap_or_else(|error| panic!("`{text}`: {error}"));
        requirement.matches(version)
    })
}

#[test]
fn no_version_is_one_that_an_advisory_warns_of() {
    let advisories = std::fs::read_to_string(root().join("tests/advisories.toml")).expect("the table");
    let advisories = DeTable::parse(&advisories).expect("TOML");
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock");
    let lock = DeTable::parse(&lock).expect("TOML");
    let mut versions: BTreeMap<&str, Vec<Version>> = BTreeMap::new();
    for package in list(field(lock.get_ref(), "package")).map(table) {
        let said = |name: &str| word(field(package, name));
        versions.entry(said("name")).or_default().push(Version::parse(said("version")).expect("a version"));
    }
    let accepted: BTreeSet<&str> = ACCEPTED.iter().map(|(id, _)| *id).collect();
    let (mut found, mut asked) = (Vec::new(), 0);
    for advisory in list(field(advisories.get_ref(), "advisory")).map(table) {
        let said = |name: &str| word(field(advisory, name));
        let is_of = |name: &str, version: &Version| matches(field(advisory, name), version);
        for version in versions.get(said("package")).into_iter().flatten() {
            asked += 1;
            if !is_of("patched", version) && !is_of("unaffected", version) && !accepted.contains(said("id")) {
                found.push(format!("{} {version}: {}: {}", said("package"), said("id"), said("says")));
            }
        }
    }
    println!("{asked} versions held to an advisory");
    assert!(asked > 20);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Advisories that do hold for a version in `Cargo.lock`, and why it may stay.
const ACCEPTED: &[(&str, &str)] = &[
    ("RUSTSEC-2024-0436", "`paste` has no maintainer any more; it does what it should, and comes with candle, for an example alone"),
    ("RUSTSEC-2025-0057", "`fxhash` has no maintainer any more; it does what it should, and comes with scraper, for tests alone"),
];

/// Unsafe code of a crate.
#[derive(Default)]
struct Unsafe {
    blocks: usize,
    implementations: usize,
    functions: usize,
}

impl<'ast> Visit<'ast> for Unsafe {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.blocks += 1;
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.implementations += usize::from(item.unsafety.is_some());
        visit::visit_item_impl(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.functions += usize::from(matches!(signature.safety, syn::Safety::Unsafe(_)));
        visit::visit_signature(self, signature);
    }

    // Rules that a macro prints are tokens.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.blocks += mac.tokens.to_string().matches("unsafe {").count();
        visit::visit_macro(self, mac);
    }
}

impl Unsafe {
    /// Of the files below these folders, without packages that lie there.
    fn of(folders: &[&str]) -> Unsafe {
        let mut found = Unsafe::default();
        let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.extend((!path.join("Cargo.toml").is_file()).then_some(path));
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).expect("a source");
                    let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    found.visit_file(&file);
                }
            }
        }
        found
    }
}

/// A crate of the workspace, where its sources are, and what needs unsafe code in them. `clippy::undocumented_unsafe_blocks` wants a reason at each block and implementation.
struct Row {
    name: &'static str,
    folders: &'static [&'static str],
    reason: &'static str,
}

const fn row(name: &'static str, folders: &'static [&'static str], reason: &'static str) -> Row {
    Row { name, folders, reason }
}

/// Every crate; those that users get stand first.
const CRATES: &[Row] = &[
    row("warpwright", &["src", "examples"], "an example that calls cuBLAS"),
    row("warpwright-macros", &["dsl-macros/src"], ""),
    row("warpwright-codegen", &["codegen/src"], ""),
    row("warpwright-review", &["review/src"], ""),
    row("warpwright-runtime", &["runtime/src"], "drivers' functions, memory of devices, lists without locks"),
    row("warpwright-kernels", &["kernels/src"], ""),
    row("warpwright-fuzz", &["fuzz/src", "fuzz/tests"], "bytes of a generated kernel's buffers, in programs of twins"),
    row("warpwright-ptx-interpreter", &["ptx-interpreter/src"], ""),
    row("warpwright-ptx-driver", &["ptx-interpreter/driver"], "the CUDA driver's functions, which C calls"),
    row(
        "warpwright-tests",
        &["tests/src", "tests/tests"],
        "other people's memory and streams, OpenCL's functions, an allocator that counts",
    ),
    row("warpwright-bench", &["bench/src"], "CUDA C++ and the CUDA driver's functions"),
    row("warpwright-candle", &["examples/candle"], "candle's memory and streams"),
];

#[test]
fn unsafe_code_is_where_the_page_says() {
    let mut rows = String::from("| crate | `unsafe` blocks | implementations | functions | for |\n|---|---|---|---|---|\n");
    for Row { name, folders, reason } in CRATES {
        let found = Unsafe::of(folders);
        let all = found.blocks + found.implementations + found.functions;
        assert_eq!(all == 0, reason.is_empty(), "{name} has {all}, and the reason is `{reason}`");
        rows += &format!("| `{name}` | {} | {} | {} | {reason} |\n", found.blocks, found.implementations, found.functions);
    }
    hold(&root().join("docs/trust.md"), &[("unsafe code", rows)]);
    let metadata = metadata();
    let ours: BTreeSet<&str> = ours(&metadata).map(|package| text(package, "name")).collect();
    assert_eq!(ours, CRATES.iter().map(|row| row.name).collect(), "the workspace's crates, and those of the table");
}

/// The workspace's packages.
fn ours(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().expect("packages").iter().filter(|package| package["source"].is_null())
}

/// Dependencies that are taken with their default features though these are more than `std`, and why.
const WITH_DEFAULTS: &[(&str, &str)] = &[
    ("clap", "the command's help, colours and suggestions"),
    ("corosensei", "fibres want stacks, and panics go through them"),
    ("libm", "`arch`: instructions of the machine in the place of code"),
    ("proc-macro2", "`proc-macro`: the macro is one"),
    ("quote", "`proc-macro`: the macro is one"),
    ("similar", "`text`: differences of texts, in a test"),
    ("syn", "what other procedural macros ask for, too: then one build of it serves all"),
    ("unicode-width", "`cjk`, which annotate-snippets asks for as well"),
];

/// Who takes a crate of ours gets nothing that was not asked for.
#[test]
fn features_are_the_least() {
    let metadata = metadata();
    let mut defaults: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let list = package["features"]["default"].as_array();
        defaults.entry(text(package, "name")).or_default().extend(list.into_iter().flatten().filter_map(Value::as_str));
    }
    let (mut wrong, mut unmet) = (Vec::new(), WITH_DEFAULTS.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>());
    for package in ours(&metadata) {
        let name = text(package, "name");
        if package["features"]["default"].as_array().is_some_and(|list| !list.is_empty()) {
            wrong.push(format!("`{name}` has default features"));
        }
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        for dependency in dependencies.iter().filter(|dependency| !dependency["source"].is_null()) {
            let of = text(dependency, "name");
            // The workspace's crates are for systems that have `std`.
            let has_more = defaults.get(of).is_some_and(|features| features.iter().any(|feature| *feature != "std"));
            if dependency["uses_default_features"] == true && has_more {
                unmet.remove(of);
                if !WITH_DEFAULTS.iter().any(|(listed, _)| *listed == of) {
                    wrong.push(format!(
                        "`{name}` takes the default features of `{of}`, {:?}: write `default-features = false`",
                        defaults[of]
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unmet.is_empty(), "listed without need: {unmet:?}");
}
