//! Which loops stand round an instruction, and what a value hangs on: what several lints ask.

use std::collections::{HashMap, HashSet};
use warpwright_codegen::ir::{BinaryOp, Block, Compute, Inst, Kernel, Op, Region, Special, Terminator, Value, ValueDef};

/// The loops of a kernel.
pub(super) struct Nest<'k> {
    kernel: &'k Kernel,
    /// The innermost loop round each instruction that is in one.
    around: HashMap<Inst, Inst>,
    /// The loop that each body belongs to.
    bodies: HashMap<Block, Inst>,
}

impl<'k> Nest<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Nest<'k> {
        let mut nest = Nest { kernel, around: HashMap::new(), bodies: HashMap::new() };
        nest.enter(kernel.body, None);
        nest
    }

    fn enter(&mut self, block: Block, around: Option<Inst>) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if let Some(outer) = around {
                self.around.insert(*inst, outer);
            }
            let op = &kernel.insts[*inst].op;
            let is_loop = matches!(op, Op::Region(Region::For { .. } | Region::Loop { .. }));
            for child in op.blocks() {
                if is_loop {
                    self.bodies.insert(child, *inst);
                }
                self.enter(child, if is_loop { Some(*inst) } else { around });
            }
        }
    }

    /// The innermost loop round an instruction.
    pub(super) fn loop_of(&self, inst: Inst) -> Option<Inst> {
        self.around.get(&inst).copied()
    }

    /// Whether a value is made of constants and of counters of loops that the assembler unrolls by itself: constant once it has.
    pub(super) fn is_constant_once_unrolled(&self, value: Value) -> bool {
        let is_source = |value: Value| matches!(self.kernel.values[value].def, ValueDef::Param(block, 0) if self.bodies.get(&block).is_some_and(|inst| unrolls(self.kernel, *inst)));
        made_of(self.kernel, value, &is_source)
    }
}

/// Most iterations of a loop of constant trips that the assembler surely unrolls when the body is small. Of those tried (sums of up to 100
/// loads, conditions, early exits), `ptxas` 13 for sm_80 and sm_90 unrolled all.
const SURELY_UNROLLED: f64 = 64.0;

/// How often a loop runs, if that is a constant.
pub(super) fn trips(kernel: &Kernel, op: &Op) -> Option<f64> {
    let Op::Region(Region::For { start, end, step, .. }) = op else { return None };
    let int = |value: Value| kernel.constant(value).map(|constant| constant.as_int());
    let (start, end, step) = (int(*start)?, int(*end)?, int(*step)?);
    (step > 0).then(|| ((end - start).max(0) as f64 / step as f64).ceil())
}

/// Whether the assembler surely unrolls a loop.
fn unrolls(kernel: &Kernel, inst: Inst) -> bool {
    matches!(&kernel.insts[inst].op, op @ Op::Region(Region::For { keep_rolled: false, .. }) if trips(kernel, op).is_some_and(|trips| trips <= SURELY_UNROLLED))
}

/// Whether a value is computed from constants and sources alone.
pub(super) fn made_of(kernel: &Kernel, value: Value, is_source: &impl Fn(Value) -> bool) -> bool {
    let mut all = true;
    kernel.for_each_needed(&[value], |value| {
        let is_computed = !is_source(value);
        all &= !is_computed || kernel.def(value).is_some_and(|(_, op)| is_arithmetic(op));
        all && is_computed
    });
    all
}

/// Whether a value is computed from where the thread stands in its block, constants and whatever else, without memory in between.
pub(super) fn names_thread(kernel: &Kernel, value: Value) -> bool {
    names(kernel, value, &[Special::ThreadIdx, Special::LaneId, Special::WarpId])
}

/// Whether one of these is among what a value is computed from.
pub(super) fn names(kernel: &Kernel, value: Value, specials: &[Special]) -> bool {
    let mut found = false;
    kernel.for_each_needed(&[value], |value| match kernel.def(value) {
        Some((_, Op::Compute(Compute::Special(special, _)))) => {
            found |= specials.contains(special);
            false
        }
        Some((_, op)) => !found && is_arithmetic(op),
        None => false,
    });
    found
}

/// Whether an instruction computes its result from its operands alone.
fn is_arithmetic(op: &Op) -> bool {
    matches!(
        op,
        Op::Compute(
            Compute::Const(_)
                | Compute::Unary(..)
                | Compute::Binary(..)
                | Compute::MulAdd(..)
                | Compute::Compare(..)
                | Compute::Select(..)
                | Compute::Cast(_)
                | Compute::Bitcast(_)
        )
    )
}

/// Whether a value is a power of two whatever happens: products, shifts and choices of such, and what is carried round a loop so.
pub(super) fn is_power_of_two(kernel: &Kernel, value: Value) -> bool {
    holds_power(kernel, value, &mut HashSet::new(), &carried(kernel))
}

/// What else each carried value is bound to: its first value, and what iterations give.
type Carried = HashMap<Value, Vec<Value>>;

fn carried(kernel: &Kernel) -> Carried {
    let mut all = Carried::new();
    let mut open: Vec<Vec<Value>> = Vec::new();
    bind(kernel, kernel.body, &mut open, &mut all);
    all
}

/// `open` has the carried parameters of the loops and regions round the block, outermost first.
fn bind(kernel: &Kernel, block: Block, open: &mut Vec<Vec<Value>>, all: &mut Carried) {
    for inst in &kernel.blocks[block].insts {
        let op = &kernel.insts[*inst].op;
        match op {
            Op::Region(Region::For { init, body, .. } | Region::Loop { init, body, .. }) => {
                let params = &kernel.blocks[*body].params;
                let params = if matches!(op, Op::Region(Region::For { .. })) { params[1..].to_vec() } else { params.clone() };
                for (param, first) in params.iter().zip(init) {
                    all.entry(*param).or_default().push(*first);
                }
                open.push(params);
                bind(kernel, *body, open, all);
                open.pop();
            }
            Op::Region(Region::If { then_block, else_block, .. }) => {
                // A yield of a branch gives the branch's results, no loop's.
                open.push(Vec::new());
                bind(kernel, *then_block, open, all);
                bind(kernel, *else_block, open, all);
                open.pop();
            }
            Op::Region(Region::Block { body }) => {
                open.push(Vec::new());
                bind(kernel, *body, open, all);
                open.pop();
            }
            Op::Terminator(Terminator::Yield(values)) => {
                let params = open.last().cloned().unwrap_or_default();
                for (param, next) in params.iter().zip(values) {
                    all.entry(*param).or_default().push(*next);
                }
            }
            Op::Terminator(Terminator::Continue(_, values)) => {
                // To whichever loop: all that could be meant.
                for params in open.iter().filter(|params| params.len() == values.len()) {
                    for (param, next) in params.iter().zip(values) {
                        all.entry(*param).or_default().push(*next);
                    }
                }
            }
            _ => {}
        }
    }
}

/// `assumed` has the values that are being looked at: one that hangs on itself is what the others make it.
fn holds_power(kernel: &Kernel, value: Value, assumed: &mut HashSet<Value>, carried: &Carried) -> bool {
    if let Some(constant) = kernel.constant(value) {
        return constant.ty.is_int() && constant.as_int() > 0 && constant.as_int().count_ones() == 1;
    }
    if !assumed.insert(value) {
        return true;
    }
    match kernel.def(value) {
        Some((_, Op::Compute(Compute::Binary(BinaryOp::Shl | BinaryOp::Shr, a, _)))) => holds_power(kernel, *a, assumed, carried),
        Some((_, Op::Compute(Compute::Binary(BinaryOp::Mul | BinaryOp::Min | BinaryOp::Max, a, b))))
        | Some((_, Op::Compute(Compute::Select(_, a, b)))) => {
            holds_power(kernel, *a, assumed, carried) && holds_power(kernel, *b, assumed, carried)
        }
        // Twice it.
        Some((_, Op::Compute(Compute::Binary(BinaryOp::Add, a, b)))) => a == b && holds_power(kernel, *a, assumed, carried),
        Some((_, Op::Compute(Compute::Cast(a)))) => kernel.ty(*a).is_int() && holds_power(kernel, *a, assumed, carried),
        Some(_) => false,
        None => carried.get(&value).is_some_and(|all| all.iter().all(|one| holds_power(kernel, *one, assumed, carried))),
    }
}
