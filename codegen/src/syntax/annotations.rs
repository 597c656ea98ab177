//! Where annotations stand inside a body, and those of a `let`; `loop_annotations` has those of a loop.
//!
//! What is no annotation, or one of another place, is refused with the nearest name or the right place.

use super::attributes::{path_text, skip_to_comma, with_nearest};
use super::layout::written;
use super::loop_annotations::{LoopAttributes, LoopKeyword};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Expr, Token};

/// `#[shared]`, `#[shared(dynamic)]`, `#[shared(pad = 1)]`, `#[shared(swizzle)]`.
#[derive(Clone)]
pub struct SharedAttribute {
    /// Where it stands.
    pub span: Span,
    /// Whether the length comes from the launch.
    pub dynamic: bool,
    /// Elements of room behind each row.
    pub pad: Option<RowArgument>,
    /// Whether columns are permuted, by the row.
    pub swizzle: Option<RowArgument>,
    /// What cannot be kept is a warning.
    pub best_effort: bool,
}

/// What is asked of the rows of a shared array.
#[derive(Clone)]
pub struct RowArgument {
    /// The argument's name: where errors are shown.
    pub span: Span,
    /// Its value, if it has one.
    pub value: Option<Expr>,
}

/// Annotations of a `let`.
#[derive(Clone, Default)]
pub struct LetAttributes {
    /// `#[shared…]`.
    pub shared: Option<SharedAttribute>,
}

/// Annotations of loops: all of the language, none of this version.
const LOOP_ANNOTATIONS: &[&str] = &["unroll", "ilp", "batch_loads", "prefetch", "vectorize"];

/// Annotations of a `let`.
const LET_ANNOTATIONS: &[&str] = &["shared"];

/// Rust's own attributes that mean nothing to the device and may stand anywhere in a body.
const INERT: &[&str] = &["allow", "expect", "warn", "deny", "forbid", "doc", "rustfmt", "clippy"];

/// The attributes that are ours to understand: those that Rust itself knows are left out, a `cfg` is refused, since what a body
/// holds must not depend on what the device's compiler cannot see.
pub(super) fn annotations<'a>(attrs: &'a [syn::Attribute], diagnostics: &mut Diagnostics) -> Vec<&'a syn::Attribute> {
    let mut ours = Vec::new();
    for attr in attrs {
        let first = attr.path().segments.first().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if first == "cfg" || first == "cfg_attr" {
            diagnostics.push(refuse_cfg(attr));
        } else if !INERT.contains(&first.as_str()) {
            ours.push(attr);
        }
    }
    ours
}

/// A `cfg` where the device's compiler would have to evaluate it.
pub(super) fn refuse_cfg(attr: &syn::Attribute) -> Diagnostic {
    let name = attr.path().segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    Diagnostic::error(attr.path().span(), format!("`#[{name}]` inside device code is not supported"))
        .help("put it on the whole item, or ask a constant defined outside: `const CHECKED: bool = cfg!(feature = \"checked\");`")
}

/// Refuses an annotation where it does not belong or that there is not; `fitting` are those that do belong.
pub(super) fn refuse_annotation(attr: &syn::Attribute, place: &str, fitting: &[&'static str]) -> Diagnostic {
    let name = path_text(attr.path());
    if LOOP_ANNOTATIONS.contains(&name.as_str()) {
        return Diagnostic::error(attr.path().span(), format!("`#[{name}]` belongs on a loop, not on {place}"))
            .help("move it before the loop");
    }
    if LET_ANNOTATIONS.contains(&name.as_str()) {
        let error = Diagnostic::error(attr.path().span(), format!("`#[{name}]` belongs on a `let`, not on {place}"));
        return error.help("write `#[shared] let mut tile: [f32; 256];`");
    }
    if let Some(example) =
        [("pad", "pad = 1"), ("swizzle", "swizzle")].iter().find_map(|(known, example)| (name == *known).then_some(example))
    {
        let error = Diagnostic::error(attr.path().span(), format!("`{name}` is about shared arrays: it is an argument of `#[shared]`"));
        return error.help(format!("write `#[shared({example})]` on the array's `let`"));
    }
    let error = Diagnostic::error(attr.path().span(), format!("unknown annotation `#[{name}]` on {place}"));
    if name == "__shared__" {
        return error.help("write `#[shared]`");
    }
    // What it was given stays.
    let arguments = match &attr.meta {
        syn::Meta::List(list) => format!("({})", written(&list.tokens)),
        _ => String::new(),
    };
    let near = nearest(&name, fitting.iter().copied()).or_else(|| nearest(&name, LOOP_ANNOTATIONS.iter().chain(LET_ANNOTATIONS).copied()));
    match near {
        Some(near) => error.help(format!("write `#[{near}{arguments}]`")),
        None => error.help("remove it"),
    }
}

/// Those that a whole kernel takes too, as arguments.
const KERNEL_ARGUMENTS: &[&str] = &["ilp", "batch_loads", "vectorize"];

/// Refuses annotations on a function; other attributes there are rustc's.
pub(super) fn check_on_function(attrs: &[syn::Attribute], is_kernel: bool, diagnostics: &mut Diagnostics) {
    for attr in attrs {
        let name = path_text(attr.path());
        if !LOOP_ANNOTATIONS.iter().chain(LET_ANNOTATIONS).chain(&["pad", "swizzle"]).any(|known| name == *known) {
            continue;
        }
        if is_kernel && KERNEL_ARGUMENTS.contains(&name.as_str()) {
            let error =
                Diagnostic::error(attr.path().span(), format!("`#[{name}]` belongs on a loop; a whole kernel takes it as an argument"));
            diagnostics.push(error.help(format!("write `#[kernel(…, {name} = …)]`")));
        } else {
            diagnostics.push(refuse_annotation(attr, "a function", &[]));
        }
    }
}

/// Checks attributes that stand neither on a loop nor on a `let`: none of ours belongs there.
pub(super) fn check_elsewhere(attrs: &[syn::Attribute], place: &str, diagnostics: &mut Diagnostics) {
    for attr in annotations(attrs, diagnostics) {
        diagnostics.push(refuse_annotation(attr, place, &[]));
    }
}

impl LetAttributes {
    /// Parses the attributes of a `let`.
    pub fn parse(attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) -> LetAttributes {
        let mut parsed = LetAttributes::default();
        for attr in annotations(attrs, diagnostics) {
            if !attr.path().is_ident("shared") {
                diagnostics.push(refuse_annotation(attr, "a `let`", LET_ANNOTATIONS));
                continue;
            }
            if let Some(first) = &parsed.shared {
                let error = Diagnostic::error(attr.path().span(), "`#[shared]` is given twice").label(first.span, "first given here");
                diagnostics.push(error.help("remove one of them"));
                continue;
            }
            parsed.shared = Some(SharedAttribute::parse(attr, diagnostics));
        }
        parsed
    }

    /// The expressions among the arguments: names that the kernel uses.
    pub fn arguments(&self) -> impl Iterator<Item = &Expr> {
        let rows = self.shared.iter().flat_map(|shared| [&shared.pad, &shared.swizzle]);
        rows.flatten().filter_map(|row| row.value.as_ref())
    }
}

/// The expressions that annotations of a loop or a `let` hold; of other attributes none. Nothing is reported.
pub fn annotation_arguments(attrs: &[syn::Attribute]) -> Vec<Expr> {
    let mut silent = Diagnostics::new();
    let of = |names: &[&str]| -> Vec<syn::Attribute> {
        attrs.iter().filter(|attr| names.iter().any(|name| attr.path().is_ident(name))).cloned().collect()
    };
    let of_loop = LoopAttributes::parse(&of(LOOP_ANNOTATIONS), LoopKeyword::For, &mut silent);
    let of_let = LetAttributes::parse(&of(LET_ANNOTATIONS), &mut silent);
    of_loop.arguments().chain(of_let.arguments()).cloned().collect()
}

impl SharedAttribute {
    /// Parses the arguments of `#[shared(…)]`.
    fn parse(attr: &syn::Attribute, diagnostics: &mut Diagnostics) -> SharedAttribute {
        let mut shared = SharedAttribute { span: attr.path().span(), dynamic: false, pad: None, swizzle: None, best_effort: false };
        let tokens = match &attr.meta {
            syn::Meta::Path(_) => return shared,
            syn::Meta::List(list) => list.tokens.clone(),
            syn::Meta::NameValue(value) => {
                let error = Diagnostic::error(value.eq_token.span(), "`#[shared]` takes its arguments in parentheses");
                diagnostics.push(error.help("write `#[shared(dynamic)]`"));
                return shared;
            }
        };
        let mut seen: Vec<Ident> = Vec::new();
        let arguments = |input: ParseStream<'_>| {
            while !input.is_empty() {
                shared.parse_argument(&mut seen, input, diagnostics)?;
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = arguments.parse2(tokens) {
            diagnostics.append(error.into());
        }
        let of_rows = [("pad", shared.pad.as_ref().map(|pad| pad.span)), ("swizzle", shared.swizzle.as_ref().map(|swizzle| swizzle.span))];
        for (name, span) in of_rows.into_iter().filter_map(|(name, span)| Some((name, span.filter(|_| shared.dynamic)?))) {
            let message = format!("a dynamic array has no rows to {name}: it is one slice, of a length known at the launch");
            diagnostics
                .push(Diagnostic::error(span, message).help("declare an array of arrays, `#[shared] let mut tile: [[f32; 32]; 32];`"));
        }
        shared
    }

    fn parse_argument(&mut self, seen: &mut Vec<Ident>, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
        let name = input.call(Ident::parse_any)?;
        let text = name.to_string();
        if let Some(first) = seen.iter().find(|first| **first == name) {
            let error = Diagnostic::error(name.span(), format!("`{name}` is given twice")).label(first.span(), "first given here");
            diagnostics.push(error.help("remove one of them"));
            return skip_to_comma(input);
        }
        let mut value = None;
        if matches!(text.as_str(), "pad" | "swizzle") && input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            value = Some(input.parse::<Expr>()?);
        }
        match text.as_str() {
            "dynamic" => self.dynamic = true,
            "best_effort" => self.best_effort = true,
            "swizzle" => self.swizzle = Some(RowArgument { span: name.span(), value }),
            "pad" if value.is_some() => self.pad = Some(RowArgument { span: name.span(), value }),
            "pad" => diagnostics.push(Diagnostic::error(name.span(), "`pad` needs a number").help("write `#[shared(pad = 1)]`")),
            _ => {
                let error = Diagnostic::error(name.span(), format!("unknown argument `{name}` of `#[shared]`"));
                let all = ["dynamic", "pad", "swizzle", "best_effort"];
                diagnostics.push(with_nearest(error, &text, all, &all));
                return skip_to_comma(input);
            }
        }
        seen.push(name.clone());
        if !input.is_empty() && !input.peek(Token![,]) {
            diagnostics.push(Diagnostic::error(input.span(), "expected `,` between the arguments of `#[shared]`"));
            skip_to_comma(input)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tests::render;

    fn on_let(statement: &str) -> (LetAttributes, Vec<String>) {
        let block: syn::Block = syn::parse_str(&format!("{{ {statement} }}")).unwrap();
        let syn::Stmt::Local(local) = &block.stmts[0] else { panic!("not a let") };
        let mut diagnostics = Diagnostics::new();
        let parsed = LetAttributes::parse(&local.attrs, &mut diagnostics);
        (parsed, render(&diagnostics))
    }

    #[test]
    fn shared_annotations() {
        let (parsed, findings) = on_let("#[shared] let mut t: [f32; 4];");
        assert!(findings.is_empty() && !parsed.shared.unwrap().dynamic);
        let (parsed, findings) = on_let("#[shared(dynamic)] let mut t: [f32];");
        assert!(findings.is_empty() && parsed.shared.unwrap().dynamic);
        let expect = |statement: &str, expected: &[&str]| assert_eq!(on_let(statement).1, expected, "{statement}");
        let (parsed, findings) = on_let("#[shared(pad = N + 1, best_effort)] let mut t: [[f32; 4]; 4];");
        let shared = parsed.shared.as_ref().unwrap();
        assert!(findings.is_empty() && shared.pad.is_some() && shared.best_effort && parsed.arguments().count() == 1);
        let (parsed, findings) = on_let("#[shared(swizzle)] let mut t: [[f32; 4]; 4];");
        assert!(findings.is_empty() && parsed.shared.unwrap().swizzle.is_some_and(|swizzle| swizzle.value.is_none()));
        expect("#[shared(swizzle = SWIZZLE,)] let mut t: [[f32; 4]; 4];", &[]);
        expect("#[shared(pad)] let mut t: [[f32; 4]; 4];", &["pad: `pad` needs a number; write `#[shared(pad = 1)]`"]);
        expect("#[shared(pad = 1, pad = 2)] let mut t: [[f32; 4]; 4];", &["pad: `pad` is given twice; remove one of them"]);
        let dynamic =
            "it is one slice, of a length known at the launch; declare an array of arrays, `#[shared] let mut tile: [[f32; 32]; 32];`";
        expect("#[shared(dynamic, pad = 1)] let mut t: [f32];", &[&format!("pad: a dynamic array has no rows to pad: {dynamic}")]);
        expect("#[shared(swizzle, dynamic)] let mut t: [f32];", &[&format!("swizzle: a dynamic array has no rows to swizzle: {dynamic}")]);
        expect(
            "#[pad(1)] let t = [0.0; 4];",
            &["pad: `pad` is about shared arrays: it is an argument of `#[shared]`; write `#[shared(pad = 1)]` on the array's `let`"],
        );
        expect("#[shared(dynamc)] let mut t: [f32];", &["dynamc: unknown argument `dynamc` of `#[shared]`; write `dynamic`"]);
        expect("#[shared] #[shared] let mut t: [f32; 4];", &["shared: `#[shared]` is given twice; remove one of them"]);
        expect("#[shard] let mut t: [f32; 4];", &["shard: unknown annotation `#[shard]` on a `let`; write `#[shared]`"]);
        expect("#[unroll] let x = 1;", &["unroll: `#[unroll]` belongs on a loop, not on a `let`; move it before the loop"]);
        expect("#[allow(unused)] #[doc = \"x\"] let x = 1;", &[]);
        expect(
            "#[cfg(test)] let x = 1;",
            &[
                "cfg: `#[cfg]` inside device code is not supported; put it on the whole item, or ask a constant defined outside: `const CHECKED: \
             bool = cfg!(feature = \"checked\");`",
            ],
        );
    }
}
