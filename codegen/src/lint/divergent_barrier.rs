//! `divergent_barrier`: a barrier under a condition that some threads of a block meet and others do not.
//!
//! Threads that have returned do not count: the others wait for each other, as in the simulator. Buffers are taken to hold one value for all
//! threads that read one place.

use super::{Finding, Lint, Subject};
use crate::analysis::uniformity::Uniformity;
use crate::diagnostic::Level;
use crate::intrinsics::Effect;
use crate::ir::{Block, Inst, Kernel, Op};

pub(super) const LINT: Lint = Lint {
    name: "divergent_barrier",
    level: Some(Level::Warning),
    summary: "a barrier stands where not all threads of a block come by",
    page: include_str!("divergent_barrier.md"),
    check,
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let kernel = &subject.known.legal;
    let mut has_barriers = false;
    kernel.for_each_inst(|kernel, _, inst| has_barriers |= is_barrier(kernel, inst));
    if !has_barriers {
        return;
    }
    let uniformity = Uniformity::without_races(kernel);
    let mut search = Search { kernel, uniformity, around: Vec::new(), found: Vec::new() };
    search.block(kernel.body);
    for (barrier, owner) in search.found {
        let (what, label) = match &kernel.insts[owner].op {
            Op::If { .. } => ("a condition that differs between the threads of a block", "this condition"),
            _ => ("a loop that the threads of a block do not leave together", "this loop"),
        };
        findings.push(Finding {
            span: subject.span(kernel.insts[barrier].loc),
            message: format!("this barrier is under {what}: threads that do not come by are waited for in vain"),
            labels: vec![(subject.span(kernel.insts[owner].loc), label.to_owned())],
            help: "put the barrier where all threads of the block come by, and only the work around it under the condition".to_owned(),
        });
    }
}

fn is_barrier(kernel: &Kernel, inst: Inst) -> bool {
    matches!(&kernel.insts[inst].op, Op::Intrinsic(row, _) if row.row().effect == Effect::Barrier)
}

struct Search<'k> {
    kernel: &'k Kernel,
    uniformity: Uniformity,
    /// The constructs around the present place.
    around: Vec<Inst>,
    /// Barriers, each with what parts the threads.
    found: Vec<(Inst, Inst)>,
}

impl Search<'_> {
    fn block(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if is_barrier(kernel, *inst) && !self.uniformity.runs_together(*inst) {
                self.found.extend(self.parting().map(|owner| (*inst, owner)));
            }
            for child in kernel.insts[*inst].op.blocks() {
                self.around.push(*inst);
                self.block(child);
                self.around.pop();
            }
        }
    }

    /// The outermost construct that parts the threads that reach it together.
    fn parting(&self) -> Option<Inst> {
        let parts = |inst: &&Inst| match &self.kernel.insts[**inst].op {
            Op::If { condition, .. } => !self.uniformity.is_uniform(*condition),
            Op::For { start, end, step, .. } => {
                [start, end, step].into_iter().any(|v| !self.uniformity.is_uniform(*v)) || self.is_left_apart(**inst)
            }
            Op::Loop { .. } => self.is_left_apart(**inst),
            _ => false,
        };
        self.around.iter().find(parts).copied()
    }

    /// Whether some threads leave a loop, or begin its next iteration, before others.
    fn is_left_apart(&self, owner: Inst) -> bool {
        let mut is_apart = false;
        for block in self.kernel.insts[owner].op.blocks() {
            self.kernel.walk_block(block, &mut |kernel, _, inst| {
                let leaves = matches!(kernel.insts[inst].op, Op::Break(target, _) | Op::Continue(target, _) if target == owner);
                is_apart |= leaves && self.is_under_divergence(owner, inst);
            });
        }
        is_apart
    }

    /// Whether an exit stands under a condition, inside `owner`, that differs between threads.
    fn is_under_divergence(&self, owner: Inst, exit: Inst) -> bool {
        let kernel = self.kernel;
        let holds = |block: Block| {
            let mut holds = false;
            kernel.walk_block(block, &mut |_, _, inst| holds |= inst == exit);
            holds
        };
        let mut block = kernel.insts[owner].op.blocks().into_iter().find(|block| holds(*block));
        while let Some(inside) = block {
            let next = kernel.blocks[inside].insts.iter().find_map(|inst| {
                let child = kernel.insts[*inst].op.blocks().into_iter().find(|child| holds(*child))?;
                Some((*inst, child))
            });
            if let Some((inst, _)) = next
                && let Op::If { condition, .. } = &kernel.insts[inst].op
                && !self.uniformity.is_uniform(*condition)
            {
                return true;
            }
            block = next.map(|(_, child)| child);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::found;

    fn kernel(body: &str) -> String {
        format!(
            "#[kernel(block = 128)] fn k(n: usize, flags: &mut Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {{ #[shared] let mut s: [f32; 128]; let t = thread_idx().x; let i = global_id().x; {body} y[i] = s[t]; }}"
        )
    }

    #[test]
    fn barriers_under_the_threads_own_conditions_are_found() {
        let bodies = [
            "if i < n { s[t] = x[i]; sync_threads(); }",
            "if x[i] > 0.0 { s[t] = 1.0; sync_threads(); }",
            "let mut h = t; while h > 0 { s[t] = 1.0; sync_threads(); h /= 2; }",
            "for k in 0..n { s[t] = 1.0; if t == k { break; } sync_threads(); }",
        ];
        for body in bodies {
            let says = found("divergent_barrier", &kernel(body));
            assert_eq!(says.len(), 1, "{body}: {says:?}");
            assert!(says[0].0.starts_with("this barrier is under a "), "{says:?}");
        }
    }

    #[test]
    fn barriers_that_a_block_meets_together_are_not() {
        let bodies = [
            "s[t] = 0.0; sync_threads(); if i < n { s[t] = x[i]; } sync_threads();",
            "s[t] = 0.0; if n > 3 { sync_threads(); }",
            "let mut h = 64; while h > 0 { if t < h { s[t] = 1.0; } sync_threads(); h /= 2; }",
            "s[t] = 0.0; if flags[block_idx().x] == 1 { sync_threads(); }",
            "if i >= n { return; } s[t] = x[i]; sync_threads();",
        ];
        for body in bodies {
            assert_eq!(found("divergent_barrier", &kernel(body)), [], "{body}");
        }
    }
}
