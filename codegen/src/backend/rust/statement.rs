//! Instructions as statements; control flow as Rust's own.
//!
//! An `if` one side of which leaves has no `else`: the other side follows it. A side that only passes values on gives the variables their
//! first values before the `if`. An `if` whose sides are one expression each is one.

use super::Printer;
use super::expression::Expr;
use super::kinds::Kind;
use super::values::{Binding, Storage, UNNAMED};
use crate::ir::{BinaryOp, Block, Inst, Op, Value};
use std::collections::BTreeMap;

/// How a block ends.
pub(super) enum Flow {
    /// It yields these to its owner; control goes on after it.
    Falls(Vec<Value>),
    /// Control does not reach its end.
    Leaves,
}

/// A statement that can be left.
pub(super) struct Context {
    inst: Inst,
    is_loop: bool,
    label: String,
    results: Vec<Option<Storage>>,
    carried: Vec<Storage>,
}

impl Printer<'_> {
    /// Prints the kernel's body. The `return` at its very end says nothing.
    pub(super) fn body(&mut self) {
        let kernel = self.kernel;
        let insts = &kernel.blocks[kernel.body].insts;
        let end = insts.iter().rposition(|i| !matches!(kernel.insts[*i].op, Op::Return)).map_or(0, |n| n + 1);
        self.instructions(&insts[..end]);
    }

    fn instructions(&mut self, insts: &[Inst]) -> Flow {
        for inst in insts {
            if let Some(flow) = self.instruction(*inst) {
                return flow;
            }
        }
        Flow::Leaves
    }

    /// Prints an instruction; a flow, if it ends the block.
    fn instruction(&mut self, inst: Inst) -> Option<Flow> {
        let kernel = self.kernel;
        match &kernel.insts[inst].op {
            Op::If { condition, then_block, else_block } => return self.if_else(inst, *condition, *then_block, *else_block),
            Op::For { start, end, step, init, body, keep_rolled } => self.for_loop(inst, [*start, *end, *step], init, *body, *keep_rolled),
            Op::Loop { init, body, keep_rolled } => return self.endless_loop(inst, init, *body, *keep_rolled),
            Op::Region { body } => return self.region(inst, *body),
            Op::Yield(values) => return Some(Flow::Falls(values.clone())),
            Op::Break(target, values) => return Some(self.leave(*target, values, true)),
            Op::Continue(target, values) => return Some(self.leave(*target, values, false)),
            Op::Return => {
                self.line("return;");
                return Some(Flow::Leaves);
            }
            Op::Trap(message) => {
                let message = message.replace('{', "{{").replace('}', "}}");
                self.line(&format!("assert!(false, {message:?});"));
                return Some(Flow::Leaves);
            }
            op => self.plain(inst, op),
        }
        None
    }

    /// The loop around the present place.
    pub(super) fn current_loop(&self) -> Option<Inst> {
        self.contexts.iter().rev().find(|c| c.is_loop).map(|c| c.inst)
    }

    fn falls(&self, block: Block) -> bool {
        let last = self.kernel.blocks[block].insts.last();
        last.is_none_or(|i| matches!(self.kernel.insts[*i].op, Op::Yield(_)))
    }

    /// Whether a block only yields, values from outside or constants.
    fn only_yields(&self, block: Block) -> bool {
        let insts = &self.kernel.blocks[block].insts;
        insts.iter().rev().skip(1).all(|i| matches!(self.kernel.insts[*i].op, Op::Const(_))) && self.falls(block)
    }

    // ---- if

    fn if_else(&mut self, inst: Inst, condition: Value, then_block: Block, else_block: Block) -> Option<Flow> {
        let condition = self.take(condition);
        match (self.falls(then_block), self.falls(else_block)) {
            (false, _) => {
                self.braced(&format!("if {}", condition.text), then_block, &[]);
                self.inline(inst, else_block)
            }
            (true, false) => {
                self.braced(&format!("if {}", condition.negation().0), else_block, &[]);
                self.inline(inst, then_block)
            }
            (true, true) if self.is_one_expression(inst, then_block, else_block) => {
                self.if_expression(inst, &condition, then_block, else_block);
                None
            }
            (true, true) => {
                self.if_with_results(inst, &condition, then_block, else_block);
                None
            }
        }
    }

    /// Whether both sides give one value each, not from a variable that could be changed in place, and are no statements.
    fn is_one_expression(&self, inst: Inst, then_block: Block, else_block: Block) -> bool {
        let [result] = self.kernel.insts[inst].results[..] else { return false };
        let is_side = |block: Block| {
            let (Some((_, insts)), [value]) = (self.kernel.blocks[block].insts.split_last(), &self.yields(block)[..]) else { return false };
            !matches!(self.bindings[value.0 as usize], Binding::Stored(_))
                && insts.iter().all(|i| {
                    let data = &self.kernel.insts[*i];
                    let used_once = data.results.iter().all(|r| self.uses[r.0 as usize] == 1);
                    matches!(data.op, Op::Const(_)) || (data.op.is_pure() && used_once) || self.moves[i.0 as usize]
                })
        };
        self.uses[result.0 as usize] > 0 && is_side(then_block) && is_side(else_block)
    }

    fn if_expression(&mut self, inst: Inst, condition: &Expr, then_block: Block, else_block: Block) {
        let result = self.kernel.insts[inst].results[0];
        let (ty, kind) = (self.kernel.ty(result), self.kinds.value(result));
        let mut sides = Vec::new();
        for block in [then_block, else_block] {
            let expr = match self.open_block(block) {
                Flow::Falls(values) => self.take_as(values[0], kind),
                Flow::Leaves => Expr::literal(crate::ir::Scalar::new(ty, 0)),
            };
            self.drop_pending(block);
            sides.push(expr);
        }
        let first = if sides.iter().all(|e| e.literal.is_some()) { sides[0].typed(ty, kind) } else { sides[0].text.clone() };
        let text = format!("if {} {{ {first} }} else {{ {} }}", condition.text, sides[1].text);
        let expr = Expr::over(text, super::expression::LOWEST, &[condition, &sides[0], &sides[1]]);
        if !expr.loads && self.is_passed_on(inst, result) {
            return self.wait(inst, result, expr);
        }
        let of_side = |block: Block| self.yields(block).first().copied();
        let hint = self.hint_of(&[Some(result), of_side(then_block), of_side(else_block)]);
        let name = self.declare_name(&hint);
        self.line(&format!("let {name} = {};", expr.text));
        self.bind(result, Expr::new(name, super::expression::PRIMARY));
    }

    /// Prints a block where it stands, without braces; its values become the results of its owner.
    fn inline(&mut self, inst: Inst, block: Block) -> Option<Flow> {
        match self.open_block(block) {
            Flow::Leaves => Some(Flow::Leaves),
            Flow::Falls(values) => {
                let results = self.kernel.insts[inst].results.clone();
                for (result, value) in results.iter().zip(values) {
                    self.alias(inst, *result, value);
                }
                self.drop_pending(block);
                None
            }
        }
    }

    /// Prints a block, leaving the expressions that it yields for the caller to take.
    fn open_block(&mut self, block: Block) -> Flow {
        let kernel = self.kernel;
        self.instructions(&kernel.blocks[block].insts)
    }

    /// An `if` both sides of which go on. A side that only yields gives the results their first values, before the `if`.
    fn if_with_results(&mut self, inst: Inst, condition: &Expr, then_block: Block, else_block: Block) {
        let results = self.kernel.insts[inst].results.clone();
        let is_negated = self.only_yields(then_block) && !self.only_yields(else_block);
        let (first, second) = if is_negated { (else_block, then_block) } else { (then_block, else_block) };
        let header = format!("if {}", if is_negated { condition.negation().0 } else { condition.text.clone() });
        let second_is_initial = self.only_yields(second);
        if second_is_initial {
            self.constants(second);
        }
        let (changed, kept) = (self.yields(first), self.yields(second));
        let reused = self.reused_results(inst, &results, &changed, &kept);
        let mut storages = Vec::new();
        for (k, result) in results.iter().enumerate() {
            if self.uses[result.0 as usize] == 0 {
                storages.push(None);
                continue;
            }
            storages.push(Some(reused[k].unwrap_or_else(|| {
                let hint = self.hint_of(&[Some(*result), changed.get(k).copied(), kept.get(k).copied()]);
                let storage = self.new_storage(&hint, *result);
                let kind = self.storage(storage).kind;
                let initial = if second_is_initial { kept.get(k).map(|v| self.take_as(*v, kind)) } else { None };
                self.declare(storage, initial.as_ref());
                storage
            })));
        }
        self.braced(&header, first, &storages);
        if second_is_initial {
            let left: Vec<(Storage, Value)> = reused.iter().zip(&kept).filter_map(|(s, v)| Some(((*s)?, *v))).collect();
            self.else_assigns(&left);
        } else {
            self.cut_closing_brace();
            self.braced("} else", second, &storages);
        }
        for (result, storage) in results.iter().zip(&storages) {
            if let Some(storage) = storage {
                self.bind_storage(*result, *storage);
            }
        }
    }

    /// For each result, the variable of a value that one side passes on, if the `if` may change it.
    fn reused_results(&mut self, inst: Inst, results: &[Value], changed: &[Value], kept: &[Value]) -> Vec<Option<Storage>> {
        let within = self.uses_within(inst);
        let count = |v: Value| within.get(&v).copied().unwrap_or(0);
        let mut reused: Vec<Option<Storage>> = Vec::new();
        for (k, result) in results.iter().enumerate() {
            let mut found = None;
            if self.uses[result.0 as usize] > 0 {
                for value in [kept.get(k), changed.get(k)].into_iter().flatten() {
                    found = found.or_else(|| self.reusable(*value, &count)).filter(|s| !reused.contains(&Some(*s)));
                }
            }
            reused.push(found);
        }
        reused
    }

    /// The side of an `if` that only passes values on, for the results that had no first value.
    fn else_assigns(&mut self, targets: &[(Storage, Value)]) {
        let needed = |(storage, value): &&(Storage, Value)| !matches!(self.bindings[value.0 as usize], Binding::Stored(s) if s == *storage);
        if targets.iter().filter(needed).count() == 0 {
            targets.iter().for_each(|(_, value)| drop(self.take(*value)));
            return;
        }
        self.cut_closing_brace();
        self.line("} else {");
        self.enter_block();
        self.assign(targets);
        self.leave_block();
        self.line("}");
    }

    fn cut_closing_brace(&mut self) {
        self.text.truncate(self.text.len() - "}\n".len() - self.level * 4);
    }

    fn constants(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if let Op::Const(scalar) = kernel.insts[*inst].op {
                self.bind(kernel.insts[*inst].results[0], Expr::literal(scalar));
            }
        }
    }

    fn yields(&self, block: Block) -> Vec<Value> {
        match self.kernel.blocks[block].insts.last().map(|i| &self.kernel.insts[*i].op) {
            Some(Op::Yield(values)) => values.clone(),
            _ => Vec::new(),
        }
    }

    /// `header { block }`, assigning what the block yields.
    fn braced(&mut self, header: &str, block: Block, storages: &[Option<Storage>]) {
        self.line(&format!("{header} {{"));
        self.enter_block();
        if let Flow::Falls(values) = self.open_block(block) {
            self.assign_results(storages, &values);
        }
        self.drop_pending(block);
        self.leave_block();
        self.line("}");
    }

    fn assign_results(&mut self, storages: &[Option<Storage>], values: &[Value]) {
        let targets: Vec<(Storage, Value)> = storages.iter().zip(values).filter_map(|(s, v)| Some(((*s)?, *v))).collect();
        self.assign(&targets);
    }

    // ---- loops

    fn carried(&mut self, inst: Inst, init: &[Value], params: &[Value]) -> Vec<Storage> {
        let results = self.kernel.insts[inst].results.clone();
        let mut reused: Vec<Option<Storage>> = Vec::new();
        for value in init {
            let uses = init.iter().filter(|v| *v == value).count() as u32;
            let of_value = |v: Value| if v == *value { uses } else { 0 };
            let storage = if uses == 1 { self.reusable(*value, &of_value) } else { None };
            reused.push(storage.filter(|s| !reused.contains(&Some(*s))));
        }
        let mut storages = Vec::new();
        for (k, value) in init.iter().enumerate() {
            let expr = self.take_as(*value, self.kinds.value(params[k]));
            storages.push(reused[k].unwrap_or_else(|| {
                let hint = self.hint_of(&[params.get(k).copied(), results.get(k).copied(), Some(*value)]);
                let storage = self.new_storage(&hint, params[k]);
                self.declare(storage, Some(&expr));
                storage
            }));
        }
        storages
    }

    fn push_context(&mut self, inst: Inst, is_loop: bool, results: Vec<Option<Storage>>, carried: Vec<Storage>) {
        let label = format!("'l{}", self.labels);
        self.labels += 1;
        self.contexts.push(Context { inst, is_loop, label, results, carried });
    }

    /// `'l1: ` for a loop that is left from inside another statement.
    fn prefix(&mut self, inst: Inst, body: Block) -> String {
        if self.is_left_from_within(body, inst) { format!("'l{}: ", self.labels) } else { String::new() }
    }

    /// The body of a loop, to its closing brace.
    fn loop_body(&mut self, insts: &[Inst], body: Block) {
        if let Flow::Falls(values) = self.instructions(insts) {
            let carried = self.contexts.last().map(|c| c.carried.clone()).unwrap_or_default();
            let targets: Vec<(Storage, Value)> = carried.into_iter().zip(values).collect();
            self.assign(&targets);
        }
        self.drop_pending(body);
        self.contexts.pop();
        self.leave_block();
        self.line("}");
    }

    fn for_loop(&mut self, inst: Inst, [start, end, step]: [Value; 3], init: &[Value], body: Block, keep_rolled: bool) {
        let kernel = self.kernel;
        let params = kernel.blocks[body].params.clone();
        let (ty, kind) = (kernel.ty(params[0]), self.kinds.value(params[0]));
        let (from, to) = (self.take_as(start, kind), self.take_as(end, kind));
        let is_open = from.literal.is_some() && to.literal.is_some() && !self.says_its_type(params[0], body);
        let last = if is_open { to.typed(ty, kind) } else { to.at(super::expression::RANGE) };
        let mut range = format!("{}..{last}", from.at(super::expression::RANGE));
        let by = self.take_as(step, Kind::Index);
        if kernel.constant(step).is_none_or(|one| one.as_int() != 1) {
            let by = if ty == kernel.index_type() || by.literal.is_some() { by } else { by.cast(ty, Kind::Plain, "usize") };
            range = format!("({range}).step_by({})", by.text);
        }
        let carried = self.carried(inst, init, &params[1..]);
        self.flush_loads();
        if keep_rolled {
            self.line("#[unroll(1)]");
        }
        let prefix = self.prefix(inst, body);
        self.names.enter();
        let is_used = self.uses[params[0].0 as usize] > 0;
        let counter = if is_used { self.declare_name(&self.hint_of(&[Some(params[0])])) } else { "_".to_owned() };
        self.line(&format!("{prefix}for {counter} in {range} {{"));
        self.enter_block();
        self.push_context(inst, true, carried.iter().copied().map(Some).collect(), carried.clone());
        self.bind(params[0], Expr::new(counter, super::expression::PRIMARY));
        for (param, storage) in params[1..].iter().zip(&carried) {
            self.bind_storage(*param, *storage);
        }
        self.loop_body(&kernel.blocks[body].insts, body);
        self.names.leave(self.text.len());
        for (result, storage) in kernel.insts[inst].results.iter().zip(&carried) {
            self.bind_storage(*result, *storage);
        }
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
            match op {
                Op::Load(access) | Op::Store(access, _) if access.indices().any(|index| index == counter) => says = true,
                Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => says |= *a != *b && is_index(a) && is_index(b),
                Op::Compare(_, a, b) => says |= *a != *b && is_index(a) && is_index(b),
                _ => asks = true,
            }
        });
        says && !asks && self.kinds.value(counter) == Kind::Index
    }

    fn endless_loop(&mut self, inst: Inst, init: &[Value], body: Block, keep_rolled: bool) -> Option<Flow> {
        let kernel = self.kernel;
        let params = kernel.blocks[body].params.clone();
        let carried = self.carried(inst, init, &params);
        self.flush_loads();
        let results = self.loop_results(inst, &params, &carried);
        let prefix = self.prefix(inst, body);
        let begin = self.text.len();
        self.level += 1;
        self.names.enter();
        self.push_context(inst, true, results.clone(), carried.clone());
        for (param, storage) in params.iter().zip(&carried) {
            self.bind_storage(*param, *storage);
        }
        // A loop that begins by asking whether to go on is a `while`, if the question is one expression.
        let mut rest = &kernel.blocks[body].insts[..];
        let mut header = "loop".to_owned();
        let mut inner = None;
        while let [first, others @ ..] = rest {
            let op = &kernel.insts[*first].op;
            if let Some((condition, is_negated, block)) = self.leading_test(inst, *first, &results)
                && self.text.len() == begin
            {
                let condition = self.take(condition);
                header = format!("while {}", if is_negated { condition.negation().0 } else { condition.text });
                (inner, rest) = (Some((*first, block)), others);
                break;
            }
            if !op.is_pure() && !matches!(op, Op::Load(_)) {
                break;
            }
            self.plain(*first, op);
            rest = others;
        }
        let written = self.text.split_off(begin);
        self.level -= 1;
        if keep_rolled {
            self.line("#[unroll(1)]");
        }
        self.line(&format!("{prefix}{header} {{"));
        self.level += 1;
        self.text.push_str(&written);
        if let Some((first, block)) = inner
            && self.inline(first, block).is_some()
        {
            rest = &[];
        }
        self.loop_body(rest, body);
        let has_exits = !self.exits(inst).is_empty();
        for (result, storage) in kernel.insts[inst].results.iter().zip(&results) {
            if let Some(storage) = storage {
                self.bind_storage(*result, *storage);
            }
        }
        if has_exits { None } else { Some(Flow::Leaves) }
    }

    /// Whether `first` only decides between leaving `target` with values already in place and going on: the condition, whether it
    /// is that of leaving, and the block that goes on.
    fn leading_test(&self, target: Inst, first: Inst, results: &[Option<Storage>]) -> Option<(Value, bool, Block)> {
        let Op::If { condition, then_block, else_block } = self.kernel.insts[first].op else { return None };
        let leaves = |block: Block| {
            let [only] = self.kernel.blocks[block].insts[..] else { return false };
            let Op::Break(to, values) = &self.kernel.insts[only].op else { return false };
            *to == target
                && results.iter().zip(values).all(|(storage, value)| match (storage, &self.bindings[value.0 as usize]) {
                    (None, _) => true,
                    (Some(storage), Binding::Stored(bound)) => storage == bound,
                    _ => false,
                })
        };
        match (leaves(then_block), leaves(else_block)) {
            (true, _) => Some((condition, true, else_block)),
            (_, true) => Some((condition, false, then_block)),
            _ => None,
        }
    }

    /// Variables for the results of a loop: a carried one where some exit gives just that.
    fn loop_results(&mut self, inst: Inst, params: &[Value], carried: &[Storage]) -> Vec<Option<Storage>> {
        let exits = self.exits(inst);
        let mut storages: Vec<Option<Storage>> = Vec::new();
        for (k, result) in self.kernel.insts[inst].results.iter().enumerate() {
            if self.uses[result.0 as usize] == 0 {
                storages.push(None);
                continue;
            }
            let given = exits.iter().filter_map(|values| params.iter().position(|p| values.get(k) == Some(p)));
            let shared = given.map(|j| carried[j]).find(|s| !storages.contains(&Some(*s)));
            storages.push(Some(shared.unwrap_or_else(|| self.declared_result(*result))));
        }
        storages
    }

    fn declared_result(&mut self, result: Value) -> Storage {
        let storage = self.new_storage(&self.hint_of(&[Some(result)]), result);
        self.declare(storage, None);
        storage
    }

    /// What the exits to `target` give it.
    fn exits(&self, target: Inst) -> Vec<Vec<Value>> {
        let mut exits = Vec::new();
        for block in self.kernel.insts[target].op.blocks() {
            self.kernel.walk_block(block, &mut |kernel, _, inst| {
                if let Op::Break(to, values) = &kernel.insts[inst].op
                    && *to == target
                {
                    exits.push(values.clone());
                }
            });
        }
        exits
    }

    /// How often an instruction's blocks use each value.
    fn uses_within(&self, owner: Inst) -> BTreeMap<Value, u32> {
        let mut uses = BTreeMap::new();
        for block in self.kernel.insts[owner].op.blocks() {
            self.kernel.walk_block(block, &mut |kernel, _, inst| {
                for value in kernel.insts[inst].op.operands() {
                    *uses.entry(value).or_insert(0) += 1;
                }
            });
        }
        uses
    }

    // ---- regions and exits

    fn region(&mut self, inst: Inst, body: Block) -> Option<Flow> {
        if self.exits(inst).is_empty() {
            return self.inline(inst, body);
        }
        let mut results = Vec::new();
        for result in self.kernel.insts[inst].results.clone() {
            let is_used = self.uses[result.0 as usize] > 0;
            results.push(is_used.then(|| self.declared_result(result)));
        }
        self.push_context(inst, false, results.clone(), Vec::new());
        let label = self.contexts.last().map(|c| c.label.clone()).unwrap_or_default();
        self.line(&format!("{label}: {{"));
        self.enter_block();
        if let Flow::Falls(values) = self.open_block(body) {
            self.assign_results(&results, &values);
        }
        self.drop_pending(body);
        self.contexts.pop();
        self.leave_block();
        self.line("}");
        for (result, storage) in self.kernel.insts[inst].results.clone().iter().zip(&results) {
            if let Some(storage) = storage {
                self.bind_storage(*result, *storage);
            }
        }
        None
    }

    fn leave(&mut self, target: Inst, values: &[Value], is_break: bool) -> Flow {
        let Some(at) = self.contexts.iter().rposition(|c| c.inst == target) else { return Flow::Leaves };
        let context = &self.contexts[at];
        let storages = if is_break { context.results.clone() } else { context.carried.iter().copied().map(Some).collect() };
        // In a labelled block Rust wants every label said.
        let label = if at + 1 == self.contexts.len() && context.is_loop { String::new() } else { format!(" {}", context.label) };
        self.assign_results(&storages, values);
        self.line(&format!("{}{label};", if is_break { "break" } else { "continue" }));
        Flow::Leaves
    }

    /// Whether an exit inside an inner loop or region leaves `inst`.
    fn is_left_from_within(&self, body: Block, inst: Inst) -> bool {
        let mut found = false;
        self.kernel.walk_block(body, &mut |kernel, _, inner| {
            if matches!(kernel.insts[inner].op, Op::For { .. } | Op::Loop { .. } | Op::Region { .. }) {
                for block in kernel.insts[inner].op.blocks() {
                    kernel.walk_block(block, &mut |kernel, _, exit| {
                        found |= matches!(kernel.insts[exit].op, Op::Break(to, _) | Op::Continue(to, _) if to == inst);
                    });
                }
            }
        });
        found
    }

    /// The first name among the values' own, else what is said of any of them.
    pub(super) fn hint_of(&self, values: &[Option<Value>]) -> String {
        let named = values.iter().flatten().find_map(|v| self.kernel.values[*v].name.as_deref().map(str::to_owned));
        let known = || values.iter().flatten().map(|v| self.hint(*v)).find(|hint| hint != UNNAMED);
        named.or_else(known).unwrap_or_else(|| UNNAMED.to_owned())
    }
}
