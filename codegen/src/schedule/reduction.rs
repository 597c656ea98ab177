//! Which carried values are accumulators: `acc op= e`, and nothing else done with `acc`.
//!
//! From the value that an iteration hands on, the chain of updates leads back to the parameter it began with: through operations of
//! one kind (`+` and `-` together), the arms of an `if`, the carried values of inner loops. Every use of a value of the chain has to be a
//! link of it: what else looks at the accumulator sees a sum that no split one has.

use crate::collections::HashSet;
use crate::ir::{BinaryOp, Block, Compute, Inst, Kernel, Op, Region, Scalar, Type, Value, ValueDef};

/// What carrying a value round comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    /// It stays what it was.
    Invariant,
    /// Every iteration gives it anew: the last one counts.
    Replaced,
    /// It gathers, by this operation.
    Accumulator(BinaryOp),
    /// It is the best so far, or goes with it (`schedule::extremum`).
    Best,
    /// Anything else: the instruction that looks at it, if one does.
    Other(Option<Inst>),
}

/// What the parameter `param` of `body` is, given what `next` an iteration hands on.
pub(super) fn carried(kernel: &Kernel, body: Block, param: Value, next: Value) -> Carried {
    if param == next {
        return Carried::Invariant;
    }
    let derived = derived(kernel, body, param);
    if !is_used(kernel, body, param) {
        return Carried::Replaced;
    }
    let mut chain = Chain { kernel, derived: &derived, op: None, links: HashSet::default(), values: HashSet::from_iter([param]) };
    if !chain.leads_back(next, param) {
        return Carried::Other(user(kernel, body, param));
    }
    // The iteration's end hands the last value on: the one use that is no link.
    let mut stray = None;
    kernel.walk_block(body, &mut |kernel, _, inst| {
        let mut n = 0;
        kernel.insts[inst].op.for_each_operand(|value| {
            let is_end = value == next && is_end(kernel, body, inst);
            if chain.values.contains(&value) && !chain.links.contains(&(inst, n)) && !is_end {
                stray = stray.or(Some(inst));
            }
            n += 1;
        });
    });
    match (stray, chain.op) {
        (None, Some(op)) => Carried::Accumulator(op),
        (None, None) => Carried::Other(None),
        (stray, _) => Carried::Other(stray),
    }
}

fn is_end(kernel: &Kernel, body: Block, inst: Inst) -> bool {
    kernel.blocks[body].insts.last() == Some(&inst)
}

fn is_used(kernel: &Kernel, body: Block, value: Value) -> bool {
    kernel.insts_in(body).any(|inst| kernel.insts[inst].op.operands().contains(&value))
}

/// The first instruction that uses a value, other than to hand it on.
fn user(kernel: &Kernel, body: Block, value: Value) -> Option<Inst> {
    kernel.insts_in(body).find(|inst| {
        let op = &kernel.insts[*inst].op;
        !op.is_terminator() && op.operands().contains(&value)
    })
}

/// What is computed from `param`, directly or not; which way control goes is left out.
pub(super) fn derived(kernel: &Kernel, body: Block, param: Value) -> HashSet<Value> {
    let mut found = HashSet::from_iter([param]);
    derive(kernel, body, &mut found);
    found
}

fn derive(kernel: &Kernel, block: Block, found: &mut HashSet<Value>) {
    for inst in &kernel.blocks[block].insts {
        let data = &kernel.insts[*inst];
        if let Op::Region(Region::For { init, body, .. }) = &data.op {
            let params = kernel.blocks[*body].params[1..].iter();
            let begun: Vec<Value> = params.zip(init).filter(|(_, first)| found.contains(first)).map(|(param, _)| *param).collect();
            found.extend(begun);
        }
        for child in data.op.blocks() {
            derive(kernel, child, found);
            if let Some(values) = kernel.yielded(child) {
                let given: Vec<Value> =
                    values.iter().zip(&data.results).filter(|(value, _)| found.contains(value)).map(|(_, result)| *result).collect();
                found.extend(given);
            }
        }
        if data.op.operands().iter().any(|operand| found.contains(operand)) && data.op.blocks().is_empty() {
            found.extend(&data.results);
        }
    }
}

struct Chain<'k> {
    kernel: &'k Kernel,
    derived: &'k HashSet<Value>,
    op: Option<BinaryOp>,
    /// Uses that are links: the instruction and which of its operands.
    links: HashSet<(Inst, usize)>,
    /// The accumulator's values: from the parameter to the last.
    values: HashSet<Value>,
}

impl Chain<'_> {
    /// Whether updates lead from `param` to `value`.
    fn leads_back(&mut self, value: Value, param: Value) -> bool {
        // What is there has been found to lead back: values are shared, and followed as a tree they would be too many.
        if value == param || self.values.contains(&value) {
            return true;
        }
        let ValueDef::Result(inst, n) = self.kernel.values[value].def else { return false };
        let n = usize::from(n);
        let found = match self.kernel.insts[inst].op.clone() {
            Op::Compute(Compute::Binary(op, a, b)) => self.update(inst, op, a, b, param),
            Op::Compute(Compute::MulAdd(_, _, c)) => self.is_kind(BinaryOp::Add) && self.link(inst, 2, c, param),
            Op::Compute(Compute::Select(_, a, b)) => self.link(inst, 1, a, param) && self.link(inst, 2, b, param),
            Op::Region(Region::If { then_block, else_block, .. }) => self.yields(then_block, n, param) && self.yields(else_block, n, param),
            Op::Region(Region::For { init, body, .. }) => {
                let inner = self.kernel.blocks[body].params[n + 1];
                self.values.insert(inner);
                // Operands of a `For`: start, end, step, then the first values.
                self.link(inst, 3 + n, init[n], param) && self.yields(body, n, inner) && !self.kernel.is_exited(inst, body)
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_)
            | Op::Terminator(_) => false,
        };
        if found {
            self.values.insert(value);
        }
        found
    }

    fn update(&mut self, inst: Inst, op: BinaryOp, a: Value, b: Value, param: Value) -> bool {
        let kind = if op == BinaryOp::Sub { BinaryOp::Add } else { op };
        let gathers = [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Min, BinaryOp::Max, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor];
        if !gathers.contains(&kind) {
            return false;
        }
        if self.derived.contains(&a) {
            return self.is_kind(kind) && self.link(inst, 0, a, param);
        }
        op != BinaryOp::Sub && self.is_kind(kind) && self.link(inst, 1, b, param)
    }

    fn is_kind(&mut self, op: BinaryOp) -> bool {
        *self.op.get_or_insert(op) == op
    }

    fn link(&mut self, inst: Inst, n: usize, value: Value, param: Value) -> bool {
        self.links.insert((inst, n));
        self.leads_back(value, param)
    }

    /// Whether what a block yields leads back.
    fn yields(&mut self, block: Block, n: usize, param: Value) -> bool {
        let (kernel, last) = (self.kernel, self.kernel.terminator(block));
        last.zip(kernel.yielded(block)).is_some_and(|(last, values)| self.link(last, n, values[n], param))
    }
}

/// What an accumulator begins with that gathers by `op` and has gathered nothing: `x op it` is `x`, bit for bit.
pub(super) fn identity(op: BinaryOp, ty: Type) -> Scalar {
    let ones = if ty == Type::Bool { Scalar::bool(true) } else { Scalar::int(ty, -1) };
    let (least, greatest) = ty.numbers().into_inner();
    match (op, ty.is_float()) {
        // x + −0 is x, also where x is −0.
        (BinaryOp::Add, true) => Scalar::float(ty, -0.0),
        (BinaryOp::Mul, true) => Scalar::float(ty, 1.0),
        // `min` and `max` give the number if one side is none.
        (BinaryOp::Min | BinaryOp::Max, true) => Scalar::float(ty, f64::NAN),
        (BinaryOp::Mul, false) => Scalar::int(ty, 1),
        (BinaryOp::Min, false) => Scalar::int(ty, greatest),
        (BinaryOp::Max, false) => Scalar::int(ty, least),
        (BinaryOp::And, _) => ones,
        _ if ty == Type::Bool => Scalar::bool(false),
        _ => Scalar::int(ty, 0),
    }
}
