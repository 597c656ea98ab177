//! Groups of rounds and what they leave over: the loops that an annotation makes of one share its rounds.

use warpwright_codegen::ir::{BinaryOp, Compute, Inst, Kernel, Op, Region, Value};

/// Loops that go on where an earlier one ended: what an annotation made of one loop.
pub(super) struct Chains {
    /// By loop: the one that goes on where it ended.
    pub(super) next: Vec<Option<Inst>>,
    /// By loop: whether it goes on where another ended.
    pub(super) goes_on: Vec<bool>,
    /// By loop of such a chain: the rounds that are its own, found when the chain begins.
    pub(super) rounds: Vec<Option<f64>>,
}

impl Chains {
    pub(super) fn of(kernel: &Kernel) -> Chains {
        let n = kernel.insts.len();
        let mut chains = Chains { next: vec![None; n], goes_on: vec![false; n], rounds: vec![None; n] };
        kernel.for_each_inst(|kernel, _, inst| {
            if let Op::Region(Region::For { start, .. }) = &kernel.insts[inst].op
                && let Some((first, Op::Region(Region::For { .. }))) = kernel.def(*start)
            {
                chains.next[usize::from(first)] = Some(inst);
                chains.goes_on[usize::from(inst)] = true;
            }
        });
        chains
    }

    /// The last loop of the chain that `first` begins.
    pub(super) fn last(&self, first: Inst) -> Inst {
        let mut last = first;
        while let Some(next) = self.next[usize::from(last)] {
            last = next;
        }
        last
    }

    /// Gives each loop of the chain that `first` begins its rounds, of `total` of the last one's. Of a total that is guessed nothing is left
    /// over: that is the steady state.
    pub(super) fn share(&mut self, kernel: &Kernel, first: Inst, total: f64, is_known: bool) {
        let mut members = vec![first];
        while let Some(next) = self.next[usize::from(members[members.len() - 1])].filter(|_| members.len() < 8) {
            members.push(next);
        }
        let step_of = |inst: Inst| if let Op::Region(Region::For { step, .. }) = &kernel.insts[inst].op { Some(*step) } else { None };
        let last = step_of(members[members.len() - 1]);
        let mut left = total;
        for member in members {
            let factor = step_of(member).zip(last).and_then(|(step, last)| times(kernel, step, last)).unwrap_or(1.0).max(1.0);
            let own = if is_known { (left / factor).floor() } else { left / factor };
            left -= own * factor;
            self.rounds[usize::from(member)] = Some(own);
        }
    }
}

/// How many times `of` a step is: both constants, or one a multiple of the other.
fn times(kernel: &Kernel, step: Value, of: Value) -> Option<f64> {
    if step == of {
        return Some(1.0);
    }
    if let (Some(step), Some(of)) = (kernel.constant(step), kernel.constant(of)) {
        return (of.as_int() != 0).then(|| step.as_int() as f64 / of.as_int() as f64);
    }
    match kernel.def(step)?.1 {
        Op::Compute(Compute::Binary(BinaryOp::Mul, a, b)) if *a == of => kernel.constant(*b).map(|n| n.as_int() as f64),
        Op::Compute(Compute::Binary(BinaryOp::Mul, a, b)) if *b == of => kernel.constant(*a).map(|n| n.as_int() as f64),
        Op::Compute(Compute::Binary(BinaryOp::Shl, a, b)) if *a == of => {
            kernel.constant(*b).map(|n| (1u64 << (n.as_int() as u32 & 31)) as f64)
        }
        Op::Compute(Compute::Select(_, a, _)) => times(kernel, *a, of),
        _ => None,
    }
}
