//! The files behind a file: `crate::…`, `super::…` and `mod name;` lead to siblings, which are read as far as they are named.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::syntax::{Extern, Program, Unit, UnitId, free_paths};

/// A file that was read.
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

/// Files read so far, and the units made of them.
#[derive(Default)]
pub(super) struct Files {
    pub(super) program: Program,
    /// One for each unit.
    pub(super) files: Vec<File>,
    /// Files that could not be parsed, with what is wrong with them.
    pub(super) broken: Vec<(File, Diagnostics)>,
    /// Names that are of other files or crates, where those were not found.
    pub(super) elsewhere: Vec<(UnitId, String)>,
    /// Files below this folder are called this and their path in it.
    below: Option<(PathBuf, String)>,
    known: HashMap<PathBuf, Option<UnitId>>,
}

impl Files {
    /// For files below a folder, where messages are to call it something else.
    pub(super) fn below(folder: &Path, said: &str) -> Files {
        Files { below: Some((folder.to_owned(), said.to_owned())), ..Files::default() }
    }

    /// Reads a file and those that it names. Files that cannot be read leave their names unknown; `None` is one that cannot be
    /// parsed.
    pub(super) fn add(&mut self, path: &Path, text: String) -> Option<UnitId> {
        let file = File { path: self.shown(path), text };
        let mut unit = match Unit::parse(&file.path, 1, 1, &file.text) {
            Ok(unit) => unit,
            Err(found) => {
                self.broken.push((file, found));
                self.known.insert(path.to_owned(), None);
                return None;
            }
        };
        // What `mod name;` declares is outside the unit, whatever the crate says.
        unit.items.retain(|item| !matches!(item, syn::Item::Mod(module) if module.content.is_none()));
        let names = outside_names(&unit.items);
        let id = self.program.add(unit);
        self.files.push(file);
        self.known.insert(path.to_owned(), Some(id));
        let place = Module::of(path);
        for (name, target) in names {
            let found = place.find(&target).and_then(|(file, inside)| Some((self.open(&file)?, inside)));
            match found {
                Some((unit, inside)) if unit != id => self.bind(id, &name, unit, &inside),
                None if target.len() > 1 && !self.elsewhere.contains(&(id, name.clone())) => self.elsewhere.push((id, name)),
                _ => {}
            }
        }
        Some(id)
    }

    /// What messages call a file.
    pub(super) fn shown(&self, path: &Path) -> String {
        let below = self.below.as_ref().and_then(|(folder, said)| Some(format!("{said}{}", path.strip_prefix(folder).ok()?.display())));
        below.unwrap_or_else(|| path.display().to_string())
    }

    fn open(&mut self, path: &Path) -> Option<UnitId> {
        if let Some(known) = self.known.get(path) {
            return *known;
        }
        let text = read(path).ok()?;
        self.add(path, text)
    }

    /// Gives a name of one unit the meaning of an item of another; `*` stands for all of them.
    fn bind(&mut self, unit: UnitId, name: &str, from: UnitId, inside: &str) {
        let names: Vec<(String, String)> = match name {
            "*" => {
                let all = self.program.units[from.0].items.iter().filter_map(item_name);
                all.map(|item| (item.clone(), format!("{inside}{item}"))).collect()
            }
            name => vec![(name.to_owned(), inside.to_owned())],
        };
        for (name, item) in names {
            self.program.units[unit.0].externs.entry(name).or_insert(Extern::Item(from, item));
        }
    }

    /// The file whose text stands under a span; the first one where several have the same.
    pub(super) fn of_span(&self, span: proc_macro2::Span) -> Option<&File> {
        let text = span.source_text()?;
        self.files.iter().find(|file| super::render::range(span, &file.text).is_some_and(|range| file.text.get(range) == Some(&*text)))
    }
}

/// Reads a text file, without the mark that some editors begin one with.
pub(super) fn read(path: &Path) -> std::io::Result<String> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// What names from outside the unit may stand for: the name as written, and the path behind it.
fn outside_names(items: &[syn::Item]) -> Vec<(String, Vec<String>)> {
    let mut imports = Vec::new();
    collect_imports(items, &mut imports);
    let mut names = imports.clone();
    for free in free_paths(items) {
        let segments: Vec<String> = free.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let Some((first, rest)) = segments.split_first() else { continue };
        let target = match imports.iter().find(|(name, _)| name == first) {
            Some((_, target)) => target.iter().chain(rest).cloned().collect(),
            None => segments.clone(),
        };
        names.push((free.key, target));
    }
    names
}

fn collect_imports(items: &[syn::Item], found: &mut Vec<(String, Vec<String>)>) {
    for item in items {
        match item {
            syn::Item::Use(item) => collect_tree(&item.tree, &mut Vec::new(), found),
            syn::Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    collect_imports(items, found);
                }
            }
            _ => {}
        }
    }
}

fn collect_tree(tree: &syn::UseTree, prefix: &mut Vec<String>, found: &mut Vec<(String, Vec<String>)>) {
    let mut leaf = |name: String, last: Option<String>| {
        found.push((name, prefix.iter().cloned().chain(last).collect()));
    };
    match tree {
        syn::UseTree::Name(name) => leaf(name.ident.to_string(), Some(name.ident.to_string())),
        syn::UseTree::Rename(rename) => leaf(rename.rename.to_string(), Some(rename.ident.to_string())),
        syn::UseTree::Glob(_) => leaf("*".to_owned(), None),
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            collect_tree(&path.tree, prefix, found);
            prefix.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| collect_tree(tree, prefix, found)),
    }
}

fn item_name(item: &syn::Item) -> Option<String> {
    Some(match item {
        syn::Item::Fn(item) => item.sig.ident.to_string(),
        syn::Item::Struct(item) => item.ident.to_string(),
        syn::Item::Enum(item) => item.ident.to_string(),
        syn::Item::Const(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Where a file stands among the modules of its crate.
struct Module {
    /// The folder of the crate's root.
    root: PathBuf,
    /// The folder of the files of its own modules.
    own: PathBuf,
}

impl Module {
    fn of(path: &Path) -> Module {
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let is_root = |folder: &Path| folder.join("lib.rs").is_file() || folder.join("main.rs").is_file();
        let root = folder.ancestors().find(|folder| is_root(folder)).unwrap_or(&folder).to_owned();
        let stem = path.file_stem().unwrap_or_default();
        let own = if stem == "mod" || stem == "lib" || stem == "main" { folder } else { folder.join(stem) };
        Module { root, own }
    }

    /// The file that a path leads to, and the path within it (for a `*`: what goes before each name).
    fn find(&self, path: &[String]) -> Option<(PathBuf, String)> {
        let (mut folder, mut rest) = match path.first()?.as_str() {
            "crate" => (self.root.clone(), &path[1..]),
            "self" => (self.own.clone(), &path[1..]),
            "super" => (self.own.parent()?.to_owned(), &path[1..]),
            _ => (self.own.clone(), path),
        };
        while rest.first().is_some_and(|name| name == "super") {
            folder = folder.parent()?.to_owned();
            rest = &rest[1..];
        }
        let mut found = None;
        for (depth, name) in rest.iter().enumerate() {
            let file = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")].into_iter().find(|file| file.is_file());
            let Some(file) = file else { break };
            found = Some((file, depth + 1));
            folder.push(name);
        }
        let (file, depth) = found?;
        Some((file, rest[depth..].join("::")))
    }
}
