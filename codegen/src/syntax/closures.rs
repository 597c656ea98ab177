//! Closures, and the device functions that a kernel has in their place: the edit, with the types that the source shows.

use super::chains::plain_name;
use super::layout::written;
use super::operand::{idents, unparenthesized};
use crate::intrinsics;
use crate::ir::intrinsic::{Call, OperandType};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;

/// What is known of a variable that a closure captures.
pub(super) struct Captured {
    /// Its type, as far as it is written.
    pub(super) ty: Option<String>,
    /// Whether it is a register, which a function could not assign for its caller.
    pub(super) is_value: bool,
}

/// The edit for a closure, `name` being what it is called: a device function. `captured` knows the kernel's variables.
pub(super) fn closure_edit(closure: &syn::ExprClosure, name: Option<&syn::Ident>, captured: &dyn Fn(&str) -> Option<Captured>) -> String {
    let name = name.map_or_else(|| "f".to_owned(), ToString::to_string);
    let mut parameters: Vec<(String, Option<String>)> = Vec::new();
    for input in &closure.inputs {
        let ty = match input {
            syn::Pat::Type(typed) => Some(written(&typed.ty)),
            _ => None,
        };
        let Some(name) = plain_name(input) else { return "write a `#[device]` function before the kernel, and call it".to_owned() };
        parameters.push((name, ty));
    }
    let own = parameters.len();
    let statements = match &*closure.body {
        syn::Expr::Block(block) => written(&block.block.stmts.iter().map(ToTokens::to_token_stream).collect::<TokenStream>()),
        body => written(body),
    };
    for ident in idents(closure.body.to_token_stream()) {
        if parameters.iter().any(|(name, _)| *name == ident) {
            continue;
        }
        let Some(Captured { ty, is_value }) = captured(&ident) else { continue };
        if is_value && is_assigned(&closure.body, &ident) {
            return format!("write `{statements}` where it is called: a function cannot assign `{ident}`, a variable of its caller");
        }
        parameters.push((ident, ty));
    }
    // Beside a number like `2.0`, what has no type written is a float.
    let has_float = has_float(closure.body.to_token_stream());
    for (_, ty) in parameters.iter_mut().filter(|(_, ty)| ty.is_none() && has_float) {
        *ty = Some("f32".to_owned());
    }
    let extra: Vec<&str> = parameters[own..].iter().map(|(name, _)| name.as_str()).collect();
    let call = match extra[..] {
        [] => "and call it".to_owned(),
        _ => format!("and pass it `{}`, too", extra.join("`, `")),
    };
    if parameters.iter().any(|(_, ty)| ty.is_none()) {
        let all: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        return format!(
            "write it before the kernel, a `#[device] fn {name}` with the types of `{}` and of its result, {call}",
            all.join("`, `")
        );
    }
    let type_of = |name: &str| parameters.iter().find(|(known, _)| known == name).and_then(|(_, ty)| ty.clone());
    let result = match (&closure.output, &*closure.body) {
        (syn::ReturnType::Type(_, ty), _) => Some(written(ty)),
        (_, syn::Expr::Block(block)) => match block.block.stmts.last() {
            Some(syn::Stmt::Expr(value, None)) => type_of_value(value, &type_of),
            _ => Some(String::new()),
        },
        (_, body) => type_of_value(body, &type_of),
    };
    let list: Vec<String> = parameters.iter().map(|(name, ty)| format!("{name}: {}", ty.as_deref().unwrap_or("f32"))).collect();
    let head = format!("#[device] fn {name}({})", list.join(", "));
    match result.as_deref() {
        Some("") => format!("write it before the kernel, `{head} {{ {statements} }}`, {call}"),
        Some(result) => format!("write it before the kernel, `{head} -> {result} {{ {statements} }}`, {call}"),
        None => format!("write it before the kernel, `{head}` with the type of its result behind `->`, {call}"),
    }
}

/// Whether something is assigned to a variable, or to a part of it.
fn is_assigned(body: &syn::Expr, name: &str) -> bool {
    struct Find<'n> {
        name: &'n str,
        found: bool,
    }
    impl<'a> syn::visit::Visit<'a> for Find<'_> {
        fn visit_expr(&mut self, expr: &'a syn::Expr) {
            let mut place = match expr {
                syn::Expr::Assign(assign) => Some(&*assign.left),
                syn::Expr::Binary(binary) if is_assignment(&binary.op) => Some(&*binary.left),
                _ => None,
            };
            while let Some(at) = place {
                place = match at {
                    syn::Expr::Index(index) => Some(&index.expr),
                    syn::Expr::Field(field) => Some(&field.base),
                    syn::Expr::Paren(paren) => Some(&paren.expr),
                    syn::Expr::Unary(unary) => Some(&unary.expr),
                    syn::Expr::Path(path) => {
                        self.found |= path.path.is_ident(self.name);
                        None
                    }
                    _ => None,
                };
            }
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut find = Find { name, found: false };
    syn::visit::Visit::visit_expr(&mut find, body);
    find.found
}

/// `+=` and the like.
fn is_assignment(op: &syn::BinOp) -> bool {
    use syn::BinOp::{Eq, Ge, Le, Ne};
    op.to_token_stream().to_string().ends_with('=') && !matches!(op, Eq(_) | Ge(_) | Le(_) | Ne(_))
}

/// Whether a number with a point, and without a type, stands among tokens.
fn has_float(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Literal(literal) => matches!(syn::Lit::new(literal), syn::Lit::Float(float) if float.suffix().is_empty()),
        TokenTree::Group(group) => has_float(group.stream()),
        _ => false,
    })
}

/// The type of a value, as far as it is seen from the types of variables: nothing (empty) of an assignment.
fn type_of_value(value: &syn::Expr, type_of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    use syn::BinOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or, Shl, Shr};
    let of = |expr: &syn::Expr| type_of_value(expr, type_of);
    let suffix = |suffix: &str, plain: &str| Some(if suffix.is_empty() { plain } else { suffix }.to_owned());
    match value {
        syn::Expr::Assign(_) => Some(String::new()),
        syn::Expr::Paren(inner) => of(&inner.expr),
        syn::Expr::Group(inner) => of(&inner.expr),
        syn::Expr::Unary(inner) => of(&inner.expr),
        syn::Expr::Cast(cast) => Some(written(&cast.ty)),
        syn::Expr::Path(path) => type_of(&path.path.get_ident()?.to_string()),
        syn::Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Int(int) => suffix(int.suffix(), "i32"),
            syn::Lit::Float(float) => suffix(float.suffix(), "f32"),
            syn::Lit::Bool(_) => Some("bool".to_owned()),
            _ => None,
        },
        syn::Expr::Index(index) => {
            let ty = of(&index.expr)?;
            let buffer = ty.trim_start_matches("&mut ").trim_start_matches('&');
            let element = buffer.strip_prefix("Global<").and_then(|rest| rest.strip_suffix('>'));
            let array = || buffer.strip_prefix('[').and_then(|rest| rest.rsplit_once(';')).map(|(element, _)| element);
            element.or_else(array).map(|element| element.trim().to_owned())
        }
        syn::Expr::Binary(both) => match both.op {
            Eq(_) | Ge(_) | Gt(_) | Le(_) | Lt(_) | Ne(_) | And(_) | Or(_) => Some("bool".to_owned()),
            Shl(_) | Shr(_) => of(&both.left),
            op if is_assignment(&op) => Some(String::new()),
            // A plain number is of the type of the other side.
            _ if matches!(unparenthesized(&both.left), syn::Expr::Lit(_)) => of(&both.right),
            _ => of(&both.left),
        },
        syn::Expr::If(choice) => match choice.then_branch.stmts.last() {
            Some(syn::Stmt::Expr(value, None)) => of(value),
            _ => Some(String::new()),
        },
        syn::Expr::MethodCall(call) if keeps_type(&call.method) => of(&call.receiver),
        _ => None,
    }
}

/// The type of a variable that begins with a value, as far as it is seen. A plain `0` may be of any.
pub(super) fn type_of_let(value: &syn::Expr, type_of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_plain =
        matches!(unparenthesized(value), syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if int.suffix().is_empty());
    if is_plain { None } else { type_of_value(value, type_of).filter(|ty| !ty.is_empty()) }
}

/// Whether a method of numbers gives one of the same type.
fn keeps_type(name: &syn::Ident) -> bool {
    intrinsics::rows().any(|row| row.call == Call::Method && name == row.name && matches!(row.results, [OperandType::T]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_are_device_functions() {
        let edit = |text: &str| {
            let syn::Expr::Closure(closure) = syn::parse_str(text).unwrap() else { panic!("{text}") };
            let captured = |name: &str| match name {
                "x" => Some(Captured { ty: Some("&Global<f32>".to_owned()), is_value: false }),
                "c" => Some(Captured { ty: None, is_value: true }),
                _ => None,
            };
            closure_edit(&closure, Some(&quote::format_ident!("f")), &captured)
        };
        assert_eq!(edit("|a: f32| a * 2.0"), "write it before the kernel, `#[device] fn f(a: f32) -> f32 { a * 2.0 }`, and call it");
        assert_eq!(
            edit("|i: usize| -> f32 { x[i] }"),
            "write it before the kernel, `#[device] fn f(i: usize, x: &Global<f32>) -> f32 { x[i] }`, and pass it `x`, too"
        );
        for (text, shown) in [
            ("|v: i32| v + 1", "fn f(v: i32) -> i32 { v + 1 }"),
            ("|v: i32| 1 + v", "fn f(v: i32) -> i32 { 1 + v }"),
            ("|v: u32, w: u32| v.max(w)", "fn f(v: u32, w: u32) -> u32 { v.max(w) }"),
            ("|v: i32| v > 3", "fn f(v: i32) -> bool { v > 3 }"),
            ("|v: i32| v as f64 * 2.0", "fn f(v: i32) -> f64 { v as f64 * 2.0 }"),
            ("|v: i32| { let w = 2; v * w }", "fn f(v: i32) -> i32 { let w = 2; v * w }"),
            ("|i: usize| x[i]", "fn f(i: usize, x: &Global<f32>) -> f32 { x[i] }"),
            ("|| 5", "fn f() -> i32 { 5 }"),
            ("|v| v * 2.0", "fn f(v: f32) -> f32 { v * 2.0 }"),
        ] {
            assert!(edit(text).contains(shown), "{text}: {}", edit(text));
        }
        assert_eq!(
            edit("|v| v + 1"),
            "write it before the kernel, a `#[device] fn f` with the types of `v` and of its result, and call it"
        );
        assert_eq!(
            edit("|v: u32| g(v)"),
            "write it before the kernel, `#[device] fn f(v: u32)` with the type of its result behind `->`, and call it"
        );
        for text in ["|| c += 1", "|| { c = 1; }", "|v: u32| c[1] = v"] {
            assert!(edit(text).contains("where it is called: a function cannot assign `c`"), "{text}: {}", edit(text));
        }
    }
}
