//! Expressions within the text of an edit: with parentheses where they need them.

use super::layout::written;

/// An expression before `as`, or beside an operator.
pub fn operand(expr: &syn::Expr) -> String {
    match expr {
        syn::Expr::Group(group) => operand(&group.expr),
        _ if is_postfix(expr) => written(expr),
        _ => format!("({})", written(expr)),
    }
}

/// An expression before a `.`: there Rust wants the type of a literal.
pub fn receiver(expr: &syn::Expr) -> String {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Float(float), .. }) if float.suffix().is_empty() => format!("{}f32", written(expr)),
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) if int.suffix().is_empty() => format!("{}i32", written(expr)),
        _ => operand(expr),
    }
}

/// A cast; `is_compared`: a `<` or `<<` follows it, which Rust would take for the type's arguments.
pub fn cast(expr: &syn::Expr, ty: &str, is_compared: bool) -> String {
    let text = format!("{} as {ty}", operand(expr));
    if is_compared { format!("({text})") } else { text }
}

/// Whether nothing that follows an expression takes a part of it.
fn is_postfix(expr: &syn::Expr) -> bool {
    matches!(
        expr,
        syn::Expr::Path(_)
            | syn::Expr::Lit(_)
            | syn::Expr::Index(_)
            | syn::Expr::Field(_)
            | syn::Expr::Call(_)
            | syn::Expr::MethodCall(_)
            | syn::Expr::Macro(_)
            | syn::Expr::Array(_)
            | syn::Expr::Tuple(_)
            | syn::Expr::Paren(_)
    )
}

/// What a reference refers to: kernels pass values.
pub(super) fn behind(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Reference(reference) => behind(&reference.expr),
        syn::Expr::Group(group) => behind(&group.expr),
        other => other,
    }
}

/// An expression without parentheses round it.
pub(crate) fn unparenthesized(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(paren) => unparenthesized(&paren.expr),
        syn::Expr::Group(group) => unparenthesized(&group.expr),
        other => other,
    }
}

/// Every identifier among tokens, in order.
pub(super) fn idents(tokens: proc_macro2::TokenStream) -> Vec<String> {
    let of = |token| match token {
        proc_macro2::TokenTree::Ident(ident) => vec![ident.to_string()],
        proc_macro2::TokenTree::Group(group) => idents(group.stream()),
        _ => Vec::new(),
    };
    tokens.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_operator_could_take_a_part_of_stands_in_parentheses() {
        let parse = |text: &str| syn::parse_str::<syn::Expr>(text).unwrap();
        assert_eq!(
            ["x[i]", "a.b()", "(a + b)", "a + b", "-a", "a as u32"].map(|text| operand(&parse(text))),
            ["x[i]", "a.b()", "(a + b)", "(a + b)", "(-a)", "(a as u32)"]
        );
        assert_eq!(["2.0", "2", "2u8", "x"].map(|text| receiver(&parse(text))), ["2.0f32", "2i32", "2u8", "x"]);
        assert_eq!(cast(&parse("n"), "usize", true), "(n as usize)");
        assert_eq!(cast(&parse("n - 1"), "usize", false), "(n - 1) as usize");
    }
}
