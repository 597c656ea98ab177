//! What types of the device derive: they are copied, so they are `Clone` and `Copy`; and what is derived has what it needs.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::attributes::is_named;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Traits that the standard library derives, each with those that it needs beside it, and whether floats have it.
const DERIVED: &[(&str, &[&str], bool)] = &[
    ("Clone", &[], true),
    ("Copy", &["Clone"], true),
    ("PartialEq", &[], true),
    ("Eq", &["PartialEq"], false),
    ("PartialOrd", &["PartialEq"], true),
    ("Ord", &["PartialOrd", "Eq"], false),
    ("Hash", &[], false),
    ("Debug", &[], true),
    ("Default", &[], true),
];

/// Types whose numbers include NaN: they are neither `Eq` nor `Ord` nor `Hash`.
const FLOATS: &[&str] = &["f16", "bf16", "f32", "f64"];

/// The traits in every `#[derive(…)]`.
pub(super) fn derived(attrs: &[syn::Attribute]) -> Vec<syn::Path> {
    let parser = Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
    let derives = attrs.iter().filter(|attr| is_named(attr, "derive"));
    derives.flat_map(|attr| attr.parse_args_with(parser).unwrap_or_default()).collect()
}

pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, diagnostics: &mut Diagnostics) {
    let (name, attrs, fields, generics) = match item {
        syn::Item::Struct(item) => (&item.ident, &item.attrs, item.fields.iter().collect(), &item.generics),
        syn::Item::Enum(item) => (&item.ident, &item.attrs, Vec::new(), &item.generics),
        _ => return,
    };
    // Groups of parameters are taken apart, not copied.
    if generics.lifetimes().next().is_some() {
        return;
    }
    let text = name.to_string();
    let lacks = |of: &str| scope.has_trait(&text, of) == Some(false);
    if lacks("Copy") || lacks("Clone") {
        let missing = if lacks("Copy") { "Copy" } else { "Clone" };
        let error = Diagnostic::error(name.span(), format!("`{name}` is not `{missing}`, and the values of a kernel are copied"));
        let mut all: Vec<String> = vec!["Clone".to_owned(), "Copy".to_owned()];
        all.extend(derived(attrs).iter().map(crate::syntax::written).filter(|own| own != "Clone" && own != "Copy"));
        diagnostics.push(error.help(format!("write `#[derive({})]` on it", all.join(", "))));
    }
    for path in derived(attrs) {
        let Some(own) = path.get_ident().map(ToString::to_string) else { continue };
        let Some((_, needed, of_floats)) = DERIVED.iter().find(|(known, ..)| *known == own) else {
            if !scope.may_name(&own) {
                let error = Diagnostic::error(path.span(), format!("there is no derive `{own}` in scope"));
                let names = DERIVED.iter().map(|(known, ..)| *known);
                let near = crate::nearest::nearest(&own, names);
                diagnostics.push(error.help(match near {
                    Some(near) => format!("write `{near}`"),
                    None => format!("remove it, or import it: `use …::{own};`"),
                }));
            }
            continue;
        };
        // Of `Copy` it is said above.
        if let Some(other) = needed.iter().find(|other| own != "Copy" && lacks(other)) {
            let error = Diagnostic::error(path.span(), format!("`{own}` of `{name}` needs `{other}`, which it does not derive"));
            diagnostics.push(error.help(format!("write `{other}, {own}`")));
        }
        for field in &fields {
            let mut names = Named(Vec::new());
            names.visit_type(&field.ty);
            // A generic may have the name of a type of the file.
            names.0.retain(|ty| !generics.type_params().any(|param| param.ident == ty));
            let without = names.0.iter().find(|ty| {
                let is_float = FLOATS.contains(&ty.as_str());
                if is_float { !of_floats } else { scope.has_trait(ty, &own) == Some(false) }
            });
            if let Some(ty) = without {
                let help = if FLOATS.contains(&ty.as_str()) {
                    format!("remove `{own}`")
                } else {
                    format!("write `#[derive({own})]` on `{ty}`, too")
                };
                let message = format!("`{name}` derives `{own}`, and its field of the type `{ty}` is not `{own}`");
                diagnostics.push(Diagnostic::error(path.span(), message).label(field.ty.span(), "this field").help(help));
                break;
            }
        }
    }
}

/// The types that a type names by one word.
struct Named(Vec<String>);

impl<'ast> Visit<'ast> for Named {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        // It is whatever is derived, whatever it names.
        if path.path.segments.last().is_some_and(|last| last.ident == "PhantomData") {
            return;
        }
        self.0.extend(path.path.get_ident().map(ToString::to_string));
        visit::visit_type_path(self, path);
    }

    fn visit_expr(&mut self, _: &'ast syn::Expr) {}
}
