//! Enums: variants of one value, and representations that there are not.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::attributes::literal_int;
use crate::syntax::repr::{align_of_argument, repr_arguments};
use std::collections::HashMap;

/// The integers that an enum can be.
const INTEGERS: &[&str] = &["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

/// What else `#[repr(…)]` takes.
const LAYOUTS: &[&str] = &["C", "Rust", "transparent", "packed", "align", "simd"];

pub(super) fn check(item: &syn::Item, diagnostics: &mut Diagnostics) {
    match item {
        syn::Item::Enum(item) => {
            check_representation(&item.ident, &item.attrs, diagnostics);
            check_variants(item, diagnostics);
        }
        syn::Item::Struct(item) => check_representation(&item.ident, &item.attrs, diagnostics),
        _ => {}
    }
}

fn check_representation(name: &syn::Ident, attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) {
    let arguments = repr_arguments(attrs);
    let word = |argument: &str| argument.split('(').next().unwrap_or_default().to_owned();
    for argument in &arguments {
        let refused = match align_of_argument(argument) {
            Some(align) if !align.is_power_of_two() => {
                let next = align.max(1).checked_next_power_of_two().unwrap_or(16).min(16);
                Some((format!("`{name}` cannot be aligned to {align} bytes, which is no power of two"), format!("write `align({next})`")))
            }
            Some(_) => None,
            None if INTEGERS.contains(&argument.as_str()) || LAYOUTS.contains(&word(argument).as_str()) => None,
            None => Some((
                format!("`#[repr({argument})]` of `{name}` is no representation"),
                "write `#[repr(u32)]`, or another integer".to_owned(),
            )),
        };
        if let Some((message, help)) = refused {
            diagnostics.push(Diagnostic::error(name.span(), message).help(help));
        }
    }
    let mut integers: Vec<&String> = arguments.iter().filter(|argument| INTEGERS.contains(&argument.as_str())).collect();
    integers.dedup();
    if let [first, second, ..] = integers.as_slice() {
        let error = Diagnostic::error(name.span(), format!("`{name}` cannot be both a `{first}` and a `{second}`"));
        diagnostics.push(error.help(format!("write one of them: `#[repr({first})]`")));
    }
}

/// Variants whose values are written as numbers, or follow from one that is. Of constants the front end knows more.
fn check_variants(item: &syn::ItemEnum, diagnostics: &mut Diagnostics) {
    if item.variants.is_empty() && !repr_arguments(&item.attrs).is_empty() {
        let error = Diagnostic::error(item.ident.span(), format!("`{}` has no variants, so there is no value to represent", item.ident));
        diagnostics.push(error.help("write a variant: `A`"));
    }
    // Which of the variants are there is a `cfg`'s to decide.
    if item.variants.iter().any(|variant| variant.attrs.iter().any(super::is_conditional)) {
        return;
    }
    let mut known: HashMap<i128, &syn::Ident> = HashMap::new();
    let mut next = Some(0);
    for variant in &item.variants {
        let value = match &variant.discriminant {
            Some((_, expr)) => literal_int(expr),
            None => next,
        };
        if let Some(value) = value {
            match known.get(&value) {
                Some(first) => diagnostics.push(same_value(&item.ident.to_string(), &variant.ident, first, value)),
                None => drop(known.insert(value, &variant.ident)),
            }
        }
        next = value.and_then(|value| value.checked_add(1));
    }
}

/// Two variants of an enum that have the same value.
fn same_value(of: &str, variant: &syn::Ident, first: &syn::Ident, value: i128) -> Diagnostic {
    let error = Diagnostic::error(variant.span(), format!("`{of}::{variant}` is {value}, and so is `{of}::{first}`"));
    error.label(first.span(), format!("{value} here")).help(format!("give it a value of its own: `{variant} = …`"))
}
