//! Names the compiler by its source, so that whoever keeps what it found knows by whom it was found (`warpwright_codegen::BUILD`).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let mut files = BTreeMap::new();
    collect(Path::new("src"), &mut files);
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    println!("cargo:rustc-env=WARPWRIGHT_BUILD={}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
    println!("cargo:rerun-if-changed=src");
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
        }
    }
}
