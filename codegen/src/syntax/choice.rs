//! Arguments of `#[kernel(…)]` that are words: `math = fast`; and words chosen by conditions over constants and const generics, for each
//! instance: `math = if FAST { fast } else { precise }`.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::nearest::nearest;
use proc_macro2::Ident;
use syn::Expr;
use syn::spanned::Spanned;

/// A word, or which of several.
#[derive(Clone)]
pub enum Choice<T> {
    /// This one.
    Word(T),
    /// One of two choices, by a `bool` that is known for each instance.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// Where it holds.
        then: Box<Choice<T>>,
        /// Where it does not.
        otherwise: Box<Choice<T>>,
    },
}

impl<T: Default> Default for Choice<T> {
    fn default() -> Choice<T> {
        Choice::Word(T::default())
    }
}

impl<T: Copy> Choice<T> {
    /// What its conditions are, outer ones first.
    pub fn conditions(&self) -> Vec<&Expr> {
        match self {
            Choice::Word(_) => Vec::new(),
            Choice::If { condition, then, otherwise } => {
                [vec![&**condition], then.conditions(), otherwise.conditions()].into_iter().flatten().collect()
            }
        }
    }

    /// The word, where `holds` says which conditions do; `None` where it cannot say.
    pub fn word(&self, holds: &mut impl FnMut(&Expr) -> Option<bool>) -> Option<T> {
        match self {
            Choice::Word(word) => Some(*word),
            Choice::If { condition, then, otherwise } => if holds(condition)? { then } else { otherwise }.word(holds),
        }
    }

    /// What stands behind `name =`. The first of the two words is the one that is meant where the argument is left out.
    pub(super) fn parse(name: &Ident, value: &Expr, words: &[(&'static str, T); 2], diagnostics: &mut Diagnostics) -> Option<Choice<T>> {
        let [(usual, _), (other, _)] = words;
        let by_condition = |condition: &str| format!("write `{name} = if {condition} {{ {other} }} else {{ {usual} }}`");
        match value {
            Expr::Paren(paren) => return Choice::parse(name, &paren.expr, words, diagnostics),
            Expr::Group(group) => return Choice::parse(name, &group.expr, words, diagnostics),
            Expr::Block(block) if block.label.is_none() => {
                if let [syn::Stmt::Expr(tail, None)] = &block.block.stmts[..] {
                    return Choice::parse(name, tail, words, diagnostics);
                }
            }
            Expr::If(choice) => {
                let then = Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: choice.then_branch.clone() });
                let then = Choice::parse(name, &then, words, diagnostics);
                let Some((_, otherwise)) = &choice.else_branch else {
                    let message = format!("`{name}` is `{usual}` or `{other}`: this `if` has no `else`");
                    diagnostics.push(Diagnostic::error(choice.if_token.span, message).help(by_condition("…")));
                    return None;
                };
                let otherwise = Choice::parse(name, otherwise, words, diagnostics);
                let condition = choice.cond.clone();
                return Some(Choice::If { condition, then: Box::new(then?), otherwise: Box::new(otherwise?) });
            }
            _ => {}
        }
        let ident = match value {
            Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
            _ => None,
        };
        let word = ident.unwrap_or_default();
        if let Some((_, choice)) = words.iter().find(|(known, _)| word == *known) {
            return Some(Choice::Word(*choice));
        }
        let is_constant = word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase);
        // The opposite of a word is near to it.
        let near = words.iter().map(|(known, _)| *known).filter(|known| known.strip_prefix("un") != Some(word.as_str()));
        let help = match nearest(&word, near) {
            _ if is_constant => by_condition(&word),
            Some(known) => format!("write `{name} = {known}`"),
            None => format!("write `{name} = {other}`, or leave it out for `{usual}`"),
        };
        diagnostics.push(Diagnostic::error(value.span(), format!("`{name}` is `{usual}` or `{other}`")).help(help));
        None
    }
}
