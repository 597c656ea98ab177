//! Methods that people write who come from std's slices, each with what a kernel writes in its place.

use crate::syntax::{cast, literal_int, operand, written};

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
    ("checked_mul", "use `{x}.saturating_mul({0})`, or `{x}.mul_hi({0})` for the high half: there is no `Option`"),
    ("saturating_pow", "multiply with `saturating_mul`, in a loop or written out: `{x}.saturating_mul({x})` is the square"),
    ("saturating_neg", "write `0i32.saturating_sub({x})`, with the type of `{x}` for `i32`"),
    ("saturating_abs", "write `{x}.max(-i32::MAX).abs()`, with the type of `{x}` for `i32`"),
];

/// Methods of integers that say whether a number became too large, for types without a sign and for those with one: the edit, in which `{x}` is the receiver, `{T}` its type, `{0}` the first argument
/// and `{o}` the same beside an operator.
const INTEGERS: &[(&str, Option<&str>, Option<&str>)] = &[
    (
        "_add",
        Some("let (sum, over) = ({x}.wrapping_add({0}), {x} > {T}::MAX - {o});"),
        Some("let sum = {x}.wrapping_add({0}); let over = (sum < {x}) != ({o} < 0);"),
    ),
    (
        "_sub",
        Some("let (difference, over) = ({x}.wrapping_sub({0}), {x} < {o});"),
        Some("let difference = {x}.wrapping_sub({0}); let over = (difference > {x}) != ({o} < 0);"),
    ),
    (
        "_mul",
        Some("let (product, over) = ({x}.wrapping_mul({0}), {x}.mul_hi({0}) != 0);"),
        Some("let product = {x}.wrapping_mul({0}); let over = {x}.mul_hi({0}) != product >> ({T}::BITS - 1);"),
    ),
    (
        "_neg",
        Some("let (negative, over) = ({x}.wrapping_neg(), {x} != 0);"),
        Some("let (negative, over) = ({x}.wrapping_neg(), {x} == {T}::MIN);"),
    ),
    ("_abs", None, Some("let (absolute, over) = ({x}.wrapping_abs(), {x} == {T}::MIN);")),
    ("_div", Some("{x} / {o}"), Some("{x} / {o}")),
    ("_rem", Some("{x} % {o}"), Some("{x} % {o}")),
    ("_div_euclid", Some("{x}.div_euclid({0})"), Some("{x}.div_euclid({0})")),
    ("_rem_euclid", Some("{x}.rem_euclid({0})"), Some("{x}.rem_euclid({0})")),
];

/// Sums that take a carry and give one.
const CARRYING: &[(&str, &str)] = &[
    ("carrying_add", "let low = {x}.wrapping_add({0}); let sum = low.wrapping_add({1} as {T}); let carry = low < {x} || sum < low;"),
    (
        "borrowing_sub",
        "let low = {x}.wrapping_sub({0}); let difference = low.wrapping_sub({1} as {T}); let borrow = low > {x} || difference > low;",
    ),
];

/// The edit for a method of integers, of a receiver of the type that is called `ty`, that no other type has, or that another would do otherwise.
pub(super) fn of_integer(call: &syn::ExprMethodCall, ty: &str) -> Option<String> {
    let name = call.method.to_string();
    let is_signed = ty.starts_with('i');
    let x = operand(&call.receiver);
    let arguments: Vec<String> = call.args.iter().map(written).collect();
    let of = |at: usize| arguments.get(at).map_or("b", String::as_str);
    let other = call.args.first().map_or_else(|| "b".to_owned(), operand);
    let carry = call.args.iter().nth(1).map_or_else(|| "carry".to_owned(), operand);
    let filled =
        |edit: &str| edit.replace("{x}", &x).replace("{T}", ty).replace("{0}", of(0)).replace("{1}", &carry).replace("{o}", &other);
    if let Some((_, edit)) = CARRYING.iter().find(|(known, _)| name == *known) {
        return Some(match is_signed {
            false => format!("write `{}`", filled(edit)),
            true => format!("add numbers without a sign, whose carry is `sum < a`: `{x} as u{}`", &ty[1..]),
        });
    }
    if let ("sqrt", true) = (name.as_str(), call.args.is_empty()) {
        return Some(format!("write `{x}.isqrt()`, which leaves the fraction out, or `({x} as {}).sqrt()`", float_for(ty)));
    }
    if let "floor" | "ceil" | "round" | "trunc" = name.as_str() {
        return Some("remove it: an integer has no fraction".to_owned());
    }
    let (how, what) = ["wrapping", "checked", "overflowing"].iter().find_map(|how| Some((*how, name.strip_prefix(how)?)))?;
    let (_, unsigned, signed) = INTEGERS.iter().find(|(known, ..)| *known == what)?;
    let edit = filled(if is_signed { *signed } else { *unsigned }?);
    let is_index = matches!(ty, "usize" | "isize");
    let divisor = call.args.first().and_then(literal_int);
    let no_option = ": there is no `Option`";
    Some(match (how, what) {
        // `wrapping_add` and the like are there.
        ("wrapping", "_rem_euclid" | "_div_euclid") => format!("write `{edit}`"),
        ("wrapping", _) => return None,
        ("checked", "_sub") if !is_signed => {
            format!("compare first: `if {x} >= {other} {{ {x} - {other} }} else {{ … }}`{no_option}")
        }
        // How wide an index is the kernel decides.
        ("checked", "_mul") => return None,
        ("overflowing", "_mul") if is_index => return None,
        (_, "_div" | "_rem" | "_div_euclid" | "_rem_euclid") if divisor.is_some_and(|by| by > 0) => format!("write `{edit}`"),
        ("checked", "_div" | "_rem" | "_div_euclid" | "_rem_euclid") => {
            let fits = if is_signed { format!(" && ({x} != {ty}::MIN || {other} != -1)") } else { String::new() };
            format!("compare first: `if {other} != 0{fits} {{ {edit} }} else {{ … }}`{no_option}")
        }
        (_, "_div" | "_rem" | "_div_euclid" | "_rem_euclid") => return None,
        ("checked", _) => format!("write `{edit}`{no_option}"),
        (_, _) => format!("write `{edit}`"),
    })
}

/// The float that holds the integers of a type that it is cast to: `f32`, of wide ones `f64`.
pub(super) fn float_for(integer: &str) -> &'static str {
    if integer.ends_with("64") { "f64" } else { "f32" }
}

/// The edit for a method of floats that is called on an integer: `a.sin()`.
pub(super) fn of_integer_as_float(call: &syn::ExprMethodCall, ty: &str) -> String {
    let arguments: Vec<String> = call.args.iter().map(written).collect();
    format!("write `({}).{}({})`", cast(&call.receiver, float_for(ty), false), call.method, arguments.join(", "))
}

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
