//! What the attributes say that the compiler does not, as `rustc` shows it (`tests/ui`), and what is said of `[package.metadata.warpwright]` in a `Cargo.toml`.

use crate::command::root;
use warpwright_review::manifest::Manifest;

/// The errors of `tests/ui`, in the order of the files' names: each with its place in the source.
///
/// # Panics
/// The folder is not there.
pub fn errors_of_rustc() -> Vec<String> {
    let folder = root().join("tests/ui");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "stderr"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    texts.flat_map(|text| text.split("\n\n").map(|one| one.trim_end().to_owned()).collect::<Vec<_>>()).collect()
}

/// Lines of `[package.metadata.warpwright]` that are wrong.
const MANIFESTS: &[(&str, &str)] = &[
    ("A misspelt key", "target = [\"sm_80\"]"),
    ("A key that is like no other", "registers = 32"),
    ("Findings that are no word", "findings = 1"),
    ("Findings that are a misspelt word", "findings = \"denied\""),
    ("Findings that are a word like no other", "findings = \"loud\""),
    ("Targets that are no list", "targets = \"sm_80\""),
    ("No targets", "targets = []"),
    ("A target that is no text", "targets = [80]"),
    ("A target that there is not", "targets = [\"sm_85\"]"),
];

/// What is said of a manifest.
#[derive(Clone, Debug)]
pub struct OfManifest {
    /// What it shows.
    pub title: &'static str,
    /// The section.
    pub shown: String,
    /// The error, and the edit that mends it.
    pub said: String,
}

/// What is said of manifests that are wrong.
///
/// # Panics
/// Nothing is said of one.
pub fn manifests() -> Vec<OfManifest> {
    let one = |(title, line): &(&'static str, &str)| {
        let shown = format!("[package.metadata.warpwright]\n{line}");
        let error = Manifest::parse(&shown).err().unwrap_or_else(|| panic!("nothing is wrong with\n{shown}"));
        OfManifest { title, said: format!("error: {error}\n  help: {}", error.help), shown }
    };
    MANIFESTS.iter().map(one).collect()
}
