//! `variants(N in [1, 2], (A, B) in [(1, 2), (3, 4)])`: which instances a kernel declares.

use super::{DeclaredVariants, KernelAttributes, skip_to_comma};
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::{Group, Ident};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Token, token};

const EXAMPLE: &str = "write `variants(N in [1, 2, 4])`";
const TIED: &str = "write, for example, `(A, B) in [(1, 2), (3, 4)]`";

/// The list; the input stands behind `variants`.
pub(super) fn parse(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    if !input.peek(token::Paren) {
        diagnostics.push(Diagnostic::error(name.span(), "`variants` takes a list in parentheses").help(EXAMPLE));
        return skip_to_comma(input);
    }
    let group: Group = input.parse()?;
    into.variants.span = Some(name.span());
    if group.stream().is_empty() {
        diagnostics.push(Diagnostic::error(name.span(), "`variants` is empty").help(EXAMPLE));
    }
    let axes = |content: ParseStream<'_>| {
        while !content.is_empty() {
            if content.peek(token::Paren) {
                parse_tied(&mut into.variants, content, diagnostics)?;
            } else {
                let axis: Ident = content.parse()?;
                content.parse::<Token![in]>()?;
                let values = parse_values(&format!("`{axis}`, like `[1, 2, 4]`"), content)?;
                add_axis(&mut into.variants, axis, values, diagnostics);
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    // Whatever an axis gets wrong, the tokens of the group are consumed: the next argument is parsed from a clean start.
    axes.parse2(group.stream())
}

/// `(A, B) in [(1, 2), (3, 4)]`: generics that take their values together.
fn parse_tied(into: &mut DeclaredVariants, content: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let inner;
    let parenthesis = syn::parenthesized!(inner in content);
    let names: Vec<Ident> = Punctuated::<Ident, Token![,]>::parse_terminated_with(&inner, Ident::parse_any)?.into_iter().collect();
    content.parse::<Token![in]>()?;
    let rows = parse_values("the generics, like `[(1, 2), (3, 4)]`", content)?;
    if names.len() < 2 {
        let error = Diagnostic::error(parenthesis.span.join(), "a tuple of `variants` has two generics or more");
        diagnostics.push(error.help(TIED));
        return Ok(());
    }
    let mut columns = vec![Vec::new(); names.len()];
    let mut is_whole = true;
    for row in &rows {
        let values: Vec<Expr> = match row {
            Expr::Tuple(tuple) => tuple.elems.iter().cloned().collect(),
            Expr::Paren(paren) => vec![(*paren.expr).clone()],
            other => vec![other.clone()],
        };
        if values.len() != names.len() {
            let list: Vec<String> = names.iter().map(ToString::to_string).collect();
            let message =
                format!("`({})` takes {} values at a time, and here {} {}", list.join(", "), names.len(), verb(values.len()), values.len());
            diagnostics.push(Diagnostic::error(row.span(), message).help(TIED));
            is_whole = false;
            continue;
        }
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    if is_whole || columns.iter().any(|column| !column.is_empty()) {
        names.iter().zip(columns).for_each(|(name, column)| add_axis(into, name.clone(), column, diagnostics));
        into.tied.push(names);
    }
    Ok(())
}

fn verb(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Adds an axis that there is not yet.
fn add_axis(into: &mut DeclaredVariants, axis: Ident, values: Vec<Expr>, diagnostics: &mut Diagnostics) {
    if values.is_empty() {
        let error = Diagnostic::error(axis.span(), format!("`{axis}` has no values: there would be no variants"));
        diagnostics.push(error.help(format!("write, for example, `{axis} in [1, 2, 4]`")));
    }
    if let Some((first, _)) = into.axes.iter().find(|(first, _)| *first == axis) {
        let error = Diagnostic::error(axis.span(), format!("`{axis}` is given twice")).label(first.span(), "first given here");
        diagnostics.push(error.help("join the two lists"));
    } else {
        into.axes.push((axis, values));
    }
}

/// `[a, b, c]`, or a word or two about it.
fn parse_values(of: &str, content: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    if !content.peek(token::Bracket) {
        return Err(syn::Error::new(content.span(), format!("expected a list of values for {of}")));
    }
    let list;
    syn::bracketed!(list in content);
    Ok(Punctuated::<Expr, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}
