//! Loop-invariant code moves out of its loop.
//!
//! **Needs** nothing. **Preserves** what every instruction computes; the order of effects. **Refuses** to move:
//!
//! * what has an effect or may fault where it was not meant to run (an integer division by something unknown);
//! * loads of what is written while the kernel runs, by anybody;
//! * loads of read-only buffers, unless they are certain to happen if the loop is reached: the loop runs at least once, no branch is round the
//!   load and no exit before it. An access out of range in a loop that does not run must not happen;
//! * what is expensive and under a condition inside the loop: it might never be needed.
//!
//! One forward walk. The *depth* of a value is the number of loops round its definition. An instruction whose operands all have
//! depth m or less, standing at depth n > m, goes in front of the loop that leads from depth m to m + 1; in program order, so that
//! its operands, if they went the same way, are there before it. Constants go in front of the outermost loop.

use super::rewrite::Rewrite;
use crate::analysis::cost::{is_speculable, issue_slots};
use crate::ir::{Address, Block, Inst, Kernel, Memory, MemoryOp, Message, Op, Region, Terminator};

/// More issue slots than this are not spent where a condition might save them.
const CHEAP: u32 = 4;

/// Runs it.
pub(super) fn run(kernel: &mut Kernel) -> bool {
    let has_loops = kernel.insts.values().any(|data| data.op.is_loop());
    if !has_loops {
        return false;
    }
    let depth = vec![0; kernel.values.len()];
    let body = kernel.body;
    let mut licm = Hoist { rewrite: Rewrite::new(kernel), depth, preheaders: Vec::new() };
    licm.block(body, 0, false);
    licm.rewrite.changed
}

struct Hoist<'k> {
    rewrite: Rewrite<'k>,
    /// By value.
    depth: Vec<usize>,
    /// By loop, outermost first: what goes in front of it.
    preheaders: Vec<Vec<Inst>>,
}

impl Hoist<'_> {
    /// Goes through a block. Whoever is in front of the loop that leads to a depth above `certain` reaches the start of the
    /// block; `conditional` tells whether there is a branch between the innermost loop's start and the block. Gives whether the
    /// block may be left before its end.
    fn block(&mut self, block: Block, certain: usize, conditional: bool) -> bool {
        let (mut certain, mut leaves) = (certain, false);
        let depth = self.preheaders.len();
        for inst in self.rewrite.take(block) {
            let op = &self.rewrite.kernel.insts[inst].op;
            leaves |= matches!(
                op,
                Op::Message(Message::Assert(..))
                    | Op::Terminator(Terminator::Break(..) | Terminator::Continue(..) | Terminator::Return | Terminator::Trap(_))
            );
            match *op {
                Op::Region(Region::For { body, .. } | Region::Loop { body, .. }) => {
                    let inside = if self.runs(inst) { certain } else { depth + 1 };
                    leaves |= self.enter(block, body, inside);
                }
                Op::Region(Region::If { then_block, else_block, .. }) => {
                    leaves |= self.block(then_block, depth, true);
                    leaves |= self.block(else_block, depth, true);
                }
                Op::Region(Region::Block { body }) => leaves |= self.block(body, certain, conditional),
                Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_)
                | Op::Terminator(_) => {
                    if let Some(target) = self.target(inst, certain, conditional) {
                        self.preheaders[target].push(inst);
                        self.results_at(inst, target);
                        self.rewrite.changed = true;
                        continue;
                    }
                }
            }
            if leaves {
                certain = depth;
            }
            self.results_at(inst, depth);
            self.rewrite.keep(block, inst);
        }
        leaves
    }

    /// The body of a loop; what it sends ahead is put at the end of `block`.
    fn enter(&mut self, block: Block, body: Block, certain: usize) -> bool {
        self.preheaders.push(Vec::new());
        let depth = self.preheaders.len();
        for param in &self.rewrite.kernel.blocks[body].params {
            self.depth[usize::from(*param)] = depth;
        }
        let leaves = self.block(body, certain, false);
        for inst in self.preheaders.pop().unwrap_or_default() {
            self.rewrite.keep(block, inst);
        }
        leaves
    }

    /// The depth an instruction moves to, if it moves.
    fn target(&self, inst: Inst, certain: usize, conditional: bool) -> Option<usize> {
        let kernel = &*self.rewrite.kernel;
        let data = &kernel.insts[inst];
        let mut target = 0;
        data.op.for_each_operand(|value| target = target.max(self.depth[usize::from(value)]));
        if target >= self.preheaders.len() || data.results.is_empty() {
            return None;
        }
        let free = is_speculable(kernel, inst) && (!conditional || issue_slots(kernel, inst) <= CHEAP);
        let sure = matches!(&data.op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) if kernel.objects[access.object].is_read_only() && target.max(certain) < self.preheaders.len());
        match (free, sure) {
            (true, _) => Some(target),
            (_, true) => Some(target.max(certain)),
            _ => None,
        }
    }

    /// Whether a loop surely runs its body once.
    fn runs(&self, inst: Inst) -> bool {
        let kernel = &*self.rewrite.kernel;
        if let Op::Region(Region::For { start, end, .. }) = &kernel.insts[inst].op {
            kernel.constant(*start).zip(kernel.constant(*end)).is_some_and(|(start, end)| start.as_int() < end.as_int())
        } else {
            true
        }
    }

    fn results_at(&mut self, inst: Inst, depth: usize) {
        for value in &self.rewrite.kernel.insts[inst].results {
            self.depth[usize::from(*value)] = depth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::check::{check, check_refused};

    #[test]
    fn invariant_arithmetic_goes_as_far_out_as_it_can() {
        check(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: u32 = const 0
             v3: u32 = const 1
             for i9 (v4: u32 in v2..v1 step v3) {
               for i8 (v5: u32 in v2..v1 step v3) {
                 v6: u32 = mul v0, v1
                 v7: u32 = add v4, v6
                 v8: u32 = add v7, v5
                 store m3[v8], v5
                 yield
               }
               yield
             }
             return",
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: u32 = const 0
             v3: u32 = const 1
             v6: u32 = mul v0, v1
             for i9 (v4: u32 in v2..v1 step v3) {
               v7: u32 = add v4, v6
               for i8 (v5: u32 in v2..v1 step v3) {
                 v8: u32 = add v7, v5
                 store m3[v8], v5
                 yield
               }
               yield
             }
             return",
        );
    }

    #[test]
    fn a_load_moves_only_if_it_is_certain_to_happen() {
        let certain = |start: &str, end: &str| {
            format!(
                "v0: u32 = thread_idx.x
                 v1: u32 = load m0
                 v2: u32 = const 0
                 v3: u32 = const 8
                 v4: u32 = const 1
                 {start}
                 for i9 (v5: u32 in v2..{end} step v4) {{
                   v6: f32 = load m1[v0]
                   store m2[v5], v6
                   yield
                 }}
                 store m3[v3], v1
                 return"
            )
        };
        check(
            run,
            &certain("", "v3"),
            &certain("v6: f32 = load m1[v0]", "v3").replacen("v6: f32 = load m1[v0]\n                   store", "store", 1),
        );
        check_refused(run, &certain("", "v1"));
    }

    #[test]
    fn a_load_behind_an_exit_or_of_a_written_buffer_stays() {
        for load in ["load m1[v0]", "load m2[v0]"] {
            let guard = if load.contains("m1") { "if v3 {\n break i9\n }" } else { "" };
            check_refused(
                run,
                &format!(
                    "v0: u32 = thread_idx.x
                     v1: u32 = load m0
                     v3: bool = lt v0, v1
                     loop i9 () {{
                       {guard}
                       v6: f32 = {load}
                       store m5[v0][v0], v6
                       if v3 {{
                         break i9
                       }}
                       yield
                     }}
                     return"
                ),
            );
        }
    }

    #[test]
    fn an_unsafe_division_stays() {
        check_refused(
            run,
            "v0: u32 = thread_idx.x
             v1: u32 = load m0
             v2: u32 = const 0
             v3: u32 = const 1
             for i9 (v4: u32 in v2..v1 step v3) {
               v5: u32 = div v0, v1
               store m3[v4], v5
               yield
             }
             return",
        );
    }
}
