//! `print!`, `assert!` and their kin: format strings and the values they show.

use super::super::tree::{Expr, ExprKind};
use super::super::types::Ty;
use super::expression::{expr, plain_path};
use super::{Checker, Demand};
use crate::diagnostic::Diagnostic;
use crate::ir::{CompareOp, PrintPart};
use crate::syntax::{MatchesArguments, written};
use proc_macro2::Span;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

/// A format string with what stands between its braces.
enum Piece {
    Text(String),
    /// Name or position of the argument (empty: the next), digits after the point.
    Hole(String, Option<u8>),
}

/// The parts of a format string; else what is wrong with it, and the edit.
fn pieces(format: &str) -> Result<Vec<Piece>, (String, &'static str)> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' if chars.peek() == Some(&'{') => {
                chars.next();
                text.push('{');
            }
            '}' if chars.peek() == Some(&'}') => {
                chars.next();
                text.push('}');
            }
            '}' => {
                return Err((
                    "a `}` without its `{`; for the sign itself write `}}`".to_owned(),
                    "write `{}` for a value, `}}` for the sign",
                ));
            }
            '{' => {
                let mut closed = false;
                let hole: String = chars.by_ref().take_while(|c| !std::mem::replace(&mut closed, *c == '}') && *c != '}').collect();
                if !closed {
                    return Err((
                        "a `{` without its `}`; for the sign itself write `{{`".to_owned(),
                        "write `{}` for a value, `{{` for the sign",
                    ));
                }
                let (name, spec) = hole.split_once(':').unwrap_or((&hole, ""));
                let precision = match spec {
                    "" | "?" => None,
                    spec => match spec.strip_prefix('.').and_then(|digits| digits.trim_end_matches('?').parse().ok()) {
                        Some(digits) => Some(digits),
                        None => {
                            let message = format!("`{{:{spec}}}` is not supported in a kernel; `{{}}` and `{{:.3}}` are");
                            return Err((message, "write `{}`, or `{:.3}` for three digits after the point"));
                        }
                    },
                };
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Hole(name.trim().to_owned(), precision));
            }
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

impl Checker<'_, '_> {
    pub(super) fn macro_expression(&mut self, mac: &syn::Macro, span: Span) -> Expr {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if name == "matches" {
            return self.matches_macro(mac, span);
        }
        let args: Vec<syn::Expr> = match parser.parse2(mac.tokens.clone()) {
            Ok(args) => args.into_iter().collect(),
            Err(error) => {
                let help = format!("write its arguments with commas between them: `{name}!(a, b)`");
                return self.error_expression(Diagnostic::error(error.span(), error.to_string()).help(help).by_rustc());
            }
        };
        match name.as_str() {
            "print" | "println" | "eprint" | "eprintln" => {
                let (mut parts, values) = self.format(&args, span);
                if name.ends_with("ln") {
                    parts.push(PrintPart::Text("\n".to_owned()));
                }
                expr(ExprKind::Print(parts, values), Ty::unit(), span)
            }
            "assert" | "debug_assert" => {
                let Some((condition, rest)) = args.split_first() else {
                    let error = Diagnostic::error(span, "`assert!` takes a condition");
                    return self.error_expression(error.help("write one: `assert!(i < n)`").by_rustc());
                };
                let shown = written(condition);
                let condition = self.expression(condition);
                self.expect(&condition.ty, &Ty::BOOL, condition.span);
                self.assertion(condition, rest, format!("assertion failed: {shown}"), span)
            }
            "assert_eq" | "assert_ne" | "debug_assert_eq" | "debug_assert_ne" => self.assert_compare(&args, name.ends_with("eq"), span),
            "panic" | "unreachable" | "unimplemented" | "todo" => {
                let (parts, _) = if args.is_empty() { (Vec::new(), Vec::new()) } else { self.format(&args, span) };
                let text: String = parts.iter().map(|p| if let PrintPart::Text(text) = p { text.as_str() } else { "…" }).collect();
                let text = if text.is_empty() { format!("{name}!") } else { text };
                expr(ExprKind::Trap(text), Ty::Never, span)
            }
            _ => {
                let message = format!("the macro `{name}!` is not in the kernel language");
                self.error_expression(
                    Diagnostic::error(mac.path.span(), message).help("`assert!`, `debug_assert!`, `print!` and `println!` are"),
                )
            }
        }
    }

    fn matches_macro(&mut self, mac: &syn::Macro, span: Span) -> Expr {
        match MatchesArguments::parse(mac) {
            Ok(MatchesArguments { value, pattern, guard }) => self.in_scope(|checker| {
                let value = checker.expression(&value);
                let pattern = checker.pattern(&pattern, &value.ty.clone());
                let fits = expr(ExprKind::Let(pattern, Box::new(value)), Ty::BOOL, span);
                let Some(guard) = guard else { return fits };
                let guard = checker.expression(&guard);
                checker.expect(&guard.ty, &Ty::BOOL, guard.span);
                expr(ExprKind::And(Box::new(fits), Box::new(guard)), Ty::BOOL, span)
            }),
            Err(error) => {
                let help = "write a value and a pattern: `matches!(x, 1 | 2)`";
                self.error_expression(Diagnostic::error(error.span(), error.to_string()).help(help).by_rustc())
            }
        }
    }

    fn assert_compare(&mut self, args: &[syn::Expr], equal: bool, span: Span) -> Expr {
        let [left, right, rest @ ..] = args else {
            let error = Diagnostic::error(span, "this assertion takes two values");
            let help = if equal { "write both: `assert_eq!(a, b)`" } else { "write both: `assert_ne!(a, b)`" };
            return self.error_expression(error.help(help).by_rustc());
        };
        let (left, right) = (self.expression(left), self.expression(right));
        self.expect(&right.ty, &left.ty, right.span);
        self.demand(&left.ty, Demand::Equality, span);
        let (op, word) = if equal { (CompareOp::Eq, "==") } else { (CompareOp::Ne, "!=") };
        let condition = expr(ExprKind::Compare(op, Box::new(left), Box::new(right)), Ty::BOOL, span);
        self.assertion(condition, rest, format!("assertion `left {word} right` failed"), span)
    }

    /// Asserts a condition; says `otherwise` where no message is given.
    fn assertion(&mut self, condition: Expr, message: &[syn::Expr], otherwise: String, span: Span) -> Expr {
        let otherwise = vec![PrintPart::Text(otherwise)];
        let (parts, values) = if message.is_empty() { (otherwise, Vec::new()) } else { self.format(message, span) };
        expr(ExprKind::Assert(Box::new(condition), parts, values), Ty::unit(), span)
    }

    /// A format string and its arguments.
    fn format(&mut self, args: &[syn::Expr], span: Span) -> (Vec<PrintPart>, Vec<Expr>) {
        let Some((syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(format), .. }), rest)) = args.split_first() else {
            if let Some(first) = args.first() {
                let error = Diagnostic::error(span, "the first argument is a format string");
                self.report(error.help(format!("write `\"{{}}\", {}`", written(first))).by_rustc());
            }
            return (Vec::new(), Vec::new());
        };
        let pieces = match pieces(&format.value()) {
            Ok(pieces) => pieces,
            Err((message, help)) => {
                self.report(Diagnostic::error(format.span(), message).help(help));
                return (Vec::new(), Vec::new());
            }
        };
        let mut parts = Vec::new();
        let mut values = Vec::new();
        let mut next = 0;
        let mut shown: Vec<usize> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => parts.push(PrintPart::Text(text)),
                Piece::Hole(name, precision) => {
                    let value = match name.parse::<usize>() {
                        _ if name.is_empty() => {
                            next += 1;
                            shown.push(next - 1);
                            rest.get(next - 1).map(|arg| self.expression(arg))
                        }
                        Ok(position) => {
                            shown.push(position);
                            rest.get(position).map(|arg| self.expression(arg))
                        }
                        Err(_) => Some(self.captured(&name, rest, format.span())),
                    };
                    let Some(value) = value else {
                        let error = Diagnostic::error(format.span(), "the format string shows more values than are given");
                        self.report(error.help("write one value behind it for each `{}`").by_rustc());
                        continue;
                    };
                    self.demand(&value.ty, Demand::Shown, value.span);
                    parts.push(PrintPart::Argument(precision));
                    values.push(value);
                }
            }
        }
        // A value with a name is looked for by it.
        let is_named = |arg: &syn::Expr| matches!(arg, syn::Expr::Assign(_));
        for (_, arg) in rest.iter().enumerate().filter(|(position, arg)| !shown.contains(position) && !is_named(arg)) {
            let message = format!("`{}` is shown nowhere: the format string has no `{{}}` for it", written(arg));
            self.report(Diagnostic::error(arg.span(), message).help("write a `{}` for it into the text, or leave it out").by_rustc());
        }
        (parts, values)
    }

    /// `{name}`: a named argument, or a variable.
    fn captured(&mut self, name: &str, args: &[syn::Expr], span: Span) -> Expr {
        for arg in args {
            if let syn::Expr::Assign(assign) = arg
                && let syn::Expr::Path(path) = &*assign.left
                && path.path.is_ident(name)
            {
                return self.expression(&assign.right);
            }
        }
        let Ok(ident) = syn::parse_str::<syn::Ident>(name) else {
            let message = format!("`{{{name}}}` shows no value: put the name of a variable between the braces, or nothing");
            return self.error_expression(Diagnostic::error(span, message).by_rustc());
        };
        self.path_expression(&plain_path(syn::Ident::new(&ident.to_string(), span)))
    }
}
