//! What people write who come from std's slices and free functions or from C, each with what a kernel writes in its place.

use crate::intrinsics::{self, Call};
use crate::syntax::{foreign, written};

/// Methods of slices, `Vec` and iterators: the edit, in which `{x}` is the receiver and `{0}` the first argument.
const METHODS: &[(&str, &str)] = &[
    ("iter", "write `for i in 0..{x}.len()`, and index: `{x}[i]`"),
    ("iter_mut", "write `for i in 0..{x}.len()`, and index: `{x}[i]`"),
    ("into_iter", "write `for i in 0..{x}.len()`, and index: `{x}[i]`"),
    ("chunks", "write `for i in (0..{x}.len()).step_by({0})`, and index: `{x}[i]`"),
    ("windows", "write `for i in 0..{x}.len()`, and index: `{x}[i]`, `{x}[i + 1]`"),
    ("enumerate", "write `for i in 0..n`, and index with `i`"),
    ("get", "write `{x}[{0}]`, under `if {0} < {x}.len()`"),
    ("get_mut", "write `{x}[{0}] = …`, under `if {0} < {x}.len()`"),
    ("get_unchecked", "write `{x}[{0}]`: indices are not checked on a device"),
    ("get_unchecked_mut", "write `{x}[{0}] = …`: indices are not checked on a device"),
    ("first", "write `{x}[0]`"),
    ("last", "write `{x}[{x}.len() - 1]`"),
    ("as_slice", "remove it: the buffer itself is indexed, `{x}[i]`"),
    ("as_mut_slice", "remove it: the buffer itself is indexed, `{x}[i] = …`"),
    ("as_ptr", "index it: `{x}[i]`"),
    ("as_mut_ptr", "index it: `{x}[i] = …`"),
    ("to_vec", "remove it: the buffer itself is indexed, `{x}[i]`"),
    ("push", "write `{x}[i] = {0}`, with an index of its own for each thread"),
    ("fill", "write `{x}[i] = {0}` in every thread, or in a loop"),
    ("swap", "write `let a = {x}[{0}]; {x}[{0}] = {x}[j]; {x}[j] = a;`"),
    ("copy_from_slice", "write `{x}[i] = other[i]`, in every thread or in a loop"),
    ("size", "write `{x}.len()`"),
    ("length", "write `{x}.len()`"),
    ("count", "write `{x}.len()`"),
    ("unwrap", "remove it: nothing here is an `Option`"),
    ("expect", "remove it: nothing here is an `Option`"),
    ("clone", "remove it: values are copied"),
    ("to_owned", "remove it: values are copied"),
    ("into", "write the conversion: `{x} as f32`"),
    ("try_into", "write the conversion: `{x} as u32`"),
    ("powf32", "write `{x}.powf({0})`"),
    ("log", "write `{x}.ln() / {0}.ln()`; `ln()`, `log2()` and `log10()` are there"),
    ("checked_add", "write `let (sum, over) = ({x}.wrapping_add({0}), {x} > u32::MAX - {0});`: there is no `Option`"),
    ("checked_sub", "compare first: `if {x} >= {0} { {x} - {0} } else { … }`: there is no `Option`"),
    ("checked_mul", "use `{x}.saturating_mul({0})`, or `{x}.mul_hi({0})` for what is beyond: there is no `Option`"),
    ("checked_div", "compare first: `if {0} != 0 { {x} / {0} } else { … }`: there is no `Option`"),
];

/// Functions of std by their last two segments: the edit, in which `{0}` and `{1}` are the arguments.
const FUNCTIONS: &[(&str, &str)] = &[
    ("cmp::max", "write `{0}.max({1})`"),
    ("cmp::min", "write `{0}.min({1})`"),
    ("mem::swap", "write `(a, b) = (b, a);`"),
    ("mem::replace", "write `let old = a; a = {1};`"),
    ("mem::size_of", "write the number of bytes"),
    ("hint::black_box", "remove it"),
    ("process::abort", "write `panic!(\"…\")`"),
    ("process::exit", "write `return`"),
];

/// The edit for a call of a function that the kernel does not know.
pub(super) fn of_call(segments: &[String], call: &syn::ExprCall) -> Option<String> {
    let arguments: Vec<String> = call.args.iter().map(written).collect();
    let name = segments.last()?;
    if let [.., module, name] = segments {
        let path = format!("{module}::{name}");
        let (_, edit) = FUNCTIONS.iter().find(|(known, _)| *known == path)?;
        return Some(filled(edit, "", &arguments));
    }
    let is_method = intrinsics::rows().any(|row| row.call == Call::Method && row.name == name);
    match (foreign(name), arguments.split_first()) {
        (Some(foreign), _) => Some(format!("write {}", foreign.edit)),
        (None, Some((first, rest))) if is_method => {
            Some(format!("write `{}.{name}({})`: it is a method", receiver(first, call), rest.join(", ")))
        }
        _ => None,
    }
}

/// The first argument as a receiver.
fn receiver(text: &str, call: &syn::ExprCall) -> String {
    match call.args.first() {
        Some(
            syn::Expr::Path(_)
            | syn::Expr::Index(_)
            | syn::Expr::Field(_)
            | syn::Expr::Call(_)
            | syn::Expr::MethodCall(_)
            | syn::Expr::Paren(_),
        ) => text.to_owned(),
        Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(_), .. })) => format!("{text}f32"),
        _ => format!("({text})"),
    }
}

/// The edit for a method that there is not.
pub(super) fn of_method(call: &syn::ExprMethodCall) -> Option<String> {
    let (_, edit) = METHODS.iter().find(|(known, _)| call.method == known)?;
    let arguments: Vec<String> = call.args.iter().map(written).collect();
    Some(filled(edit, &written(&call.receiver), &arguments))
}

fn filled(edit: &str, receiver: &str, arguments: &[String]) -> String {
    let of = |at: usize| arguments.get(at).map_or("i", String::as_str);
    edit.replace("{x}", receiver).replace("{0}", of(0)).replace("{1}", of(1))
}
