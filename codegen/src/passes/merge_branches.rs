//! Two `if`s in a row that ask the same become one.
//!
//! ```text
//! if p { a }                 if p { a; b }
//! x = …             ▶        (x = … in front of it)
//! if p { b }
//! ```
//!
//! **Needs** equal conditions to be one value (`cse`). **Preserves** the order of effects. **Refuses** `if`s with results or an `else`, arms that are left
//! by another exit, and pairs with anything between them that is not pure: what is pure moves in front, where its operands are
//! defined, since the first `if` has no results.

use crate::ir::{Block, Inst, Kernel, Op, Region, Value};

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let body = kernel.body;
    merge_block(kernel, body)
}

fn merge_block(kernel: &mut Kernel, block: Block) -> bool {
    let mut changed = false;
    let mut kept: Vec<Inst> = Vec::new();
    for inst in std::mem::take(&mut kernel.blocks[block].insts) {
        if let Some((condition, second)) = lone_arm(kernel, inst)
            && let Some(at) = partner(kernel, &kept, condition)
        {
            let first = kept.remove(at);
            let Some((_, arm)) = lone_arm(kernel, first) else { continue };
            kernel.blocks[arm].insts.pop();
            let rest = std::mem::take(&mut kernel.blocks[second].insts);
            kernel.blocks[arm].insts.extend(rest);
            kept.push(first);
            changed = true;
        } else {
            kept.push(inst);
        }
    }
    for inst in &kept {
        for child in kernel.insts[*inst].op.blocks() {
            changed |= merge_block(kernel, child);
        }
    }
    kernel.blocks[block].insts = kept;
    changed
}

/// The condition and the arm of an `if` without results and `else` whose arm comes to its end.
fn lone_arm(kernel: &Kernel, inst: Inst) -> Option<(Value, Block)> {
    let data = &kernel.insts[inst];
    let Op::Region(Region::If { condition, then_block, else_block }) = data.op else { return None };
    let is_empty = kernel.blocks[else_block].insts.len() == 1 && kernel.yielded(else_block).is_some();
    (data.results.is_empty() && is_empty && kernel.yielded(then_block).is_some()).then_some((condition, then_block))
}

/// Where the last `if` stands that asks the same, if only pure instructions follow it.
fn partner(kernel: &Kernel, kept: &[Inst], condition: Value) -> Option<usize> {
    for (at, inst) in kept.iter().enumerate().rev() {
        if let Some((asked, _)) = lone_arm(kernel, *inst) {
            return (asked == condition).then_some(at);
        }
        if !kernel.effects(*inst).is_pure() {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    fn two(between: &str, second: &str) -> String {
        format!(
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: bool = lt v0, v1
             v3: bool = lt v1, v0
             if v2 {{
               store m3[v0], v1
               yield
             }}
             {between}
             if {second} {{
               store m3[v1], v0
               yield
             }}
             return"
        )
    }

    #[test]
    fn the_second_of_two_follows_in_the_first() {
        check(
            run,
            &two("v4: u32 = add v0, v1\n store m3[v4], v4", "v2").replacen("store m3[v4], v4", "", 1).replacen(
                "store m3[v1], v0",
                "store m3[v4], v0",
                1,
            ),
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: bool = lt v0, v1
             v4: u32 = add v0, v1
             if v2 {
               store m3[v0], v1
               store m3[v4], v0
               yield
             }
             return",
        );
    }

    #[test]
    fn another_condition_or_an_effect_between_keeps_them_apart() {
        check_refused(run, &two("", "v3"));
        check_refused(run, &two("store m3[v0], v0", "v2"));
        check_refused(run, &two("call sync_threads", "v2"));
    }
}
