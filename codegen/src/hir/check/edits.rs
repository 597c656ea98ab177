//! Edits that errors name: the call as it is to be written, a field that there is, a number that fits.

use super::super::items::AdtKind;
use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::Checker;
use crate::intrinsics;
use crate::ir::Type;
use crate::ir::intrinsic::{Call, Intrinsic, OperandType};
use crate::nearest::nearest;
use crate::syntax::written;

/// Most names that an edit lists.
const MOST_NAMES: usize = 8;

/// Values by letters: `a, b`. Of many values it says nothing.
pub(super) fn letters(count: usize) -> String {
    let all: Vec<&str> = ["a", "b", "c", "d", "e", "f"].into_iter().take(count).collect();
    if count > all.len() { "…".to_owned() } else { all.join(", ") }
}

/// A call with other arguments, as it is to be written.
pub(super) fn call_with(call: &syn::ExprCall, arguments: &str) -> String {
    format!("write `{}({arguments})`", written(&call.func))
}

/// A call of a method with other arguments, as it is to be written.
pub(super) fn method_with(call: &syn::ExprMethodCall, arguments: &str) -> String {
    let turbofish = call.turbofish.as_ref().map(written).unwrap_or_default().replace(":: <", "::<");
    format!("write `{}.{}{turbofish}({arguments})`", written(&call.receiver), call.method)
}

/// A call of a function or method of the program with the names of its parameters.
pub(super) fn declared_call(signature: &syn::Signature) -> String {
    let of_name = |pattern: &syn::Pat| match pattern {
        syn::Pat::Ident(name) => name.ident.to_string(),
        other => written(other),
    };
    let names = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(of_name(&typed.pat)),
        syn::FnArg::Receiver(_) => None,
    });
    let dot = if signature.receiver().is_some() { "." } else { "" };
    format!("write `{dot}{}({})`", signature.ident, names.collect::<Vec<_>>().join(", "))
}

/// A call of an intrinsic: its arguments by letters, lanes by what they are.
pub(super) fn intrinsic_call(row: &Intrinsic) -> String {
    // A method's receiver stands before the dot.
    let (own, dot) = if row.call == Call::Method { (1, ".") } else { (0, "") };
    let arguments = row.args.iter().skip(own).zip(["a", "b", "c", "d"]).map(|(operand, letter)| match operand {
        OperandType::Lane => "lane",
        OperandType::T | OperandType::UnsignedT | OperandType::Is(_) | OperandType::Index => letter,
    });
    format!("write `{dot}{}({})`", row.name, arguments.collect::<Vec<_>>().join(", "))
}

/// What to cast an argument to that a function does not take: `f32` if it takes that, else the first type that it takes.
pub(super) fn castable_to(function: &str, found: &Ty) -> String {
    let takes = |ty: &Type| intrinsics::function_for(function, *ty).is_some();
    let all = [Type::F32, Type::U32, Type::I32].into_iter().chain(Type::SCALARS.iter().map(|(ty, _)| *ty));
    match (found, { all }.find(takes)) {
        (Ty::Scalar(_) | Ty::Usize | Ty::Isize, Some(ty)) => format!("cast it: `{function}(x as {ty})`"),
        (_, Some(ty)) => format!("pass a `{ty}`"),
        (_, None) => "pass a scalar".to_owned(),
    }
}

/// `power::<N>(…)`, with the names of its generics; one that has none is called without them.
pub(super) fn generics_of_call(name: &str, generics: &[String]) -> String {
    match generics {
        [] => format!("write `{name}(…)`: it has no generics"),
        generics => format!("write `{name}::<{}>(…)`", generics.join(", ")),
    }
}

/// `a, b or c`, each in backticks.
fn either(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    match shown.as_slice() {
        [first @ .., last] if !first.is_empty() && names.len() <= MOST_NAMES => format!("{} or {last}", first.join(", ")),
        [one] => one.clone(),
        many => format!("{} or another", many.join(", ")),
    }
}

/// The nearest number that an integer type holds in place of this one, which it does not hold: `at most 255`.
pub(crate) fn nearest_number(ty: Type, value: i128) -> String {
    let numbers = ty.numbers();
    if value < *numbers.start() { format!("at least {}", numbers.start()) } else { format!("at most {}", numbers.end()) }
}

/// The narrowest type of the same sign that holds a number.
pub(crate) fn wider(ty: Type, value: i128) -> Option<Type> {
    let all = if ty.is_signed_int() { [Type::I8, Type::I16, Type::I32, Type::I64] } else { [Type::U8, Type::U16, Type::U32, Type::U64] };
    all.into_iter().find(|ty| ty.numbers().contains(&value))
}

/// What to do in place of assigning what is no place.
pub(super) fn instead_of_assigning(expr: &Expr) -> &'static str {
    match &expr.kind {
        ExprKind::Field(..) | ExprKind::Geometry(_) | ExprKind::Len(_) => "copy it, `let mut v = …;`, and assign the copy",
        _ => "write a variable, a field or an element on the left: `y[i] = …`",
    }
}

impl Checker<'_, '_> {
    /// What to write for a field that a type does not have.
    pub(super) fn instead_of_field(&mut self, ty: &Ty, name: &str) -> String {
        let ty = self.infer.shallow(ty);
        let fields: Vec<String> = match &ty {
            Ty::Tuple(parts) => (0..parts.len()).map(|part| part.to_string()).collect(),
            ty => self.struct_fields(ty).unwrap_or_default().into_iter().map(|(field, _)| field).collect(),
        };
        if let Some(near) = nearest(name, fields.iter().map(String::as_str)) {
            return format!("did you mean `{near}`?");
        }
        match &ty {
            Ty::Global(_) | Ty::Slice(_) | Ty::Array(..) => format!("take an element first: `[i].{name}`"),
            Ty::Adt(id, _) if !fields.is_empty() => {
                format!("write {}, or define `{name}` in `{}`", either(&fields), self.context.items.adts[id.0].name)
            }
            _ if fields.is_empty() => format!("leave out `.{name}`"),
            _ => format!("write {}", either(&fields)),
        }
    }

    /// What to write in place of fields in braces, for a type that has none.
    pub(super) fn instead_of_fields(&self, ty: &Ty) -> String {
        if let Ty::Adt(id, _) = self.infer.shallow(ty) {
            let adt = &self.context.items.adts[id.0];
            if let AdtKind::Enum(variants, _) = &adt.kind
                && let Some((variant, _)) = variants.first()
            {
                return format!("write a variant: `{}::{variant}`", adt.name);
            }
        }
        "write the value by itself, without braces".to_owned()
    }

    /// What to write for an index into what has no elements.
    pub(super) fn instead_of_index(&mut self, ty: &Ty, index: &syn::Expr) -> String {
        let ty = self.infer.resolve(ty);
        match &ty {
            Ty::Texture(_) => "read it by `fetch(x, y)` or `sample(u, v)`; a kernel writes to a `&mut Global`".to_owned(),
            Ty::Dim3 => "name the axis: `.x`, `.y` or `.z`".to_owned(),
            Ty::Tuple(_) => "name the part: `.0`".to_owned(),
            Ty::Adt(..) => match self.struct_fields(&ty).unwrap_or_default().first() {
                Some((field, _)) => format!("name a field: `.{field}`"),
                None => format!("leave out `[{}]`", written(index)),
            },
            Ty::Scalar(_) | Ty::Usize | Ty::Isize => {
                let (index, element) = (written(index), self.show(&ty));
                format!("leave out `[{index}]`, or declare a buffer, `&Global<{element}>`, or an array, `[{element}; N]`")
            }
            _ => format!("leave out `[{}]`", written(index)),
        }
    }

    /// What to compare in place of values that have no such operator.
    pub(super) fn instead_of_comparing(&self, ty: &Ty, sign: &str) -> String {
        match self.infer.shallow(ty) {
            Ty::Dim3 => format!("compare one axis: `a.x {sign} b.x`"),
            Ty::Matrix(_) => format!("compare elements: `a[(row, column)] {sign} b[(row, column)]`"),
            Ty::MatrixBatch(_) => format!("compare elements: `a[m][(row, column)] {sign} b[m][(row, column)]`"),
            Ty::Texture(_) => format!("compare texels: `a.fetch(x, y) {sign} b.fetch(x, y)`"),
            _ => format!("compare elements: `a[i] {sign} b[i]`"),
        }
    }
}
