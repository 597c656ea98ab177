//! Arithmetic on the command line: what each axis of `--cover` and `--grid` is, where const generics of the kernel may be named, and the
//! lengths of `--args`, where nothing can. It is read as a Rust expression; but `/` rounds up, since a grid has to cover.

use proc_macro2::Span;
use std::fmt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprLit, Lit, Member};

/// What was written.
#[derive(Clone, Debug)]
pub(super) enum Arithmetic {
    Number(i128),
    /// A const generic, or the block's size: `T`, `block`, `block.x`.
    Name(String),
    Operation(Operator, Box<[Arithmetic; 2]>),
    /// Kept for messages.
    Parenthesis(Box<Arithmetic>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Rounds up.
    Divide,
    Shift,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fault {
    /// What this is divided by is 0.
    DividesByZero(String),
    /// This does not fit 128 bits.
    Overflows(String),
    /// Why a name has no value.
    Name(String),
}

impl Arithmetic {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub(super) fn parse(text: &str) -> Result<Arithmetic, String> {
        if text.trim().is_empty() {
            return Err(format!("it is empty; write {WANTED}"));
        }
        if text.chars().count() > MOST_CHARACTERS {
            return Err(format!("it has {} characters, and the most is {MOST_CHARACTERS}; shorten it", text.chars().count()));
        }
        // A line break counts columns anew, and means nothing.
        let text = text.replace(['\n', '\r'], " ");
        let column = |span: Span| span.start().column + 1;
        let expr: Expr = syn::parse_str(&text).map_err(|error| {
            // The end has no place of its own.
            let is_end = error.to_string().starts_with("unexpected end");
            let at = if is_end { "at its end".to_owned() } else { format!("at column {}", column(error.span())) };
            format!("{error} {at}; write {WANTED}")
        })?;
        Arithmetic::of(&expr)
            .map_err(|wrong| format!("`{}` at column {} is not understood; write {WANTED}", cut(&text, wrong), column(wrong)))
    }

    /// The same of an expression; else where it is something else.
    pub(super) fn of(expr: &Expr) -> Result<Arithmetic, Span> {
        let wrong = || expr.span();
        match expr {
            Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) if int.suffix().is_empty() => {
                int.base10_parse().map(Arithmetic::Number).map_err(|_| wrong())
            }
            Expr::Path(path) => path.path.get_ident().map(|name| Arithmetic::Name(name.to_string())).ok_or_else(wrong),
            Expr::Field(field) => match (Arithmetic::of(&field.base), &field.member) {
                (Ok(Arithmetic::Name(base)), Member::Named(member)) => Ok(Arithmetic::Name(format!("{base}.{member}"))),
                _ => Err(wrong()),
            },
            Expr::Paren(inner) => Ok(Arithmetic::Parenthesis(Box::new(Arithmetic::of(&inner.expr)?))),
            Expr::Binary(binary) => {
                let operator = match binary.op {
                    BinOp::Add(_) => Operator::Add,
                    BinOp::Sub(_) => Operator::Subtract,
                    BinOp::Mul(_) => Operator::Multiply,
                    BinOp::Div(_) => Operator::Divide,
                    BinOp::Shl(_) => Operator::Shift,
                    other => return Err(other.span()),
                };
                Ok(Arithmetic::Operation(operator, Box::new([Arithmetic::of(&binary.left)?, Arithmetic::of(&binary.right)?])))
            }
            _ => Err(wrong()),
        }
    }

    /// Its value, where names have these.
    pub(super) fn value(&self, names: &impl Fn(&str) -> Result<i128, String>) -> Result<i128, Fault> {
        let (operator, operands) = match self {
            Arithmetic::Number(number) => return Ok(*number),
            Arithmetic::Name(name) => return names(name).map_err(Fault::Name),
            Arithmetic::Parenthesis(inner) => return inner.value(names),
            Arithmetic::Operation(operator, operands) => (operator, operands),
        };
        let (a, b) = (operands[0].value(names)?, operands[1].value(names)?);
        let value = match operator {
            Operator::Add => a.checked_add(b),
            Operator::Subtract => a.checked_sub(b),
            Operator::Multiply => a.checked_mul(b),
            Operator::Divide if b == 0 => return Err(Fault::DividesByZero(operands[1].to_string())),
            // The next integer above, if there is a rest; it lies there where the signs are the same.
            Operator::Divide => a.checked_div(b).map(|whole| whole + i128::from(a % b != 0 && (a < 0) == (b < 0))),
            Operator::Shift => {
                u32::try_from(b).ok().and_then(|bits| 1i128.checked_shl(bits)).filter(|f| *f > 0).and_then(|f| a.checked_mul(f))
            }
        };
        value.ok_or_else(|| Fault::Overflows(self.to_string()))
    }

    /// The names in it, each once.
    pub(super) fn names<'n>(&'n self, into: &mut Vec<&'n str>) {
        match self {
            Arithmetic::Number(_) => {}
            Arithmetic::Name(name) if into.contains(&name.as_str()) => {}
            Arithmetic::Name(name) => into.push(name),
            Arithmetic::Parenthesis(inner) => inner.names(into),
            Arithmetic::Operation(_, operands) => operands.iter().for_each(|operand| operand.names(into)),
        }
    }
}

/// More than anyone means; reading goes down by recursion.
const MOST_CHARACTERS: usize = 256;

const WANTED: &str = "integers, const generics of the kernel, `block`, `+ - * /` and parentheses";

/// What stands at a place of one line.
fn cut(text: &str, span: Span) -> String {
    let (start, end) = (span.start().column, span.end().column);
    text.chars().skip(start).take(end.saturating_sub(start)).collect()
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arithmetic::Number(number) => write!(f, "{number}"),
            Arithmetic::Name(name) => f.write_str(name),
            Arithmetic::Parenthesis(inner) => write!(f, "({inner})"),
            Arithmetic::Operation(operator, operands) => {
                let sign = match operator {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Multiply => "*",
                    Operator::Divide => "/",
                    Operator::Shift => "<<",
                };
                write!(f, "{} {sign} {}", operands[0], operands[1])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<i128, Fault> {
        let names = |name: &str| match name {
            "T" => Ok(8),
            "FAST" => Ok(1),
            "block.x" => Ok(32),
            _ => Err(format!("no `{name}`")),
        };
        Arithmetic::parse(text).expect(text).value(&names)
    }

    #[test]
    fn division_rounds_up() {
        for (text, expected) in [
            ("1024/T", 128),
            ("1025 / T", 129),
            ("7 / 8", 1),
            ("0 / 8", 0),
            ("(0 - 9) / 8", -1),
            ("(0 - 9) / (0 - 8)", 2),
            ("1_000 + 2 * (T - 3)", 1010),
            ("4096 / (T * block.x)", 16),
            ("64 / (1 + FAST)", 32),
            ("1 << 20", 1 << 20),
            ("20 - 5 - 3", 12),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn faults_name_the_part_at_fault() {
        assert_eq!(value("1 / (T - 8)"), Err(Fault::DividesByZero("(T - 8)".into())));
        let most = i128::MAX;
        assert_eq!(value(&format!("1 + {most} * T")), Err(Fault::Overflows(format!("{most} * T"))));
        assert_eq!(value("1 << 200"), Err(Fault::Overflows("1 << 200".into())));
        assert_eq!(value("2 << 126"), Err(Fault::Overflows("2 << 126".into())));
        assert_eq!(value("1 << 127"), Err(Fault::Overflows("1 << 127".into())));
        assert_eq!(value("0 * U"), Err(Fault::Name("no `U`".into())));
        let mut names = Vec::new();
        let parsed = Arithmetic::parse("T * (T + block.x) / U").expect("arithmetic");
        parsed.names(&mut names);
        assert_eq!(names, ["T", "block.x", "U"]);
    }

    #[test]
    fn what_is_no_arithmetic_is_said_with_its_place() {
        for (text, said) in [
            ("1024/", "unexpected end of input, expected an expression at its end; write integers"),
            ("1024 % T", "`%` at column 6 is not understood"),
            ("8 + f(2)", "`f(2)` at column 5 is not understood"),
            ("8 + T::N", "`T::N` at column 5 is not understood"),
            ("8 + -T", "`-T` at column 5 is not understood"),
            ("256x1024", "`256x1024` at column 1 is not understood"),
            ("1.5 * T", "`1.5` at column 1 is not understood"),
            ("(4", "at column 1"),
            ("4 T", "unexpected token at column 3"),
            ("", "it is empty"),
            (&"(".repeat(300), "it has 300 characters, and the most is 256"),
        ] {
            let error = Arithmetic::parse(text).expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
        // The deepest that is taken.
        let deep = format!("{}8{}", "(".repeat(127), ")".repeat(127));
        assert_eq!(value(&deep), Ok(8));
    }
}
