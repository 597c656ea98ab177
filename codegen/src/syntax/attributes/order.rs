//! The arguments that say what runs when, and where: `raster(rows = R)`, `persistent`, `overlap`, `cluster = (2, 1)`.

use super::{KernelAttributes, check_count, extents_of, literal_int, parse_value, skip_to_comma};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::target::limits::{CLUSTER_BLOCKS, GRID_EXTENT};
use proc_macro2::{Group, Ident};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Token, parse_quote_spanned, token};

/// The arguments, and how they are written.
const EXAMPLES: &[(&str, &str)] = &[
    ("raster", "raster(rows = 8)"),
    ("persistent", "persistent"),
    ("overlap", "overlap"),
    ("cluster", "cluster = (2, 1)"),
    ("tensor", "tensor"),
];

/// How an argument that says what runs when is written: people try those as attributes of their own.
pub(crate) fn example_of_kernel(name: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|(known, _)| name == *known).map(|(_, example)| *example)
}

const RASTER: &str = "write `raster(rows = 8)`";

/// `raster(rows = R)`; the input stands behind `raster`.
pub(super) fn parse_raster(
    into: &mut KernelAttributes,
    name: &Ident,
    input: ParseStream<'_>,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    if !input.peek(token::Paren) {
        diagnostics.push(Diagnostic::error(name.span(), "`raster` takes its rows in parentheses").help(RASTER));
        return skip_to_comma(input);
    }
    let group: Group = input.parse()?;
    let rows = |content: ParseStream<'_>| -> syn::Result<Result<Expr, Diagnostic>> {
        let refuse = |message: String, span| Ok(Err(Diagnostic::error(span, message).help(RASTER)));
        if content.is_empty() {
            return refuse("`raster` needs the rows of a band".to_owned(), name.span());
        }
        let value: Expr = if content.peek(syn::Ident) && content.peek2(Token![=]) && !content.peek2(Token![==]) {
            let word: Ident = content.parse()?;
            if word != "rows" {
                skip_rest(content)?;
                return refuse(format!("`raster` has no argument `{word}`"), word.span());
            }
            content.parse::<Token![=]>()?;
            if content.is_empty() {
                return refuse("`rows` needs a value".to_owned(), word.span());
            }
            content.parse()?
        } else {
            let value: Expr = content.parse()?;
            skip_rest(content)?;
            return refuse("`raster` takes its number as `rows = …`".to_owned(), value.span());
        };
        content.parse::<Option<Token![,]>>()?;
        if !content.is_empty() {
            let span = content.span();
            skip_rest(content)?;
            return refuse("`raster` takes `rows` and nothing else".to_owned(), span);
        }
        Ok(Ok(value))
    };
    // Whatever it gets wrong, the tokens of the group are consumed: the next argument is parsed from a clean start.
    match rows.parse2(group.stream())? {
        Ok(value) => {
            let rows = Ident::new("rows", name.span());
            check_count(&rows, &value, GRID_EXTENT[1].into(), "the most rows of a grid are", diagnostics);
            into.raster = Some(value);
        }
        Err(refused) => diagnostics.push(refused),
    }
    Ok(())
}

/// `persistent`, `persistent = P`; the input stands behind `persistent`.
pub(super) fn parse_persistent(
    into: &mut KernelAttributes,
    name: &Ident,
    input: ParseStream<'_>,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    let of_number = [
        "a launch starts as many blocks as fit",
        "write `persistent` alone; `min_blocks = 2` asks for room for so many on a multiprocessor",
    ];
    into.persistent = parse_switch(name, of_number, input, diagnostics)?;
    Ok(())
}

/// `overlap`, `overlap = P`; the input stands behind `overlap`.
pub(super) fn parse_overlap(
    into: &mut KernelAttributes,
    name: &Ident,
    input: ParseStream<'_>,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    let of_number = ["a launch begins before the one before it has ended, or does not", "write `overlap` alone"];
    into.overlap = parse_switch(name, of_number, input, diagnostics)?;
    Ok(())
}

/// `tensor`, `tensor = true | false | tf32`; the input stands behind `tensor`.
pub(super) fn parse_tensor(
    into: &mut KernelAttributes,
    name: &Ident,
    input: ParseStream<'_>,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    let of_number = ["products use tensor cores, or do not", "write `tensor` alone, or `tensor = tf32`"];
    into.tensor = parse_switch(name, of_number, input, diagnostics)?;
    Ok(())
}

/// `cluster = 2`, `cluster = (2, 1)`: one to three expressions.
pub(super) fn parse_cluster(
    into: &mut KernelAttributes,
    name: &Ident,
    input: ParseStream<'_>,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    const HELP: &str = "write `cluster = 2`, `cluster = (2, 1)` or `cluster = (2, 2, 1)`";
    let Some(value) = parse_value(name, input, "(2, 1)", diagnostics)? else { return Ok(()) };
    let span = value.span();
    let Some(extents) = extents_of(name, value, diagnostics) else { return Ok(()) };
    if extents.is_empty() || extents.len() > 3 {
        let message = format!("a cluster has one to three dimensions, not {}", extents.len());
        diagnostics.push(Diagnostic::error(span, message).help(HELP));
        return Ok(());
    }
    for (extent, axis) in extents.iter().zip(["x", "y", "z"]) {
        let message = match literal_int(extent) {
            Some(value) if value < 1 => format!("a cluster of {value} blocks in {axis} is not possible: it must be at least 1"),
            None if matches!(extent, Expr::Lit(_)) => "`cluster` takes integers, constants or const generics".to_owned(),
            _ => continue,
        };
        diagnostics.push(Diagnostic::error(extent.span(), message).help(format!("use 1 to {CLUSTER_BLOCKS}")));
        return Ok(());
    }
    into.cluster = Some((span, extents));
    Ok(())
}

/// A word that stands alone, or has a `bool` behind `=`. `of_number`: what is said to who writes a number, and the help.
fn parse_switch(name: &Ident, of_number: [&str; 2], input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<Option<Expr>> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Some(parse_quote_spanned!(name.span() => true)));
    }
    if !input.peek(Token![=]) {
        let error = Diagnostic::error(name.span(), format!("`{name}` stands alone, or takes its value behind `=`"));
        diagnostics.push(error.help(format!("write `{name}`, or `{name} = P` with a `bool` const generic `P`")));
        skip_to_comma(input)?;
        return Ok(None);
    }
    let Some(value) = parse_value(name, input, "true", diagnostics)? else { return Ok(None) };
    if matches!(&value, Expr::Lit(ExprLit { lit, .. }) if !matches!(lit, Lit::Bool(_))) {
        let [what, help] = of_number;
        let error = Diagnostic::error(value.span(), format!("`{name}` is `true` or `false`: {what}"));
        diagnostics.push(error.help(help));
        return Ok(None);
    }
    Ok(Some(value))
}

fn skip_rest(content: ParseStream<'_>) -> syn::Result<()> {
    while !content.is_empty() {
        content.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}
