//! Conditions and loops that are off by one at an end, guards that are missing, and slots that do not take turns.

use super::{Edits, Mistake};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

pub(super) fn find(file: &syn::File, edits: &mut Edits<'_>) {
    Finder { edits }.visit_file(file);
}

struct Finder<'f, 't> {
    edits: &'f mut Edits<'t>,
}

impl Finder<'_, '_> {
    /// The comparisons by `<` in a condition.
    fn comparisons(condition: &syn::Expr, found: &mut Vec<proc_macro2::Span>) {
        match condition {
            syn::Expr::Binary(binary) => match binary.op {
                syn::BinOp::Lt(less) => found.push(less.span()),
                syn::BinOp::And(_) | syn::BinOp::Or(_) => {
                    Finder::comparisons(&binary.left, found);
                    Finder::comparisons(&binary.right, found);
                }
                _ => {}
            },
            syn::Expr::Paren(paren) => Finder::comparisons(&paren.expr, found),
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Finder<'_, '_> {
    fn visit_expr_if(&mut self, branch: &'a syn::ExprIf) {
        let mut comparisons = Vec::new();
        Finder::comparisons(&branch.cond, &mut comparisons);
        for less in &comparisons {
            self.edits.replace_in(Mistake::LessOrEqual, less, branch, "<=".to_owned());
        }
        if !comparisons.is_empty() {
            self.edits.replace_in(Mistake::NoGuard, &branch.cond, branch, "true".to_owned());
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_for_loop(&mut self, repeated: &'a syn::ExprForLoop) {
        RangeFinder { edits: self.edits, repeated }.visit_expr(&repeated.expr);
        visit::visit_expr_for_loop(self, repeated);
    }

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        if let (syn::BinOp::Rem(_), syn::Expr::Lit(literal)) = (&binary.op, &*binary.right)
            && self.edits.source(literal) == "2"
        {
            self.edits.replace(Mistake::OneSlot, literal, "1".to_owned());
        }
        visit::visit_expr_binary(self, binary);
    }
}

/// The range that a `for` goes over, behind its adaptors.
struct RangeFinder<'f, 't, 'a> {
    edits: &'f mut Edits<'t>,
    repeated: &'a syn::ExprForLoop,
}

impl<'a> Visit<'a> for RangeFinder<'_, '_, 'a> {
    fn visit_expr_range(&mut self, range: &'a syn::ExprRange) {
        if let (Some(start), Some(end)) = (&range.start, &range.end) {
            let [from, to] = [start, end].map(|bound| self.edits.source(bound).to_owned());
            self.edits.replace_in(Mistake::LateStart, start, self.repeated, format!("({from}) + 1"));
            self.edits.replace_in(Mistake::LateEnd, end, self.repeated, format!("({to}) + 1"));
            let early = match **end {
                syn::Expr::Lit(_) => format!("{to} - 1"),
                _ => format!("({to}).saturating_sub(1)"),
            };
            self.edits.replace_in(Mistake::EarlyEnd, end, self.repeated, early);
        }
    }
}
