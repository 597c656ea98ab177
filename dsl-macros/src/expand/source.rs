//! The embedded source of a unit, and the paths it names from outside.

use super::check::Findings;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use warpwright_codegen::syntax::{AbsentName, FreePath, FreePathKind, free_paths, imported_names_of_language, layout};

/// The attribute as it stood before the item, at its place: macros are handed the item without it.
pub(super) fn mark(name: &str, arguments: TokenStream) -> syn::Attribute {
    let span = Span::call_site();
    let path: syn::Path = Ident::new(name, span).into();
    let meta = if arguments.is_empty() {
        syn::Meta::Path(path)
    } else {
        let delimiter = syn::MacroDelimiter::Paren(syn::token::Paren(span));
        syn::Meta::List(syn::MetaList { path, delimiter, tokens: arguments })
    };
    syn::Attribute { pound_token: syn::Token![#](span), style: syn::AttrStyle::Outer, bracket_token: syn::token::Bracket(span), meta }
}

/// A unit as the program will carry it.
pub(super) struct UnitSource {
    name: String,
    /// Expression of type `SourceText`.
    text: TokenStream,
    /// Expressions of type `ExternItem`.
    externs: Vec<TokenStream>,
}

impl UnitSource {
    /// The unit with these tokens, which parse to these items; `name` is the marked item within it. Where errors were found already, names from
    /// outside are left to fail later: they would only add more. So are those that are nowhere.
    pub(super) fn new(tokens: TokenStream, items: &[syn::Item], name: String, found: &Findings) -> UnitSource {
        let layout = layout(tokens);
        let (text, line, column) = (layout.text, layout.line, layout.column);
        let text = quote! {
            ::warpwright::__private::SourceText { text: #text, file: ::core::file!(), line: #line, column: #column }
        };
        let externs = if found.errors.has_errors() { Vec::new() } else { extern_items(items, found.absent.as_deref().unwrap_or_default()) };
        UnitSource { name, text, externs }
    }

    /// The same for a type of this name, whose methods may stand in a unit of their own, which nothing in this one names.
    pub(super) fn with_methods_of(mut self, ty: &Ident) -> UnitSource {
        self.externs.push(quote! {
            ::warpwright::__private::ExternItem {
                path: "",
                target: ::warpwright::__private::ExternTarget::Item({
                    #[allow(unused_imports)]
                    use ::warpwright::__private::DeviceMethods as _;
                    <#ty>::__warpwright_methods
                }),
            }
        });
        self
    }

    /// Expression of type `DeviceItem` for the marked item.
    pub(super) fn item_expression(&self) -> TokenStream {
        let UnitSource { name, text, externs } = self;
        quote!(::warpwright::__private::DeviceItem { name: #name, source: #text, externs: &[#(#externs),*] })
    }

    /// The parts, for a module that shares them among its items: source text and externs.
    pub(super) fn into_parts(self) -> (TokenStream, TokenStream) {
        let UnitSource { text, externs, .. } = self;
        (text, quote!(&[#(#externs),*]))
    }
}

/// Statements that name what the items take from outside, where that is known to be there, and what they import of the language: in the place of a body that is left out, so that
/// `rustc` does not call an import unused.
pub(super) fn named(items: &[syn::Item], found: &Findings) -> TokenStream {
    let Some(absent) = &found.absent else { return TokenStream::new() };
    let is_there = |found: &FreePath| absent.iter().all(|absent| absent.key != found.key || absent.is_std);
    let paths = free_paths(items).into_iter().filter(is_there).chain(imported_names_of_language(items));
    paths
        .map(|FreePath { path, uses, .. }| quote!({ #(#[allow(unused_imports)] #uses)* #[allow(unused_imports)] use #path as _; }))
        .collect()
}

/// An expression of type `ExternItem` for each path that the items take from outside.
pub(super) fn extern_items(items: &[syn::Item], absent: &[AbsentName]) -> Vec<TokenStream> {
    let is_somewhere = |found: &&FreePath| absent.iter().all(|absent| absent.key != found.key || absent.is_std);
    free_paths(items).iter().filter(is_somewhere).map(extern_item).collect()
}

fn extern_item(found: &FreePath) -> TokenStream {
    let FreePath { path, key, kind, uses, .. } = found;
    // The `use` statements of the kernel's body that are in force where the path stands.
    let uses = quote!(#(#[allow(unused_imports)] #uses)*);
    let target = match kind {
        FreePathKind::Constant => {
            let value = quote_spanned!(path.span()=> ::warpwright::__private::IntoConstValue::into_const(#path));
            quote!(Constant(|| { #uses #value }))
        }
        FreePathKind::Function | FreePathKind::Type => {
            // The function itself, where a closure would be a body more for `rustc`.
            let item = quote_spanned!(path.span()=> <#path as ::warpwright::__private::DeviceType>::item);
            quote!(Item({ #uses #item }))
        }
    };
    quote!(::warpwright::__private::ExternItem { path: #key, target: ::warpwright::__private::ExternTarget::#target })
}

/// Takes the items that only tests see out of a module's tokens: the device's compiler knows no `cfg`.
pub(super) fn without_tests(item: &syn::ItemMod) -> syn::ItemMod {
    let mut item = item.clone();
    if let Some((_, items)) = &mut item.content {
        items.retain(|item| !matches!(item, syn::Item::Mod(inner) if inner.attrs.iter().any(is_cfg_test)));
    }
    item
}

fn is_cfg_test(attr: &syn::Attribute) -> bool {
    attr.path().is_ident("cfg") && attr.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}
