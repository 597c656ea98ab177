//! What device memory cannot hold: `()`, which is nothing, and `Dim3`, which the geometry functions make.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::attributes::is_named;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Types of memory, whose argument says what it holds.
const MEMORY: &[&str] = &["Global", "Constant", "Texture2d", "Matrix", "MatrixBatch"];

/// Looks at an item of the device.
pub(super) fn check(item: &syn::Item, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { diagnostics, is_memory: false };
    match item {
        syn::Item::Fn(function) => {
            // A kernel's values lie in memory, too: it is called across the bus.
            walk.is_memory = function.attrs.iter().any(|attr| is_named(attr, "kernel"));
            walk.visit_signature(&function.sig);
            walk.is_memory = false;
            walk.visit_block(&function.block);
        }
        syn::Item::Impl(item) => walk.visit_item_impl(item),
        syn::Item::Struct(item) => {
            walk.is_memory = true;
            item.fields.iter().for_each(|field| walk.visit_type(&field.ty));
        }
        _ => {}
    }
}

struct Walk<'w> {
    diagnostics: &'w mut Diagnostics,
    /// Whether a type that is met here is one of memory.
    is_memory: bool,
}

impl Walk<'_> {
    fn within(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.is_memory, true);
        visit(self);
        self.is_memory = outer;
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_type_tuple(&mut self, tuple: &'ast syn::TypeTuple) {
        if self.is_memory && tuple.elems.is_empty() {
            let error = Diagnostic::error(tuple.span(), "`()` has no bytes, and is no element of the device's memory");
            self.diagnostics.push(error.help("write a type with a value, `u8`, or leave it out"));
        }
        visit::visit_type_tuple(self, tuple);
    }

    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let Some(last) = path.path.segments.last() else { return };
        if self.is_memory && last.ident == "Dim3" {
            let error = Diagnostic::error(path.span(), "`Dim3` is no element of the device's memory: the geometry functions make it");
            self.diagnostics.push(error.help("hold its axes: `[u32; 3]`"));
        }
        if MEMORY.iter().any(|memory| last.ident == memory) {
            self.within(|walk| visit::visit_type_path(walk, path));
        } else {
            visit::visit_type_path(self, path);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        match &local.pat {
            syn::Pat::Type(typed) if local.attrs.iter().any(|attr| attr.path().is_ident("shared")) => {
                self.within(|walk| walk.visit_type(&typed.ty));
            }
            _ => visit::visit_local(self, local),
        }
    }

    // A kernel gives nothing, which is said elsewhere; a function gives `()` where it gives nothing.
    fn visit_return_type(&mut self, _: &'ast syn::ReturnType) {}
}
