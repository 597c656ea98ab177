//! Threads that return before others meet.

use super::{Edits, Mistake, Probe, callee};
use syn::visit::{self, Visit};

pub(super) fn find(file: &syn::File, edits: &mut Edits<'_>) {
    Finder { edits }.visit_file(file);
}

struct Finder<'f, 't> {
    edits: &'f mut Edits<'t>,
}

/// Whether anything in a statement is called that threads meet at.
#[derive(Default)]
struct Meets {
    found: bool,
}

impl<'a> Visit<'a> for Meets {
    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        let meets = |name: &String| {
            ["shuffle", "warp_", "ballot", "any", "all", "match_any", "block_"].iter().any(|word| name.starts_with(word))
                && !["block_idx", "block_dim", "warp_id"].contains(&name.as_str())
        };
        self.found |= callee(call).as_ref().is_some_and(meets);
        visit::visit_expr_call(self, call);
    }
}

impl<'a> Visit<'a> for Finder<'_, '_> {
    fn visit_item_fn(&mut self, function: &'a syn::ItemFn) {
        // Of a kernel: a device function's `return` is not the thread's.
        if !function.attrs.iter().any(|attribute| attribute.path().segments.last().is_some_and(|name| name.ident == "kernel")) {
            return;
        }
        for statement in &function.block.stmts {
            let mut meets = Meets::default();
            meets.visit_stmt(statement);
            if meets.found {
                let probe = Probe::same(statement, "thread_idx().x != 3".to_owned()).of_statement();
                self.edits.insert(Mistake::EarlyReturn, statement, "if thread_idx().x == 3 { return; } ", probe);
            }
        }
    }
}
