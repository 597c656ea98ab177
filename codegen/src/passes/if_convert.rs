//! Short branches become selects.
//!
//! **Needs** nothing; finds more after `fold` and `cse`. **Preserves** every value: both arms are computed, one is chosen. **Refuses** an arm that
//! has an effect, may fault, leaves by another exit, or holds a region; and branches that cost more than they save: both arms
//! and the selects together may take [`LIMIT`] issue slots, which is about what a branch that splits a warp costs by itself (the
//! two jumps and the convergence barrier), and no more than [`RESULTS`] results.
//!
//! Inner branches first, so that a ladder of short ones becomes one straight line if it is short as a whole.

use super::rewrite::Rewrite;
use crate::analysis::cost::{is_speculable, issue_slots};
use crate::ir::{Block, Inst, Kernel, Op, Region, Value};

/// Issue slots of both arms and the selects, at most.
const LIMIT: u32 = 10;

/// Results, at most.
const RESULTS: usize = 4;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let body = kernel.body;
    let mut rewrite = Rewrite::new(kernel);
    convert_block(&mut rewrite, body);
    rewrite.changed
}

fn convert_block(rewrite: &mut Rewrite<'_>, block: Block) {
    for inst in rewrite.take(block) {
        rewrite.resolve_operands(inst);
        for child in rewrite.kernel.insts[inst].op.blocks() {
            convert_block(rewrite, child);
        }
        if let Op::Region(Region::If { condition, then_block, else_block }) = rewrite.kernel.insts[inst].op
            && is_short(rewrite.kernel, inst, then_block, else_block)
        {
            convert(rewrite, block, inst, condition, [then_block, else_block]);
        } else {
            rewrite.keep(block, inst);
        }
    }
}

fn is_short(kernel: &Kernel, inst: Inst, then_block: Block, else_block: Block) -> bool {
    let results = kernel.insts[inst].results.len();
    let Some(slots) = arm_slots(kernel, then_block).zip(arm_slots(kernel, else_block)).map(|(a, b)| a.saturating_add(b)) else {
        return false;
    };
    results <= RESULTS && slots.saturating_add(results as u32) <= LIMIT
}

/// What an arm costs, if it may run in any case.
fn arm_slots(kernel: &Kernel, arm: Block) -> Option<u32> {
    kernel.yielded(arm)?;
    let (_, insts) = kernel.blocks[arm].insts.split_last()?;
    insts.iter().try_fold(0u32, |sum, inst| is_speculable(kernel, *inst).then(|| sum.saturating_add(issue_slots(kernel, *inst))))
}

/// `if c { A; yield a } else { B; yield b }` is `A; B; select c, a, b`.
fn convert(rewrite: &mut Rewrite<'_>, block: Block, inst: Inst, condition: Value, arms: [Block; 2]) {
    rewrite.changed = true;
    let [left, right] = arms.map(|arm| {
        let values = rewrite.kernel.yielded(arm).map(<[Value]>::to_vec).unwrap_or_default();
        let mut insts = rewrite.take(arm);
        insts.pop();
        insts.into_iter().for_each(|inst| rewrite.keep(block, inst));
        values
    });
    let loc = rewrite.kernel.insts[inst].loc;
    let results = rewrite.kernel.insts[inst].results.clone();
    for (result, (a, b)) in results.into_iter().zip(left.into_iter().zip(right)) {
        let chosen = if a == b { a } else { rewrite.builder(block, loc).select(condition, a, b) };
        rewrite.replace(result, chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    #[test]
    fn a_ladder_of_short_arms_becomes_selects() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: bool = lt v0, v1
             v8: u32 = if v2 {
               v3: u32 = add v0, v1
               yield v3
             } else {
               v4: bool = eq v0, v1
               v7: u32 = if v4 {
                 yield v0
               } else {
                 v5: u32 = sub v0, v1
                 yield v5
               }
               yield v7
             }
             store m3[v0], v8
             return",
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: bool = lt v0, v1
             v3: u32 = add v0, v1
             v4: bool = eq v0, v1
             v5: u32 = sub v0, v1
             v7: u32 = select v4, v0, v5
             v8: u32 = select v2, v3, v7
             store m3[v0], v8
             return",
        );
    }

    #[test]
    fn effects_faults_exits_and_long_arms_stay_branches() {
        let long = (3..14).map(|n| format!("v{n}: u32 = add v{}, v1\n", n - 1)).collect::<String>();
        let long = format!("v2: u32 = mul v0, v1\n{long}yield v13");
        for arm in ["store m3[v0], v1\n yield v1", "v3: u32 = div v0, v1\n yield v3", "v3: u32 = load m3[v1]\n yield v3", "return", &long] {
            check_refused(
                run,
                &format!(
                    "v0: u32 = thread_idx.x
                     v1: u32 = load m0
                     v20: bool = lt v0, v1
                     v21: u32 = if v20 {{
                       {arm}
                     }} else {{
                       yield v0
                     }}
                     store m3[v0], v21
                     return"
                ),
            );
        }
    }
}
