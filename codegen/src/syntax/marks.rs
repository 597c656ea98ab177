//! Functions without a mark in a `#[warpwright::module]`: those that device code calls are device functions, the others are the host's.
//!
//! Only names decide, as everywhere in `syntax`: a function is called where its name stands before parentheses, or before `::<`.

use super::signature::is_marked;
use super::subset::is_named_module;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;

/// Marks the functions of modules that their device code calls, and those that these call.
pub(super) fn mark_called(items: &mut [syn::Item]) {
    for item in items {
        if let syn::Item::Mod(syn::ItemMod { attrs, content: Some((_, content)), .. }) = item {
            if is_named_module(attrs) {
                mark_called_in(content);
            } else {
                mark_called(content);
            }
        }
    }
}

/// The same in the contents of one `#[warpwright::module]`.
pub fn mark_called_in(content: &mut [syn::Item]) {
    let mut called = HashSet::new();
    each_body(content, &mut |body| calls(body, &mut called));
    loop {
        let before = called.len();
        let mut found = HashSet::new();
        each_function(content, &mut |function| {
            if !is_marked(&function.attrs) && called.contains(&function.sig.ident.to_string()) {
                function.attrs.push(syn::parse_quote!(#[device]));
                calls(function.block.to_token_stream(), &mut found);
            }
        });
        called.extend(found);
        if called.len() == before {
            return;
        }
    }
}

/// The bodies that are device code without further ado. (Modules within a module are refused.)
fn each_body(items: &mut [syn::Item], f: &mut impl FnMut(TokenStream)) {
    for item in items {
        match item {
            syn::Item::Fn(function) if is_marked(&function.attrs) => f(function.block.to_token_stream()),
            syn::Item::Impl(item) if item.trait_.is_none() => f(item.to_token_stream()),
            _ => {}
        }
    }
}

fn each_function(items: &mut [syn::Item], f: &mut impl FnMut(&mut syn::ItemFn)) {
    for item in items {
        if let syn::Item::Fn(function) = item {
            f(function);
        }
    }
}

/// The names that are called, those in the arguments of macros among them.
fn calls(tokens: TokenStream, found: &mut HashSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |token: Option<&TokenTree>, c: char| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == c);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) => {
                let is_method = at > 0 && is(tokens.get(at - 1), '.') && !(at > 1 && is(tokens.get(at - 2), '.'));
                let next = tokens.get(at + 1);
                let is_called = matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                    || is(next, ':') && is(tokens.get(at + 2), ':') && is(tokens.get(at + 3), '<');
                if is_called && !is_method {
                    found.insert(name.to_string());
                }
            }
            TokenTree::Group(group) => calls(group.stream(), found),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> Vec<String> {
        let mut items = syn::parse_file(text).unwrap().items;
        mark_called_in(&mut items);
        let mut names = Vec::new();
        each_function(&mut items, &mut |function| {
            if is_marked(&function.attrs) {
                names.push(function.sig.ident.to_string());
            }
        });
        names
    }

    #[test]
    fn what_device_code_calls_is_device_code() {
        let text = "#[kernel] fn k() { f(1); g::<2>(3); assert!(h(1) > 2); p.m(1); for i in 0..end() {} }
                    fn f(a: u32) -> u32 { deep(a) } fn g() {} fn deep() {} fn m() {} fn end() -> u32 { 3 } fn host() { f(2); other(); }
                    fn other() {} fn h() { self::deeper(); } fn k2() {} fn deeper() {}
                    struct S; impl S { fn a(&self) { of_method(); } } fn of_method() {}
                    #[cfg(test)] mod tests { fn f() { host(); } }";
        assert_eq!(marked(text), ["k", "f", "g", "deep", "end", "h", "deeper", "of_method"]);
    }

    #[test]
    fn without_device_code_nothing_is_marked() {
        assert_eq!(marked("fn f() { g(); } fn g() {} impl Debug for S { fn fmt() { f(); } }"), [""; 0]);
    }
}
