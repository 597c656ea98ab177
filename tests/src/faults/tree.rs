//! Which kernels the tree has, by its sources, and which of them no mistake is put into.

use std::fs;
use std::path::{Path, PathBuf};

/// A kernel: its file, from the repository's root, and its name.
pub type Place = (String, String);

/// Kernels that no launch of the test reaches, each with its reason.
pub const EXCEPTIONS: &[(&str, &str, &str)] = &[];

/// All kernels of `kernels/src`, from its sources.
///
/// # Panics
/// If a source cannot be read; or if it has a kernel that is no item of the file or of a module there: one that a macro writes.
pub fn kernels_of_tree() -> Vec<Place> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut folders, mut found) = (vec![PathBuf::from("kernels/src")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("a folder of sources").map(|entry| entry.expect("an entry")) {
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(entry.path()).expect("a source");
            let mut names = Vec::new();
            kernels_of("", &syn::parse_file(&text).expect("a source of Rust").items, &mut names);
            let attributes = text.lines().filter(|line| line.trim_start().starts_with("#[kernel")).count();
            assert_eq!(names.len(), attributes, "{}: kernels {names:?}, and lines that begin with `#[kernel`", path.display());
            let file = path.to_str().expect("a path in UTF-8").replace('\\', "/");
            found.extend(names.into_iter().map(|name| (file.clone(), name)));
        }
    }
    found.sort();
    found
}

/// The kernels among these items, by the names that their definitions have: behind the path of a `#[warpwright::module]`.
fn kernels_of(path: &str, items: &[syn::Item], names: &mut Vec<String>) {
    let has = |attributes: &[syn::Attribute], name: &str| {
        attributes.iter().any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == name))
    };
    for item in items {
        match item {
            syn::Item::Fn(function) if has(&function.attrs, "kernel") => names.push(format!("{path}{}", function.sig.ident)),
            syn::Item::Mod(module) => {
                let path = if has(&module.attrs, "module") { format!("{path}{}::", module.ident) } else { path.to_owned() };
                kernels_of(&path, module.content.as_ref().map_or(&[], |(_, items)| items), names);
            }
            _ => {}
        }
    }
}

/// What is wrong with the kernels that mistakes were put into: those that are in the tree, not among them and no exception; and exceptions that are none. Nothing if all is as it should be.
pub fn unswept(swept: &[Place]) -> Vec<String> {
    let all = kernels_of_tree();
    let is_excepted = |(file, name): &Place| EXCEPTIONS.iter().any(|(of, kernel, _)| of == file && kernel == name);
    let missing = all.iter().filter(|place| !swept.contains(place) && !is_excepted(place));
    let stale = EXCEPTIONS.iter().filter(|(file, name, _)| {
        let place = ((*file).to_owned(), (*name).to_owned());
        !all.contains(&place) || swept.contains(&place)
    });
    let missing = missing.map(|(file, name)| format!("`{name}` of {file} has no mistakes: launch it in tests/src/faults"));
    missing.chain(stale.map(|(file, name, _)| format!("`{name}` of {file} is no exception: take it out of the list"))).collect()
}
