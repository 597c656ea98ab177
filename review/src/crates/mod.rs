//! What the names of a kernel mean that its own source does not define: the files of its crate, read as far as the names lead.
//!
//! The macro asks while a crate compiles, the command for a file: one path, so that both see the same program. No file is read here: whoever
//! asks hands in how (`Crate::new`).
//!
//! | file | what it holds |
//! |---|---|
//! | `files.rs` | files that were read and parsed, and which of them a span is of |
//! | `tree.rs` | the modules of a crate, and the files they lie in |
//! | `resolve.rs` | what a path means in a module: `crate::`, `super::`, `use`, renames, globs |
//! | `reach.rs` | from a kernel to the program that it needs, and to the names that no file explains |
//! | `identity.rs` | whether two such programs are the same |
//! | `absent.rs` | the names of an item that are nowhere |
//!
//! A meaning is either certain or not given. What another crate, a macro or a `cfg` decides is said to be unknown, with the reason; a name that
//! is nowhere is left to whoever types the kernel.

mod absent;
mod files;
mod identity;
mod reach;
mod resolve;
#[cfg(test)]
mod tests;
mod tree;

pub use absent::item_name_span;
pub use files::SourceFile;
pub use reach::{Given, Reached, Spot, Unknown};
pub use tree::KernelPlace;

use files::FileId;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use tree::{Module, ModuleId};

/// Reads a file; `None` if it cannot be read.
pub type Read = Box<dyn Fn(&Path) -> Option<String>>;

/// The files of a crate, or of several that lie beside each other (a library and its program), as far as they were read.
pub struct Crate {
    read: Read,
    /// The file that the crate begins with, where that is known.
    root: Option<PathBuf>,
    /// Files below this folder are called this and their path in it.
    below: Option<(PathBuf, String)>,
    files: Vec<SourceFile>,
    /// By path; `None`: it cannot be read, or is no Rust.
    known: HashMap<PathBuf, Option<FileId>>,
    /// Files that are no Rust, with what is wrong with them.
    broken: Vec<(String, String, warpwright_codegen::diagnostic::Diagnostics)>,
    modules: Vec<Module>,
    /// The modules that files are.
    places: HashMap<PathBuf, ModuleId>,
    /// `cfg`s that hold where the kernel stands that is looked at.
    given: Vec<String>,
    /// Names that are being looked up: what leads back to one of them leads nowhere.
    open: Vec<(ModuleId, String, resolve::Space)>,
    /// Modules that were searched for the name that is looked up.
    searched: HashSet<ModuleId>,
    /// How many modules were searched for the path that is asked about.
    lookups: u32,
}

impl Crate {
    /// A crate that begins with the file `root`; where that is not known it is found for each file.
    pub fn new(root: Option<&Path>, read: Read) -> Crate {
        Crate {
            read,
            root: root.map(files::normal),
            below: None,
            files: Vec::new(),
            known: HashMap::new(),
            broken: Vec::new(),
            modules: Vec::new(),
            places: HashMap::new(),
            given: Vec::new(),
            open: Vec::new(),
            searched: HashSet::new(),
            lookups: 0,
        }
    }

    /// The same, where messages are to call the files below a folder something else.
    #[must_use]
    pub fn below(mut self, folder: &Path, said: &str) -> Crate {
        self.below = Some((files::normal(folder), said.to_owned()));
        self
    }
}
