//! The arguments of `#[kernel(…)]`, parsed into data with spans; what they mean is decided where they are consumed.
//!
//! Each argument is parsed by itself, so that one mistake does not hide the next. An unknown argument is refused with the nearest
//! known name.

mod order;
mod variants;

pub(super) use order::example_of_kernel;

use super::choice::Choice;
use super::layout::written;
use super::levels::{Levels, Setting};
use super::require::{self, RequireClause};
use super::written::{Written, WrittenAnnotations};
use crate::annotations::{Annotation, On};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{BoundsCheck, Math};
use crate::nearest::nearest;
use crate::target::limits::{BLOCK_EXTENT, BLOCK_THREADS, RESIDENT_BLOCKS, THREAD_REGISTERS};
use crate::target::{DEFAULT_TARGETS, Targets};
use proc_macro2::{Ident, Span, TokenStream};
use std::fmt::Write;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, Lit, Token};

/// The arguments of `#[kernel(…)]`, unevaluated: expressions may name const generics and constants.
#[derive(Clone, Default)]
pub struct KernelAttributes {
    /// `block = 256` or `(16, 16)`: one to three expressions.
    pub block: Option<(Span, Vec<Expr>)>,
    /// `min_blocks = N`.
    pub min_blocks: Option<Expr>,
    /// `max_registers = N`.
    pub max_registers: Option<Expr>,
    /// `index = 32 | 64`.
    pub index: Option<Expr>,
    /// `math = precise | fast`, checked.
    pub math: Choice<Math>,
    /// `contract = true | false` (or a const generic).
    pub contract: Option<Expr>,
    /// `bounds = unchecked | trap`, checked.
    pub bounds: Choice<BoundsCheck>,
    /// Its annotations: `ilp = N`, `vectorize(N, …)`, `batch_loads`.
    pub annotations: WrittenAnnotations,
    /// `raster(rows = R)`: the R.
    pub raster: Option<Expr>,
    /// `persistent`, or `persistent = P`: the P.
    pub persistent: Option<Expr>,
    /// `overlap`, or `overlap = P`: the P.
    pub overlap: Option<Expr>,
    /// `tensor`, `tensor = true | false | tf32` (or a const generic).
    pub tensor: Option<Expr>,
    /// `cluster = (2, 1)`: one to three expressions.
    pub cluster: Option<(Span, Vec<Expr>)>,
    /// `best_effort`: for all annotations.
    pub best_effort: bool,
    /// `targets = [sm_80, …]`, checked against the target table.
    pub targets: Vec<Ident>,
    /// `variants(B in [64, 128], …)`.
    pub variants: DeclaredVariants,
    /// `allow(…)`, `warn(…)`, `deny(…)`.
    pub levels: Levels,
    /// `require(…)`.
    pub required: Vec<RequireClause>,
    /// The name of each argument where it first stands.
    pub places: Vec<(&'static str, Span)>,
}

/// Declared variants: for each named generic, its values.
#[derive(Clone, Default)]
pub struct DeclaredVariants {
    /// The word `variants`, if the attribute has it.
    pub span: Option<Span>,
    /// Generic and the expressions listed for it.
    pub axes: Vec<(Ident, Vec<Expr>)>,
    /// Generics that take their values together, the first of each with the first, `(A, B) in [(1, 2), (3, 4)]`: their axes have as many.
    pub tied: Vec<Vec<Ident>>,
}

/// How an argument's tokens go into the attributes: the input stands behind the argument's name.
type ParseArgument = fn(&mut KernelAttributes, &Ident, ParseStream<'_>, &mut Diagnostics) -> syn::Result<()>;

/// Whether this is the word of `tensor = tf32`.
pub(crate) fn is_tf32(value: &Expr) -> bool {
    matches!(value, Expr::Path(path) if path.path.is_ident("tf32"))
}

/// Of `tensor = if A { tf32 } else { B }`: the condition, and what stands in both branches.
pub(crate) fn tensor_branches(value: &Expr) -> Option<(&Expr, [&Expr; 2])> {
    let Expr::If(choice) = value else { return None };
    let (_, otherwise) = choice.else_branch.as_ref()?;
    let otherwise = match &**otherwise {
        Expr::Block(block) => only(&block.block)?,
        other => other,
    };
    Some((&choice.cond, [only(&choice.then_branch)?, otherwise]))
}

/// The expression that a block is, if it is one.
fn only(block: &syn::Block) -> Option<&Expr> {
    match &block.stmts[..] {
        [syn::Stmt::Expr(tail, None)] => Some(tail),
        _ => None,
    }
}

/// What `tensor = …` evaluates for each instance.
fn tensor_values(value: &Expr) -> Vec<&Expr> {
    match tensor_branches(value) {
        Some((condition, branches)) => [condition].into_iter().chain(branches.into_iter().flat_map(tensor_values)).collect(),
        None if is_tf32(value) => Vec::new(),
        None => vec![value],
    }
}

/// An argument of `#[kernel(…)]`.
struct Argument {
    name: &'static str,
    parse: ParseArgument,
    /// Whether it may be given several times.
    repeats: bool,
}

impl Argument {
    const fn once(name: &'static str, parse: ParseArgument) -> Argument {
        Argument { name, parse, repeats: false }
    }

    const fn repeated(name: &'static str, parse: ParseArgument) -> Argument {
        Argument { name, parse, repeats: true }
    }
}

/// Every argument that is no annotation.
const ARGUMENTS: &[Argument] = &[
    Argument::once("block", parse_block),
    Argument::once("min_blocks", parse_min_blocks),
    Argument::once("max_registers", parse_max_registers),
    Argument::once("index", parse_index),
    Argument::once("math", parse_math),
    Argument::once("contract", parse_contract),
    Argument::once("bounds", parse_bounds),
    Argument::once("targets", parse_targets),
    Argument::once("variants", variants::parse),
    Argument::once("raster", order::parse_raster),
    Argument::once("persistent", order::parse_persistent),
    Argument::once("overlap", order::parse_overlap),
    Argument::once("tensor", order::parse_tensor),
    Argument::once("cluster", order::parse_cluster),
    Argument::once("best_effort", parse_best_effort),
    Argument::repeated("require", require::parse),
    Argument::repeated("allow", |into, name, input, found| into.levels.parse(Setting::Allow, name, input, found)),
    Argument::repeated("warn", |into, name, input, found| into.levels.parse(Setting::Warn, name, input, found)),
    Argument::repeated("deny", |into, name, input, found| into.levels.parse(Setting::Deny, name, input, found)),
];

impl KernelAttributes {
    /// The expressions of arguments that are evaluated for each instance, `variants` left out: they may name constants and generics.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let block = self.block.iter().chain(&self.cluster).flat_map(|(_, extents)| extents);
        let single = [&self.min_blocks, &self.max_registers, &self.index, &self.contract, &self.raster, &self.persistent, &self.overlap];
        let conditions = self.math.conditions().into_iter().chain(self.bounds.conditions());
        block
            .chain(single.into_iter().flatten())
            .chain(self.tensor.iter().flat_map(tensor_values))
            .chain(conditions)
            .chain(self.annotations.arguments())
            .chain(self.required.iter().map(|clause| &clause.bound))
    }

    /// What the kernel is checked for, in a crate that asks for `of_crate`: its own targets, else those, else three that stand for what is in use.
    /// Unknown names are left out: they are errors already.
    pub fn targets_or(&self, of_crate: Option<&Targets>) -> Targets {
        let names: Vec<String> = self.targets.iter().map(ToString::to_string).collect();
        let own = Targets::named(names.iter().map(String::as_str));
        match of_crate {
            _ if !own.is_empty() => own,
            Some(targets) => targets.clone(),
            None => Targets::named(DEFAULT_TARGETS),
        }
    }

    /// Finds and parses `#[kernel]` among a function's attributes (`#[kernel]`, `#[kernel(…)]`, `#[warpwright::kernel(…)]`).
    pub fn find(attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) -> Option<KernelAttributes> {
        let attr = attrs.iter().find(|a| is_named(a, "kernel"))?;
        let tokens = match &attr.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::default(),
        };
        Some(KernelAttributes::parse(tokens, diagnostics))
    }

    /// Parses the arguments.
    pub fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> KernelAttributes {
        let mut attributes = KernelAttributes::default();
        attributes.annotations.of_kernel = true;
        parse_list(tokens, "`#[kernel]`", diagnostics, |input, diagnostics| parse_argument(&mut attributes, input, diagnostics));
        attributes
    }
}

/// Parses arguments one by one, so that one mistake does not hide the next; `of`: whose they are.
pub(super) fn parse_list(
    tokens: TokenStream,
    of: &str,
    diagnostics: &mut Diagnostics,
    mut parse: impl FnMut(ParseStream<'_>, &mut Diagnostics) -> syn::Result<()>,
) {
    let mut found = Diagnostics::new();
    let arguments = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = parse(input, &mut found) {
                found.append(error.into());
                skip_to_comma(input)?;
            } else if !input.is_empty() && !input.peek(Token![,]) {
                let error = Diagnostic::error(input.span(), format!("expected `,` between the arguments of {of}"));
                found.push(error.help("write `,` before it"));
                skip_to_comma(input)?;
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    };
    let end = arguments.parse2(tokens);
    diagnostics.append(found);
    if let Err(error) = end {
        diagnostics.append(error.into());
    }
}

/// Parses one argument, its name first.
fn parse_argument(attributes: &mut KernelAttributes, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Ok(name) = input.call(Ident::parse_any) else {
        let message = "expected the name of an argument of `#[kernel]`";
        diagnostics.push(Diagnostic::error(input.span(), message).help("write, for example, `block = 256`"));
        return skip_to_comma(input);
    };
    let argument = ARGUMENTS.iter().find(|argument| name == argument.name);
    let annotation = Annotation::all_on(On::Kernel).find(|annotation| name == annotation.name);
    let Some(known) = argument.map(|argument| argument.name).or(annotation.map(|annotation| annotation.name)) else {
        diagnostics.push(refuse_argument(&name));
        return skip_to_comma(input);
    };
    let first = attributes.places.iter().find(|(seen, _)| *seen == known);
    if let (Some((_, first)), false) = (first, argument.is_some_and(|argument| argument.repeats)) {
        diagnostics.push(given_twice(name.span(), &format!("`{name}`"), *first));
        return skip_to_comma(input);
    }
    if first.is_none() {
        attributes.places.push((known, name.span()));
    }
    if let Some(annotation) = annotation {
        attributes.annotations.insert(Written::parse_in_list(annotation, On::Kernel, &name, input, diagnostics)?);
    }
    argument.map_or(Ok(()), |argument| (argument.parse)(attributes, &name, input, diagnostics))
}

/// What stands where there may be one only.
pub(super) fn given_twice(span: Span, what: &str, first: Span) -> Diagnostic {
    Diagnostic::error(span, format!("{what} is given twice")).label(first, "first given here").help("remove one of them")
}

/// What is no argument of `#[kernel(…)]`.
fn refuse_argument(name: &Ident) -> Diagnostic {
    if let Some(annotation) = Annotation::all_on(On::Loop).find(|annotation| name == annotation.name) {
        let error = Diagnostic::error(name.span(), format!("`{name}` belongs on a loop"));
        return error.help(format!("write `{}` before the loop", annotation.example(On::Loop)));
    }
    let annotations = Annotation::all_on(On::Kernel).map(|annotation| annotation.name);
    let names: Vec<_> = ARGUMENTS.iter().map(|argument| argument.name).chain(annotations).collect();
    let error = Diagnostic::error(name.span(), format!("unknown argument `{name}` of `#[kernel]`"));
    with_nearest(error, &name.to_string(), names.iter().copied(), &names)
}

/// Moves on to the next comma that belongs to the argument list, or to the end.
pub(super) fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// Adds the nearest of `all` names as the way out, or the list of `usable` ones.
pub(super) fn with_nearest<'n>(error: Diagnostic, name: &str, all: impl IntoIterator<Item = &'n str>, usable: &[&str]) -> Diagnostic {
    match nearest(name, all) {
        Some(nearest) => error.help(format!("write `{nearest}`")),
        None => error.help(format!("there {}", list(usable))),
    }
}

/// `is `a`` or `are `a`, `b` and `c``.
fn list(names: &[&str]) -> String {
    let mut text = String::from(if names.len() == 1 { "is " } else { "are " });
    for (i, name) in names.iter().enumerate() {
        let joint = if i == 0 {
            ""
        } else if i + 1 == names.len() {
            " and "
        } else {
            ", "
        };
        write!(text, "{joint}`{name}`").expect("a String takes all");
    }
    text
}

/// The value behind `=`; `example` is what a good argument looks like. `None` if there is none (reported): the input stands at the next comma.
fn parse_value(name: &Ident, input: ParseStream<'_>, example: &str, diagnostics: &mut Diagnostics) -> syn::Result<Option<Expr>> {
    let mut refuse = |message: String, value: &str| {
        diagnostics.push(Diagnostic::error(name.span(), message).help(format!("write `{name} = {value}`")));
        skip_to_comma(input).map(|()| None)
    };
    if input.peek(syn::token::Paren) {
        // `block(16, 16)`: what stands there is kept.
        let group: proc_macro2::Group = input.fork().parse()?;
        let values = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(group.stream()).unwrap_or_default();
        let value = match (values.len(), values.first()) {
            (0, _) | (_, None) => example.to_owned(),
            (1, Some(value)) => written(value),
            _ => format!("({})", written(&group.stream())),
        };
        return refuse(format!("`{name}` takes its value behind `=`"), &value);
    }
    if !input.peek(Token![=]) {
        return refuse(format!("`{name}` needs a value"), example);
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return refuse(format!("`{name}` needs a value"), example);
    }
    input.parse().map(Some)
}

/// The extents behind `block =` or `cluster =`. `None` if they stand in brackets (reported).
fn extents_of(name: &Ident, value: Expr, diagnostics: &mut Diagnostics) -> Option<Vec<Expr>> {
    Some(match value {
        Expr::Tuple(tuple) => tuple.elems.into_iter().collect(),
        Expr::Paren(paren) => vec![*paren.expr],
        Expr::Array(array) if (1..=3).contains(&array.elems.len()) => {
            let error = Diagnostic::error(array.span(), format!("`{name}` takes its extents in parentheses"));
            let extents = match array.elems.len() {
                1 => written(&array.elems),
                _ => format!("({})", written(&array.elems)),
            };
            diagnostics.push(error.help(format!("write `{name} = {extents}`")));
            return None;
        }
        // Too few or too many, which is said.
        Expr::Array(array) => array.elems.into_iter().collect(),
        other => vec![other],
    })
}

/// The value of an integer literal, its sign included; `None` for anything that is not one.
pub fn literal_int(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => int.base10_parse().ok(),
        Expr::Paren(paren) => literal_int(&paren.expr),
        Expr::Group(group) => literal_int(&group.expr),
        Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => literal_int(expr).map(|value| -value),
        _ => None,
    }
}

/// Refuses expressions that no constant can be written as (floats, strings), and literals outside `1..=most`.
fn check_count(name: &Ident, expr: &Expr, most: u64, limit: &str, diagnostics: &mut Diagnostics) {
    if let Some(value) = literal_int(expr) {
        if value < 1 {
            diagnostics.push(
                Diagnostic::error(expr.span(), format!("`{name} = {value}` is not possible: it must be at least 1"))
                    .help(format!("use 1 to {most}")),
            );
        } else if value > i128::from(most) {
            let message = format!("`{name} = {value}` is not possible: {limit} {most}");
            diagnostics.push(Diagnostic::error(expr.span(), message).help(format!("use at most {most}")));
        }
    } else if matches!(expr, Expr::Lit(_)) {
        let error = Diagnostic::error(expr.span(), format!("`{name}` takes an integer, a constant or a const generic"));
        diagnostics.push(error.help(format!("write an integer: `{name} = 32`")));
    }
}

fn parse_block(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "256", diagnostics)? else { return Ok(()) };
    let span = value.span();
    let Some(extents) = extents_of(name, value, diagnostics) else { return Ok(()) };
    if extents.is_empty() || extents.len() > 3 {
        let message = format!("a block has one to three dimensions, not {}", extents.len());
        diagnostics.push(Diagnostic::error(span, message).help("write `block = 256`, `block = (16, 16)` or `block = (8, 8, 4)`"));
        return Ok(());
    }
    check_block(span, &extents, diagnostics);
    into.block = Some((span, extents));
    Ok(())
}

/// Checks what of a block is literal against what any device can hold.
fn check_block(span: Span, extents: &[Expr], diagnostics: &mut Diagnostics) {
    let mut good = true;
    for ((extent, axis), most) in extents.iter().zip(["x", "y", "z"]).zip(BLOCK_EXTENT) {
        let error = match literal_int(extent) {
            Some(value) if value < 1 => format!("a block of {value} threads in {axis} is not possible: it must be at least 1"),
            Some(value) if value > i128::from(most) => {
                format!("a block of {value} threads in {axis} is not possible: no device has more than {most}")
            }
            None if matches!(extent, Expr::Lit(_)) => "`block` takes integers, constants or const generics".to_owned(),
            _ => continue,
        };
        good = false;
        diagnostics.push(Diagnostic::error(extent.span(), error).help(format!("use 1 to {most}")));
    }
    let values: Option<Vec<i128>> = extents.iter().map(literal_int).collect();
    if let (true, Some(values)) = (good, values) {
        let threads: i128 = values.iter().product();
        if threads > i128::from(BLOCK_THREADS) {
            let extents: Vec<_> = values.iter().map(i128::to_string).collect();
            let message = format!("a block of {} is {threads} threads, and no device has more than {BLOCK_THREADS}", extents.join("×"));
            diagnostics.push(Diagnostic::error(span, message).help("make the block smaller and the grid larger"));
        }
    }
}

fn parse_min_blocks(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "2", diagnostics)? else { return Ok(()) };
    check_count(name, &value, RESIDENT_BLOCKS.into(), "the most resident blocks of a multiprocessor are", diagnostics);
    into.min_blocks = Some(value);
    Ok(())
}

fn parse_max_registers(
    into: &mut KernelAttributes,
    name: &Ident,
    input: ParseStream<'_>,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "64", diagnostics)? else { return Ok(()) };
    check_count(name, &value, THREAD_REGISTERS.into(), "the most registers of a thread are", diagnostics);
    into.max_registers = Some(value);
    Ok(())
}

fn parse_index(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "64", diagnostics)? else { return Ok(()) };
    match literal_int(&value) {
        Some(32 | 64) => into.index = Some(value),
        None if !matches!(value, Expr::Lit(_)) && type_bits(&value).is_none() => into.index = Some(value),
        _ => {
            let help = match type_bits(&value) {
                Some(32) => "write `index = 32`, or leave it out",
                _ => "write `index = 64` for 64-bit indices",
            };
            diagnostics.push(Diagnostic::error(value.span(), "`index` is 32 or 64").help(help));
        }
    }
    Ok(())
}

/// The bits of a scalar, where one is named: `index = u64`.
fn type_bits(value: &Expr) -> Option<u32> {
    let Expr::Path(path) = value else { return None };
    path.path.get_ident()?.to_string().parse::<crate::ir::Type>().ok().map(crate::ir::Type::bits)
}

fn parse_math(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "fast", diagnostics)? else { return Ok(()) };
    let words = [("precise", Math::Precise), ("fast", Math::Fast)];
    into.math = Choice::parse(name, &value, &words, diagnostics).unwrap_or_default();
    Ok(())
}

fn parse_bounds(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "trap", diagnostics)? else { return Ok(()) };
    let words = [("unchecked", BoundsCheck::Unchecked), ("trap", BoundsCheck::Trap)];
    into.bounds = Choice::parse(name, &value, &words, diagnostics).unwrap_or_default();
    Ok(())
}

fn parse_contract(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "false", diagnostics)? else { return Ok(()) };
    // Words of other compilers. What else is a name may be a constant's.
    let word = match &value {
        Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
        _ => None,
    };
    let is_on = word.as_ref().is_some_and(|word| matches!(word.as_str(), "fast" | "on" | "yes"));
    let is_off = word.as_ref().is_some_and(|word| matches!(word.as_str(), "precise" | "strict" | "off" | "no"));
    if is_on || is_off || matches!(&value, Expr::Lit(ExprLit { lit, .. }) if !matches!(lit, Lit::Bool(_))) {
        let error = Diagnostic::error(value.span(), "`contract` is `true` or `false`");
        diagnostics.push(match is_on {
            true => error.help("write `contract = true`, or leave it out"),
            false => error.help("write `contract = false` for results that are bit for bit the host's"),
        });
        return Ok(());
    }
    into.contract = Some(value);
    Ok(())
}

fn parse_best_effort(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        diagnostics.push(Diagnostic::error(name.span(), "`best_effort` takes no value").help("write `best_effort` alone"));
        return skip_to_comma(input);
    }
    into.best_effort = true;
    Ok(())
}

fn parse_targets(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    let Some(value) = parse_value(name, input, "[sm_80, sm_90]", diagnostics)? else { return Ok(()) };
    let Expr::Array(array) = &value else {
        diagnostics.push(Diagnostic::error(value.span(), "`targets` takes a list").help("write `targets = [sm_80, sm_90]`"));
        return Ok(());
    };
    if array.elems.is_empty() {
        let error = Diagnostic::error(value.span(), "`targets` is empty: the kernel would be checked for nothing");
        diagnostics.push(error.help("write `targets = [sm_80, sm_90]`"));
    }
    for element in &array.elems {
        match element {
            Expr::Path(path) if path.path.get_ident().is_some() => {
                let target = path.path.require_ident()?;
                check_target(target, &into.targets, diagnostics);
                into.targets.push(target.clone());
            }
            other => {
                let error = Diagnostic::error(other.span(), "a target is a name like `sm_80`");
                diagnostics.push(error.help("write `targets = [sm_80, sm_90]`"));
            }
        }
    }
    Ok(())
}

fn check_target(target: &Ident, before: &[Ident], diagnostics: &mut Diagnostics) {
    let name = target.to_string();
    if let Some(first) = before.iter().find(|first| *first == target) {
        let error = Diagnostic::error(target.span(), format!("`{name}` is listed twice")).label(first.span(), "first listed here");
        diagnostics.push(error.help("remove one of them"));
    } else if let Err(unknown) = Targets::default().add(&name) {
        diagnostics.push(Diagnostic::error(target.span(), format!("unknown target `{name}`")).help(unknown.help()));
    }
}

/// Whether the attribute is called this, with or without a path before it (`kernel`, `warpwright::kernel`).
pub fn is_named(attr: &syn::Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == name)
}

pub(super) fn path_text(path: &syn::Path) -> String {
    let mut text = String::from(if path.leading_colon.is_some() { "::" } else { "" });
    for (i, segment) in path.segments.iter().enumerate() {
        if i > 0 {
            text.push_str("::");
        }
        text.push_str(&segment.ident.to_string());
    }
    text
}

#[cfg(test)]
mod tests;
