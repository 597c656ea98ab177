//! Runs: the instructions between two meetings, under an `if` on the mask.
//!
//! Arithmetic that cannot fault is taken out of the `if` where its result is used outside: before it if nothing in the run is needed for
//! it, behind it if nothing in the run needs it. An exit from the middle of a run leaves a region round it with a flag; the rest of the
//! kernel asks the flag.

use super::Converge;
use super::exits::Exit;
use crate::ir::{Address, Inst, Kernel, Memory, MemoryOp, ObjectKind, Op, Region, Step, Terminator, Value, ValueDef};
use std::collections::{BTreeMap, BTreeSet};

/// Where an instruction of a run goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    Before,
    Inside,
    Behind,
}

impl Converge<'_> {
    /// Prints a run for the threads of `on`. Gives the mask behind it.
    pub(super) fn run(&mut self, insts: &[Inst], on: Value) -> Value {
        let exits: Vec<Inst> = insts.iter().flat_map(|inst| self.escapes_within(*inst)).collect();
        if on == self.yes && exits.is_empty() {
            insts.iter().for_each(|inst| self.keep_all(*inst));
            return on;
        }
        let places = self.places(insts);
        let of = |place| insts.iter().zip(&places).filter(move |(_, p)| **p == place).map(|(inst, _)| *inst).collect::<Vec<Inst>>();
        let (before, inside, behind) = (of(Where::Before), of(Where::Inside), of(Where::Behind));
        before.iter().for_each(|inst| self.keep_free(*inst));
        let mut on_behind = on;
        if !inside.is_empty() {
            self.loc = self.kernel().insts[inside[0]].loc;
            on_behind = if exits.is_empty() {
                self.guarded(&inside, on);
                on
            } else {
                self.left(&inside, &exits, on)
            };
        }
        behind.iter().for_each(|inst| self.keep_free(*inst));
        on_behind
    }

    /// Keeps an instruction and all in it, with current operands.
    pub(super) fn keep_all(&mut self, inst: Inst) {
        self.resolve_all(inst);
        self.rewrite.keep(self.at, inst);
    }

    fn resolve_all(&mut self, inst: Inst) {
        self.rewrite.resolve_operands(inst);
        for nested in nested(self.kernel(), inst) {
            self.rewrite.resolve_operands(nested);
        }
    }

    /// Keeps an instruction that every thread may run: right where its operands are.
    fn keep_free(&mut self, inst: Inst) {
        let data = &self.kernel().insts[inst];
        let (operands, results) = (data.op.operands(), data.results.clone());
        if operands.iter().any(|value| self.masked.contains(value)) {
            self.masked.extend(results);
        }
        self.keep_all(inst);
    }

    /// Where each instruction of a run goes.
    fn places(&self, insts: &[Inst]) -> Vec<Where> {
        let kernel = self.kernel();
        // The number of the instruction of the run that an instruction is, or stands in.
        let mut owner = BTreeMap::new();
        for (n, inst) in insts.iter().enumerate() {
            owner.insert(*inst, n);
            owner.extend(nested(kernel, *inst).into_iter().map(|inner| (inner, n)));
        }
        // What cannot stand before the `if`.
        let mut is_held: Vec<bool> = Vec::new();
        for inst in insts {
            let op = &kernel.insts[*inst].op;
            let is_made_held = |value: Value| match kernel.values[value].def {
                ValueDef::Result(inst, _) => owner.get(&inst).is_some_and(|n| is_held[*n]),
                ValueDef::Param(..) => false,
            };
            let needs_held = !is_free(kernel, *inst) || op.operands().into_iter().any(is_made_held);
            is_held.push(needs_held);
        }
        let mut places = vec![Where::Inside; insts.len()];
        for n in (0..insts.len()).rev().filter(|n| is_free(kernel, insts[*n])) {
            let results = &kernel.insts[insts[n]].results;
            let users = || results.iter().flat_map(|value| self.plan.users(*value)).map(|user| owner.get(user).map(|m| places[*m]));
            let is_needed_inside = users().any(|place| place == Some(Where::Inside));
            let is_needed_outside = users().any(|place| place != Some(Where::Inside));
            places[n] = match (is_needed_inside, is_needed_outside) {
                (false, _) if is_held[n] => Where::Behind,
                (false, _) => Where::Before,
                (true, true) if !is_held[n] => Where::Before,
                _ => Where::Inside,
            };
        }
        places
    }

    /// The results of instructions that others use.
    fn outputs(&self, insts: &[Inst]) -> Vec<Value> {
        let kernel = self.kernel();
        let mut inside = BTreeSet::new();
        for inst in insts {
            inside.insert(*inst);
            inside.extend(nested(kernel, *inst));
        }
        let results = insts.iter().flat_map(|inst| &kernel.insts[*inst].results).copied();
        results.filter(|value| self.plan.users(*value).iter().any(|user| !inside.contains(user))).collect()
    }

    /// `if on { insts }`, none of which leaves.
    pub(super) fn guarded(&mut self, insts: &[Inst], on: Value) {
        let outputs = self.outputs(insts);
        let types = self.types(&outputs);
        let (then_block, else_block) = (self.rewrite.kernel.new_block(&[]), self.rewrite.kernel.new_block(&[]));
        let outer = std::mem::replace(&mut self.at, then_block);
        insts.iter().for_each(|inst| self.keep_all(*inst));
        if !self.builder().is_terminated() {
            self.builder().push(Op::Terminator(Terminator::Yield(outputs.clone())), &[]);
        }
        self.at = else_block;
        let zeros = self.zeros(&types);
        self.builder().push(Op::Terminator(Terminator::Yield(zeros)), &[]);
        self.at = outer;
        let inst = self.builder().push(Op::Region(Region::If { condition: on, then_block, else_block }), &types);
        self.stand_for_outputs(&outputs, &self.kernel().insts[inst].results.clone());
    }

    fn stand_for_outputs(&mut self, outputs: &[Value], values: &[Value]) {
        self.masked.extend(outputs);
        for (output, value) in outputs.iter().zip(values) {
            if let Some(name) = self.kernel().values[*output].name.clone() {
                self.rewrite.kernel.values[*value].name = Some(name);
            }
            self.stand_for(*output, *value);
        }
    }

    /// The same where `exits` leave: through a region that says which of them was taken, and with what. Gives the mask behind it.
    fn left(&mut self, insts: &[Inst], exits: &[Inst], on: Value) -> Value {
        let mut ways: Vec<Exit> = Vec::new();
        for exit in exits.iter().filter_map(|inst| self.escape(*inst)) {
            if !ways.contains(&exit) {
                ways.push(exit);
            }
        }
        let outputs = self.outputs(insts);
        // A flag and values for each way out, then what is used behind.
        let handed: Vec<_> = ways.iter().map(|way| self.types_of(*way)).collect();
        let flag = self.kernel().ty(self.no);
        let mut types: Vec<_> = handed.iter().flat_map(|types| std::iter::once(flag).chain(types.iter().copied())).collect();
        let own = types.len();
        types.extend(self.types(&outputs));
        let nothing = self.zeros(&types);

        let body = self.rewrite.kernel.new_block(&[]);
        let loc = self.loc;
        let region = self.rewrite.kernel.new_inst(Op::Region(Region::Block { body }), &types, loc);
        let (escapes, outer) = (self.with_ways(exits, &ways), std::mem::replace(&mut self.at, body));
        insts.iter().for_each(|inst| self.keep_all(*inst));
        for (exit, way) in escapes {
            let begin: usize = handed[..way].iter().map(|types| types.len() + 1).sum();
            let mut values = nothing.clone();
            values[begin] = self.yes;
            let operands = self.kernel().insts[exit].op.operands();
            values[begin + 1..][..operands.len()].copy_from_slice(&operands);
            self.rewrite.kernel.insts[exit].op = Op::Terminator(Terminator::Break(region, values));
        }
        let mut values = nothing[..own].to_vec();
        values.extend(&outputs);
        self.builder().push(Op::Terminator(Terminator::Yield(values)), &[]);
        self.at = outer;
        let given = self.under(region, on, &types, &nothing);

        self.stand_for_outputs(&outputs, &given[own..]);
        let (mut begin, mut behind) = (0, on);
        for (way, types) in ways.iter().zip(&handed) {
            self.leave(*way, given[begin], &given[begin + 1..][..types.len()]);
            let others = self.not(given[begin]);
            behind = self.and(behind, others);
            begin += types.len() + 1;
        }
        behind
    }

    /// Exits with the numbers of their ways.
    fn with_ways(&self, exits: &[Inst], ways: &[Exit]) -> Vec<(Inst, usize)> {
        let way = |inst: Inst| self.escape(inst).and_then(|exit| ways.iter().position(|way| *way == exit));
        exits.iter().filter_map(|inst| Some((*inst, way(*inst)?))).collect()
    }

    /// Puts a statement under an `if` on the mask; its results.
    fn under(&mut self, inst: Inst, on: Value, types: &[crate::ir::Type], nothing: &[Value]) -> Vec<Value> {
        let results = self.kernel().insts[inst].results.clone();
        if on == self.yes {
            self.rewrite.keep(self.at, inst);
            return results;
        }
        let (then_block, else_block) = (self.rewrite.kernel.new_block(&[]), self.rewrite.kernel.new_block(&[]));
        let loc = self.loc;
        self.rewrite.keep(then_block, inst);
        self.rewrite.builder(then_block, loc).push(Op::Terminator(Terminator::Yield(results)), &[]);
        self.rewrite.builder(else_block, loc).push(Op::Terminator(Terminator::Yield(nothing.to_vec())), &[]);
        let inst = self.builder().push(Op::Region(Region::If { condition: on, then_block, else_block }), types);
        self.kernel().insts[inst].results.clone()
    }
}

/// The instructions inside a statement.
fn nested(kernel: &Kernel, inst: Inst) -> Vec<Inst> {
    let mut found = Vec::new();
    for block in kernel.insts[inst].op.blocks() {
        kernel.walk_block(block, &mut |_, _, inst| found.push(inst));
    }
    found
}

/// Whether every thread may run an instruction: it cannot fault and touches no memory but parameters.
fn is_free(kernel: &Kernel, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    if let Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(access) }) = &data.op {
        kernel.objects[access.object].kind == ObjectKind::Value && !access.path.iter().any(|step| matches!(step, Step::Index(_)))
    } else {
        data.op.effects(kernel).is_speculatable()
    }
}
