//! Barriers and fences that are missing, too weak, or not reached by all; exchanges, too.

use super::{Edits, Mistake, Probe, callee};
use syn::visit::{self, Visit};

/// What only waits, or only orders.
const BARRIERS: &[&str] = &["sync_threads", "sync_warp", "cluster_sync"];

/// Exchanges that give back what they are given in the first place, where nobody else is there.
const EXCHANGES: &[&str] = &[
    "block_sum",
    "block_min",
    "block_max",
    "block_inclusive_sum",
    "block_exclusive_sum",
    "warp_sum",
    "warp_min",
    "warp_max",
    "warp_inclusive_sum",
    "shuffle",
    "shuffle_up",
    "shuffle_down",
    "shuffle_xor",
];

/// Votes, and what they give where they are left out.
const VOTES: &[(&str, &str)] = &[("ballot", "0"), ("match_any", "0"), ("any", "false"), ("all", "false")];

/// Half a warp.
const HALF: &str = "lane_id() < 16";

/// A block that is one warp, at most.
const ONE_WARP: &str = "block_dim().x * block_dim().y * block_dim().z <= 32";

pub(super) fn find(file: &syn::File, edits: &mut Edits<'_>) {
    Finder { edits }.visit_file(file);
}

struct Finder<'f, 't> {
    edits: &'f mut Edits<'t>,
}

impl Finder<'_, '_> {
    fn barrier(&mut self, statement: &syn::Stmt, name: &str) {
        let edits = &mut self.edits;
        let reached = Probe::reached(statement).of_statement();
        let in_half = Probe::same(statement, HALF.to_owned()).of_statement();
        edits.replace(Mistake::DroppedBarrier, statement, String::new(), reached.clone());
        match name {
            "sync_threads" => {
                let one_warp = Probe::same(statement, ONE_WARP.to_owned()).of_statement();
                edits.replace(Mistake::WeakBarrier, statement, "sync_warp();".to_owned(), one_warp);
                edits.replace(Mistake::Divergent, statement, format!("if {HALF} {{ sync_threads(); }}"), in_half);
            }
            "cluster_sync" => edits.replace(Mistake::WeakBarrier, statement, "sync_threads();".to_owned(), reached),
            _ => edits.replace(Mistake::Divergent, statement, format!("if {HALF} {{ {name}(); }}"), in_half),
        }
    }

    fn fence(&mut self, statement: &syn::Stmt, name: &str) {
        let reached = Probe::reached(statement).of_statement();
        self.edits.replace(Mistake::DroppedFence, statement, String::new(), reached.clone());
        if name.starts_with("fence_device") || name.starts_with("fence_system") {
            let narrow = name.replace("device", "block").replace("system", "block");
            self.edits.replace(Mistake::NarrowScope, statement, format!("{narrow}();"), reached);
        }
    }
}

impl<'a> Visit<'a> for Finder<'_, '_> {
    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        if let syn::Stmt::Expr(syn::Expr::Call(call), Some(_)) = statement
            && let Some(name) = callee(call)
        {
            if BARRIERS.contains(&name.as_str()) {
                self.barrier(statement, &name);
            } else if name.starts_with("fence_") {
                self.fence(statement, &name);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        let Some(name) = callee(call) else { return visit::visit_expr_call(self, call) };
        let (source, probe) = (self.edits.source(call).to_owned(), Probe::same(call, HALF.to_owned()));
        if EXCHANGES.contains(&name.as_str())
            && let Some(first) = call.args.first()
        {
            let own = self.edits.source(first).to_owned();
            self.edits.replace(Mistake::Divergent, call, format!("(if {HALF} {{ {source} }} else {{ {own} }})"), probe.clone());
        }
        if let Some((_, none)) = VOTES.iter().find(|(vote, _)| *vote == name) {
            self.edits.replace(Mistake::Divergent, call, format!("(if {HALF} {{ {source} }} else {{ {none} }})"), probe);
        }
        visit::visit_expr_call(self, call);
    }
}
