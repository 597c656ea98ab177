//! Where annotations stand: on loops, among the arguments of `#[shared(…)]`, and where they do not belong. Those of `#[kernel(…)]` are in `attributes`.
//!
//! What is no annotation, or one of another place, is refused with the nearest name or the right place.

use super::attributes::{example_of_kernel, given_twice, parse_list, path_text, skip_to_comma, with_nearest};
use super::layout::written;
use super::written::{LoopKeyword, Written, WrittenAnnotations};
use crate::annotations::{Annotation, On, PAD};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use proc_macro2::{Ident, Span};
use syn::Expr;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;

/// `#[shared]`, `#[shared(dynamic)]`, `#[shared(pad = 1)]`, `#[shared(swizzle)]`, `#[shared(dynamic, pad = 1)]`.
#[derive(Clone)]
pub struct SharedAttribute {
    /// Where it stands.
    pub span: Span,
    /// Whether the length comes from the launch.
    pub dynamic: bool,
    /// What is asked of its rows.
    pub annotations: WrittenAnnotations,
    /// What cannot be kept is a warning.
    pub best_effort: bool,
}

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

/// The names of the annotations that may stand there.
fn names(on: On) -> Vec<&'static str> {
    Annotation::all_on(on).map(|annotation| annotation.name).collect()
}

/// Refuses an annotation where it does not belong or that there is not; `fitting` are those that do belong.
fn refuse_annotation(attr: &syn::Attribute, place: &str, fitting: &[&'static str]) -> Diagnostic {
    let name = path_text(attr.path());
    let error = |message: String| Diagnostic::error(attr.path().span(), message);
    if name == "shared" {
        let error = error(format!("`#[{name}]` belongs on a `let`, not on {place}"));
        return error.help("write `#[shared] let mut tile: [f32; 256];`");
    }
    if let Some(annotation) = Annotation::named(&name) {
        if annotation.on.contains(&On::Loop) {
            return error(format!("`#[{name}]` belongs on a loop, not on {place}")).help("move it before the loop");
        }
        let error = error(format!("`{name}` is about shared arrays: it is an argument of `#[shared]`"));
        return error.help(format!("write `{}` on the array's `let`", annotation.example(On::Shared)));
    }
    if let Some(example) = example_of_kernel(&name) {
        let error = error(format!("`{name}` is about a whole kernel: it is an argument of `#[kernel]`"));
        return error.help(format!("write `#[kernel(…, {example})]`"));
    }
    let error = error(format!("unknown annotation `#[{name}]` on {place}"));
    if name == "__shared__" {
        return error.help("write `#[shared]`");
    }
    // What it was given stays.
    let arguments = match &attr.meta {
        syn::Meta::List(list) => format!("({})", written(&list.tokens)),
        _ => String::new(),
    };
    let near = nearest(&name, fitting.iter().copied()).or_else(|| nearest(&name, names(On::Loop).into_iter().chain(["shared"])));
    match near {
        Some(near) => error.help(format!("write `#[{near}{arguments}]`")),
        None => error.help("remove it"),
    }
}

/// Refuses annotations on a function; other attributes there are rustc's.
pub(super) fn check_on_function(attrs: &[syn::Attribute], is_kernel: bool, diagnostics: &mut Diagnostics) {
    for attr in attrs {
        let name = path_text(attr.path());
        let annotation = Annotation::named(&name);
        if is_kernel && annotation.is_some_and(|annotation| annotation.on.contains(&On::Kernel)) {
            let error =
                Diagnostic::error(attr.path().span(), format!("`#[{name}]` belongs on a loop; a whole kernel takes it as an argument"));
            diagnostics.push(error.help(format!("write `#[kernel(…, {name} = …)]`")));
        } else if annotation.is_some() || name == "shared" || example_of_kernel(&name).is_some() {
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

/// Parses the attributes of a loop.
pub fn loop_annotations(attrs: &[syn::Attribute], keyword: LoopKeyword, diagnostics: &mut Diagnostics) -> WrittenAnnotations {
    let mut parsed = WrittenAnnotations::default();
    for attr in annotations(attrs, diagnostics) {
        let name = path_text(attr.path());
        let Some(annotation) = Annotation::all_on(On::Loop).find(|annotation| annotation.name == name) else {
            diagnostics.push(refuse_annotation(attr, "a loop", &names(On::Loop)));
            continue;
        };
        if let Some(first) = parsed.get(annotation) {
            diagnostics.push(given_twice(attr.path().span(), &format!("`#[{name}]`"), first.place));
        } else if let Some(written) = Written::parse_on_loop(annotation, attr, keyword, diagnostics) {
            parsed.insert(written);
        }
    }
    parsed
}

/// The expressions that annotations of a loop or a `let` hold; of other attributes none. Nothing is reported.
pub fn annotation_arguments(attrs: &[syn::Attribute]) -> Vec<Expr> {
    let mut silent = Diagnostics::new();
    let shared = SharedAttribute::find(attrs, &mut silent);
    let all = [Some(loop_annotations(attrs, LoopKeyword::For, &mut silent)), shared.map(|shared| shared.annotations)];
    all.iter().flatten().flat_map(WrittenAnnotations::arguments).cloned().collect()
}

/// What `pad` of a shared array is given, if it is asked for. Nothing is reported.
pub fn padding_argument(attrs: &[syn::Attribute]) -> Option<Expr> {
    let shared = SharedAttribute::find(attrs, &mut Diagnostics::new())?;
    shared.annotations.get(&PAD)?.argument.clone()
}

impl SharedAttribute {
    /// Parses the attributes of a `let`.
    pub fn find(attrs: &[syn::Attribute], diagnostics: &mut Diagnostics) -> Option<SharedAttribute> {
        let mut found: Option<SharedAttribute> = None;
        for attr in annotations(attrs, diagnostics) {
            if !attr.path().is_ident("shared") {
                diagnostics.push(refuse_annotation(attr, "a `let`", &["shared"]));
            } else if let Some(first) = &found {
                diagnostics.push(given_twice(attr.path().span(), "`#[shared]`", first.span));
            } else {
                found = Some(SharedAttribute::parse(attr, diagnostics));
            }
        }
        found
    }

    /// Parses the arguments of `#[shared(…)]`.
    fn parse(attr: &syn::Attribute, diagnostics: &mut Diagnostics) -> SharedAttribute {
        let annotations = WrittenAnnotations::default();
        let mut shared = SharedAttribute { span: attr.path().span(), dynamic: false, annotations, best_effort: false };
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
        parse_list(tokens, "`#[shared]`", diagnostics, |input, diagnostics| shared.parse_argument(&mut seen, input, diagnostics));
        shared
    }

    fn parse_argument(&mut self, seen: &mut Vec<Ident>, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
        let name = input.call(Ident::parse_any)?;
        let text = name.to_string();
        if let Some(first) = seen.iter().find(|first| **first == name) {
            diagnostics.push(given_twice(name.span(), &format!("`{name}`"), first.span()));
            return skip_to_comma(input);
        }
        let annotation = Annotation::all_on(On::Shared).find(|annotation| annotation.name == text);
        match (text.as_str(), annotation) {
            ("dynamic", _) => self.dynamic = true,
            ("best_effort", _) => self.best_effort = true,
            (_, Some(annotation)) => {
                self.annotations.insert(Written::parse_in_list(annotation, On::Shared, &name, input, diagnostics)?);
            }
            _ => {
                let error = Diagnostic::error(name.span(), format!("unknown argument `{name}` of `#[shared]`"));
                let all: Vec<&str> = ["dynamic"].into_iter().chain(names(On::Shared)).chain(["best_effort"]).collect();
                diagnostics.push(with_nearest(error, &text, all.iter().copied(), &all));
                return skip_to_comma(input);
            }
        }
        seen.push(name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotations::SWIZZLE;
    use crate::syntax::tests::render;

    fn on_let(statement: &str) -> (Option<SharedAttribute>, Vec<String>) {
        let block: syn::Block = syn::parse_str(&format!("{{ {statement} }}")).unwrap();
        let syn::Stmt::Local(local) = &block.stmts[0] else { panic!("not a let") };
        let mut diagnostics = Diagnostics::new();
        let parsed = SharedAttribute::find(&local.attrs, &mut diagnostics);
        (parsed, render(&diagnostics))
    }

    #[test]
    fn shared_annotations() {
        let (parsed, findings) = on_let("#[shared] let mut t: [f32; 4];");
        assert!(findings.is_empty() && !parsed.unwrap().dynamic);
        let (parsed, findings) = on_let("#[shared(dynamic)] let mut t: [f32];");
        assert!(findings.is_empty() && parsed.unwrap().dynamic);
        let expect = |statement: &str, expected: &[&str]| assert_eq!(on_let(statement).1, expected, "{statement}");
        let (parsed, findings) = on_let("#[shared(pad = N + 1, best_effort)] let mut t: [[f32; 4]; 4];");
        let shared = parsed.unwrap();
        assert!(findings.is_empty() && shared.annotations.has(&PAD) && shared.best_effort && shared.annotations.arguments().count() == 1);
        let (parsed, findings) = on_let("#[shared(swizzle)] let mut t: [[f32; 4]; 4];");
        assert!(findings.is_empty() && parsed.unwrap().annotations.get(&SWIZZLE).is_some_and(|swizzle| swizzle.argument.is_none()));
        expect("#[shared(swizzle = SWIZZLE,)] let mut t: [[f32; 4]; 4];", &[]);
        expect("#[shared(pad)] let mut t: [[f32; 4]; 4];", &["pad: `pad` needs a number; write `#[shared(pad = 1)]`"]);
        expect("#[shared(pad = 1, pad = 2)] let mut t: [[f32; 4]; 4];", &["pad: `pad` is given twice; remove one of them"]);
        let (parsed, findings) = on_let("#[shared(dynamic, pad = 1)] let mut t: [[f32; 32]];");
        assert!(findings.is_empty() && parsed.is_some_and(|shared| shared.dynamic && shared.annotations.has(&PAD)));
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
