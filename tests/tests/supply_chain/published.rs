//! What a registry gets: which packages, what is in each, and what its pages say of them.

use crate::{field, list, metadata, ours, table, text, word};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use toml::de::DeTable;
use warpwright_tests::command::root;

/// The packages that are published; every other of the workspace says `publish = false`.
const PUBLISHED: [&str; 6] =
    ["warpwright", "warpwright-codegen", "warpwright-kernels", "warpwright-macros", "warpwright-review", "warpwright-runtime"];

/// Files of every package, and which of them say the same in all.
const EVERYWHERE: [(&str, bool); 3] = [("LICENSE-APACHE", true), ("LICENSE-MIT", true), ("README.md", false)];

/// What a user of a package has no use for: how this repository is worked on.
const NOWHERE: [&str; 7] = [".cargo/", ".ci/", ".gitignore", "clippy.toml", "deny.toml", "rustfmt.toml", "target/"];

/// What crates.io takes: "The Manifest Format" of Cargo's book.
const KEYWORDS: usize = 5;

/// Features that are of no program: the command's.
const OF_NO_PROGRAM: [&str; 2] = ["cli", "default"];

fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

/// The folder of a package.
fn folder(package: &Value) -> &Path {
    Path::new(text(package, "manifest_path")).parent().expect("a manifest lies in a folder")
}

/// The files that `cargo package` would pack.
fn packed(name: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["package", "--list", "--allow-dirty", "--offline", "--quiet", "--package", name];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "`cargo package --list -p {name}`: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names of files").lines().map(|line| line.replace('\\', "/")).collect()
}

#[test]
fn each_published_package_has_its_licences_and_a_page() {
    let metadata = metadata();
    let published: BTreeSet<&str> = ours(&metadata).filter(|package| is_published(package)).map(|package| text(package, "name")).collect();
    assert_eq!(published, PUBLISHED.into(), "packages without `publish = false`");
    let mut wrong = Vec::new();
    for package in ours(&metadata).filter(|package| is_published(package)) {
        let name = text(package, "name");
        let files = packed(name);
        for (file, is_the_same) in EVERYWHERE {
            if !files.contains(file) {
                wrong.push(format!("`{name}` is packed without {file}: put it beside its Cargo.toml"));
            } else if is_the_same && std::fs::read(folder(package).join(file)).ok() != std::fs::read(root().join(file)).ok() {
                wrong.push(format!("{file} of `{name}` is not that of the repository: copy it"));
            }
        }
        let useless = files.iter().filter(|file| NOWHERE.iter().any(|nowhere| file.starts_with(nowhere)));
        wrong.extend(useless.map(|file| format!("`{name}` is packed with {file}: name it in `exclude` of its Cargo.toml")));
        if text(package, "readme") != "README.md" {
            wrong.push(format!("the page of `{name}` is {}, and not README.md", package["readme"]));
        }
        println!("{name}: {} files", files.len());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_published_package_says_what_a_registry_asks() {
    let metadata = metadata();
    let packages: BTreeMap<&str, &Value> = ours(&metadata).map(|package| (text(package, "name"), package)).collect();
    let mut wrong = Vec::new();
    for package in packages.values().filter(|package| is_published(package)) {
        let name = text(package, "name");
        for said in ["description", "license", "rust_version"] {
            if text(package, said).is_empty() {
                wrong.push(format!("`{name}` has no `{said}`"));
            }
        }
        let count = |said: &str| package[said].as_array().map_or(0, Vec::len);
        if !(1..=KEYWORDS).contains(&count("keywords")) || !(1..=KEYWORDS).contains(&count("categories")) {
            wrong.push(format!(
                "`{name}` has {} keywords and {} categories, and 1 to {KEYWORDS} are taken",
                count("keywords"),
                count("categories")
            ));
        }
        for said in ["repository", "homepage", "documentation"].into_iter().filter(|said| !package[*said].is_null()) {
            wrong.push(format!("`{name}` names a {said}, {}: the test was written when there was none; see that it exists", package[said]));
        }
        // A dependency of tests may lack a version: the package leaves it out then.
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        for dependency in dependencies.filter(|dependency| !dependency["path"].is_null() && dependency["kind"] != "dev") {
            let of = text(dependency, "name");
            let version = text(packages[of], "version");
            if !is_published(packages[of]) || text(dependency, "req") != format!("^{version}") {
                wrong.push(format!("`{name}` depends on `{of}` {}, which is published as {version} or not at all", dependency["req"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// docs.rs builds with all features of programs and shows at each item which it needs; the crate's first page lists them.
#[test]
fn every_feature_is_on_the_pages_of_docs_rs() {
    let metadata = metadata();
    let mut with_features = 0;
    for package in ours(&metadata).filter(|package| is_published(package)) {
        let (name, features) = (text(package, "name"), package["features"].as_object().expect("features"));
        // Optional dependencies that are features by their own names have none of ours.
        let features: BTreeSet<&str> = features.keys().map(String::as_str).collect();
        if features.is_empty() {
            continue;
        }
        with_features += 1;
        let manifest = std::fs::read_to_string(folder(package).join("Cargo.toml")).expect("a manifest");
        let manifest = DeTable::parse(&manifest).expect("TOML");
        let mut of_docs = table(field(manifest.get_ref(), "package"));
        for name in ["metadata", "docs", "rs"] {
            of_docs = table(field(of_docs, name));
        }
        let built: BTreeSet<&str> = list(field(of_docs, "features")).map(word).collect();
        let of_programs: BTreeSet<&str> = features.iter().copied().filter(|feature| !OF_NO_PROGRAM.contains(feature)).collect();
        assert_eq!(built, of_programs, "`features` of `[package.metadata.docs.rs]` of `{name}`");
        let arguments: Vec<&str> = list(field(of_docs, "rustdoc-args")).map(word).collect();
        assert_eq!(arguments, ["--cfg", "docsrs"], "`rustdoc-args` of `{name}`");
        let source = std::fs::read_to_string(folder(package).join("src/lib.rs")).expect("a library");
        assert!(source.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"), "`{name}` does not have rustdoc show features");
        let (_, listed) = source.split_once("//! # Features\n").unwrap_or_else(|| panic!("`{name}` has no section `# Features`"));
        let listed: BTreeSet<&str> = listed
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .filter_map(|line| Some(line.strip_prefix("//! * `")?.split_once('`')?.0))
            .collect();
        let all: BTreeSet<&str> = features.iter().copied().filter(|feature| *feature != "default").collect();
        assert_eq!(listed, all, "the section `# Features` of `{name}`");
    }
    assert_eq!(with_features, 2, "packages with features");
}

/// What a feature adds to a type of the runtime says so at its `impl`: docs.rs shows what stands there, and not what stands at the module, in a crate that hands the type on, as `warpwright` does.
#[test]
fn what_a_feature_adds_to_a_type_says_which() {
    let source = root().join("runtime/src");
    let parsed = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let condition = |attributes: &[syn::Attribute]| {
        let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        conditions.filter_map(|attribute| attribute.meta.require_list().ok()).map(|list| list.tokens.to_string()).next()
    };
    let (mut found, mut unsaid) = (0, Vec::new());
    for item in parsed(&source.join("lib.rs")).items {
        let syn::Item::Mod(module) = item else { continue };
        let Some(feature) = condition(&module.attrs).filter(|condition| condition.starts_with("feature")) else { continue };
        let (file, folder) = (source.join(format!("{}.rs", module.ident)), source.join(module.ident.to_string()).join("mod.rs"));
        let items = parsed(if file.is_file() { &file } else { &folder }).items;
        let own: Vec<&syn::Ident> =
            items.iter().filter_map(|item| if let syn::Item::Struct(item) = item { Some(&item.ident) } else { None }).collect();
        for item in &items {
            let syn::Item::Impl(item) = item else { continue };
            let syn::Type::Path(ty) = &*item.self_ty else { continue };
            let name = &ty.path.segments.last().expect("a path has a name").ident;
            if item.trait_.is_none() && !own.contains(&name) {
                found += 1;
                if condition(&item.attrs).as_ref() != Some(&feature) {
                    unsaid.push(format!("`impl {name}` in `{}` of runtime/src: write `#[cfg({feature})]` before it", module.ident));
                }
            }
        }
    }
    assert!(unsaid.is_empty(), "{}", unsaid.join("\n"));
    assert_eq!(found, 5, "what features add to `Device`, `Buffer` and `Launch`");
}
