//! How Rust spells values and control flow (see `backend::structured`). An `if` whose sides are one expression each is one.

use super::Printer;
use super::expression::{Expr, Extra, LOWEST, RANGE};
use super::kinds::Kind;
use crate::backend::structured::{Binding, Context, Control, Flow, Language, PRIMARY, State, Storage, Values};
use crate::ir::{Address, BinaryOp, Block, Compute, Inst, Kernel, Memory, MemoryOp, Op, Region, Scalar, Terminator, Value};

/// Expressions longer than this become a `let` of their own.
const LONGEST: usize = 110;

impl<'k> Language<'k> for Printer<'k> {
    type Extra = Extra;

    const KEEP_ROLLED: &'static str = "#[unroll(1)]";

    fn kernel(&self) -> &'k Kernel {
        self.kernel
    }

    fn state(&self) -> &State<Extra> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut State<Extra> {
        &mut self.state
    }

    fn plain(&mut self, inst: Inst, op: &Op) {
        self.simple(inst, op);
    }

    fn trap(&mut self, _inst: Inst, message: &str) {
        let message = message.replace('{', "{{").replace('}', "}}");
        self.line(&format!("assert!(false, {message:?});"));
    }

    fn literal(&self, scalar: Scalar) -> Expr {
        Expr::literal(scalar)
    }

    fn hint(&self, value: Value) -> String {
        self.called(value)
    }

    fn declare_name(&mut self, hint: &str) -> String {
        let at = self.state.text.len();
        self.names.declare(hint, at)
    }

    fn is_inlined(&self, inst: Inst, value: Value, expr: &Expr) -> bool {
        self.is_moved(inst, value) && expr.text.len() <= LONGEST
    }

    fn take_like(&mut self, value: Value, like: Value) -> Expr {
        self.take_as(value, self.kinds.value(like))
    }

    fn constant_variable(&mut self, hint: &str, like: Value, expr: &Expr) -> String {
        let text = expr.typed(self.kernel.ty(like), self.kinds.value(like));
        let name = self.declare_name(hint);
        self.line(&format!("let {name} = {text};"));
        name
    }

    fn declare(&mut self, storage: Storage, first: Option<&Expr>) {
        let data = self.state.storage(storage);
        let (ty, kind) = (self.kernel.ty(data.like), self.kinds.value(data.like));
        // Assigned on every way to its first use; the language wants a value all the same.
        let first = first.map_or_else(|| Expr::literal(Scalar::new(ty, 0)).typed(ty, kind), |expr| expr.typed(ty, kind));
        let text = format!("let mut {} = {first};", data.name);
        self.line(&text);
    }

    fn assigned(&self, name: &str, expr: &Expr) -> String {
        expr.assigned_to(name)
    }

    fn if_header(&self, condition: &str) -> String {
        format!("if {condition}")
    }

    fn short_if(&mut self, inst: Inst, condition: &Expr, [then_block, else_block]: [Block; 2]) -> bool {
        let is_short = self.is_one_expression(inst, then_block, else_block);
        if is_short {
            self.if_expression(inst, condition, then_block, else_block);
        }
        is_short
    }

    fn for_loop(&mut self, inst: Inst, [start, end, step]: [Value; 3], init: &[Value], body: Block, keep_rolled: bool) {
        let kernel = self.kernel;
        let params = &kernel.blocks[body].params;
        let (ty, kind) = (kernel.ty(params[0]), self.kinds.value(params[0]));
        let (from, to) = (self.take_as(start, kind), self.take_as(end, kind));
        let is_open = from.extra.literal.is_some() && to.extra.literal.is_some() && !self.says_its_type(params[0], body);
        let last = if is_open { to.typed(ty, kind) } else { to.at(RANGE) };
        let mut range = format!("{}..{last}", from.at(RANGE));
        let by = self.take_index(step);
        if kernel.constant(step).is_none_or(|one| one.as_int() != 1) {
            range = format!("({range}).step_by({})", by.text);
        }
        let carried = self.carried(inst, init, &params[1..]);
        self.flush_loads();
        if keep_rolled {
            self.line(Self::KEEP_ROLLED);
        }
        self.push_context(inst, true, &carried.iter().copied().map(Some).collect::<Vec<_>>(), &carried);
        let prefix = self.prefix(body);
        self.names.enter();
        let is_used = self.state.is_used(params[0]);
        let counter = if is_used { self.declare_name(&self.hint_of(&[Some(params[0])])) } else { "_".to_owned() };
        self.line(&format!("{prefix}for {counter} in {range} {{"));
        self.enter_block();
        self.bind(params[0], Expr::new(counter, PRIMARY));
        self.counted_body(inst, body, &carried);
        self.names.leave(self.state.text.len());
    }

    fn loop_header(&self, condition: Option<&str>, body: Block) -> String {
        let prefix = self.prefix(body);
        condition.map_or_else(|| format!("{prefix}loop"), |condition| format!("{prefix}while {condition}"))
    }

    fn region_header(&self) -> String {
        format!("{}:", self.label())
    }

    fn close(&mut self, _context: &Context) {
        self.leave_block();
        self.line("}");
    }

    fn context(&mut self, inst: Inst, is_loop: bool) -> Context {
        let label = Some(format!("'l{}", self.labels));
        self.labels += 1;
        let mut context = Context::new(inst, is_loop);
        (context.break_label, context.continue_label) = (label.clone(), label);
        context
    }

    fn exit(&mut self, at: usize, is_break: bool) -> String {
        let context = &self.state.contexts[at];
        let word = if is_break { "break" } else { "continue" };
        // In a labelled block Rust wants every label said.
        match &context.break_label {
            Some(label) if at + 1 < self.state.contexts.len() || !context.is_loop => format!("{word} {label};"),
            _ => format!("{word};"),
        }
    }

    fn enter_scope(&mut self) {
        self.names.enter();
    }

    fn leave_scope(&mut self) {
        self.names.leave(self.state.text.len());
    }
}

impl Printer<'_> {
    /// Whether both sides give one value each, not from a variable that could be changed in place, and are no statements.
    fn is_one_expression(&self, inst: Inst, then_block: Block, else_block: Block) -> bool {
        let [result] = self.kernel.insts[inst].results[..] else { return false };
        let is_side = |block: Block| {
            let (Some((_, insts)), [value]) = (self.kernel.blocks[block].insts.split_last(), self.yields(block)) else { return false };
            !matches!(self.state.binding(*value), Binding::Stored(_))
                && insts.iter().all(|i| {
                    let data = &self.kernel.insts[*i];
                    let used_once = data.results.iter().all(|r| self.state.uses[r.0 as usize] == 1);
                    matches!(data.op, Op::Compute(Compute::Const(_)))
                        || (data.op.effects(self.kernel).is_pure() && used_once)
                        || self.moves[i.0 as usize]
                })
        };
        self.state.is_used(result) && is_side(then_block) && is_side(else_block)
    }

    /// Prints it. What a side needs a `let` for stands in that side: its loads are in range only under the condition.
    fn if_expression(&mut self, inst: Inst, condition: &Expr, then_block: Block, else_block: Block) {
        let result = self.kernel.insts[inst].results[0];
        let (ty, kind) = (self.kernel.ty(result), self.kinds.value(result));
        let begin = self.state.text.len();
        let mut sides = Vec::new();
        for block in [then_block, else_block] {
            let start = self.state.text.len();
            self.enter_block();
            let expr = match self.open_block(block) {
                Flow::Falls(values) => self.take_as(values[0], kind),
                Flow::Leaves => Expr::literal(Scalar::new(ty, 0)),
            };
            self.state.drop_pending(block);
            self.leave_block();
            sides.push((expr, self.state.text.len() - start));
        }
        let statements = self.state.text.split_off(begin);
        let (first_statements, second_statements) = statements.split_at(sides[0].1);
        let both = [&sides[0].0, &sides[1].0];
        let first = if both.iter().all(|e| e.extra.literal.is_some()) { both[0].typed(ty, kind) } else { both[0].text.clone() };
        let text = format!("if {} {{ {first} }} else {{ {} }}", condition.text, both[1].text);
        let expr = Expr::over(text, LOWEST, &[condition, both[0], both[1]]);
        if statements.is_empty() && !expr.loads && self.is_passed_on(inst, result) {
            return self.wait(inst, result, expr);
        }
        let of_side = |block: Block| self.yields(block).first().copied();
        let hint = self.hint_of(&[Some(result), of_side(then_block), of_side(else_block)]);
        let name = self.declare_name(&hint);
        if statements.is_empty() {
            self.line(&format!("let {name} = {};", expr.text));
        } else {
            self.line(&format!("let {name} = if {} {{", condition.text));
            self.side(first_statements, &first);
            self.line("} else {");
            self.side(second_statements, &both[1].text);
            self.line("};");
        }
        self.bind(result, Expr::new(name, PRIMARY));
    }

    /// A side of an `if` that gives a value: statements that are printed already, and the value.
    fn side(&mut self, statements: &str, value: &str) {
        self.state.text.push_str(statements);
        self.state.level += 1;
        self.line(value);
        self.state.level -= 1;
    }

    /// The label of the innermost context.
    fn label(&self) -> &str {
        self.state.contexts.last().and_then(|context| context.break_label.as_deref()).unwrap_or_default()
    }

    /// `'l1: ` for the innermost context, a loop that is left from inside another statement.
    fn prefix(&self, body: Block) -> String {
        let is_left = self.state.contexts.last().is_some_and(|context| self.is_left_from_within(body, context.inst));
        if is_left { format!("{}: ", self.label()) } else { String::new() }
    }

    /// Whether the uses of a counter tell that it is `usize` to whoever reads from top to bottom: it indexes or is added to what does,
    /// and nothing asks for its type before.
    fn says_its_type(&self, counter: Value, body: Block) -> bool {
        let (mut says, mut asks) = (false, false);
        self.kernel.walk_block(body, &mut |kernel, _, inst| {
            let op = &kernel.insts[inst].op;
            if !op.operands().contains(&counter) {
                return;
            }
            let is_index = |v: &Value| kernel.constant(*v).is_none() && self.kinds.value(*v) == Kind::Index;
            if let Op::Memory(Memory { op: MemoryOp::Load | MemoryOp::Store(_), at: Address::Path(access) }) = op
                && access.indices().any(|index| index == counter)
            {
                says = true;
            } else if let Op::Compute(Compute::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) | Compute::Compare(_, a, b)) = op
            {
                says |= *a != *b && is_index(a) && is_index(b);
            } else {
                asks = true;
            }
        });
        says && !asks && self.kinds.value(counter) == Kind::Index
    }

    /// Whether an exit inside an inner loop or region leaves `inst`.
    fn is_left_from_within(&self, body: Block, inst: Inst) -> bool {
        let mut found = false;
        self.kernel.walk_block(body, &mut |kernel, _, inner| {
            if matches!(kernel.insts[inner].op, Op::Region(Region::For { .. } | Region::Loop { .. } | Region::Block { .. })) {
                for block in kernel.insts[inner].op.blocks() {
                    kernel.walk_block(block, &mut |kernel, _, exit| {
                        found |= matches!(kernel.insts[exit].op, Op::Terminator(Terminator::Break(to, _) | Terminator::Continue(to, _)) if to == inst);
                    });
                }
            }
        });
        found
    }
}
