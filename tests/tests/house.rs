//! Rules of the house that no compiler holds it to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names that two public types have, and why.
const SHARED: &[(&str, &str)] = &[
    ("AccessKind", "of an access that is estimated, and of one that the simulator stops: users read both"),
    ("Error", "a crate's own, as everywhere in Rust: of the runtime, and of the simulator alone"),
    ("Field", "of a struct of a kernel, and of the host's struct that stands for it"),
    ("Layout", "of a `repr(C)` attribute, and of the host's struct"),
    ("Scalar", "a constant of a kernel, and the host's trait of what is one"),
    ("Sealed", "the idiom for traits that are closed"),
    ("StructType", "of a kernel, and of the host"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// The name of the type that a line declares for everybody.
fn declared(line: &str) -> Option<&str> {
    let rest = ["pub struct ", "pub enum ", "pub trait ", "pub union "].iter().find_map(|words| line.trim_start().strip_prefix(words))?;
    // A macro's has none yet.
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[test]
fn public_types_have_names_of_their_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the workspace");
    let mut files = Vec::new();
    ["codegen/src", "review/src", "runtime/src"].iter().for_each(|folder| sources(&root.join(folder), &mut files));
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("it is there");
        let place = file.strip_prefix(root).expect("it is below the root").display().to_string();
        for name in text.lines().filter_map(declared) {
            places.entry(name.to_owned()).or_default().push(place.clone());
        }
    }
    assert!(places.len() > 300, "{} types", places.len());
    let shared: Vec<(&str, &Vec<String>)> = places.iter().filter(|(_, at)| at.len() > 1).map(|(name, at)| (name.as_str(), at)).collect();
    let unknown: Vec<_> = shared.iter().filter(|(name, _)| SHARED.iter().all(|(known, _)| known != name)).collect();
    assert!(unknown.is_empty(), "types with one name: {unknown:#?}");
    let idle: Vec<_> = SHARED.iter().filter(|(known, _)| shared.iter().all(|(name, _)| name != known)).collect();
    assert!(idle.is_empty(), "{idle:?} are shared no more");
}
