//! How deep source may nest: parsers and compilers walk it by recursion, and a stack has an end. And how long a number may be, since `syn` takes a time that is quadratic in its digits.
//!
//! Looked at on tokens, before anything recurses. Each level costs what it takes of the stack: a pair of brackets several times what
//! an operator in a chain (`a + b + c`) does.

use crate::diagnostic::{Diagnostic, Diagnostics};
use proc_macro2::{Delimiter, Group, Literal, Spacing, Span, TokenStream, TokenTree};

/// What all levels down to a token may cost. In unoptimised builds one unit is up to 10 KiB of stack, and threads of `rustc` have
/// 8 MiB.
const BUDGET: u32 = 512;

/// A pair of brackets.
const GROUP: u32 = 4;

/// A generic argument list.
const ANGLE: u32 = 6;

/// Characters of a number. The least `f64` written out has 1,076.
const NUMBER: usize = 1100;

/// Words that an expression or a type can begin with, so that they nest without brackets.
const PREFIXES: &[&str] =
    &["as", "async", "break", "const", "dyn", "else", "fn", "for", "impl", "let", "move", "return", "static", "yield"];

/// Refuses tokens that nest deeper than can be compiled, and numbers longer than can be read.
pub fn check_nesting(tokens: &TokenStream) -> Result<(), Diagnostics> {
    match deepest(tokens.clone(), 0) {
        Ok(()) => Ok(()),
        Err(too_deep) => Err(too_deep.into()),
    }
}

/// Parses what somebody wrote elsewhere than in a source file: on a command line, in a file of results. `None` for what is no `T`, nests too deep to be one, or holds a number that is too long.
pub fn parse_written<T: syn::parse::Parse>(text: &str) -> Option<T> {
    let tokens: TokenStream = text.parse().ok()?;
    check_nesting(&tokens).ok()?;
    syn::parse2(tokens).ok()
}

fn refuse(span: Span) -> Diagnostic {
    let message =
        format!("this nests too deep: at most {} brackets, or {BUDGET} operators of one expression, can be compiled", BUDGET / GROUP);
    Diagnostic::error(span, message).help("give the inner part a name: a `let`, or a `#[device]` function")
}

fn refuse_long_number(literal: &Literal) -> Result<(), Diagnostic> {
    let text = literal.to_string();
    if text.len() <= NUMBER || !text.starts_with(|first: char| first.is_ascii_digit()) {
        return Ok(());
    }
    let message = format!("this number has {} characters; at most {NUMBER} can be read", text.len());
    Err(Diagnostic::error(literal.span(), message)
        .help("write fewer digits: 17 tell any two numbers of `f64` apart, and an integer has at most 20"))
}

/// Walks a stream whose surroundings cost `outer`.
fn deepest(tokens: TokenStream, outer: u32) -> Result<(), Diagnostic> {
    let mut cost = outer;
    let mut tokens = tokens.into_iter().peekable();
    // Whether the token before is a `#`, or the first half of an operator.
    let (mut after_hash, mut joint) = (false, false);
    while let Some(token) = tokens.next() {
        let span = token.span();
        match &token {
            TokenTree::Group(group) => {
                enter(group, cost)?;
                let goes_on = match tokens.peek() {
                    Some(TokenTree::Punct(next)) => !matches!(next.as_char(), '#' | '\''),
                    Some(TokenTree::Ident(next)) => *next == "else" || *next == "as",
                    _ => false,
                };
                cost = match group.delimiter() {
                    Delimiter::Brace if !goes_on => outer,
                    // An attribute, or an index or a call on what stands before.
                    _ if after_hash => cost,
                    _ => cost + 1,
                };
                (after_hash, joint) = (false, false);
            }
            TokenTree::Punct(punct) => {
                cost = match punct.as_char() {
                    ';' | ',' => outer,
                    ':' | '#' | '>' | '\'' => cost,
                    '!' if after_hash => cost,
                    '=' if joint => cost,
                    '<' => cost + ANGLE,
                    _ => cost + 1,
                };
                after_hash = punct.as_char() == '#';
                joint = punct.spacing() == Spacing::Joint;
            }
            TokenTree::Ident(ident) => {
                cost += u32::from(PREFIXES.iter().any(|prefix| ident == prefix));
                (after_hash, joint) = (false, false);
            }
            TokenTree::Literal(literal) => {
                refuse_long_number(literal)?;
                (after_hash, joint) = (false, false);
            }
        }
        if cost > BUDGET {
            return Err(refuse(span));
        }
    }
    Ok(())
}

fn enter(group: &Group, cost: u32) -> Result<(), Diagnostic> {
    let inner = cost + GROUP;
    if inner > BUDGET {
        return Err(refuse(group.span_open()));
    }
    deepest(group.stream(), inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<(), String> {
        let tokens: TokenStream = text.parse().unwrap();
        check_nesting(&tokens).map_err(|found| found.iter().map(|d| d.message.clone()).collect())
    }

    #[test]
    fn numbers_that_are_too_long_are_refused() {
        let of = |digits: usize| check(&format!("fn f() {{ let x = [0.{}, 1]; }}", "3".repeat(digits)));
        assert_eq!(of(NUMBER - 2), Ok(()));
        assert_eq!(of(NUMBER - 1), Err("this number has 1101 characters; at most 1100 can be read".to_owned()));
        let text = format!("const TEXT: &str = \"{}\";", "3".repeat(3 * NUMBER));
        assert_eq!(check(&text), Ok(()));
        assert!(parse_written::<syn::Expr>(&"7".repeat(100_000)).is_none());
    }

    #[test]
    fn ordinary_source_is_shallow() {
        let docs = "/// words\n".repeat(2000);
        let sum = " + a.b[3] * f32::MAX".repeat(100);
        let rows = "[1, 2, 3],".repeat(2000);
        let statements = "if a < b { c += 1; } for i in 0..n { d[i] = -e; }".repeat(500);
        let chain = "if a == 1 { b } else ".repeat(100);
        let source = format!("{docs} fn f() {{ let s = 1{sum}; let t = [{rows}]; {statements} {chain} {{ c }} }}");
        assert_eq!(check(&source), Ok(()));
    }

    #[test]
    fn what_nests_too_deep_is_refused_without_walking_it() {
        let n = 200_000;
        let brackets = format!("{}1{}", "(".repeat(n), ")".repeat(n));
        let message = "this nests too deep: at most 128 brackets, or 512 operators of one expression, can be compiled";
        assert_eq!(check(&brackets).unwrap_err(), message);
        for (open, close) in [("-", ""), ("!", ""), ("&", ""), ("return ", ""), ("|| ", ""), ("A<", ">"), ("if a { b } else ", "{}")] {
            let text = format!("{}1{}", open.repeat(2000), close.repeat(2000));
            assert_eq!(check(&text).unwrap_err(), message, "{open}");
        }
        for link in [" + 1", ".f()", " as u32", "[0]", "()", " = a", " && b"] {
            let text = format!("a{}", link.repeat(2000));
            assert!(check(&text).is_err(), "{link}");
        }
    }

    #[test]
    fn what_is_written_elsewhere_is_no_expression_where_it_nests_too_deep() {
        let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(parse_written::<syn::Expr>(&nested(20)).is_some());
        assert!(parse_written::<syn::Expr>(&nested(100_000)).is_none());
        assert!(parse_written::<syn::Expr>("1 2").is_none());
    }
}
