//! Copies of a body interleaved, statement by statement, so that what is independent stands next to each other.
//!
//! * Instructions of one statement that write nothing: all copies of the first, then all copies of the second, and so on. With a write in it a
//!   statement is copied as a whole, one copy after the other: `out[i] = inp[i]` stays a load and its store, N times.
//! * What is the same in all copies is there once.
//! * An `if` whose condition is the same in all copies, and an inner loop whose bounds are, are one `if` and one loop round the interleaved
//!   copies of what is in them.
//! * An `if` with conditions of its own in each copy (`if i < n`): where no other control flow is in it, its loads and stores are predicated one
//!   by one, and all else is computed anyway. Else, if it has no `else`, there are two versions: interleaved where all conditions hold,
//!   one copy after the other where not.
//! * Any other control flow is copied as a whole.
//!
//! The order within each copy stays. Who asks for this has made sure that the order among copies does not matter.

use super::copy::parts;
use super::in_turn::InTurn;
use super::loads::visit;
use super::{Element, Elements};
use crate::analysis::cost::is_speculable;
use crate::collections::HashSet;
use crate::ir::Copy;
use crate::ir::{
    Address, BinaryOp, Block, Builder, Inst, InstData, Kernel, Loc, Memory, MemoryOp, Op, Region, Scalar, Terminator, Type, UnaryOp, Value,
};

/// Copies being interleaved.
pub(super) struct Interleave<'a> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) statements: &'a [u32],
    /// What `vectorize` makes of it, if that is who asks.
    pub(super) wide: Option<&'a Wide>,
    /// Where to note which copy an instruction belongs to, and the first of them.
    pub(super) elements: Option<(&'a mut Elements, Element)>,
}

/// Copies as the elements of vectors: instruction by instruction, whatever they write.
#[derive(Debug, Default)]
pub(super) struct Wide {
    /// Loads and stores whose copies are one access to consecutive elements.
    pub(super) merged: HashSet<Inst>,
    /// Values carried from each copy to the next: the body's parameter, and what the one instruction makes of it.
    pub(super) carried: Vec<(Value, Value)>,
}

impl Interleave<'_> {
    /// Interleaves what is in `block`, but for its terminator, at the end of `into`.
    pub(super) fn block(&mut self, block: Block, copies: &mut [Copy], into: Block) {
        for run in self.runs(block) {
            match run[..] {
                [inst] if self.owns_blocks(inst) => self.region(inst, copies, into),
                _ => self.statement(&run, copies, None, into),
            }
        }
    }

    /// The parts of a body whose elements hand values on: the middle one copy after the other.
    pub(super) fn in_turn(&mut self, plan: &InTurn, copies: &mut [Copy], into: Block) {
        self.list(&plan.first, copies, into);
        for n in 0..copies.len() {
            for (param, next) in plan.carried.iter().filter(|_| n > 0) {
                let before = copies[n - 1].get(*next);
                copies[n].set(*param, before);
            }
            for inst in &plan.turns {
                self.copy(*inst, copies, n, into);
            }
        }
        self.list(&plan.last, copies, into);
    }

    /// Interleaves instructions at the end of `into`.
    fn list(&mut self, insts: &[Inst], copies: &mut [Copy], into: Block) {
        for inst in insts {
            match self.owns_blocks(*inst) {
                true => self.region(*inst, copies, into),
                false => self.statement(&[*inst], copies, None, into),
            }
        }
    }

    /// The instructions of a block but for its terminator, by statement; what owns blocks stands alone.
    fn runs(&self, block: Block) -> Vec<Vec<Inst>> {
        let mut runs: Vec<Vec<Inst>> = Vec::new();
        let mut last = None;
        for inst in parts(self.kernel, block).0 {
            let loc = self.kernel.insts[inst].loc;
            let statement = self.statements.get(usize::from(loc)).copied().filter(|_| !self.owns_blocks(inst));
            match runs.last_mut() {
                Some(run) if statement.is_some() && statement == last => run.push(inst),
                _ => runs.push(vec![inst]),
            }
            last = statement;
        }
        runs
    }

    fn owns_blocks(&self, inst: Inst) -> bool {
        !self.kernel.insts[inst].op.blocks().is_empty()
    }

    /// A statement's instructions; `conditions`: what each copy's loads and stores are predicated by.
    fn statement(&mut self, insts: &[Inst], copies: &mut [Copy], conditions: Option<&[Value]>, into: Block) {
        let writes = insts.iter().any(|inst| {
            let op = &self.kernel.insts[*inst].op;
            !op.effects(self.kernel).is_pure() && !matches!(op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) }))
        });
        let writes = writes && self.wide.is_none();
        let (outer, inner) = if writes { (copies.len(), insts.len()) } else { (insts.len(), copies.len()) };
        for a in 0..outer {
            for b in 0..inner {
                let (n, inst) = if writes { (a, insts[b]) } else { (b, insts[a]) };
                self.one(inst, copies, n, conditions, into);
            }
        }
    }

    /// Copy `n` of an instruction.
    fn one(&mut self, inst: Inst, copies: &mut [Copy], n: usize, conditions: Option<&[Value]>, into: Block) {
        if let Some(wide) = self.wide {
            if wide.merged.contains(&inst) {
                if n == 0 {
                    self.merged(inst, copies, into);
                }
                return;
            }
            for (param, next) in &wide.carried {
                if n > 0 && self.kernel.insts[inst].results.contains(next) {
                    let before = copies[n - 1].get(*next);
                    copies[n].set(*param, before);
                }
            }
        }
        let condition = conditions.filter(|_| self.owns_blocks(inst) || !is_speculable(self.kernel, inst)).map(|conditions| conditions[n]);
        let data = &self.kernel.insts[inst];
        // Under a condition of its own each copy runs or does not: a quotient of equal operands is another one's only where that one ran.
        let is_fixed = if condition.is_some() {
            false
        } else if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = &data.op {
            self.kernel.objects[access.object].is_read_only() && conditions.is_none()
        } else {
            data.op.effects(self.kernel).is_pure()
        };
        if n > 0 && is_fixed && data.op.operands().iter().all(|v| copies[n].get(*v) == copies[0].get(*v)) {
            let results = data.results.clone();
            let first = copies[0].all(&results);
            return copies[n].set_all(&results, &first);
        }
        match condition {
            Some(condition) => self.predicated(inst, copies, n, condition, into),
            None => self.copy(inst, copies, n, into),
        }
    }

    /// Copy `n` of an instruction, with all in it.
    fn copy(&mut self, inst: Inst, copies: &mut [Copy], n: usize, into: Block) {
        let new = copies[n].inst(self.kernel, inst, into);
        if let Some((elements, first)) = &mut self.elements {
            visit(self.kernel, new, &mut |inner| {
                elements.insert(inner, Element { copy: n, ..*first });
            });
        }
    }

    /// One access for all copies, beginning with the first one's element.
    fn merged(&mut self, inst: Inst, copies: &mut [Copy], into: Block) {
        let InstData { mut op, results, loc } = self.kernel.insts[inst].clone();
        op.for_each_operand_mut(|value| *value = copies[0].get(*value));
        let mut types = Vec::new();
        if let Op::Memory(Memory { op: MemoryOp::Store(values), at: Address::Path(_) }) = &mut op {
            let Op::Memory(Memory { op: MemoryOp::Store(each), at: Address::Path(_) }) = &self.kernel.insts[inst].op else { return };
            *values = copies.iter().map(|copy| copy.get(each[0])).collect();
        } else {
            types = vec![self.kernel.ty(results[0]); copies.len()];
        }
        let wide = Builder::new(self.kernel, into, loc).push(op, &types);
        for (n, element) in self.kernel.insts[wide].results.clone().into_iter().enumerate() {
            self.kernel.values[element].name = self.kernel.values[results[0]].name.clone();
            copies[n].set(results[0], element);
        }
    }

    /// `if condition { inst }`, its results 0 where it does not run.
    fn predicated(&mut self, inst: Inst, copies: &mut [Copy], n: usize, condition: Value, into: Block) {
        let (results, loc) = (self.kernel.insts[inst].results.clone(), self.kernel.insts[inst].loc);
        let types: Vec<Type> = results.iter().map(|value| self.kernel.ty(*value)).collect();
        let (then_block, else_block) = (self.kernel.new_block(&[]), self.kernel.new_block(&[]));
        self.copy(inst, copies, n, then_block);
        let copy = &mut copies[n];
        let inside = copy.all(&results);
        Builder::new(self.kernel, then_block, loc).push(Op::Terminator(Terminator::Yield(inside)), &[]);
        let mut b = Builder::new(self.kernel, else_block, loc);
        let zeros = types.iter().map(|ty| b.constant(Scalar::new(*ty, 0))).collect();
        b.push(Op::Terminator(Terminator::Yield(zeros)), &[]);
        let mut b = Builder::new(self.kernel, into, loc);
        let branch = b.push(Op::Region(Region::If { condition, then_block, else_block }), &types);
        for (from, to) in results.into_iter().zip(self.kernel.insts[branch].results.clone()) {
            self.kernel.values[to].name = self.kernel.values[from].name.clone();
            copy.set(from, to);
        }
    }

    fn region(&mut self, inst: Inst, copies: &mut [Copy], into: Block) {
        match self.kernel.insts[inst].op.clone() {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                let conditions: Vec<Value> = copies.iter().map(|copy| copy.get(condition)).collect();
                let falls = [then_block, else_block].map(|arm| self.kernel.yielded(arm).is_some());
                if falls != [true, true] {
                    self.whole(inst, copies, into);
                } else if conditions.iter().all(|c| *c == conditions[0]) {
                    self.one_branch(inst, conditions[0], [then_block, else_block], copies, into);
                } else if is_flat(self.kernel, then_block) && is_flat(self.kernel, else_block) {
                    self.flatten(inst, &conditions, [then_block, else_block], copies, into);
                } else if parts(self.kernel, else_block).0.is_empty() {
                    self.versions(inst, &conditions, [then_block, else_block], copies, into);
                } else {
                    self.whole(inst, copies, into);
                }
            }
            Op::Region(Region::For { start, end, step, body, .. }) => {
                let is_same = |value: Value| copies.iter().all(|copy| copy.get(value) == copies[0].get(value));
                if [start, end, step].into_iter().all(is_same) && self.kernel.yielded(body).is_some() && !self.kernel.is_exited(inst, body)
                {
                    self.one_loop(inst, copies, into);
                } else {
                    self.whole(inst, copies, into);
                }
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
            | Op::Terminator(_) => {
                self.whole(inst, copies, into);
            }
        }
    }

    fn whole(&mut self, inst: Inst, copies: &mut [Copy], into: Block) {
        for n in 0..copies.len() {
            self.copy(inst, copies, n, into);
        }
    }

    fn yielded(&self, block: Block) -> Vec<Value> {
        self.kernel.yielded(block).unwrap_or_default().to_vec()
    }

    /// Interleaves an arm or body into a block of its own that yields what all copies yield.
    fn arm(&mut self, block: Block, copies: &mut [Copy], into: Block, loc: Loc) {
        self.block(block, copies, into);
        let yielded = self.yielded(block);
        let all = copies.iter().flat_map(|copy| copy.all(&yielded)).collect();
        Builder::new(self.kernel, into, loc).push(Op::Terminator(Terminator::Yield(all)), &[]);
    }

    /// The results of the one instruction that stands for all copies of `inst`.
    fn share_results(&mut self, inst: Inst, joint: Inst, copies: &mut [Copy]) {
        let results = self.kernel.insts[inst].results.clone();
        let all = self.kernel.insts[joint].results.clone();
        for (n, copy) in copies.iter_mut().enumerate() {
            copy.set_all(&results, &all[n * results.len()..]);
        }
    }

    fn joint_types(&self, inst: Inst, copies: &[Copy]) -> Vec<Type> {
        let types: Vec<Type> = self.kernel.insts[inst].results.iter().map(|value| self.kernel.ty(*value)).collect();
        copies.iter().flat_map(|_| types.clone()).collect()
    }

    fn one_branch(&mut self, inst: Inst, condition: Value, arms: [Block; 2], copies: &mut [Copy], into: Block) {
        let loc = self.kernel.insts[inst].loc;
        let [then_block, else_block] = arms.map(|arm| {
            let new = self.kernel.new_block(&[]);
            self.arm(arm, copies, new, loc);
            new
        });
        let types = self.joint_types(inst, copies);
        let joint = Builder::new(self.kernel, into, loc).push(Op::Region(Region::If { condition, then_block, else_block }), &types);
        self.share_results(inst, joint, copies);
    }

    fn one_loop(&mut self, inst: Inst, copies: &mut [Copy], into: Block) {
        let Op::Region(Region::For { start, end, step, init, body, keep_rolled }) = self.kernel.insts[inst].op.clone() else { return };
        let loc = self.kernel.insts[inst].loc;
        let params = self.kernel.blocks[body].params.clone();
        let types = self.joint_types(inst, copies);
        let new = copies[0].params(self.kernel, &params[..1]);
        let counter = copies[0].get(params[0]);
        let all_init = copies.iter().flat_map(|copy| copy.all(&init)).collect();
        for copy in copies.iter_mut() {
            copy.set(params[0], counter);
            for param in &params[1..] {
                let ty = self.kernel.ty(*param);
                let own = self.kernel.add_param(new, ty);
                self.kernel.values[own].name = self.kernel.values[*param].name.clone();
                copy.set(*param, own);
            }
        }
        let bounds = [start, end, step].map(|value| copies[0].get(value));
        let op = Op::Region(Region::For { start: bounds[0], end: bounds[1], step: bounds[2], init: all_init, body: new, keep_rolled });
        let joint = Builder::new(self.kernel, into, loc).push(op, &types);
        if let Some(asked) = self.kernel.annotations.get(&inst).cloned() {
            self.kernel.annotations.insert(joint, asked);
        }
        self.arm(body, copies, new, loc);
        self.share_results(inst, joint, copies);
    }

    /// Both arms of an `if` without control flow, predicated; results are chosen.
    fn flatten(&mut self, inst: Inst, conditions: &[Value], arms: [Block; 2], copies: &mut [Copy], into: Block) {
        let loc = self.kernel.insts[inst].loc;
        let results = self.kernel.insts[inst].results.clone();
        for (arm, negate) in arms.into_iter().zip([false, true]) {
            if parts(self.kernel, arm).0.is_empty() {
                continue;
            }
            let conditions: Vec<Value> = match negate {
                false => conditions.to_vec(),
                true => conditions.iter().map(|c| Builder::new(self.kernel, into, loc).unary(UnaryOp::Not, *c)).collect(),
            };
            for run in self.runs(arm) {
                self.statement(&run, copies, Some(&conditions), into);
            }
        }
        let [then_values, else_values] = arms.map(|arm| self.yielded(arm));
        for (n, copy) in copies.iter_mut().enumerate() {
            for (k, result) in results.iter().enumerate() {
                let (a, b) = (copy.get(then_values[k]), copy.get(else_values[k]));
                let chosen = if a == b { a } else { Builder::new(self.kernel, into, loc).select(conditions[n], a, b) };
                copy.set(*result, chosen);
            }
        }
    }

    /// Interleaved where every copy's condition holds, else one copy after the other.
    fn versions(&mut self, inst: Inst, conditions: &[Value], arms: [Block; 2], copies: &mut [Copy], into: Block) {
        let loc = self.kernel.insts[inst].loc;
        let mut b = Builder::new(self.kernel, into, loc);
        let mut condition = conditions[0];
        for other in &conditions[1..] {
            condition = b.binary(BinaryOp::And, condition, *other);
        }
        let types = self.joint_types(inst, copies);
        let (then_block, else_block) = (self.kernel.new_block(&[]), self.kernel.new_block(&[]));
        let mut apart = copies.to_vec();
        self.arm(arms[0], copies, then_block, loc);
        self.whole(inst, &mut apart, else_block);
        let results = self.kernel.insts[inst].results.clone();
        let all = apart.iter().flat_map(|copy| copy.all(&results)).collect();
        Builder::new(self.kernel, else_block, loc).push(Op::Terminator(Terminator::Yield(all)), &[]);
        let joint = Builder::new(self.kernel, into, loc).push(Op::Region(Region::If { condition, then_block, else_block }), &types);
        self.share_results(inst, joint, copies);
    }
}

/// Whether nothing in a block owns blocks, but checks that trap.
pub(super) fn is_flat(kernel: &Kernel, block: Block) -> bool {
    parts(kernel, block).0.iter().all(|inst| kernel.insts[*inst].op.blocks().is_empty() || is_check(kernel, *inst))
}

/// `if holds {} else { trap }`.
fn is_check(kernel: &Kernel, inst: Inst) -> bool {
    let Op::Region(Region::If { then_block, else_block, .. }) = kernel.insts[inst].op else { return false };
    let alone = |block: Block| kernel.blocks[block].insts.len() == 1;
    let traps =
        |block: Block| parts(kernel, block).1.is_some_and(|last| matches!(kernel.insts[last].op, Op::Terminator(Terminator::Trap(_))));
    (traps(else_block) && alone(then_block)) || (traps(then_block) && alone(else_block))
}
