//! `#[cache(streaming)] x: &Global<f32>`: how a kernel uses a buffer, or a matrix in one, for the caches. It stands on the parameter, so that it holds for every access, also in
//! the functions that the buffer is passed to and in the copies that other annotations make.

use super::attributes::is_named;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::CacheHint;
use crate::nearest::nearest;
use syn::spanned::Spanned;

/// The hint of a parameter, if it has one that is right; what is wrong is reported by [`check`].
pub(crate) fn cache_hint(input: &syn::FnArg) -> Option<CacheHint> {
    let syn::FnArg::Typed(typed) = input else { return None };
    typed.attrs.iter().find(|attr| is_named(attr, "cache")).and_then(|attr| parse(attr).ok())
}

fn parse(attr: &syn::Attribute) -> Result<CacheHint, Diagnostic> {
    let all = CacheHint::ALL.iter().map(|(_, word)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let Ok(word) = attr.parse_args::<syn::Ident>() else {
        let message = "`#[cache(…)]` takes one hint";
        return Err(Diagnostic::error(attr.span(), message).help(format!("write one of {all}, as in `#[cache(streaming)]`")));
    };
    let name = word.to_string();
    CacheHint::ALL.iter().find(|(_, known)| *known == name).map(|(hint, _)| *hint).ok_or_else(|| {
        let error = Diagnostic::error(word.span(), format!("the caches have no hint `{name}`"));
        match nearest(&name, CacheHint::ALL.iter().map(|(_, word)| *word)) {
            Some(near) => error.help(format!("write `{near}`")),
            None => error.help(format!("use one of {all}")),
        }
    })
}

/// Checks the attributes of a parameter; `is_kernel`: of a kernel, where alone hints may stand.
pub(super) fn check(input: &syn::FnArg, is_kernel: bool, diagnostics: &mut Diagnostics) {
    let syn::FnArg::Typed(typed) = input else { return };
    let mut hints = typed.attrs.iter().filter(|attr| is_named(attr, "cache"));
    let Some(attr) = hints.next() else { return };
    let error = |message: &str| Diagnostic::error(attr.span(), message.to_owned());
    if let Some(second) = hints.next() {
        diagnostics.push(Diagnostic::error(second.span(), "a buffer has one hint for the caches").help("remove one of them"));
    }
    if !is_kernel {
        let error = error("`#[cache(…)]` stands on the kernel's parameter, and holds wherever the buffer is passed");
        diagnostics.push(error.help("move it there"));
    } else if !is_buffer(&typed.ty) {
        let error = error("`#[cache(…)]` is about the accesses of a buffer, `&Global<T>` or `&mut Global<T>`, or of a matrix");
        diagnostics.push(error.help("remove it"));
    } else if let Err(error) = parse(attr) {
        diagnostics.push(error);
    }
}

fn is_buffer(ty: &syn::Type) -> bool {
    let syn::Type::Reference(reference) = ty else { return false };
    matches!(&*reference.elem, syn::Type::Path(path) if path.path.segments.last().is_some_and(|segment| ["Global", "Matrix", "MatrixBatch"].iter().any(|name| segment.ident == name)))
}
