//! Structured control flow as labels and branches: loops tested at the bottom, short branches and guarded accesses predicated (`predicate`), no jump where falling through
//! will do.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

use super::code::{Guard, Label, Operand, Reg, RegisterClass, Statement};
use super::emitter::{Emitter, ptx};
use super::types::suffix;
use crate::ir::{Address, BinaryOp, Block, Compute, Inst, Memory, MemoryOp, Op, Region, Scalar, Terminator, Type, Value};
use std::collections::BTreeMap;

/// What a `Break` or `Continue` can name: an enclosing loop or region.
pub(super) struct Frame {
    inst: Inst,
    /// Behind it, once its results are in place.
    exit: Jump,
    results: Vec<Reg>,
    /// Before its next iteration, once the carried values are in place.
    next: Jump,
    carried: Vec<Reg>,
}

/// A label, and whether anything jumps to it.
struct Jump {
    label: Label,
    is_used: bool,
}

/// How the end of a block was reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With a `Yield`, whose values the owner moves.
    Falls,
    /// By a jump or return: nothing after it runs.
    Left,
}

/// Most instructions of a loop's head that are printed twice to test at the bottom.
const MOST_ROTATED: usize = 12;

/// The counted loop being printed.
struct Counter {
    ty: Type,
    at: Reg,
    end: Operand,
    step: Operand,
    /// Whether adding the step cannot pass the type's range before the bound is seen.
    is_safe: bool,
    /// Whether the counter reaches the bound exactly.
    is_exact: bool,
}

impl Emitter<'_> {
    /// The kernel's body.
    pub(super) fn body(&mut self) {
        self.policies();
        if self.block(self.kernel.body) == End::Falls {
            ptx!(self, Ret);
        }
    }

    /// Prints a block up to its `Yield`, or through whatever else ends it.
    fn block(&mut self, block: Block) -> End {
        match self.roles {
            Some(roles) if block == roles.producer || block == roles.work => self.role_begins(block == roles.work),
            _ => {}
        }
        self.instructions(&self.kernel.blocks[block].insts)
    }

    /// The same of a block from some instruction on.
    fn instructions(&mut self, insts: &[Inst]) -> End {
        for inst in insts {
            self.enter(*inst);
            match &self.kernel.insts[*inst].op {
                Op::Terminator(terminator) => return self.terminator(terminator),
                Op::Region(region) => self.region(*inst, region),
                Op::Compute(_)
                | Op::Memory(_)
                | Op::Texture(..)
                | Op::Intrinsic(..)
                | Op::Collective(_)
                | Op::Tensor(_)
                | Op::Engine(_)
                | Op::Message(_) => {
                    self.instruction(*inst);
                }
            }
        }
        End::Falls
    }

    fn terminator(&mut self, terminator: &Terminator) -> End {
        match terminator {
            Terminator::Yield(_) => return End::Falls,
            Terminator::Return => ptx!(self, Ret),
            Terminator::Break(target, values) => self.leave(*target, values, true),
            Terminator::Continue(target, values) => self.leave(*target, values, false),
            Terminator::Trap(message) => self.trap(message),
        }
        End::Left
    }

    fn region(&mut self, inst: Inst, region: &Region) {
        match *region {
            Region::If { .. } if self.addresses_of_copies(inst) => {}
            Region::If { condition, then_block, else_block } => self.branch(inst, condition, then_block, else_block),
            Region::For { start, end, step, ref init, body, keep_rolled } => {
                self.counted_loop(inst, [start, end, step], init, body, keep_rolled);
            }
            Region::Loop { ref init, body, keep_rolled } => self.open_loop(inst, init, body, keep_rolled),
            Region::Block { body } => self.once(inst, body),
        }
    }

    /// The registers of an instruction's results.
    fn results(&mut self, inst: Inst) -> Vec<Reg> {
        self.kernel.insts[inst].results.iter().map(|v| self.register(*v)).collect()
    }

    pub(super) fn yield_into(&mut self, block: Block, to: &[Reg]) {
        self.move_values(to, self.kernel.yielded(block).unwrap_or_default());
    }

    fn jump(&mut self, label: Label) {
        ptx!(self, Bra label);
    }

    pub(super) fn jump_if(&mut self, condition: Reg, wanted: bool, label: Label) {
        self.predicate = Some(Guard { reg: condition, wanted });
        self.jump(label);
        self.predicate = None;
    }

    /// A jump out of, or to the next iteration of, an enclosing loop or region.
    fn leave(&mut self, target: Inst, values: &[Value], is_exit: bool) {
        let Some(n) = self.frames.iter().rposition(|frame| frame.inst == target) else { return };
        let to = if is_exit { self.frames[n].results.clone() } else { self.frames[n].carried.clone() };
        self.move_values(&to, values);
        let label = self.mark_used(n, is_exit);
        self.jump(label);
    }

    fn mark_used(&mut self, frame: usize, is_exit: bool) -> Label {
        let frame = &mut self.frames[frame];
        let jump = if is_exit { &mut frame.exit } else { &mut frame.next };
        jump.is_used = true;
        jump.label
    }

    fn push_frame(&mut self, inst: Inst, results: Vec<Reg>, carried: Vec<Reg>) {
        let [exit, next] = [(); 2].map(|()| Jump { label: self.new_label(), is_used: false });
        self.frames.push(Frame { inst, exit, results, next, carried });
    }

    /// Where `Continue` of the innermost frame goes.
    fn place_next(&mut self) {
        if let Some(Frame { next: Jump { label, is_used: true }, .. }) = self.frames.last() {
            let label = *label;
            self.label(label);
        }
    }

    /// Where `Break` of the innermost frame goes.
    fn pop_frame(&mut self) {
        if let Some(Frame { exit: Jump { label, is_used: true }, .. }) = self.frames.pop() {
            self.label(label);
        }
    }

    // ---- conditions ----

    fn branch(&mut self, inst: Inst, condition: Value, then_block: Block, else_block: Block) {
        let condition = self.in_register(condition);
        if !self.is_predicated(then_block, else_block) {
            self.stay_joined(inst, [then_block, else_block]);
        }
        let results = self.results(inst);
        for (block, other, wanted) in [(then_block, else_block, true), (else_block, then_block, false)] {
            if results.is_empty() && self.is_empty(other) {
                return self.one_sided(condition, wanted, block);
            }
        }
        // A side that only leaves needs no jump around it.
        for (block, other, wanted) in [(then_block, else_block, true), (else_block, then_block, false)] {
            if self.jump_away(condition, wanted, block) {
                if self.block(other) == End::Falls {
                    self.yield_into(other, &results);
                }
                return;
            }
        }
        for (block, other, wanted) in [(then_block, else_block, true), (else_block, then_block, false)] {
            if self.predicated_values(condition, wanted, block, other, &results) {
                return;
            }
        }
        let [otherwise, end] = [(); 2].map(|()| self.new_label());
        self.jump_if(condition, false, otherwise);
        let mut is_joined = false;
        if self.block(then_block) == End::Falls {
            self.yield_into(then_block, &results);
            self.jump(end);
            is_joined = true;
        }
        self.label(otherwise);
        if self.block(else_block) == End::Falls {
            self.yield_into(else_block, &results);
        }
        if is_joined {
            self.label(end);
        }
    }

    /// Whether a block does nothing but end.
    fn is_empty(&self, block: Block) -> bool {
        self.kernel.blocks[block].insts.len() == 1 && self.kernel.yielded(block).is_some_and(<[Value]>::is_empty)
    }

    /// `if` without the other side.
    fn one_sided(&mut self, condition: Reg, wanted: bool, block: Block) {
        if self.is_empty(block) || self.jump_away(condition, wanted, block) {
            return;
        }
        if self.is_predicable(block) {
            return self.predicated(condition, wanted, block);
        }
        let end = self.new_label();
        self.jump_if(condition, !wanted, end);
        self.block(block);
        self.label(end);
    }

    /// A block that is nothing but a jump without values, or a return, becomes a predicated one.
    fn jump_away(&mut self, condition: Reg, wanted: bool, block: Block) -> bool {
        let [only] = self.kernel.blocks[block].insts.as_slice() else { return false };
        let Op::Terminator(terminator) = &self.kernel.insts[*only].op else { return false };
        let (target, values, is_exit) = match terminator {
            Terminator::Break(target, values) => (target, values, true),
            Terminator::Continue(target, values) => (target, values, false),
            Terminator::Return => {
                self.predicate = Some(Guard { reg: condition, wanted });
                ptx!(self, Ret);
                self.predicate = None;
                return true;
            }
            Terminator::Yield(_) | Terminator::Trap(_) => return false,
        };
        let Some(n) = self.frames.iter().rposition(|frame| frame.inst == *target) else { return false };
        let to = if is_exit { &self.frames[n].results } else { &self.frames[n].carried };
        let to = to.clone();
        let stays = to.iter().zip(values).all(|(to, value)| self.raw(*value) == Operand::Reg(*to));
        if !stays {
            return false;
        }
        let label = self.mark_used(n, is_exit);
        self.jump_if(condition, wanted, label);
        true
    }

    // ---- regions and loops ----

    fn once(&mut self, inst: Inst, body: Block) {
        let results = self.results(inst);
        self.push_frame(inst, results.clone(), Vec::new());
        if self.block(body) == End::Falls {
            self.yield_into(body, &results);
        }
        self.pop_frame();
    }

    /// Binds parameters of a loop's body to registers that hold their first values.
    fn enter_loop(&mut self, params: &[Value], first: &[Value]) -> Vec<Reg> {
        let params: Vec<Reg> = params.iter().map(|v| self.register(*v)).collect();
        self.move_values(&params, first);
        params
    }

    /// The same of some of the parameters.
    fn move_some(&mut self, numbers: &[usize], to: &[Reg], values: &[Value]) {
        let moves = numbers.iter().map(|n| (to[*n], self.raw(values[*n]))).collect();
        self.parallel_moves(moves);
    }

    /// `loop`. One that begins with a test that leaves it is tested at the bottom: the test is printed before the loop and at its end.
    fn open_loop(&mut self, inst: Inst, init: &[Value], body: Block, keep_rolled: bool) {
        let carried = self.enter_loop(&self.kernel.blocks[body].params, init);
        let results = self.results(inst);
        let head = self.head(inst, body);
        self.push_frame(inst, results.clone(), carried.clone());
        let top = self.new_label();
        match head {
            None => {
                self.loop_top(top, keep_rolled);
                self.place_next_at_top(top);
                if self.block(body) == End::Falls {
                    self.yield_into(body, &carried);
                    self.jump(top);
                }
            }
            Some(head) => self.rotated_loop(body, &head, (top, keep_rolled), &carried, &results),
        }
        self.pop_frame();
    }

    /// The label of a loop, and what the assembler is told of it.
    fn loop_top(&mut self, top: Label, keep_rolled: bool) {
        self.label(top);
        if keep_rolled {
            self.push(Statement::KeepRolled);
        }
    }

    /// `Continue` may jump to the top itself.
    fn place_next_at_top(&mut self, top: Label) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next.label = top;
        }
    }

    fn rotated_loop(&mut self, body: Block, head: &Head, (top, keep_rolled): (Label, bool), carried: &[Reg], results: &[Reg]) {
        let insts = &self.kernel.blocks[body].insts;
        let out = self.new_label();
        let condition = self.print_head(&insts[..head.length], head.condition);
        self.jump_if(condition, head.leaves_if, out);
        self.loop_top(top, keep_rolled);
        let falls = self.block(head.stay) == End::Falls && self.instructions(&insts[head.length + 1..]) == End::Falls;
        if falls {
            self.yield_into(body, carried);
        }
        let is_continued = self.frames.last().is_some_and(|frame| frame.next.is_used);
        if falls || is_continued {
            self.place_next();
            let condition = self.print_head(&insts[..head.length], head.condition);
            self.jump_if(condition, !head.leaves_if, top);
        }
        self.label(out);
        self.move_values(results, &head.values);
    }

    fn print_head(&mut self, insts: &[Inst], condition: Value) -> Reg {
        for inst in insts {
            self.enter(*inst);
            self.instruction(*inst);
        }
        self.in_register(condition)
    }

    /// The test that a loop's body begins with, if it does: instructions without control flow or effect, then an `If` one side of
    /// which only leaves the loop and the other gives no values.
    fn head(&self, owner: Inst, body: Block) -> Option<Head> {
        let insts = &self.kernel.blocks[body].insts;
        let is_plain = |inst: &&Inst| {
            let op = &self.kernel.insts[**inst].op;
            op.blocks().is_empty()
                && (op.effects(self.kernel).is_pure()
                    || matches!(op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Pointer { .. } })))
        };
        let length = insts.iter().take_while(is_plain).count();
        let printed = insts[..length].iter().filter(|i| !matches!(self.kernel.insts[**i].op, Op::Compute(Compute::Const(_)))).count();
        let data = &self.kernel.insts[*insts.get(length)?];
        let Op::Region(Region::If { condition, then_block, else_block }) = data.op else { return None };
        if printed > MOST_ROTATED || !data.results.is_empty() {
            return None;
        }
        let leaving = |block: Block| {
            let [only] = self.kernel.blocks[block].insts.as_slice() else { return None };
            let Op::Terminator(Terminator::Break(target, values)) = &self.kernel.insts[*only].op else { return None };
            (*target == owner).then(|| values.clone())
        };
        match (leaving(then_block), leaving(else_block)) {
            (Some(values), None) => Some(Head { length, condition, leaves_if: true, stay: else_block, values }),
            (None, Some(values)) => Some(Head { length, condition, leaves_if: false, stay: then_block, values }),
            _ => None,
        }
    }

    // ---- counted loops ----

    fn counted_loop(&mut self, inst: Inst, [start, end, step]: [Value; 3], init: &[Value], body: Block, keep_rolled: bool) {
        let is_entered = self.is_entered(start, end);
        let begun = if is_entered == Some(false) { BTreeMap::new() } else { self.begun_by_products(inst, init, body) };
        let stand_in = if keep_rolled && begun.is_empty() { self.stand_in(inst) } else { None };
        let first = [&[start], init].concat();
        let skipped = usize::from(stand_in.is_some());
        let params: Vec<Reg> = self.kernel.blocks[body].params[skipped..].iter().map(|param| self.register(*param)).collect();
        let others: Vec<usize> =
            (0..params.len()).filter(|n| n.checked_sub(1).is_none_or(|carried| !begun.contains_key(&carried))).collect();
        self.move_some(&others, &params, &first[skipped..]);
        let carried = params[usize::from(stand_in.is_none())..].to_vec();
        // The results are the carried values after the last iteration: they may live where those do.
        for (result, reg) in self.kernel.insts[inst].results.clone().iter().zip(&carried) {
            self.alias(*result, *reg);
        }
        let counter = match stand_in {
            Some((n, distance)) => Count::Until(carried[n], self.distant(carried[n], distance)),
            None => Count::Below(self.counter(params[0], start, end, step)),
        };
        self.push_frame(inst, carried.clone(), carried.clone());
        let [top, out] = [(); 2].map(|()| self.new_label());
        if is_entered == Some(false) {
            self.pop_frame();
            return;
        }
        if let (None, Count::Below(counter)) = (is_entered, &counter) {
            let inside = self.temp(RegisterClass::Predicate);
            ptx!(self, Setp.Lt.(suffix(counter.ty)) inside, counter.at, &counter.end);
            let (behind_await, on_the_way): (Vec<_>, Vec<_>) =
                begun.iter().map(|(carried, awaits)| (carried + 1, *awaits)).partition(|(_, awaits)| awaits.is_some());
            for (n, awaits) in behind_await {
                awaits.into_iter().for_each(|awaits| self.zero_late(awaits, inside, params[n], first[n]));
            }
            let zeros: Vec<usize> = on_the_way.into_iter().map(|(n, _)| n).collect();
            if zeros.is_empty() {
                self.jump_if(inside, false, out);
            } else {
                let enter = self.new_label();
                self.jump_if(inside, true, enter);
                self.move_some(&zeros, &params, &first);
                self.jump(out);
                self.label(enter);
            }
        }
        if !begun.is_empty() {
            self.begin_products(&begun, body, params[0], start);
        }
        self.loop_top(top, keep_rolled);
        let falls = self.block(body) == End::Falls;
        if falls {
            self.yield_into(body, &carried);
        }
        if falls || self.frames.last().is_some_and(|frame| frame.next.is_used) {
            self.place_next();
            self.enter(inst);
            match &counter {
                Count::Below(counter) => self.advance(counter, top),
                Count::Until(at, end) => {
                    let again = self.temp(RegisterClass::Predicate);
                    ptx!(self, Setp.Ne.U32 again, at, end);
                    self.jump_if(again, true, top);
                }
            }
        }
        if is_entered.is_none() {
            self.label(out);
        }
        self.pop_frame();
    }

    /// The carried value whose end tells that of a rolled loop, so that the counter, which nothing else asks for, need not be kept: which one, and
    /// how far it moves in all. It moves by the same distance every time, of 32 bits, and less than 2³² in all: so it is nowhere twice. (A loop
    /// that the assembler may unroll keeps the counter, which tells how often it runs.)
    fn stand_in(&self, inst: Inst) -> Option<(usize, i128)> {
        let kernel = self.kernel;
        let Op::Region(Region::For { start, end, step, body, .. }) = kernel.insts[inst].op else { return None };
        let known = |value: Value| kernel.constant(value).map(Scalar::as_int);
        let (way, step) = (known(end)?.checked_sub(known(start)?)?, known(step)?);
        let trips = way.checked_add(step - 1)?.checked_div(step).filter(|trips| *trips > 0)?;
        let params = &kernel.blocks[body].params;
        let mut is_needed = false;
        kernel.walk_block(body, &mut |kernel, _, inner| {
            let op = &kernel.insts[inner].op;
            is_needed |= matches!(op, Op::Terminator(Terminator::Continue(target, _)) if *target == inst);
            op.for_each_operand(|operand| is_needed |= operand == params[0]);
        });
        let Op::Terminator(Terminator::Yield(next)) = &kernel.insts[*kernel.blocks[body].insts.last()?].op else { return None };
        let total = |(param, next): (&Value, &Value)| match kernel.def(*next)? {
            (_, Op::Compute(Compute::Offset(from, by) | Compute::Binary(BinaryOp::Add, from, by)))
                if from == param && kernel.ty(*by).is_int() && kernel.ty(*by).bits() == 32 =>
            {
                // Signed: downwards is a small distance, too.
                let distance = i128::from(known(*by)? as u32 as i32);
                distance.checked_mul(trips).filter(|total| *total != 0 && total.abs() < 1 << 32)
            }
            _ => None,
        };
        let found = params[1..].iter().zip(next).enumerate().find_map(|(n, pair)| Some((n, total(pair)?)));
        found.filter(|_| !is_needed)
    }

    /// `at + distance`, of 32 bits.
    fn distant(&mut self, at: Reg, distance: i128) -> Reg {
        let end = self.temp_of(Type::U32);
        ptx!(self, Add.U32 end, at, distance as u32);
        end
    }

    /// Whether a loop runs at all, if its bounds are known.
    fn is_entered(&self, start: Value, end: Value) -> Option<bool> {
        Some(self.kernel.constant(start)?.as_int() < self.kernel.constant(end)?.as_int())
    }

    fn counter(&mut self, at: Reg, start: Value, end: Value, step: Value) -> Counter {
        let ty = self.kernel.ty(start);
        let known = |v: Value| self.kernel.constant(v).map(Scalar::as_int);
        let most = (1i128 << (ty.bits() - u32::from(ty.is_signed_int()))) - 1;
        let is_exact = known(step) == Some(1);
        let upper = known(end).or_else(|| ty.is_unsigned_int().then(|| i128::from(self.bounds.upper(self.kernel, end))));
        let is_safe = upper.zip(known(step)).is_some_and(|(end, step)| end - 1 + step <= most);
        Counter { ty, at, end: self.operand(end), step: self.operand(step), is_safe, is_exact }
    }

    /// To the next iteration, if there is one. Where the sum might wrap the rest of the way is compared with the step instead.
    fn advance(&mut self, counter: &Counter, top: Label) {
        let Counter { ty, at, end, step, .. } = counter;
        let again = self.temp(RegisterClass::Predicate);
        if counter.is_exact || counter.is_safe {
            ptx!(self, Add.(suffix(*ty)) at, at, step);
            ptx!(self, Setp.Lt.(suffix(*ty)) again, at, end);
        } else {
            let unsigned = if ty.bits() < 16 { Type::U16 } else { ty.to_unsigned() };
            let rest = self.temp_of(*ty);
            ptx!(self, Sub.(suffix(unsigned)) rest, end, at);
            ptx!(self, Add.(suffix(*ty)) at, at, step);
            ptx!(self, Setp.Gt.(suffix(unsigned)) again, rest, step);
        }
        self.jump_if(again, true, top);
    }
}

/// What tells whether a counted loop goes on.
enum Count {
    /// The counter.
    Below(Counter),
    /// A carried value, and where it is at the end.
    Until(Reg, Reg),
}

/// The test that a loop begins with.
struct Head {
    /// Instructions of the body before the `If`.
    length: usize,
    condition: Value,
    leaves_if: bool,
    /// The side that stays.
    stay: Block,
    /// The results where it leaves.
    values: Vec<Value>,
}
