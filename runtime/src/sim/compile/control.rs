//! Instructions that own blocks, and the ends of blocks.

use super::super::arithmetic as arith;
use super::super::program::{CheckFailure, SimStep};
use super::super::registers::{Operands, Reg};
use super::{Compiler, Result, Target, Verified, add};
use crate::error::mistake;
use crate::sim::InstructionClass;
use warpwright_codegen::ir::{Block, CompareOp, Inst, Op, Region, Terminator, Type, Value};

/// The fixed operands of a `for`.
struct ForRange {
    start: Value,
    end: Value,
    step: Value,
}

impl Compiler<'_> {
    /// Compiles an instruction that owns blocks.
    pub(super) fn construct(&mut self, inst: Inst) -> Result<()> {
        let kernel = self.kernel;
        let data = &kernel.insts[inst];
        let outer = std::mem::replace(&mut self.outermost_exit, usize::MAX);
        self.depth += 1;
        if !matches!(data.op, Op::Region(Region::Block { .. })) {
            self.count(InstructionClass::Control, 1);
        }
        let segment = self.segment.take();
        match &data.op {
            Op::Region(Region::If { condition, then_block, else_block }) => self.branch(inst, *condition, *then_block, *else_block)?,
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let range = ForRange { start: *start, end: *end, step: *step };
                self.for_loop(inst, &range, init, *body)?;
            }
            Op::Region(Region::Loop { init, body, .. }) => self.endless_loop(inst, init, *body)?,
            Op::Region(Region::Block { body }) => self.region(inst, *body)?,
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_) => {}
        }
        // Lanes may be gone for longer than this construct: what follows has another mask, or none.
        self.segment = segment;
        if self.outermost_exit < self.depth {
            self.segment = None;
            let jump = self.emit(SimStep::SkipIfEmpty(0));
            if let Some(skips) = self.skips.last_mut() {
                skips.push(jump);
            }
        }
        self.depth -= 1;
        self.outermost_exit = self.outermost_exit.min(outer);
        Ok(())
    }

    fn new_branch(&mut self) -> u32 {
        let location = self.location();
        add(&mut self.program.branches, location)
    }

    fn branch(&mut self, inst: Inst, condition: Value, then_block: Block, else_block: Block) -> Result<()> {
        let at = self.at;
        let condition = self.slot(condition)?.index();
        let results = self.define_all(&self.kernel.insts[inst].results)?;
        let mask = self.new_mask()?;
        let branch = self.new_branch();
        let jump = self.emit(SimStep::If { condition, mask, otherwise: 0, branch });
        self.release(self.lifetimes.begin(inst));
        self.block(then_block, &results)?;
        self.at = at;
        self.patch(jump, self.here());
        let jump = self.emit(SimStep::Else { mask, end: 0 });
        self.segment = None;
        self.block(else_block, &results)?;
        self.at = at;
        self.patch(jump, self.here());
        self.emit(SimStep::Join(mask));
        Ok(())
    }

    /// Slots of what a loop carries: its body's parameters from the `skip`-th on, filled with the first values.
    fn carried(&mut self, body: Block, skip: usize, init: &[Value]) -> Result<Vec<Reg>> {
        let params = &self.kernel.blocks[body].params;
        let params = params.get(skip..).verified()?;
        let carried = self.define_all(params)?;
        let init = self.slots(init)?;
        self.moves(&carried, &init)?;
        Ok(carried)
    }

    fn for_loop(&mut self, inst: Inst, range: &ForRange, init: &[Value], body: Block) -> Result<()> {
        let at = self.at;
        let ty = self.ty(range.start);
        let next = arith::next_iteration(ty).verified()?;
        let less = arith::compare(CompareOp::Lt, ty).verified()?;
        let [start, end, step] = [self.slot(range.start)?, self.slot(range.end)?, self.slot(range.step)?];
        self.check_step(range.step, ty, step);
        let carried = self.carried(body, 1, init)?;
        let results = self.share_results(inst, &carried)?;
        let iv = *self.kernel.blocks[body].params.first().verified()?;
        let iv = self.define(iv)?;
        let condition = self.allocate(Type::Bool)?;
        let (exit, again) = (self.new_mask()?, self.new_mask()?);
        let branch = self.new_branch();
        self.emit(SimStep::Move(iv, start.index()));
        self.emit(SimStep::Pure(less, Operands { d: condition.index(), a: start.index(), b: end.index(), c: 0 }));
        let jump = self.emit(SimStep::Enter { condition: condition.index(), mask: exit, end: 0, branch });
        let head = self.here();
        self.targets.insert(inst, Target { depth: self.depth, exit, next: Some(again), results, carried: carried.clone() });
        self.block(body, &carried)?;
        self.at = at;
        self.emit(SimStep::Join(again));
        self.segment = self.segment.filter(|_| self.outermost_exit > self.depth);
        self.count(InstructionClass::Integer, 2);
        self.count(InstructionClass::Control, 1);
        self.emit(SimStep::Pure(next, Operands { d: condition.index(), a: iv.index(), b: end.index(), c: step.index() }));
        self.emit(SimStep::Again { condition: condition.index(), mask: exit, head, branch });
        self.patch(jump, self.here());
        self.emit(SimStep::Join(exit));
        self.free(condition);
        Ok(())
    }

    /// Results of a `for` are what it carries: they share the slots, for as long as either is needed.
    fn share_results(&mut self, inst: Inst, carried: &[Reg]) -> Result<Vec<Reg>> {
        let results = &self.kernel.insts[inst].results;
        if results.len() != carried.len() {
            return Err(mistake());
        }
        for (result, reg) in results.iter().zip(carried) {
            if Reg::file_of(self.ty(*result)) != reg.file() {
                return Err(mistake());
            }
            self.slots[usize::from(*result)] = Some(*reg);
            let after = self.lifetimes.last(*result);
            self.expiring.values_mut().for_each(|regs| regs.retain(|r| r != reg));
            self.expire(*reg, after);
        }
        Ok(carried.to_vec())
    }

    fn check_step(&mut self, step: Value, ty: Type, reg: Reg) {
        let is_positive = self.kernel.constant(step).is_some_and(|c| c.as_int() > 0);
        if let Some(find) = arith::is_not_positive(ty).filter(|_| !is_positive) {
            self.check(find, Operands { a: reg.index(), ..Operands::default() }, CheckFailure::Step { ty, reg });
        }
    }

    fn endless_loop(&mut self, inst: Inst, init: &[Value], body: Block) -> Result<()> {
        let at = self.at;
        let results = self.define_all(&self.kernel.insts[inst].results)?;
        let carried = self.carried(body, 0, init)?;
        let (exit, again) = (self.new_mask()?, self.new_mask()?);
        let head = self.here();
        self.targets.insert(inst, Target { depth: self.depth, exit, next: Some(again), results, carried: carried.clone() });
        self.block(body, &carried)?;
        self.at = at;
        self.emit(SimStep::Join(again));
        self.segment = self.segment.filter(|_| self.outermost_exit > self.depth);
        self.count(InstructionClass::Control, 1);
        self.emit(SimStep::Repeat(head));
        self.emit(SimStep::Join(exit));
        Ok(())
    }

    fn region(&mut self, inst: Inst, body: Block) -> Result<()> {
        let at = self.at;
        let results = self.define_all(&self.kernel.insts[inst].results)?;
        let exit = self.new_mask()?;
        self.targets.insert(inst, Target { depth: self.depth, exit, next: None, results: results.clone(), carried: Vec::new() });
        self.block(body, &results)?;
        self.at = at;
        self.emit(SimStep::Join(exit));
        Ok(())
    }

    /// Compiles the end of a block.
    pub(super) fn terminator(&mut self, op: &Op, results: &[Reg]) -> Result<()> {
        match op {
            Op::Terminator(Terminator::Yield(values)) => {
                let values = self.slots(values)?;
                self.moves(results, &values)
            }
            Op::Terminator(Terminator::Break(to, values)) => {
                let target = self.targets.get(to).verified()?;
                let (slots, mask, depth) = (target.results.clone(), target.exit, target.depth);
                self.exit(&slots, values, mask, depth)
            }
            Op::Terminator(Terminator::Continue(to, values)) => {
                let target = self.targets.get(to).verified()?;
                let (slots, depth) = (target.carried.clone(), target.depth);
                let mask = target.next.verified()?;
                self.exit(&slots, values, mask, depth)
            }
            Op::Terminator(Terminator::Return) => {
                self.count(InstructionClass::Control, 1);
                self.outermost_exit = 0;
                let last = self.kernel.blocks[self.kernel.body].insts.last();
                let is_end = last.is_some_and(|last| std::ptr::eq(op, &self.kernel.insts[*last].op));
                self.emit(if is_end { SimStep::End } else { SimStep::Return });
                Ok(())
            }
            Op::Terminator(Terminator::Trap(text)) => {
                self.count(InstructionClass::Control, 1);
                let message = self.message(&[warpwright_codegen::ir::PrintPart::Text(text.clone())], &[])?;
                self.emit(SimStep::Trap(message));
                Ok(())
            }
            Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Region(_) => Err(mistake()),
        }
    }

    fn exit(&mut self, slots: &[Reg], values: &[Value], mask: u16, depth: usize) -> Result<()> {
        self.count(InstructionClass::Control, 1);
        self.outermost_exit = self.outermost_exit.min(depth);
        let values = self.slots(values)?;
        self.moves(slots, &values)?;
        self.emit(SimStep::Exit(mask));
        Ok(())
    }
}
