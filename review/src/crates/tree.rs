//! The modules of a crate: which file a module lies in, which module a file is, and where the kernels of a file stand.

use super::files::{FileId, normal};
use super::{Crate, SourceFile};
use proc_macro2::LineColumn;
use quote::ToTokens;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpwright_codegen::syntax::{attributes_of, is_named};

/// Names a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ModuleId(pub(super) usize);

/// Names an item by its module and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ItemId {
    pub(super) module: ModuleId,
    pub(super) index: usize,
}

/// Where a kernel stands.
#[derive(Clone, Debug)]
pub struct KernelPlace {
    /// Its path within its file: `inner::copy`.
    pub path: String,
    pub(super) item: ItemId,
}

pub(super) struct Module {
    pub(super) parent: Option<ModuleId>,
    pub(super) file: FileId,
    /// The numbers of the inline modules round its items, from the outside in.
    inline: Vec<usize>,
    /// Where the files of its own modules lie.
    folder: PathBuf,
    /// The `cfg`s of its declaration and of those round it.
    pub(super) cfgs: Vec<String>,
    /// Whether all its items are for the device: it is marked as a module, or stands in one that is.
    pub(super) is_marked: bool,
    /// Why nothing is known of what is round it; `None`: it has a parent, or is where the crate begins.
    pub(super) detached: Option<&'static str>,
    /// The modules that its items declare, by the item's number.
    children: HashMap<usize, Option<ModuleId>>,
}

/// How many folders up the beginning of a crate is looked for.
const MOST_FOLDERS: usize = 12;

impl Crate {
    /// The kernels of a file, modules included, in source order.
    pub fn kernels(&mut self, path: &Path) -> Vec<KernelPlace> {
        let Some(module) = self.module_of(path) else { return Vec::new() };
        let mut found = Vec::new();
        self.collect_kernels(module, "", &mut found);
        found
    }

    /// The functions, types and `impl`s of a file that are the device's, modules included: `rustc` looks at them whether a kernel needs them or not.
    pub fn device_items(&mut self, path: &Path) -> Vec<KernelPlace> {
        let Some(module) = self.module_of(path) else { return Vec::new() };
        let mut found = Vec::new();
        self.collect_device_items(module, &mut found);
        found
    }

    fn collect_device_items(&mut self, module: ModuleId, found: &mut Vec<KernelPlace>) {
        for index in 0..self.items(module).len() {
            let item = &self.items(module)[index];
            if let syn::Item::Mod(inner) = item {
                if inner.content.is_some()
                    && let Some(inner) = self.child(module, index)
                {
                    self.collect_device_items(inner, found);
                }
                continue;
            }
            let attrs = attributes_of(item);
            let is_type = matches!(item, syn::Item::Fn(_) | syn::Item::Struct(_) | syn::Item::Enum(_));
            // Whether an item under a `cfg` is there is not known.
            if is_type && attrs.iter().any(|attr| is_named(attr, "device")) && cfgs(attrs).is_empty() {
                found.push(KernelPlace { path: String::new(), item: ItemId { module, index } });
            }
        }
    }

    fn collect_kernels(&mut self, module: ModuleId, prefix: &str, found: &mut Vec<KernelPlace>) {
        for index in 0..self.items(module).len() {
            match &self.items(module)[index] {
                syn::Item::Fn(function) if is_kernel(function) => {
                    let path = format!("{prefix}{}", function.sig.ident);
                    found.push(KernelPlace { path, item: ItemId { module, index } });
                }
                syn::Item::Mod(inner) if inner.content.is_some() => {
                    let prefix = format!("{prefix}{}::", inner.ident);
                    let inner = self.child(module, index).expect("an inline module is there");
                    self.collect_kernels(inner, &prefix, found);
                }
                _ => {}
            }
        }
    }

    /// The kernel of a file whose name stands at this line (from 1) and column (from 0).
    pub fn kernel_at(&mut self, path: &Path, at: LineColumn) -> Option<KernelPlace> {
        let all = self.kernels(path);
        all.into_iter().find(|place| self.kernel(place).is_some_and(|kernel| kernel.sig.ident.span().start() == at))
    }

    /// Whether a file shows a kernel of this name, wherever it stands.
    pub fn has_kernel(&mut self, path: Option<&Path>, name: &str) -> bool {
        let all = path.map_or_else(Vec::new, |path| self.kernels(path));
        all.iter().any(|place| place.path.rsplit("::").next() == Some(name))
    }

    /// A kernel's item.
    pub fn kernel(&self, place: &KernelPlace) -> Option<&syn::ItemFn> {
        match self.item(place.item) {
            syn::Item::Fn(function) => Some(function),
            _ => None,
        }
    }

    /// A crate that consists of nothing but this text: what is round it is not known, for this reason.
    pub fn fragment(name: &str, text: &str, reason: &'static str) -> Option<(Crate, Vec<KernelPlace>)> {
        let mut fragment = Crate::new(None, Box::new(|_| None));
        let path = PathBuf::from(name);
        let file = fragment.parse(&path, text.to_owned())?;
        let module = fragment.add_root(file, Some(reason));
        fragment.places.insert(path.clone(), module);
        let kernels = fragment.kernels(&path);
        Some((fragment, kernels))
    }

    /// The module that a file is.
    pub(super) fn module_of(&mut self, path: &Path) -> Option<ModuleId> {
        let path = normal(path);
        if let Some(known) = self.places.get(&path) {
            return Some(*known);
        }
        let file = self.load(&path)?;
        let found = self.find_place(&path);
        let module = found.unwrap_or_else(|| self.add_root(file, self.why_detached(&path)));
        self.places.insert(path, module);
        Some(module)
    }

    /// Goes down to a file from where its crate begins.
    fn find_place(&mut self, path: &Path) -> Option<ModuleId> {
        let beginnings: Vec<PathBuf> = match &self.root {
            Some(root) => vec![root.clone()],
            None => {
                let folders = path.ancestors().skip(1).take(MOST_FOLDERS);
                folders.flat_map(|folder| [folder.join("lib.rs"), folder.join("main.rs")]).collect()
            }
        };
        beginnings.into_iter().find_map(|root| {
            let root = self.root_of_file(&root)?;
            self.descend(root, path)
        })
    }

    fn root_of_file(&mut self, path: &Path) -> Option<ModuleId> {
        if let Some(known) = self.places.get(path) {
            return Some(*known);
        }
        let file = self.load(path)?;
        let module = self.add_root(file, None);
        self.places.insert(path.to_owned(), module);
        Some(module)
    }

    /// Why nothing is known of what is round a file that no module declares; `None`: it is a crate's beginning itself.
    fn why_detached(&self, path: &Path) -> Option<&'static str> {
        let is_other = self.root.as_ref().is_some_and(|root| root != path);
        let is_module = path.file_stem().is_some_and(|stem| stem == "mod");
        (is_other || is_module).then_some("the module of this file is not found in its crate")
    }

    fn add_root(&mut self, file: FileId, detached: Option<&'static str>) -> ModuleId {
        let folder = self.files[file.0].path.parent().map_or_else(PathBuf::new, Path::to_owned);
        self.modules.push(Module {
            parent: None,
            file,
            inline: Vec::new(),
            folder,
            cfgs: Vec::new(),
            is_marked: false,
            detached,
            children: HashMap::new(),
        });
        ModuleId(self.modules.len() - 1)
    }

    /// The module below `root` that a file is: by the names of its folders, else by a `#[path]` on the way.
    fn descend(&mut self, root: ModuleId, path: &Path) -> Option<ModuleId> {
        let is_it = |this: &Crate, module: ModuleId| this.files[this.modules[module.0].file.0].path == path;
        if is_it(self, root) {
            return Some(root);
        }
        let below = path.with_extension("");
        let names: Vec<String> = match below.strip_prefix(&self.modules[root.0].folder) {
            Ok(names) => names.iter().map(|name| name.to_string_lossy().into_owned()).collect(),
            Err(_) => Vec::new(),
        };
        let names = names.strip_suffix(&["mod".to_owned()]).unwrap_or(&names);
        let mut at = vec![root];
        for name in names {
            let mut inner = Vec::new();
            for module in at {
                let own = self.declared(module).filter(|(_, item)| item.ident == name);
                inner.extend(own.map(|(index, _)| (module, index)));
            }
            let next: Vec<ModuleId> = inner.into_iter().filter_map(|(module, index)| self.child(module, index)).collect();
            if let Some(found) = next.iter().find(|module| is_it(self, **module)) {
                return Some(*found);
            }
            if next.is_empty() {
                break;
            }
            at = next;
        }
        // Modules that say themselves where they lie, as far down as was gone.
        let seen: Vec<ModuleId> = (0..self.modules.len()).map(ModuleId).filter(|module| self.top(*module) == root).collect();
        let mut moved = Vec::new();
        for module in seen {
            let own = self.declared(module).filter(|(_, item)| path_attribute(item).is_some());
            moved.extend(own.map(|(index, _)| (module, index)));
        }
        let moved: Vec<ModuleId> = moved.into_iter().filter_map(|(module, index)| self.child(module, index)).collect();
        moved.into_iter().find(|module| is_it(self, *module))
    }

    /// The modules that a module declares, with their numbers.
    fn declared(&self, module: ModuleId) -> impl Iterator<Item = (usize, &syn::ItemMod)> {
        self.items(module).iter().enumerate().filter_map(|(index, item)| match item {
            syn::Item::Mod(item) => Some((index, item)),
            _ => None,
        })
    }

    /// The items of a module.
    pub(super) fn items(&self, module: ModuleId) -> &[syn::Item] {
        let module = &self.modules[module.0];
        let mut items: &[syn::Item] = &self.files[module.file.0].items;
        for index in &module.inline {
            items = match &items[*index] {
                syn::Item::Mod(syn::ItemMod { content: Some((_, inner)), .. }) => inner,
                _ => &[],
            };
        }
        items
    }

    pub(super) fn item(&self, item: ItemId) -> &syn::Item {
        &self.items(item.module)[item.index]
    }

    pub(super) fn source(&self, module: ModuleId) -> &SourceFile {
        &self.files[self.modules[module.0].file.0]
    }

    /// The outermost module round one.
    pub(super) fn top(&self, mut module: ModuleId) -> ModuleId {
        while let Some(parent) = self.modules[module.0].parent {
            module = parent;
        }
        module
    }

    /// Whether `inner` is `outer` or stands in it.
    pub(super) fn is_within(&self, inner: ModuleId, outer: ModuleId) -> bool {
        let mut at = Some(inner);
        while let Some(module) = at {
            if module == outer {
                return true;
            }
            at = self.modules[module.0].parent;
        }
        false
    }

    /// The module that an item declares; `None` where its file is not there or is no Rust.
    pub(super) fn child(&mut self, parent: ModuleId, index: usize) -> Option<ModuleId> {
        if let Some(known) = self.modules[parent.0].children.get(&index) {
            return *known;
        }
        let made = self.make_child(parent, index);
        self.modules[parent.0].children.insert(index, made);
        made
    }

    fn make_child(&mut self, parent: ModuleId, index: usize) -> Option<ModuleId> {
        let syn::Item::Mod(item) = &self.items(parent)[index] else { return None };
        let outer = &self.modules[parent.0];
        let (name, own_path) = (item.ident.to_string(), path_attribute(item));
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        let cfgs = [&outer.cfgs[..], &cfgs(&item.attrs)].concat();
        let is_marked =
            outer.is_marked || item.attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "module"));
        let (folder, inline, file) = (outer.folder.clone(), outer.inline.clone(), outer.file);
        if item.content.is_some() {
            let folder = folder.join(own_path.as_deref().unwrap_or(&name));
            let inline = [&inline[..], &[index]].concat();
            return Some(self.add_child(parent, file, inline, folder, cfgs, is_marked));
        }
        let (path, folder) = match own_path {
            Some(own) => {
                let beside =
                    if inline.is_empty() { self.files[file.0].path.parent().map_or_else(PathBuf::new, Path::to_owned) } else { folder };
                let path = normal(&beside.join(own));
                let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
                (path, folder)
            }
            None => {
                let own = folder.join(&name);
                let flat = folder.join(format!("{name}.rs"));
                let nested = own.join("mod.rs");
                (if self.load(&flat).is_some() || self.is_broken(&flat) { flat } else { nested }, own)
            }
        };
        let file = self.load(&path)?;
        let child = self.add_child(parent, file, Vec::new(), folder, cfgs, is_marked);
        self.places.entry(path).or_insert(child);
        Some(child)
    }

    fn is_broken(&self, path: &Path) -> bool {
        let name = self.shown(&normal(path));
        self.broken.iter().any(|(broken, _, _)| *broken == name)
    }

    fn add_child(
        &mut self,
        parent: ModuleId,
        file: FileId,
        inline: Vec<usize>,
        folder: PathBuf,
        cfgs: Vec<String>,
        is_marked: bool,
    ) -> ModuleId {
        let parent = Some(parent);
        self.modules.push(Module { parent, file, inline, folder, cfgs, is_marked, detached: None, children: HashMap::new() });
        ModuleId(self.modules.len() - 1)
    }
}

fn is_kernel(function: &syn::ItemFn) -> bool {
    function.attrs.iter().any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "kernel"))
}

/// The `#[cfg(…)]` of an item, as text.
pub(super) fn cfgs(attrs: &[syn::Attribute]) -> Vec<String> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).map(|attr| attr.meta.to_token_stream().to_string()).collect()
}

/// `x.rs` of `#[path = "x.rs"]`.
fn path_attribute(item: &syn::ItemMod) -> Option<String> {
    item.attrs.iter().find_map(|attr| match &attr.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}
