//! `==` and `!=` of structs, tuples and arrays: as `PartialEq` derives them. `<` and its kin are for scalars.

use super::super::items::AdtKind;
use super::super::types::Ty;
use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::syntax::is_named;
use proc_macro2::Span;

impl Checker<'_, '_> {
    /// Refuses to compare what has no `==` here. What `rustc` would compare all the same, by an `impl PartialEq`, is said here.
    pub(super) fn check_equality(&self, ty: &Ty, span: Span) {
        match ty {
            Ty::Array(element, _) => self.check_equality(element, span),
            Ty::Tuple(fields) => fields.iter().for_each(|field| self.check_equality(field, span)),
            Ty::Adt(id, _) => {
                let adt = &self.context.items.adts[id.0];
                if !matches!(adt.kind, AdtKind::Struct(_)) {
                    return;
                }
                if !adt.attrs.iter().any(derives_equality) {
                    let message = format!("`{}` is compared by a derived `PartialEq` only, and derives none here", adt.name);
                    let help = "write `#[derive(Clone, Copy, PartialEq)]` on it, below `#[device]`";
                    self.report(Diagnostic::error(span, message).label(adt.span, "defined here").help(help));
                    return;
                }
                let fields = self.known_field_types(ty).unwrap_or_default();
                fields.iter().for_each(|(_, field)| self.check_equality(field, span));
            }
            Ty::Scalar(_) | Ty::Usize | Ty::Isize | Ty::Never | Ty::Var(_) => {}
            _ => {
                let error = Diagnostic::error(span, format!("{} cannot be compared", self.shown(ty)));
                self.report(error.help(self.instead_of_comparing(ty, "==")).by_rustc());
            }
        }
    }

    /// What is wrong with `<` and its kin between values of this type, which `rustc` may know.
    pub(super) fn refuse_order(&self, ty: &Ty, span: Span) -> Diagnostic {
        let error = Diagnostic::error(span, format!("{} has no order in a kernel: scalars have", self.shown(ty)));
        match ty {
            Ty::Tuple(_) | Ty::Array(..) => error.help("compare them part by part: `a.0 < b.0 || a.0 == b.0 && a.1 < b.1`"),
            Ty::Adt(id, _) if matches!(self.context.items.adts[id.0].kind, AdtKind::Enum(..)) => {
                error.help("compare their numbers: `a as u32 <= b as u32`")
            }
            Ty::Adt(..) => error.help("compare them field by field"),
            _ => error.help(self.instead_of_comparing(ty, "<")).by_rustc(),
        }
    }
}

/// `#[derive(…, PartialEq, …)]`.
fn derives_equality(attr: &syn::Attribute) -> bool {
    let mut found = false;
    if is_named(attr, "derive") {
        let one = |meta: syn::meta::ParseNestedMeta<'_>| {
            found |= meta.path.segments.last().is_some_and(|last| last.ident == "PartialEq");
            Ok(())
        };
        // What is wrong with it is rustc's to say.
        let _ = attr.parse_nested_meta(one);
    }
    found
}
