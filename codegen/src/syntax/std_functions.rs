//! Functions of the standard library that people call in kernels, each with what a kernel writes in its place.

use super::foreign::foreign;
use super::layout::written;
use super::operand::{behind, operand, receiver};
use super::vocabulary::MACROS;
use crate::intrinsics;
use crate::ir::intrinsic::Call;

/// Functions by their last two segments: the edit, in which `{0}` and `{1}` are the arguments, and `{.}` the first one before a method.
const FUNCTIONS: &[(&str, &str)] = &[
    ("cmp::max", "{.}.max({1})"),
    ("cmp::min", "{.}.min({1})"),
    ("mem::swap", "({0}, {1}) = ({1}, {0})"),
    ("mem::transmute", "{.}.to_bits()"),
    ("mem::drop", ""),
    ("convert::identity", "{0}"),
    ("process::abort", "panic!(\"…\")"),
    ("process::exit", "return"),
];

/// The edit for a call of a function of the standard library; `None`: it is none that is known, or may be somebody's own.
pub fn std_function(path: &syn::Path, call: &syn::ExprCall) -> Option<String> {
    let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let [first, .., module, name] = &segments[..] else { return None };
    ["std", "core"].contains(&first.as_str()).then(|| std_edit(&format!("{module}::{name}"), call)).flatten()
}

/// The edit for a call of a function that the kernel does not know: a name of C, a method, or what a `use` of the standard library brought in.
pub fn call_edit(segments: &[String], call: &syn::ExprCall) -> Option<String> {
    let name = segments.last()?;
    if let Some((path, _)) = FUNCTIONS.iter().find(|(path, _)| path.rsplit("::").next() == Some(name)) {
        return std_edit(path, call);
    }
    if segments.len() > 1 {
        return None;
    }
    let mut arguments = call.args.iter();
    let is_method = name.starts_with("atomic_") || intrinsics::rows().any(|row| row.call == Call::Method && row.name == name);
    match (foreign(name), arguments.next()) {
        (Some(foreign), _) => Some(foreign.edit_of_call(&call.args)),
        (None, Some(first)) if is_method => {
            let rest: Vec<String> = arguments.map(written).collect();
            Some(format!("write `{}.{name}({})`: it is a method", receiver(behind(first)), rest.join(", ")))
        }
        _ => None,
    }
}

/// What to write for a macro that is called without its `!`: `println("{}", a)`.
pub fn macro_edit(name: &str, call: &syn::ExprCall) -> Option<String> {
    if !MACROS.contains(&name) {
        return None;
    }
    let arguments = written(&call.args);
    let is_text = |argument: &syn::Expr| matches!(argument, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. }));
    let lacks_text = name.contains("print") && call.args.first().is_some_and(|first| !is_text(first));
    let braces = vec!["{}"; call.args.len()].join(" ");
    Some(if lacks_text { format!("write `{name}!(\"{braces}\", {arguments})`") } else { format!("write `{name}!({arguments})`") })
}

fn std_edit(path: &str, call: &syn::ExprCall) -> Option<String> {
    let (_, edit) = FUNCTIONS.iter().find(|(known, _)| *known == path)?;
    if edit.is_empty() {
        return Some("remove it: values are copied".to_owned());
    }
    let mut arguments: Vec<&syn::Expr> = call.args.iter().map(behind).collect();
    // `2.max(n)`: Rust wants to know the type of a literal. Of two numbers the order makes no difference.
    if path.starts_with("cmp::") && matches!(arguments[..], [syn::Expr::Lit(_), ref other] if !matches!(other, syn::Expr::Lit(_))) {
        arguments.reverse();
    }
    let of = |at: usize| arguments.get(at).map_or_else(|| "a".to_owned(), |argument| written(*argument));
    let first = arguments
        .first()
        .map_or_else(|| "a".to_owned(), |argument| if edit.starts_with("{.}") { receiver(argument) } else { operand(argument) });
    Some(format!("write `{}`", edit.replace("{.}", &first).replace("{0}", &of(0)).replace("{1}", &of(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_stand_for_the_call() {
        let edit = |text: &str| {
            let syn::Expr::Call(call) = syn::parse_str(text).unwrap() else { panic!("{text} is no call") };
            let syn::Expr::Path(path) = &*call.func else { panic!("{text}") };
            std_function(&path.path, &call).or_else(|| call_edit(&[path.path.segments.last()?.ident.to_string()], &call))
        };
        assert_eq!(edit("std::cmp::min(i + 1, x.len() - 1)").as_deref(), Some("write `(i + 1).min(x.len() - 1)`"));
        assert_eq!(edit("core::cmp::max(0, i)").as_deref(), Some("write `i.max(0)`"));
        assert_eq!(edit("max(1, 2)").as_deref(), Some("write `1i32.max(2)`"));
        assert_eq!(edit("std::mem::swap(&mut a, &mut b)").as_deref(), Some("write `(a, b) = (b, a)`"));
        assert_eq!(edit("swap(&mut t[i], &mut t[j])").as_deref(), Some("write `(t[i], t[j]) = (t[j], t[i])`"));
        assert_eq!(edit("sqrt(x[i] + 1.0)").as_deref(), Some("write `(x[i] + 1.0).sqrt()`: it is a method"));
        assert_eq!(edit("clamp01(x)"), None);
        let edit = |text: &str| {
            let syn::Expr::Call(call) = syn::parse_str(text).unwrap() else { panic!("{text} is no call") };
            macro_edit(&written(&call.func), &call)
        };
        assert_eq!(edit("println(\"{}\", a)").as_deref(), Some("write `println!(\"{}\", a)`"));
        assert_eq!(edit("println(a, b)").as_deref(), Some("write `println!(\"{} {}\", a, b)`"));
        assert_eq!(edit("assert(a > 3)").as_deref(), Some("write `assert!(a > 3)`"));
        assert_eq!(edit("printed(a)"), None);
    }
}
