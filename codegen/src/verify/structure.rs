//! Structure: terminators, scopes, what blocks are given and give.

use super::Verifier;
use crate::ir::{Block, Inst, Op, Region, Terminator, Type, Value};

impl Verifier<'_> {
    /// Checks a block and everything in it.
    pub(super) fn check_block(&mut self, block: Block) {
        let kernel = self.kernel;
        let outer = self.scope.len();
        let insts = &kernel.blocks[block].insts;
        let is_open = insts.last().is_none_or(|last| !self.op(*last).is_terminator());
        if is_open {
            self.complain(format!("{block} does not end in a terminator"));
        }
        if self.owners.is_empty() {
            self.require(kernel.blocks[block].params.is_empty(), || "the body has parameters".to_owned());
        }
        self.define(&kernel.blocks[block].params);
        for (n, inst) in insts.iter().enumerate() {
            self.inst = Some(*inst);
            let is_last = n + 1 == insts.len();
            self.require(is_last || !self.op(*inst).is_terminator(), || format!("a terminator in the middle of {block}"));
            self.check_inst(*inst);
        }
        for value in self.scope.drain(outer..) {
            self.visible[usize::from(value)] = false;
        }
        self.inst = self.owners.last().copied();
    }

    fn define(&mut self, values: &[Value]) {
        for value in values {
            self.visible[usize::from(*value)] = true;
            self.scope.push(*value);
        }
    }

    fn check_inst(&mut self, inst: Inst) {
        let data = &self.kernel.insts[inst];
        data.op.for_each_operand(|value| {
            self.require(self.visible[usize::from(value)], || format!("{value} is not defined here"));
        });
        match &data.op {
            Op::Region(Region::If { .. } | Region::For { .. } | Region::Loop { .. } | Region::Block { .. }) => self.check_owner(inst),
            Op::Terminator(Terminator::Yield(values)) => self.check_yield(values),
            Op::Terminator(Terminator::Break(target, values)) => self.check_break(*target, values),
            Op::Terminator(Terminator::Continue(target, values)) => self.check_continue(*target, values),
            op @ (Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)
            | Op::Terminator(_)) => {
                self.check_types(op, &data.results);
            }
        }
        if data.op.is_terminator() {
            self.require(data.results.is_empty(), || "a terminator has results".to_owned());
        }
        self.define(&data.results);
    }

    fn check_owner(&mut self, inst: Inst) {
        let data = &self.kernel.insts[inst];
        match &data.op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                self.check_type(*condition, Type::Bool, "the condition");
                self.check_without_params(*then_block);
                self.check_without_params(*else_block);
            }
            Op::Region(Region::Block { body }) => self.check_without_params(*body),
            Op::Region(Region::For { start, end, step, init, body, .. }) => {
                let ty = self.kernel.ty(*start);
                self.require(ty.is_int(), || format!("a `for` over `{ty}`"));
                self.check_type(*end, ty, "the end");
                self.check_type(*step, ty, "the step");
                let carried = self.types(init);
                let mut params = vec![ty];
                params.extend(&carried);
                self.check_list(self.params(*body).to_vec(), &params, "parameters of the body");
                self.check_list(data.results.clone(), &carried, "results");
            }
            Op::Region(Region::Loop { init, body, .. }) => {
                let carried = self.types(init);
                self.check_list(self.params(*body).to_vec(), &carried, "parameters of the body");
            }
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
        self.owners.push(inst);
        for block in data.op.blocks() {
            self.check_block(block);
        }
        self.owners.pop();
        self.inst = Some(inst);
    }

    fn check_without_params(&mut self, block: Block) {
        self.require(self.params(block).is_empty(), || format!("{block} has parameters"));
    }

    fn check_yield(&mut self, values: &[Value]) {
        let Some(owner) = self.owners.last().copied() else {
            return self.complain("the body yields");
        };
        let expected = self.carried(owner).unwrap_or_else(|| self.types(&self.kernel.insts[owner].results));
        self.check_list(values.to_vec(), &expected, "values yielded");
    }

    fn check_break(&mut self, target: Inst, values: &[Value]) {
        let is_left = matches!(self.op(target), Op::Region(Region::For { .. } | Region::Loop { .. } | Region::Block { .. }));
        if self.require(is_left && self.owners.contains(&target), || format!("{target} is no loop or region around this")) {
            self.check_list(values.to_vec(), &self.types(&self.kernel.insts[target].results), "results");
        }
    }

    fn check_continue(&mut self, target: Inst, values: &[Value]) {
        match self.carried(target).filter(|_| self.owners.contains(&target)) {
            Some(expected) => self.check_list(values.to_vec(), &expected, "carried values"),
            None => self.complain(format!("{target} is no loop around this")),
        }
    }

    /// The types of what a loop carries; `None` if it is no loop.
    fn carried(&self, inst: Inst) -> Option<Vec<Type>> {
        if let Op::Region(Region::For { init, .. } | Region::Loop { init, .. }) = self.op(inst) { Some(self.types(init)) } else { None }
    }

    /// The types of values.
    pub(super) fn types(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|value| self.kernel.ty(*value)).collect()
    }

    fn check_list(&mut self, values: Vec<Value>, expected: &[Type], what: &str) {
        let found = self.types(&values);
        self.require(found == expected, || format!("{what}: {} expected, found {}", list(expected), list(&found)));
    }

    /// Requires a value's type.
    pub(super) fn check_type(&mut self, value: Value, expected: Type, what: &str) -> bool {
        let ty = self.kernel.ty(value);
        self.require(ty == expected, || format!("{what} {value} is `{ty}`, not `{expected}`"))
    }
}

/// `(f32, u32)`.
pub(super) fn list(types: &[Type]) -> String {
    let names: Vec<_> = types.iter().map(Type::to_string).collect();
    format!("({})", names.join(", "))
}
