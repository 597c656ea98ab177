//! What comes with the crates: licences, known advisories, and unsafe code, each counted and held to a table; and what is in the packages that are published.
//!
//! `deny.toml` says the same to `cargo deny`, which asks the advisories' database itself; here nothing is fetched. `WARPWRIGHT_BLESS=1 cargo test -p
//! warpwright-tests --test supply_chain` writes the count of unsafe code into `docs/trust.md`.

#[path = "supply_chain/published.rs"]
mod published;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
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

/// Licences that one crate may have besides, and why; also in `deny.toml`.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "libfuzzer-sys",
    "NCSA",
    "LLVM's fuzzer, which `cargo fuzz` links with the targets of `fuzz-targets`, and nobody else with anything",
)];

/// The workspaces of the repository: where their manifests and locks are. The targets of `cargo fuzz` are one of their own, since they are built by nightly Rust.
const WORKSPACES: &[&str] = &["", "fuzz-targets"];

/// `cargo metadata` of a workspace.
fn metadata_of(folder: &str, arguments: &[&str]) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(arguments)
        .current_dir(root().join(folder))
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`cargo metadata --locked` in `{folder}` of the repository: {said}\n{}", renewed(folder));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What mends the lock of `fuzz-targets`.
fn renewed(folder: &str) -> &'static str {
    if folder.is_empty() {
        ""
    } else {
        "help: cp Cargo.lock fuzz-targets/ && (cd fuzz-targets && cargo metadata --format-version 1 >/dev/null)"
    }
}

/// The same of the one that is the repository.
fn metadata() -> Value {
    metadata_of("", &["--features", "cli"])
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

#[test]
fn every_licence_is_permissive() {
    let (mut refused, mut unmet) = (Vec::new(), EXCEPTIONS.iter().map(|(name, ..)| *name).collect::<BTreeSet<_>>());
    for (metadata, folder) in [(metadata(), ""), (metadata_of("fuzz-targets", &[]), "fuzz-targets")] {
        let packages = metadata["packages"].as_array().expect("packages");
        for package in packages {
            let (name, licence) = (text(package, "name"), text(package, "license"));
            let is_excepted = |asked: &str| EXCEPTIONS.iter().any(|(crate_, licence, _)| (*crate_, *licence) == (name, asked));
            let is_met = |asked: &str| LICENCES.contains(&asked) || is_excepted(asked);
            let is_met = spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX)
                .is_ok_and(|expression| expression.evaluate(|asked| asked.license.id().is_some_and(|id| is_met(id.name))));
            unmet.remove(name);
            if !is_met {
                refused.push(format!("{name}: {licence:?}"));
            }
        }
        println!("{} packages of `{folder}/Cargo.toml`", packages.len());
        assert!(packages.len() > 100);
    }
    assert!(refused.is_empty(), "not under {LICENCES:?}:\n{}", refused.join("\n"));
    assert!(unmet.is_empty(), "excepted without need: {unmet:?}");
    let deny = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let deny = DeTable::parse(&deny).expect("TOML");
    let licences = table(field(deny.get_ref(), "licenses"));
    let allowed: Vec<&str> = list(field(licences, "allow")).map(word).collect();
    assert_eq!(allowed, LICENCES, "deny.toml");
    let excepted = list(field(licences, "exceptions")).map(table);
    let excepted: Vec<_> =
        excepted.map(|one| (word(field(one, "crate")), list(field(one, "allow")).map(word).collect::<Vec<_>>())).collect();
    let expected: Vec<_> = EXCEPTIONS.iter().map(|(name, licence, _)| (*name, vec![*licence])).collect();
    assert_eq!(excepted, expected, "deny.toml");
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

/// The packages of a workspace's lock.
fn locked(folder: &str) -> BTreeSet<(String, Version)> {
    let path = root().join(folder).join("Cargo.lock");
    let lock = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}\n{}", path.display(), renewed(folder)));
    let lock = DeTable::parse(&lock).expect("TOML");
    let package = |package: &DeTable<'_>| {
        let said = |name: &str| word(field(package, name));
        (said("name").to_owned(), Version::parse(said("version")).expect("a version"))
    };
    list(field(lock.get_ref(), "package")).map(table).map(package).collect()
}

/// What was read of a version, and tried with it, is so of the other workspace, too.
#[test]
fn the_targets_of_cargo_fuzz_take_the_versions_of_the_rest() {
    let [all, targets] = ["", "fuzz-targets"].map(locked);
    let names: BTreeSet<&String> = all.iter().map(|(name, _)| name).collect();
    let (shared, own): (Vec<_>, Vec<_>) = targets.iter().partition(|(name, _)| names.contains(name));
    let other: Vec<_> = shared.iter().filter(|package| !all.contains(*package) && package.0 != "warpwright-fuzz").collect();
    assert!(other.is_empty(), "in fuzz-targets/Cargo.lock, and not in Cargo.lock: {other:?}\n{}", renewed("fuzz-targets"));
    println!("{} packages of the targets are the workspace's, {} their own: {own:?}", shared.len(), own.len());
    assert!(shared.len() > 90 && own.iter().any(|(name, _)| name == "libfuzzer-sys"), "{own:?}");
}

#[test]
fn no_version_is_one_that_an_advisory_warns_of() {
    let advisories = std::fs::read_to_string(root().join("tests/advisories.toml")).expect("the table");
    let advisories = DeTable::parse(&advisories).expect("TOML");
    let locks: Vec<BTreeSet<(String, Version)>> = WORKSPACES.iter().map(|folder| locked(folder)).collect();
    let mut versions: BTreeMap<&str, BTreeSet<&Version>> = BTreeMap::new();
    for (name, version) in locks.iter().flatten() {
        versions.entry(name).or_default().insert(version);
    }
    let accepted: BTreeSet<&str> = ACCEPTED.iter().map(|(id, _)| *id).collect();
    let (mut found, mut asked) = (Vec::new(), 0);
    for advisory in list(field(advisories.get_ref(), "advisory")).map(table) {
        let said = |name: &str| word(field(advisory, name));
        let is_of = |name: &str, version: &Version| matches(field(advisory, name), version);
        for version in versions.get(said("package")).into_iter().flatten().copied() {
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
#[derive(Debug, Default, PartialEq)]
struct Unsafe {
    blocks: usize,
    /// And traits.
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

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.implementations += usize::from(item.unsafety.is_some());
        visit::visit_item_trait(self, item);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.functions += item.items.len();
        visit::visit_item_foreign_mod(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.functions += usize::from(matches!(signature.safety, syn::Safety::Unsafe(_)));
        visit::visit_signature(self, signature);
    }

    // What a macro's rules write, and what `quote!` makes, are tokens.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.add_tokens(mac.tokens.clone());
        visit::visit_macro(self, mac);
    }
}

impl Unsafe {
    /// Counts what follows each `unsafe` among tokens. A type of functions, `unsafe extern "C" fn(…)`, is none.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_word = |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(ident)) if ident == word);
        let is_braced = |at: usize| matches!(tokens.get(at), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace);
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                // Programs that are written, line by line.
                TokenTree::Literal(text) => self.blocks += text.to_string().matches("unsafe {").count(),
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
            if !is_word(at, "unsafe") {
                continue;
            }
            // Whose functions an `extern` names may be said behind it, or not.
            let abi = usize::from(is_word(at + 1, "extern")) * (1 + usize::from(matches!(tokens.get(at + 2), Some(TokenTree::Literal(_)))));
            let next = at + 1 + abi;
            if is_braced(next) && abi == 0 {
                self.blocks += 1;
            } else if is_word(next, "impl") || is_word(next, "trait") {
                self.implementations += 1;
            } else if is_braced(next) || is_word(next, "fn") && !matches!(tokens.get(next + 1), Some(TokenTree::Group(_)) | None) {
                self.functions += 1;
            }
        }
    }

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
    row("warpwright-macros", &["dsl-macros/src"], "`unsafe impl Element`, which it writes into users' crates for their structs and enums"),
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
fn unsafe_code_is_found_in_tokens_too() {
    let found = |text: &str| {
        let mut found = Unsafe::default();
        found.visit_file(&syn::parse_file(text).expect("Rust"));
        (found.blocks, found.implementations, found.functions)
    };
    let plain =
        "unsafe trait T { unsafe fn f(); } unsafe impl T for u8 { unsafe fn f() { unsafe { g() } } } unsafe extern \"C\" { fn g(); }";
    assert_eq!(found(plain), (1, 2, 3));
    assert_eq!(
        found(&format!("fn h() {{ let x = quote! {{ {plain} }}; }}")),
        (1, 2, 3),
        "in `quote!`, where a block of `extern` counts once"
    );
    assert_eq!(found(&format!("macro_rules! m {{ ($n:ident) => {{ mod $n {{ {plain} }} }}; }}")), (1, 2, 3));
    assert_eq!(found("macro_rules! m { ($n:ident) => { pub unsafe extern \"C\" fn $n() {} }; }"), (0, 0, 1));
    let types = "#[unsafe(no_mangle)] static F: unsafe extern \"C\" fn(u8) = f; static G: unsafe fn(u8) = g;";
    assert_eq!((found(types), found(&format!("m! {{ {types} }}"))), ((0, 0, 0), (0, 0, 0)));
}

#[test]
fn unsafe_code_is_where_the_page_says() {
    let mut rows = String::from("| crate | `unsafe` blocks | implementations, traits | functions | for |\n|---|---|---|---|---|\n");
    for Row { name, folders, reason } in CRATES {
        let found = Unsafe::of(folders);
        let all = found.blocks + found.implementations + found.functions;
        assert_eq!(all == 0, reason.is_empty(), "{name} has {all}, and the reason is `{reason}`");
        rows += &format!("| `{name}` | {} | {} | {} | {reason} |\n", found.blocks, found.implementations, found.functions);
    }
    hold(&root().join("docs/trust.md"), &[("unsafe code", rows)]);
    assert_eq!(Unsafe::of(&["fuzz-targets"]), Unsafe::default(), "the targets of `cargo fuzz` have unsafe code, and no row");
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
