//! Conditions and loops that are off by one at an end, guards that are missing, and slots that do not take turns.

use super::{Edits, Mistake, Probe};
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
    fn comparisons<'a>(condition: &'a syn::Expr, found: &mut Vec<&'a syn::ExprBinary>) {
        match condition {
            syn::Expr::Binary(binary) => match binary.op {
                syn::BinOp::Lt(_) => found.push(binary),
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
            // Other parts of the condition may decide where this one is at its edge.
            let [whole, at] = [branch.cond.span().byte_range(), less.op.span().byte_range()];
            let source = self.edits.source(&branch.cond);
            let mutant = format!("{}<={}", &source[..at.start - whole.start], &source[at.end - whole.start..]);
            let probe = Probe::same(&branch.cond, format!("({source}) == ({mutant})"));
            self.edits.replace_in(Mistake::LessOrEqual, &less.op, branch, "<=".to_owned(), probe);
        }
        if !comparisons.is_empty() {
            let probe = Probe::same(&branch.cond, self.edits.source(&branch.cond).to_owned());
            self.edits.replace_in(Mistake::NoGuard, &branch.cond, branch, "true".to_owned(), probe);
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_for_loop(&mut self, repeated: &'a syn::ExprForLoop) {
        RangeFinder { edits: self.edits, repeated, step: None }.visit_expr(&repeated.expr);
        visit::visit_expr_for_loop(self, repeated);
    }

    fn visit_expr_index(&mut self, index: &'a syn::ExprIndex) {
        // What is computed otherwise by `% 2` takes no turns.
        if let syn::Expr::Binary(binary) = &*index.index
            && let (syn::BinOp::Rem(_), syn::Expr::Lit(literal)) = (&binary.op, &*binary.right)
            && self.edits.source(literal) == "2"
        {
            let probe = Probe::same(binary, format!("{} == 0", self.edits.source(binary)));
            self.edits.replace(Mistake::OneSlot, literal, "1".to_owned(), probe);
        }
        visit::visit_expr_index(self, index);
    }
}

/// The range that a `for` goes over, behind its adaptors.
struct RangeFinder<'f, 't, 'a> {
    edits: &'f mut Edits<'t>,
    repeated: &'a syn::ExprForLoop,
    /// How far a turn is from the next, where it says so.
    step: Option<&'a syn::Expr>,
}

impl<'a> Visit<'a> for RangeFinder<'_, '_, 'a> {
    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if call.method == "step_by" {
            self.step = call.args.first();
        }
        // What stands in an adaptor's arguments is no range of the loop.
        self.visit_expr(&call.receiver);
    }

    fn visit_expr_range(&mut self, range: &'a syn::ExprRange) {
        if let (Some(start), Some(end)) = (&range.start, &range.end) {
            let [from, to] = [start, end].map(|bound| self.edits.source(bound).to_owned());
            // An end moves nothing where no turn begins at what is added or taken away.
            let step = self.step.map_or("1", |step| self.edits.source(step)).to_owned();
            let is_turn = |at: &str| format!("(({at}) - ({from})) % ({step}) == 0");
            let empty = format!("({from}) >= ({to})");
            self.edits.replace_in(Mistake::LateStart, start, self.repeated, format!("({from}) + 1"), Probe::same(start, empty.clone()));
            let none_more = format!("({from}) > ({to}) || !({})", is_turn(&to));
            self.edits.replace_in(Mistake::LateEnd, end, self.repeated, format!("({to}) + 1"), Probe::same(end, none_more));
            let early = match **end {
                syn::Expr::Lit(_) => format!("{to} - 1"),
                _ => format!("({to}).saturating_sub(1)"),
            };
            let none_less = format!("{empty} || !({})", is_turn(&format!("({to}) - 1")));
            self.edits.replace_in(Mistake::EarlyEnd, end, self.repeated, early, Probe::same(end, none_less));
        }
    }
}
