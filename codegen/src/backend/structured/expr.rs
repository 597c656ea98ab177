//! The text of a value, how tightly it binds, and what it reads.

use super::Storage;

/// How tightly an operator binds; higher is tighter. What is not here is the language's own.
pub(in super::super) type Level = u8;

/// Names, literals, calls, subscripts, fields.
pub(in super::super) const PRIMARY: Level = 16;
/// `-a`, `!a`; in C casts.
pub(in super::super) const UNARY: Level = 14;

/// The text of a value.
#[derive(Clone, Debug)]
pub(in super::super) struct Expr<X> {
    /// The text.
    pub(in super::super) text: String,
    /// Its outermost operator.
    pub(in super::super) level: Level,
    /// Variables that change which it reads: it must be evaluated before they change.
    pub(in super::super) reads: Vec<Storage>,
    /// Whether it loads from memory, so that its place among other accesses is not free.
    pub(in super::super) loads: bool,
    /// The opposite of a condition, if it is simpler than `!(…)`.
    pub(in super::super) negated: Option<(String, Level)>,
    /// What the language keeps besides.
    pub(in super::super) extra: X,
}

impl<X: Default> Expr<X> {
    /// An expression that reads nothing that changes.
    pub(in super::super) fn new(text: impl Into<String>, level: Level) -> Expr<X> {
        Expr { text: text.into(), level, reads: Vec::new(), loads: false, negated: None, extra: X::default() }
    }

    /// An expression over others.
    pub(in super::super) fn over(text: impl Into<String>, level: Level, parts: &[&Expr<X>]) -> Expr<X> {
        let mut expr = Expr::new(text, level);
        for part in parts {
            expr.absorb(part);
        }
        expr
    }

    /// Takes on what `part` reads.
    pub(in super::super) fn absorb(&mut self, part: &Expr<X>) {
        self.loads |= part.loads;
        for storage in &part.reads {
            if !self.reads.contains(storage) {
                self.reads.push(*storage);
            }
        }
    }

    /// The text, in parentheses unless it binds at least as tightly as `level`.
    pub(in super::super) fn at(&self, level: Level) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The text of `!e`, and how tightly it binds.
    pub(in super::super) fn negation(&self) -> (String, Level) {
        self.negated.clone().unwrap_or_else(|| (format!("!{}", self.at(UNARY)), UNARY))
    }
}
