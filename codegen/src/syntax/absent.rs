//! Names that there are not, where what a kernel writes in their place is known: `sqrt(x)`, `float4`, `max` of the standard library.

use super::attributes::path_text;
use super::foreign::foreign;
use super::free_paths::FreePathKind;
use super::scopes::macro_arguments;
use super::signature::is_marked;
use super::std_functions::call_edit;
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::Span;
use std::collections::HashSet;
use syn::visit::{self, Visit};

/// A name of device code that means nothing there.
#[derive(Clone, Debug, PartialEq)]
pub struct AbsentName {
    /// As written, without generic arguments.
    pub key: String,
    /// What it is used as.
    pub kind: FreePathKind,
    /// Whether it is the standard library's, which kernels cannot call.
    pub is_std: bool,
}

/// The errors of those names that `rustc` does not report, or reports without the edit.
pub fn absent_names(items: &[syn::Item], absent: &[AbsentName]) -> Diagnostics {
    let mut finder = Finder { absent, said: HashSet::new(), found: Diagnostics::new() };
    if !absent.is_empty() {
        items.iter().for_each(|item| finder.visit_item(item));
    }
    finder.found
}

struct Finder<'a> {
    absent: &'a [AbsentName],
    /// Types and constants, each of which is one mistake; of a call the edit is another each time.
    said: HashSet<String>,
    found: Diagnostics,
}

impl Finder<'_> {
    fn find(&self, path: &syn::Path, kind: FreePathKind) -> Option<&AbsentName> {
        let mut path = path.clone();
        path.segments.iter_mut().for_each(|segment| segment.arguments = syn::PathArguments::None);
        let key = path_text(&path);
        self.absent.iter().find(|absent| absent.kind == kind && absent.key == key)
    }

    fn name(&mut self, what: &str, path: &syn::Path, kind: FreePathKind) {
        let Some(absent) = self.find(path, kind).filter(|absent| !absent.is_std) else { return };
        // What is certainly another language's, `check_subset` says.
        let foreign = foreign(&absent.key).filter(|foreign| !foreign.is_certain);
        let (Some(foreign), Some(ident)) = (foreign, path.get_ident()) else { return };
        let key = absent.key.clone();
        if self.said.insert(key.clone()) {
            self.found.push(Diagnostic::error(ident.span(), format!("the {what} `{key}` is not known to the kernel")).help(foreign.edit()));
        }
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        // Others are the host's.
        if is_marked(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(absent) = self.find(&path.path, FreePathKind::Function)
            && foreign(&absent.key).is_none_or(|foreign| !foreign.is_certain)
        {
            let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let name = segments.last().map_or("", String::as_str);
            let other = || absent.is_std.then(|| format!("write a `#[device] fn {name}(…)` that does the same"));
            if let Some(help) = call_edit(&segments, call).or_else(other) {
                let span = path.path.segments.first().map_or_else(Span::call_site, |first| first.ident.span());
                self.found.push(Diagnostic::error(span, format!("the function `{}` is not known to the kernel", absent.key)).help(help));
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'a syn::ExprPath) {
        self.name("constant", &path.path, FreePathKind::Constant);
        visit::visit_expr_path(self, path);
    }

    fn visit_type_path(&mut self, ty: &'a syn::TypePath) {
        self.name("type", &ty.path, FreePathKind::Type);
        visit::visit_type_path(self, ty);
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        for argument in macro_arguments(mac) {
            Visit::visit_expr(self, &argument);
        }
    }
}
