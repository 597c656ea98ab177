//! What the attributes write.
//!
//! Everything generated stands in one of a few forms: the host function of a kernel (`host`), the host twin of device code (`twin`),
//! its embedded source (`source`) with what that names from outside, and the marks on device items (`device`). `check` is what is
//! known before anything runs. Generated names begin with `__warpwright` or `__WARPWRIGHT`; paths begin with `::warpwright`.

mod check;
mod device;
mod group;
mod host;
mod module;
mod shared_scalars;
mod source;
#[cfg(test)]
mod tests;
mod twin;
mod variants;

pub(crate) use device::device;
pub(crate) use module::module;

use crate::diagnostics::compile_errors;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use source::UnitSource;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::syntax::{KernelAttributes, check_nesting, foreign_syntax};

/// `#[kernel(arguments)] item`.
pub(crate) fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Some(refused) = refuse_nesting(&item) {
        return refused;
    }
    let mut function: syn::ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return refuse_item("kernel", "a function", &error, item),
    };
    let mark = source::mark("kernel", arguments);
    let mut unit = function.clone();
    unit.attrs.insert(0, mark.clone());
    let items = vec![syn::Item::Fn(unit)];
    let found = check::check_items(&items, &items[0]);
    let (warnings, denied) = (found.warnings_of(&function.sig.ident), found.denied());
    let attributes = KernelAttributes::find(std::slice::from_ref(&mark), &mut Diagnostics::new()).unwrap_or_default();
    let mark = mark.into_token_stream();
    let text = quote!(#mark #item);
    let source = UnitSource::new(text, &items, function.sig.ident.to_string(), &found);
    let named = source::named(&items, &found);
    let findings = found.errors;
    let calls = twin::Calls::of(item);
    twin::rewrite_function(&mut function.sig, &mut function.block, calls, &mut twin::Slots::default());
    let host = if findings.has_errors() {
        host::refused_function(&function, &attributes, &findings, &named)
    } else {
        host::host_function(&function, &attributes, &source.item_expression(), &warnings)
    };
    let errors = compile_errors(&findings);
    quote!(#host #errors #denied)
}

/// Whether one of the errors stands in this function.
fn stand_in(errors: &Diagnostics, sig: &syn::Signature, block: &syn::Block) -> bool {
    let (first, last) = (sig.fn_token.span.start(), block.brace_token.span.close().end());
    errors.iter().filter(|found| found.level == Level::Error).any(|error| first <= error.span.start() && error.span.end() <= last)
}

/// Whether one of the errors stands at one of these tokens.
fn is_refused(errors: &Diagnostics, tokens: TokenStream) -> bool {
    let is_here = |span: Span| errors.iter().any(|error| error.level == Level::Error && error.span.start() == span.start());
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => is_refused(errors, group.stream()),
        token => is_here(token.span()),
    })
}

/// UnitSource that would exhaust the compiler's stack, before anything walks it.
fn refuse_nesting(item: &TokenStream) -> Option<TokenStream> {
    let found = check_nesting(item).err()?;
    let errors = compile_errors(&found);
    Some(quote!(#item #errors))
}

/// The attribute stands on something it is not for, or on what is no Rust: the item stays as it is.
fn refuse_item(attribute: &str, wanted: &str, error: &syn::Error, item: TokenStream) -> TokenStream {
    // A whole item of another kind parses as one: then it is the attribute that is misplaced. Otherwise `rustc` has shown what is wrong in the
    // item's own text, before it came here; but it knows nothing of CUDA C++.
    if syn::parse2::<syn::Item>(item.clone()).is_err() {
        let errors = foreign_syntax(item.clone()).map_or_else(TokenStream::new, |error| compile_errors(&error.into()));
        return quote!(#errors #item);
    }
    let _ = error;
    let span = item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let message = format!("`#[{attribute}]` belongs on {wanted}");
    let error = Diagnostic::error(span, message).help(format!("remove `#[{attribute}]`, or move it to {wanted}"));
    let errors = compile_errors(&Diagnostics::from(error));
    quote!(#errors #item)
}
