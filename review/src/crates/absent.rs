//! The names of an item's device code that mean nothing, or a function of the standard library.
//!
//! `rustc` knows them, too, but it asks for a name wherever the macro repeats it, and it does not know what a kernel writes instead.

use super::Crate;
use super::resolve::Meaning;
use super::tree::{ItemId, ModuleId, cfgs};
use proc_macro2::{LineColumn, Span};
use std::path::Path;
use syn::spanned::Spanned;
use warpwright_codegen::syntax::{AbsentName, attributes_of, free_paths, mark_called_in};

impl Crate {
    /// What the item names that is nowhere, whose name (of an `impl`: its type) stands at this line (from 1) and column (from 0) of a file;
    /// `None`, if no item stands there, or `is_it` says that it is another.
    pub fn absent(&mut self, path: &Path, at: LineColumn, is_it: &dyn Fn(&syn::Item) -> bool) -> Option<Vec<AbsentName>> {
        let file = self.module_of(path)?;
        let id = self.item_at(file, at).filter(|id| is_it(self.item(*id)))?;
        let mut found = Vec::new();
        match self.item(id).clone() {
            syn::Item::Mod(module) => {
                let (_, mut items) = module.content?;
                let inside = self.child(id.module, id.index)?;
                mark_called_in(&mut items);
                items.iter().for_each(|item| self.add_absent(inside, item, &mut found));
            }
            item => self.add_absent(id.module, &item, &mut found),
        }
        Some(found)
    }

    fn add_absent(&mut self, module: ModuleId, item: &syn::Item, found: &mut Vec<AbsentName>) {
        self.given = [&self.modules[module.0].cfgs[..], &cfgs(attributes_of(item))].concat();
        for free in free_paths(std::slice::from_ref(item)) {
            let is_std = match self.meaning(module, &free) {
                Meaning::Nothing => false,
                Meaning::Language(_) => true,
                _ => continue,
            };
            found.push(AbsentName { key: free.key, kind: free.kind, is_std });
        }
    }

    fn item_at(&mut self, module: ModuleId, at: LineColumn) -> Option<ItemId> {
        for index in 0..self.items(module).len() {
            let item = &self.items(module)[index];
            if item_name_span(item).is_some_and(|span| span.start() == at) {
                return Some(ItemId { module, index });
            }
            if matches!(item, syn::Item::Mod(inner) if inner.content.is_some())
                && let Some(inner) = self.child(module, index)
                && let Some(found) = self.item_at(inner, at)
            {
                return Some(found);
            }
        }
        None
    }
}

/// Where the name of an item stands that is the device's, or may be.
pub fn item_name_span(item: &syn::Item) -> Option<Span> {
    Some(match item {
        syn::Item::Fn(item) => item.sig.ident.span(),
        syn::Item::Struct(item) => item.ident.span(),
        syn::Item::Enum(item) => item.ident.span(),
        syn::Item::Mod(item) => item.ident.span(),
        syn::Item::Impl(item) => item.self_ty.span(),
        _ => return None,
    })
}
