//! Methods that people write who come from std's slices, each with what a kernel writes in its place.

use crate::syntax::{operand, written};

/// Methods of slices, `Vec` and iterators: the edit, in which `{x}` is the receiver and `{0}` the first argument.
const METHODS: &[(&str, &str)] = &[
    ("iter", "write a loop, `for k in 0..{x}.len()`, and in it `{x}[k]`"),
    ("iter_mut", "write a loop, `for k in 0..{x}.len()`, and in it `{x}[k]`"),
    ("into_iter", "write a loop, `for k in 0..{x}.len()`, and in it `{x}[k]`"),
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
    ("swap", "write `let held = {x}[{0}]; {x}[{0}] = {x}[{1}]; {x}[{1}] = held;`"),
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
    ("fetch_add", "atomic atomic_add"),
    ("fetch_sub", "atomic atomic_sub"),
    ("fetch_min", "atomic atomic_min"),
    ("fetch_max", "atomic atomic_max"),
    ("fetch_and", "atomic atomic_and"),
    ("fetch_or", "atomic atomic_or"),
    ("fetch_xor", "atomic atomic_xor"),
    ("powf32", "write `{x}.powf({0})`"),
    ("log", "write `{x}.ln() / {0}.ln()`; `ln()`, `log2()` and `log10()` are there"),
    ("checked_add", "write `let (sum, over) = ({x}.wrapping_add({0}), {x} > u32::MAX - {0});`: there is no `Option`"),
    ("checked_sub", "compare first: `if {x} >= {0} { {x} - {0} } else { … }`: there is no `Option`"),
    ("checked_mul", "use `{x}.saturating_mul({0})`, or `{x}.mul_hi({0})` for the high half: there is no `Option`"),
    ("saturating_pow", "multiply with `saturating_mul`, in a loop or written out: `{x}.saturating_mul({x})` is the square"),
    ("saturating_neg", "write `0i32.saturating_sub({x})`, with the type of `{x}` for `i32`"),
    ("saturating_abs", "write `{x}.max(-i32::MAX).abs()`, with the type of `{x}` for `i32`"),
    ("checked_div", "compare first: `if {0} != 0 { {x} / {0} } else { … }`: there is no `Option`"),
];

/// Methods of integers that say what becomes of a number that is too large, each with what a float does, which has infinities.
const FLOATS: &[(&str, &str)] = &[
    ("_add", "{x} + {0}"),
    ("_sub", "{x} - {0}"),
    ("_mul", "{x} * {0}"),
    ("_div", "{x} / {0}"),
    ("_rem", "{x} % {0}"),
    ("_neg", "-{x}"),
    ("_abs", "{x}.abs()"),
];

/// The edit for a method of integers that is called on a float: `saturating_abs`.
pub(super) fn of_float(call: &syn::ExprMethodCall) -> Option<String> {
    let name = call.method.to_string();
    let what = ["saturating", "wrapping", "checked", "overflowing"].iter().find_map(|how| name.strip_prefix(how))?;
    let (_, edit) = FLOATS.iter().find(|(known, _)| *known == what)?;
    let of = call.args.first().map_or_else(|| "y".to_owned(), operand);
    Some(format!("write `{}`: floats do not wrap", edit.replace("{x}", &operand(&call.receiver)).replace("{0}", &of)))
}

/// The edit for a method that there is not.
pub(super) fn of_method(call: &syn::ExprMethodCall) -> Option<String> {
    let (_, edit) = METHODS.iter().find(|(known, _)| call.method == known)?;
    let arguments: Vec<String> = call.args.iter().map(written).collect();
    let of = |at: usize| arguments.get(at).map_or("i", String::as_str);
    let (x, parts) = match &*call.receiver {
        // `y[0].fetch_add(v)`: the element's buffer, and its index.
        syn::Expr::Index(element) => (operand(&element.expr), Some(written(&element.index))),
        other => (operand(other), None),
    };
    if let Some(atomic) = edit.strip_prefix("atomic ") {
        let index = parts.unwrap_or_else(|| of(0).to_owned());
        let value = arguments.last().map_or("1", String::as_str);
        return Some(format!("write `{x}.{atomic}({index}, {value})`"));
    }
    let x = operand(&call.receiver);
    // `i < x.len()` takes operands, as `{0}` takes an expression.
    let first = call.args.first().map_or_else(|| "i".to_owned(), operand);
    Some(edit.replace("{x}", &x).replace("{0} ", &format!("{first} ")).replace("{0}", of(0)).replace("{1}", of(1)))
}
