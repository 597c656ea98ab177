//! Files that were read and parsed, each once.

use super::Crate;
use proc_macro2::Span;
use std::path::{Component, Path, PathBuf};
use syn::spanned::Spanned;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::syntax::{SourcePlace, Unit};

/// Names a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FileId(pub(super) usize);

/// A file that was read and parsed.
pub struct SourceFile {
    /// What messages call it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its items, those of modules in other files left out.
    pub items: Vec<syn::Item>,
    pub(super) path: PathBuf,
    /// What proc-macro2 calls it; `None`: it has no items.
    mark: Option<String>,
}

impl Crate {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// It cannot be read (`None`), or is no Rust.
    pub fn file(&mut self, path: &Path) -> Result<&SourceFile, Option<&Diagnostics>> {
        match self.load(path) {
            Some(id) => Ok(&self.files[id.0]),
            None => {
                let name = self.shown(&normal(path));
                Err(self.broken.iter().find(|(broken, _, _)| *broken == name).map(|(_, _, found)| found))
            }
        }
    }

    /// The files that are no Rust, though a module names them: name, text, and what is wrong.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &str, &Diagnostics)> {
        self.broken.iter().map(|(name, text, found)| (name.as_str(), text.as_str(), found))
    }

    /// The file that a span is of.
    pub fn file_of(&self, span: Span) -> Option<&SourceFile> {
        let mark = span.file();
        self.files.iter().find(|file| file.mark.as_ref() == Some(&mark))
    }

    /// Where a span stands.
    pub fn place(&self, span: Span) -> Option<SourcePlace> {
        let file = self.file_of(span)?;
        Some(Unit::from_items(file.name.as_str(), Vec::new()).place(span))
    }

    /// The file of this name.
    pub fn named(&self, name: &str) -> Option<&SourceFile> {
        // Who asks may have written `a/../b.rs`.
        let name = normal(Path::new(name)).display().to_string();
        self.files.iter().find(|file| file.name == name)
    }

    pub(super) fn load(&mut self, path: &Path) -> Option<FileId> {
        let path = normal(path);
        if let Some(known) = self.known.get(&path) {
            return *known;
        }
        let id = (self.read)(&path).and_then(|text| self.parse(&path, text));
        self.known.insert(path, id);
        id
    }

    pub(super) fn parse(&mut self, path: &Path, text: String) -> Option<FileId> {
        // Some editors begin a file with a mark.
        let text = text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned);
        let name = self.shown(path);
        match Unit::parse(name.as_str(), 1, 1, &text) {
            Ok(unit) => {
                let mark = unit.items.first().map(|item| item.span().file());
                self.files.push(SourceFile { name, text, items: unit.items, path: path.to_owned(), mark });
                Some(FileId(self.files.len() - 1))
            }
            Err(found) => {
                self.broken.push((name, text, found));
                None
            }
        }
    }

    /// What messages call a file.
    pub fn shown(&self, path: &Path) -> String {
        let below = self.below.as_ref().and_then(|(folder, said)| Some(format!("{said}{}", path.strip_prefix(folder).ok()?.display())));
        below.unwrap_or_else(|| path.display().to_string())
    }
}

/// A path without `.` and, as far as the path itself shows, without `..`.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut all = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(all.components().next_back(), Some(Component::Normal(_))) => {
                all.pop();
            }
            other => all.push(other),
        }
    }
    all
}
