//! `#[allow(deprecated)]` and its like on a kernel and on the modules round it: what `rustc` makes of the macro's warnings, this command does
//! without it.

use syn::Token;
use syn::punctuated::Punctuated;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::syntax::Setting;
use warpwright_review::lint;

/// The findings about a kernel (its path within the items) at the levels that attributes of Rust give them.
pub(super) fn apply(found: Diagnostics, items: &[syn::Item], kernel: &str) -> Diagnostics {
    let Some(setting) = setting(items, kernel) else { return found };
    found.filter_map(|finding| {
        let is_lint = finding.lint.is_some_and(|name| lint::find(name).is_ok());
        match setting.level() {
            _ if !is_lint || finding.level == Level::Error => Some(finding),
            level => level.map(|level| Diagnostic { level, ..finding }),
        }
    })
}

/// What the innermost attribute says.
fn setting(items: &[syn::Item], path: &str) -> Option<Setting> {
    match path.split_once("::") {
        None => items.iter().find_map(|item| match item {
            syn::Item::Fn(function) if function.sig.ident == path => Some(of_attributes(&function.attrs)),
            _ => None,
        })?,
        Some((first, rest)) => items.iter().find_map(|item| match item {
            syn::Item::Mod(module) if module.ident == first => {
                let inner = module.content.as_ref().and_then(|(_, items)| setting(items, rest));
                Some(inner.or_else(|| of_attributes(&module.attrs)))
            }
            _ => None,
        })?,
    }
}

/// What the last attribute that is about `deprecated` says.
fn of_attributes(attrs: &[syn::Attribute]) -> Option<Setting> {
    const WORDS: [(&str, Setting); 5] = [
        ("allow", Setting::Allow),
        ("expect", Setting::Allow),
        ("warn", Setting::Warn),
        ("deny", Setting::Deny),
        ("forbid", Setting::Deny),
    ];
    attrs.iter().rev().find_map(|attr| {
        let (_, setting) = WORDS.iter().find(|(word, _)| attr.path().is_ident(word))?;
        let names = attr.parse_args_with(Punctuated::<syn::Meta, Token![,]>::parse_terminated).ok()?;
        names.iter().any(|name| name.path().is_ident("deprecated") || name.path().is_ident("warnings")).then_some(*setting)
    })
}
