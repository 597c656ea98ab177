//! `require(registers <= 64, …)`: clauses, unevaluated.

use super::attributes::{KernelAttributes, literal_int, skip_to_comma, with_nearest};
use super::quantity::{QUANTITIES, Quantity, Relation, Sense};
use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::{Ident, Span};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Token, token};

/// A clause whose bound may name constants and generics.
#[derive(Clone)]
pub struct RequireClause {
    /// What it is about.
    pub quantity: &'static Quantity,
    /// The quantity's name.
    pub span: Span,
    /// How it is compared.
    pub comparison: Relation,
    /// With what.
    pub bound: Expr,
}

const EXAMPLE: &str = "write `require(occupancy >= 0.5, registers <= 64)`";

pub(super) fn parse(into: &mut KernelAttributes, name: &Ident, input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<()> {
    if !input.peek(token::Paren) {
        diagnostics.push(Diagnostic::error(name.span(), "`require` takes clauses in parentheses").help(EXAMPLE));
        return skip_to_comma(input);
    }
    let group: proc_macro2::Group = input.parse()?;
    if group.stream().is_empty() {
        diagnostics.push(Diagnostic::error(name.span(), "`require` has no clause").help(EXAMPLE));
    }
    let clauses = |content: ParseStream<'_>| {
        while !content.is_empty() {
            match content.parse::<Expr>() {
                Ok(expr) => add(into, expr, diagnostics),
                Err(error) => {
                    diagnostics.append(error.into());
                    skip_to_comma(content)?;
                }
            }
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    clauses.parse2(group.stream())
}

fn add(into: &mut KernelAttributes, expr: Expr, diagnostics: &mut Diagnostics) {
    let clause = match read(expr) {
        Ok(clause) => clause,
        Err(error) => return diagnostics.push(*error),
    };
    let name = clause.quantity.name;
    if let Some(first) = into.required.iter().find(|known| known.quantity.name == name) {
        let error = Diagnostic::error(clause.span, format!("`{name}` is bounded twice")).label(first.span, "first bounded here");
        return diagnostics.push(error.help("remove one of them"));
    }
    if let Some(bound) = literal_int(&clause.bound)
        && bound < 0
    {
        let error = Diagnostic::error(clause.bound.span(), format!("`{name}` is never below 0"));
        return diagnostics.push(error.help(format!("write `{}`", clause.quantity.example)));
    }
    into.required.push(clause);
}

fn read(expr: Expr) -> Result<RequireClause, Box<Diagnostic>> {
    let span = expr.span();
    let Expr::Binary(binary) = expr else {
        return Err(Box::new(Diagnostic::error(span, "a clause compares a quantity with its bound").help(EXAMPLE)));
    };
    let comparison = match binary.op {
        BinOp::Ge(_) => Relation::AtLeast,
        BinOp::Gt(_) => Relation::Above,
        BinOp::Le(_) => Relation::AtMost,
        BinOp::Lt(_) => Relation::Below,
        BinOp::Eq(_) => Relation::Equal,
        _ => return Err(Box::new(Diagnostic::error(span, "a clause compares a quantity with its bound").help(EXAMPLE))),
    };
    let name = match &*binary.left {
        Expr::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    let Some(name) = name else {
        return Err(Box::new(Diagnostic::error(binary.left.span(), "a clause begins with the name of a quantity").help(EXAMPLE)));
    };
    let Some(quantity) = QUANTITIES.iter().find(|quantity| name == quantity.name) else {
        let names: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.name).collect();
        let error = Diagnostic::error(name.span(), format!("there is no quantity `{name}`"));
        return Err(Box::new(with_nearest(error, &name.to_string(), names.iter().copied(), &names)));
    };
    if !comparison.fits(quantity.sense) {
        let better = if quantity.sense == Sense::AtLeast { "more" } else { "fewer" };
        let error =
            Diagnostic::error(name.span(), format!("`{}` bounds `{name}` on the wrong side: {better} is better", comparison.symbol()));
        return Err(Box::new(error.help(format!("write `{}`", quantity.example))));
    }
    Ok(RequireClause { quantity, span: name.span(), comparison, bound: *binary.right })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tests::render;

    fn parse(arguments: &str) -> (Vec<String>, Vec<String>) {
        let mut diagnostics = Diagnostics::new();
        let attributes = KernelAttributes::parse(arguments.parse().unwrap(), &mut diagnostics);
        let clauses = attributes.required.iter().map(|clause| format!("{} {}", clause.quantity.name, clause.comparison.symbol()));
        (clauses.collect(), render(&diagnostics))
    }

    #[test]
    fn clauses_are_read() {
        let text = "block = 64, require(occupancy >= 0.5, registers <= B * 2, shared < 16 << 10, bank_conflicts == 0), ilp = 2, \
                    require(sectors_per_request <= crate::N, local_bytes == 0,)";
        let (clauses, found) = parse(text);
        assert_eq!(found, [""; 0]);
        assert_eq!(clauses, ["occupancy >=", "registers <=", "shared <", "bank_conflicts ==", "sectors_per_request <=", "local_bytes =="]);
    }

    #[test]
    fn examples_of_quantities_are_clauses() {
        for quantity in QUANTITIES {
            let (clauses, found) = parse(&format!("require({})", quantity.example));
            assert!(found.is_empty() && clauses[0].starts_with(quantity.name), "{}: {found:?}", quantity.name);
        }
    }

    #[test]
    fn what_is_no_clause_is_refused() {
        let refused = |text: &str, expected: &[&str]| assert_eq!(parse(text).1, expected, "{text}");
        let example = "write `require(occupancy >= 0.5, registers <= 64)`";
        refused("require", &[&format!("require: `require` takes clauses in parentheses; {example}")]);
        refused("require()", &[&format!("require: `require` has no clause; {example}")]);
        refused("require(registers)", &[&format!("registers: a clause compares a quantity with its bound; {example}")]);
        refused("require(64 >= registers)", &[&format!("64: a clause begins with the name of a quantity; {example}")]);
        refused("require(register <= 64)", &["register: there is no quantity `register`; write `registers`"]);
        refused(
            "require(registers >= 64, occupancy < 0.5)",
            &[
                "registers: `>=` bounds `registers` on the wrong side: fewer is better; write `registers <= 64`",
                "occupancy: `<` bounds `occupancy` on the wrong side: more is better; write `occupancy >= 0.5`",
            ],
        );
        refused("require(registers <= 64, registers < 32)", &["registers: `registers` is bounded twice; remove one of them"]);
        refused("require(shared <= -1)", &["-1: `shared` is never below 0; write `shared <= 16384`"]);
    }
}
