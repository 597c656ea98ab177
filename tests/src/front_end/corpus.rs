//! What inputs are made of: the repository's kernels and IR texts, and a result of tuning.

use std::path::{Path, PathBuf};

/// Texts to spoil.
pub struct Corpus {
    /// Files with kernels.
    pub sources: Vec<String>,
    /// Files of IR.
    pub ir: Vec<String>,
    /// Results of tuning.
    pub results: Vec<String>,
}

/// Longer files are left out: what is in them is in shorter ones, and they take seconds each in builds that are not optimised.
const LONGEST: usize = 14 << 10;

/// A result as `tune` writes it.
const RESULT: &str = r#"# Written by `warpwright tune`; `warpwright::Tuned::load` reads it. Times are in seconds.
schema = 1
kernel = "copy"
device = "simulator"
target = "sm_90"
compiler = "0.1.0"
fingerprint = "0123456789abcdef"

[best]
ILP = 4
BATCH = true
T = "f32"

[[measured]]
variant = "ILP = 4, BATCH = true, T = f32"
median = 1.5e-6
least = 1.4e-6
most = 2.0e-6
runs = 10
differs = false
fingerprint = "0123456789abcdef"
"#;

impl Corpus {
    /// The texts of the repository whose root this is.
    pub fn of(root: &Path) -> Corpus {
        let mut files = Vec::new();
        ["kernels/src", "tests/filetests", "tests/mistakes/ui", "tests/tests/bad_source", "examples", "codegen/src/library"]
            .iter()
            .for_each(|folder| gather(&root.join(folder), &mut files));
        files.sort();
        let read = |ending: &str, word: &str| -> Vec<String> {
            let of_kind = files.iter().filter(|path| path.extension().is_some_and(|found| found == ending));
            let texts = of_kind.filter_map(|path| std::fs::read_to_string(path).ok());
            texts.filter(|text| text.len() <= LONGEST && text.contains(word)).collect()
        };
        Corpus { sources: read("rs", "#[kernel"), ir: read("ir", "kernel"), results: vec![RESULT.to_owned()] }
    }
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { gather(&path, files) } else { files.push(path) }
    }
}
