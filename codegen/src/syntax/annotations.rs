//! Where annotations stand inside a body, and those of a `let`; `loop_annotations` has those of a loop.
//!
//! What is no annotation, or one of another place, is refused with the nearest name or the right place.

use super::attributes::{not_supported_yet, path_text, skip_to_comma, with_nearest};
use super::loop_annotations::{LoopAttributes, LoopKeyword};
use super::nearest::nearest;
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::{Ident, Span};
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;

/// `#[shared]`, `#[shared(dynamic)]`.
#[derive(Clone, Debug)]
pub struct SharedAttribute {
    /// Where it stands.
    pub span: Span,
    /// Whether the length comes from the launch.
    pub dynamic: bool,
}

/// Annotations of a `let`.
#[derive(Clone, Debug, Default)]
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
    let error = Diagnostic::error(attr.path().span(), format!("unknown annotation `#[{name}]` on {place}"));
    let near = nearest(&name, fitting.iter().copied()).or_else(|| nearest(&name, LOOP_ANNOTATIONS.iter().chain(LET_ANNOTATIONS).copied()));
    match near {
        Some(near) => error.help(format!("write `#[{near}]`")),
        None => error.help("remove it"),
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
            let dynamic = parse_shared(attr, diagnostics);
            parsed.shared = Some(SharedAttribute { span: attr.path().span(), dynamic });
        }
        parsed
    }
}

/// The expressions that annotations of a loop or a `let` hold; of other attributes none. Nothing is reported.
pub fn annotation_arguments(attrs: &[syn::Attribute]) -> Vec<syn::Expr> {
    let mut silent = Diagnostics::new();
    let is_ours = |attr: &&syn::Attribute| LOOP_ANNOTATIONS.iter().any(|name| attr.path().is_ident(name));
    let of_loop: Vec<syn::Attribute> = attrs.iter().filter(is_ours).cloned().collect();
    LoopAttributes::parse(&of_loop, LoopKeyword::For, &mut silent).arguments().cloned().collect()
}

/// The arguments of `#[shared(…)]`: whether `dynamic` is among them.
fn parse_shared(attr: &syn::Attribute, diagnostics: &mut Diagnostics) -> bool {
    let tokens = match &attr.meta {
        syn::Meta::Path(_) => return false,
        syn::Meta::List(list) => list.tokens.clone(),
        syn::Meta::NameValue(value) => {
            let error = Diagnostic::error(value.eq_token.span(), "`#[shared]` takes its arguments in parentheses");
            diagnostics.push(error.help("write `#[shared(dynamic)]`"));
            return false;
        }
    };
    let mut dynamic = false;
    let arguments = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            match name.to_string().as_str() {
                "dynamic" if !dynamic => dynamic = true,
                "dynamic" => diagnostics.push(Diagnostic::error(name.span(), "`dynamic` is given twice").help("remove one of them")),
                "pad" | "swizzle" | "best_effort" => diagnostics.push(not_supported_yet(&name, &format!("`#[shared({name})]`"))),
                text => {
                    let error = Diagnostic::error(name.span(), format!("unknown argument `{name}` of `#[shared]`"));
                    diagnostics.push(with_nearest(error, text, ["dynamic", "pad", "swizzle"], &["dynamic"]));
                }
            }
            if !dynamic || input.peek(Token![=]) {
                skip_to_comma(input)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = arguments.parse2(tokens) {
        diagnostics.append(error.into());
    }
    dynamic
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
        let later = "is not supported yet; remove";
        expect(
            "#[shared(pad = 1)] let mut t: [f32; 4];",
            &[&format!("pad: `#[shared(pad)]` {later} `pad`: the kernel computes the same without it")],
        );
        expect(
            "#[shared(swizzle)] let mut t: [f32; 4];",
            &[&format!("swizzle: `#[shared(swizzle)]` {later} `swizzle`: the kernel computes the same without it")],
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
