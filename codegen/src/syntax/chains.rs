//! Chains of methods that are a loop or an `Option` to Rust, `x.iter().map(f).sum()`, `x.get(i).unwrap()`, and what a kernel writes in
//! their place.
//!
//! Only what syntax shows: a method alone (`x.iter()`) may be a struct's own, and is left to whoever knows its type.

use super::layout::written;
use super::operand::{behind, idents, operand, unparenthesized};
use crate::diagnostic::Diagnostic;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};

/// Methods that begin an iteration.
const ITERATE: &[&str] = &["iter", "iter_mut", "into_iter", "chunks", "chunks_exact", "windows", "chars", "bytes"];

/// Methods of iterators.
const ADAPTORS: &[&str] = &[
    "all",
    "any",
    "by_ref",
    "chain",
    "cloned",
    "collect",
    "copied",
    "count",
    "enumerate",
    "filter",
    "filter_map",
    "find",
    "flat_map",
    "fold",
    "for_each",
    "last",
    "map",
    "max",
    "max_by",
    "min",
    "min_by",
    "next",
    "nth",
    "position",
    "product",
    "reduce",
    "rev",
    "scan",
    "skip",
    "step_by",
    "sum",
    "take",
    "take_while",
    "zip",
];

/// Methods of slices that give an `Option`, and those of `Option` that may follow.
const OPTIONS: &[&str] = &["get", "get_mut", "first", "last"];
const OF_OPTION: &[&str] =
    &["unwrap", "expect", "copied", "cloned", "unwrap_or", "unwrap_or_default", "unwrap_unchecked", "is_some", "is_none"];

/// What the zero of a buffer's elements is: `0.0`, `0`, by the buffer's name.
pub(super) type Zero<'z> = &'z dyn Fn(&syn::Expr) -> &'static str;

/// An expression and the methods called on it, in their order.
struct Chain<'e> {
    source: &'e syn::Expr,
    calls: Vec<&'e syn::ExprMethodCall>,
}

impl<'e> Chain<'e> {
    fn of(expr: &'e syn::Expr) -> Chain<'e> {
        Chain::behind(expr, Vec::new())
    }

    /// Of an expression and the methods that follow it, the last one first.
    fn behind(expr: &'e syn::Expr, mut calls: Vec<&'e syn::ExprMethodCall>) -> Chain<'e> {
        let mut at = unparenthesized(expr);
        while let syn::Expr::MethodCall(call) = at {
            calls.push(call);
            at = unparenthesized(&call.receiver);
        }
        calls.reverse();
        Chain { source: at, calls }
    }

    /// The first of these methods that one of the others follows.
    fn find(&self, methods: &[&str], followers: &[&str]) -> Option<usize> {
        self.calls.windows(2).position(|pair| is_one(pair[0], methods) && is_one(pair[1], followers))
    }
}

fn is_one(call: &syn::ExprMethodCall, methods: &[&str]) -> bool {
    methods.iter().any(|method| call.method == method)
}

/// The error of an expression that iterates, or asks for an element that may not be there; `bound` is the name that a `let` gives its value.
pub(super) fn refused_chain(expr: &syn::Expr, bound: Option<&syn::Ident>, zero: Zero<'_>) -> Option<Diagnostic> {
    let chain = Chain::of(match expr {
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => expr,
        other => other,
    });
    refused(&chain, bound, zero)
}

/// The same of a method that is called, for who looks at types.
pub(crate) fn refused_call(call: &syn::ExprMethodCall) -> Option<Diagnostic> {
    let begins = matches!(unparenthesized(&call.receiver), syn::Expr::MethodCall(_) | syn::Expr::Range(_));
    begins.then(|| Chain::behind(&call.receiver, vec![call])).and_then(|chain| refused(&chain, None, &|_| "0.0"))
}

fn refused(chain: &Chain<'_>, bound: Option<&syn::Ident>, zero: Zero<'_>) -> Option<Diagnostic> {
    if let Some(at) = chain.find(OPTIONS, OF_OPTION) {
        let call = chain.calls[at];
        let error = Diagnostic::error(call.method.span(), no_option(call));
        let bound = bound.map_or_else(String::new, |name| format!(", and `{name}` for `*{name}`"));
        return Some(error.help(element_edit(call, chain.calls.last()?) + &bound));
    }
    let (begin, walk) = if let Some(at) = chain.find(ITERATE, ADAPTORS) {
        (at + 1, Walk::Elements(&chain.calls[at].receiver))
    } else if let (syn::Expr::Range(range), Some(first)) = (chain.source, chain.calls.first()) {
        if first.method == "contains" {
            return contains(range, first);
        }
        (0, Walk::Numbers(range))
    } else {
        return None;
    };
    let span = chain.calls[begin.saturating_sub(1)].method.span();
    Some(Diagnostic::error(span, "iterators are not in the kernel language").help(walk.edit(&chain.calls[begin..], zero)))
}

fn no_option(call: &syn::ExprMethodCall) -> String {
    format!("`{}` gives an `Option`, which the kernel language does not have", call.method)
}

/// The element that `get(i)`, `first()` or `last()` gives, and when it is there.
fn element(call: &syn::ExprMethodCall) -> (String, String) {
    let x = operand(&call.receiver);
    let index = call.args.first().map_or_else(String::new, written);
    match call.method.to_string().as_str() {
        "first" => (format!("{x}[0]"), format!("{x}.len() > 0")),
        "last" => (format!("{x}[{x}.len() - 1]"), format!("{x}.len() > 0")),
        _ => (format!("{x}[{index}]"), format!("{} < {x}.len()", call.args.first().map_or_else(String::new, operand))),
    }
}

/// `x[i]` for `x.get(i).unwrap()`; what else the last method of the chain asks for.
fn element_edit(call: &syn::ExprMethodCall, last: &syn::ExprMethodCall) -> String {
    let (element, is_there) = element(call);
    match (last.method.to_string().as_str(), last.args.first()) {
        ("unwrap_or", Some(otherwise)) => format!("write `if {is_there} {{ {element} }} else {{ {} }}`", written(otherwise)),
        ("is_some", _) => format!("write `{is_there}`"),
        ("is_none", _) => format!("write `!({is_there})`"),
        _ => format!("write `{element}`; guard it with `if {is_there}` if it may not exist"),
    }
}

/// `if let Some(v) = x.get(i)`, before this body.
pub(super) fn refused_let(condition: &syn::ExprLet, body: Option<&syn::Block>) -> Option<Diagnostic> {
    let syn::Pat::TupleStruct(pattern) = &*condition.pat else { return None };
    let [value] = &pattern.elems.iter().collect::<Vec<_>>()[..] else { return None };
    let chain = Chain::of(&condition.expr);
    let call = chain.calls.iter().find(|call| is_one(call, OPTIONS))?;
    if !pattern.path.is_ident("Some") {
        return None;
    }
    let (element, is_there) = element(call);
    let name = plain_name(value)?;
    let shown = if body.is_some_and(|body| is_dereferenced(body.to_token_stream(), &name)) { format!("*{name}") } else { name };
    Some(Diagnostic::error(call.method.span(), no_option(call)).help(format!("write `if {is_there}`, and `{element}` for `{shown}`")))
}

/// `(a..b).contains(&i)`.
fn contains(range: &syn::ExprRange, call: &syn::ExprMethodCall) -> Option<Diagnostic> {
    let value = operand(behind(call.args.first()?));
    let below = if matches!(range.limits, syn::RangeLimits::Closed(_)) { "<=" } else { "<" };
    let start = range.start.as_ref().map(|start| format!("{} <= {value}", operand(start)));
    let end = range.end.as_ref().map(|end| format!("{value} {below} {}", operand(end)));
    let edit = start.into_iter().chain(end).collect::<Vec<_>>().join(" && ");
    Some(Diagnostic::error(call.method.span(), "a range is not a value in the kernel language").help(format!("write `({edit})`")))
}

/// What is gone through.
enum Walk<'e> {
    Elements(&'e syn::Expr),
    Numbers(&'e syn::ExprRange),
}

impl Walk<'_> {
    /// The loop that does what the adaptors do, as far as that is one.
    fn edit(&self, adaptors: &[&syn::ExprMethodCall], zero: Zero<'_>) -> String {
        let mut counter = self.counter(adaptors);
        let mut body: Vec<String> = Vec::new();
        let mut value = match self {
            Walk::Elements(x) => format!("{}[{counter}]", operand(x)),
            Walk::Numbers(_) => counter.clone(),
        };
        let mut bind = |name: String, value: &mut String, body: &mut Vec<String>| {
            if matches!(self, Walk::Numbers(_)) && body.is_empty() && *value == counter {
                counter.clone_from(&name);
            } else if name != "_" {
                body.push(format!("let {name} = {value};"));
            }
            *value = name;
        };
        let Some((last, before)) = adaptors.split_last() else { return self.plain(&counter) };
        // What a closure's parameter is called, and the zero of its type: numbers of a range are integers.
        let (mut named, mut of_named) = match self {
            Walk::Elements(x) => (value.clone(), zero(x)),
            Walk::Numbers(_) => (value.clone(), "0"),
        };
        let zero_made = |value: &str, named: &str, of_named: &'static str| match syn::parse_str(value) {
            Ok(made) if value != named => zero_of(&made, (named, of_named), zero).unwrap_or("0.0"),
            _ => of_named,
        };
        for adaptor in before {
            match (adaptor.method.to_string().as_str(), adaptor.args.first()) {
                ("copied" | "cloned" | "by_ref" | "iter" | "into_iter", None) => {}
                ("map", Some(syn::Expr::Closure(closure))) => match closure_of_one(closure) {
                    Some((name, result)) => {
                        of_named = zero_made(&value, &named, of_named);
                        named.clone_from(&name);
                        bind(name, &mut value, &mut body);
                        value = result;
                    }
                    None => return self.plain(&counter),
                },
                _ => return self.plain(&counter),
            }
        }
        let element = zero_made(&value, &named, of_named);
        let arguments: Vec<&syn::Expr> = last.args.iter().collect();
        let (first, name) = match (last.method.to_string().as_str(), &arguments[..]) {
            ("sum", []) => {
                body.push(format!("sum += {value};"));
                (format!("let mut sum = {element};"), "sum".to_owned())
            }
            ("product", []) => {
                body.push(format!("product *= {value};"));
                (format!("let mut product = {};", element.replace('0', "1").replace("1.1", "1.0")), "product".to_owned())
            }
            ("for_each", [syn::Expr::Closure(closure)]) => {
                let Some((name, result)) = closure_of_one(closure) else { return self.plain(&counter) };
                bind(name, &mut value, &mut body);
                let result = result.trim().trim_start_matches('{').trim_end_matches('}').trim();
                body.push(if result.ends_with(';') { result.to_owned() } else { format!("{result};") });
                (String::new(), String::new())
            }
            ("fold", [init, syn::Expr::Closure(closure)]) => {
                let [so_far, next] = &closure.inputs.iter().map(plain_name).collect::<Option<Vec<_>>>().unwrap_or_default()[..] else {
                    return self.plain(&counter);
                };
                bind(next.clone(), &mut value, &mut body);
                body.push(format!("{so_far} = {};", without_dereference(&closure.body)));
                (format!("let mut {so_far} = {};", written(*init)), so_far.clone())
            }
            _ => return self.plain(&counter),
        };
        let text = format!("{first} {} {{ {} }}", self.head(&counter), body.join(" "));
        match name.as_str() {
            "" => format!("write a loop: `{}`", text.trim()),
            name => format!("write a loop before, `{text}`, and `{name}` here"),
        }
    }

    /// The loop whose body is left open.
    fn plain(&self, counter: &str) -> String {
        match self {
            Walk::Elements(x) => format!("write a loop, `{} {{ … }}`, and in it `{}[{counter}]`", self.head(counter), operand(x)),
            Walk::Numbers(_) => format!("write a loop: `{} {{ … }}`", self.head(counter)),
        }
    }

    fn head(&self, counter: &str) -> String {
        match self {
            Walk::Elements(x) => format!("for {counter} in 0..{}.len()", operand(x)),
            Walk::Numbers(range) => format!("for {counter} in {}", written(*range)),
        }
    }

    /// A name that nothing here has.
    fn counter(&self, adaptors: &[&syn::ExprMethodCall]) -> String {
        let mut tokens: TokenStream = match self {
            Walk::Elements(x) => x.to_token_stream(),
            Walk::Numbers(range) => range.to_token_stream(),
        };
        tokens.extend(adaptors.iter().map(|adaptor| adaptor.args.to_token_stream()));
        free_name(tokens)
    }
}

/// The zero of what is computed from a variable whose zero is known, `0` or `0.0`, as far as the source shows it.
fn zero_of(made: &syn::Expr, named: (&str, &'static str), zero: Zero<'_>) -> Option<&'static str> {
    let of = |expr: &syn::Expr| zero_of(expr, named, zero);
    let of_type = |name: &str| if name.contains('f') { "0.0" } else { "0" };
    match made {
        syn::Expr::Paren(inner) => of(&inner.expr),
        syn::Expr::Group(inner) => of(&inner.expr),
        syn::Expr::Unary(inner) => of(&inner.expr),
        syn::Expr::Cast(cast) => Some(of_type(&written(&cast.ty))),
        syn::Expr::Path(path) if path.path.is_ident(named.0) => Some(named.1),
        // Of a variable whose type is not seen, `0.0` says nothing.
        syn::Expr::Path(_) => Some(zero(made)).filter(|zero| *zero == "0"),
        syn::Expr::Index(index) => Some(zero(&index.expr)),
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(_), .. }) => Some("0.0"),
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if !int.suffix().is_empty() => Some(of_type(int.suffix())),
        syn::Expr::Binary(both) if matches!(both.op, syn::BinOp::Shl(_) | syn::BinOp::Shr(_)) => of(&both.left),
        syn::Expr::Binary(both) => of(&both.left).or_else(|| of(&both.right)),
        syn::Expr::MethodCall(call) => of(&call.receiver),
        _ => None,
    }
}

fn free_name(tokens: TokenStream) -> String {
    let named = idents(tokens);
    ["k", "j", "n", "at"].iter().find(|name| !named.iter().any(|other| other == *name)).map_or("index", |name| name).to_owned()
}

/// The parameter of a closure of one, and its body.
fn closure_of_one(closure: &syn::ExprClosure) -> Option<(String, String)> {
    let [input] = &closure.inputs.iter().collect::<Vec<_>>()[..] else { return None };
    Some((plain_name(input)?, without_dereference(&closure.body)))
}

/// `v`, `&v`, `_`.
pub(super) fn plain_name(pat: &syn::Pat) -> Option<String> {
    match pat {
        syn::Pat::Ident(pat) => Some(pat.ident.to_string()),
        syn::Pat::Reference(reference) => plain_name(&reference.pat),
        syn::Pat::Paren(paren) => plain_name(&paren.pat),
        syn::Pat::Type(typed) => plain_name(&typed.pat),
        syn::Pat::Wild(_) => Some("_".to_owned()),
        _ => None,
    }
}

/// Code as it is without references: `*v` is `v`.
fn without_dereference(expr: &syn::Expr) -> String {
    struct Remove;
    impl VisitMut for Remove {
        fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
            visit_mut::visit_expr_mut(self, expr);
            if let syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr: inner, .. }) = expr {
                *expr = std::mem::replace(inner, syn::Expr::PLACEHOLDER);
            }
        }
    }
    let mut expr = expr.clone();
    Remove.visit_expr_mut(&mut expr);
    written(&expr)
}

/// The edit for a `for` that walks no range: `for v in x`, `for (k, v) in x.iter().enumerate()`.
pub(super) fn walk_edit(walked: &syn::ExprForLoop) -> String {
    let general = || "write `for k in a..b`, with `.rev()` or `.step_by(n)` if need be, and index with `k`".to_owned();
    let chain = Chain::of(behind(&walked.expr));
    let is_numbered = chain.calls.last().is_some_and(|call| call.method == "enumerate");
    let calls = &chain.calls[..chain.calls.len() - usize::from(is_numbered)];
    if !calls.iter().all(|call| is_one(call, &["iter", "iter_mut", "into_iter", "copied", "cloned"]) && call.args.is_empty()) {
        return general();
    }
    let source = behind(chain.source);
    if !matches!(source, syn::Expr::Path(_) | syn::Expr::Field(_) | syn::Expr::Index(_)) {
        return general();
    }
    let x = operand(source);
    let names: Option<Vec<String>> = match &*walked.pat {
        syn::Pat::Tuple(pair) if is_numbered => pair.elems.iter().map(plain_name).collect(),
        pat if !is_numbered => plain_name(pat).map(|name| vec![name]),
        _ => None,
    };
    let (counter, value) = match names.as_deref() {
        Some([counter, value]) => (counter.clone(), value.clone()),
        Some([value]) => (free_name([source.to_token_stream(), walked.body.to_token_stream()].into_iter().collect()), value.clone()),
        _ => return general(),
    };
    let shown = if is_dereferenced(walked.body.to_token_stream(), &value) { format!("*{value}") } else { value };
    format!("write `for {counter} in 0..{x}.len()`, and `{x}[{counter}]` for `{shown}`")
}

/// Whether `*name` stands among the tokens.
fn is_dereferenced(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_here = tokens.iter().enumerate().any(|(at, token)| {
        let is_star = matches!(token, TokenTree::Punct(star) if star.as_char() == '*');
        // After a value it multiplies.
        let is_prefix = at == 0 || matches!(&tokens[at - 1], TokenTree::Punct(_));
        is_star && is_prefix && matches!(tokens.get(at + 1), Some(TokenTree::Ident(ident)) if ident == name)
    });
    is_here
        || tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => is_dereferenced(group.stream(), name),
            _ => false,
        })
}

/// The edit for `let name = &…;`.
pub(super) fn reference_edit(name: &syn::Ident, reference: &syn::ExprReference) -> String {
    let place = &*reference.expr;
    if let syn::Expr::Index(syn::ExprIndex { expr, index, .. }) = place
        && let syn::Expr::Range(range) = &**index
    {
        let x = operand(expr);
        let begin =
            range.start.as_deref().map(operand).filter(|start| start != "0").map_or_else(String::new, |start| format!("{start} + "));
        return format!("remove this `let`, and write `{x}[{begin}k]` for `{name}[k]`");
    }
    let value = written(place);
    if reference.mutability.is_some() {
        format!("remove this `let`, and write `{value}` for `*{name}`")
    } else {
        format!("remove the `&`, and the `*` before `{name}`: values are copied")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expr: &str, edit: &str) {
        let expr: syn::Expr = syn::parse_str(expr).unwrap();
        let zero = |x: &syn::Expr| if written(x) == "counts" { "0" } else { "0.0" };
        let found = refused_chain(&expr, None, &zero).unwrap_or_else(|| panic!("{} is not refused", written(&expr)));
        assert_eq!(found.help.as_deref(), Some(edit), "{}", written(&expr));
    }

    #[test]
    fn iterators_are_loops() {
        check("x.iter().sum()", "write a loop before, `let mut sum = 0.0; for k in 0..x.len() { sum += x[k]; }`, and `sum` here");
        check(
            "counts.iter().sum()",
            "write a loop before, `let mut sum = 0; for k in 0..counts.len() { sum += counts[k]; }`, and `sum` here",
        );
        check(
            "a.iter().map(|v| *v * 2.0).product()",
            "write a loop before, `let mut product = 1.0; for k in 0..a.len() { let v = a[k]; product *= v * 2.0; }`, and `product` here",
        );
        check("(0..4).map(|j| x[j]).sum()", "write a loop before, `let mut sum = 0.0; for j in 0..4 { sum += x[j]; }`, and `sum` here");
        check("(0..a).sum()", "write a loop before, `let mut sum = 0; for k in 0..a { sum += k; }`, and `sum` here");
        check(
            "(0..a).map(|v| v * v).product()",
            "write a loop before, `let mut product = 1; for v in 0..a { product *= v * v; }`, and `product` here",
        );
        check(
            "(0..a).map(|v| v as f32 * b).sum()",
            "write a loop before, `let mut sum = 0.0; for v in 0..a { sum += v as f32 * b; }`, and `sum` here",
        );
        check(
            "(0..a).map(|v| counts[v]).sum()",
            "write a loop before, `let mut sum = 0; for v in 0..a { sum += counts[v]; }`, and `sum` here",
        );
        check("(0..4).for_each(|j| y[j] = 1.0)", "write a loop: `for j in 0..4 { y[j] = 1.0; }`");
        check(
            "x.iter().copied().fold(0.0, |a, b| a.max(b))",
            "write a loop before, `let mut a = 0.0; for k in 0..x.len() { let b = x[k]; a = a.max(b); }`, and `a` here",
        );
        check("x[k].iter().zip(y).count()", "write a loop, `for j in 0..x[k].len() { … }`, and in it `x[k][j]`");
        check("(1..=n).contains(&i)", "write `(1 <= i && i <= n)`");
    }

    #[test]
    fn options_are_conditions() {
        check("x.get(i).unwrap()", "write `x[i]`; guard it with `if i < x.len()` if it may not exist");
        check("*x.get(i + 1).unwrap()", "write `x[i + 1]`; guard it with `if (i + 1) < x.len()` if it may not exist");
        check("x.get(i).copied().unwrap_or(0.0)", "write `if i < x.len() { x[i] } else { 0.0 }`");
        check("x.first().unwrap()", "write `x[0]`; guard it with `if x.len() > 0` if it may not exist");
        check("x.get(i).is_some()", "write `i < x.len()`");
    }

    #[test]
    fn what_may_be_a_method_of_ones_own_is_left_alone() {
        for expr in ["x.iter()", "x.get(i)", "x[i].max(y[i])", "p.first()", "(a + b).min(c)", "i.max(0).min(n)"] {
            assert!(refused_chain(&syn::parse_str(expr).unwrap(), None, &|_| "0.0").is_none(), "{expr}");
        }
    }

    #[test]
    fn loops_over_elements_are_over_indices() {
        let edit = |text: &str| {
            let syn::Expr::ForLoop(walked) = syn::parse_str(text).unwrap() else { panic!("{text}") };
            walk_edit(&walked)
        };
        assert_eq!(edit("for v in x { s += v; }"), "write `for k in 0..x.len()`, and `x[k]` for `v`");
        assert_eq!(edit("for v in y.iter_mut() { *v = 1.0; }"), "write `for k in 0..y.len()`, and `y[k]` for `*v`");
        assert_eq!(edit("for (k, v) in x.iter().enumerate() { s += *v * k; }"), "write `for k in 0..x.len()`, and `x[k]` for `*v`");
        assert_eq!(edit("for &v in &t[k] { s = s * v; }"), "write `for j in 0..t[k].len()`, and `t[k][j]` for `v`");
        assert!(edit("for v in x.iter().rev() {}").contains("a..b"));
    }
}
