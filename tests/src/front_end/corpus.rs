//! What inputs are made of: the repository's kernels and IR texts, and a result of tuning.

use std::path::{Path, PathBuf};
use syn::spanned::Spanned;

/// Texts to spoil.
pub struct Corpus {
    /// Kernels, each with what else of its file is device code.
    pub sources: Vec<String>,
    /// Files of IR.
    pub ir: Vec<String>,
    /// Results of tuning.
    pub results: Vec<String>,
}

/// Longer texts are left out: what is in them is in shorter ones, and they take seconds each in builds that are not optimised.
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
            texts.filter(|text| text.contains(word)).collect()
        };
        let short = |texts: Vec<String>| texts.into_iter().filter(|text| text.len() <= LONGEST).collect();
        let sources = read("rs", "#[kernel").iter().flat_map(|text| one_by_one(text)).collect();
        Corpus { sources: short(sources), ir: short(read("ir", "kernel")), results: vec![RESULT.to_owned()] }
    }
}

/// The kernels of a file, each with the file's other device code and without the other kernels: what is changed in one is not to cost the compilation of all.
fn one_by_one(text: &str) -> Vec<String> {
    let whole = || vec![text.to_owned()];
    let Ok(file) = syn::parse_file(text) else { return whole() };
    let is_marked = |item: &syn::ItemFn, mark: &str| item.attrs.iter().any(|a| a.path().segments.last().is_some_and(|s| s.ident == mark));
    let is_kernel = |item: &&syn::Item| matches!(item, syn::Item::Fn(item) if is_marked(item, "kernel"));
    let is_hosts = |item: &syn::Item| match item {
        syn::Item::Fn(item) => !is_marked(item, "device"),
        syn::Item::Mod(item) => item.ident == "tests",
        _ => false,
    };
    let (kernels, others): (Vec<&syn::Item>, Vec<&syn::Item>) = file.items.iter().partition(is_kernel);
    let written = |item: &syn::Item| item.span().source_text();
    let beside: Option<Vec<String>> = others.into_iter().filter(|item| !is_hosts(item)).map(written).collect();
    let Some(beside) = beside.filter(|_| !kernels.is_empty()) else { return whole() };
    let beside = beside.join("\n\n");
    let texts = kernels.into_iter().filter_map(|kernel| Some(format!("{beside}\n\n{}\n", written(kernel)?))).collect();
    // Texts of thousands of files would stay in memory otherwise.
    proc_macro2::extra::invalidate_current_thread_spans();
    texts
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { gather(&path, files) } else { files.push(path) }
    }
}
