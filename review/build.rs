//! Names the compiler and this crate by their source, so that whoever keeps what they found knows by whom it was found (`warpwright_review::BUILD`).

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let mut files = BTreeMap::new();
    // The compiler's source lies beside this crate's while both are worked on; in packages, versions tell sources apart.
    for folder in ["src", "../codegen/src"].map(Path::new).into_iter().filter(|folder| folder.exists()) {
        collect(folder, &mut files);
        println!("cargo:rerun-if-changed={}", folder.display());
    }
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    println!("cargo:rustc-env=WARPWRIGHT_BUILD={}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
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
