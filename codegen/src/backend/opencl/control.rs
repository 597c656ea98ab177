//! Control flow: blocks, `if`, loops and regions, and the exits from them.
//!
//! Exits print as `break` and `continue` where C's reach the right statement, and as a `goto` to the statement's end otherwise
//! (several levels at once). An `if` one side of which leaves prints without `else`, the other side following it.

use super::Writer;
use super::expressions::{Expr, PRIMARY};
use super::types::{is_promoted, literal, value_type};
use super::values::{Binding, Storage};
use crate::ir::{Block, Inst, Op, Scalar, Type, Value};
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
    /// Whether C's `break` (and `continue`, for loops) inside means this statement.
    breakable: bool,
    results: Vec<Option<Storage>>,
    carried: Vec<Storage>,
    break_label: Option<String>,
    continue_label: Option<String>,
}

impl Writer<'_> {
    /// Prints the kernel's body. The `return` at its very end says nothing.
    pub(super) fn body(&mut self) {
        let kernel = self.kernel;
        let insts = &kernel.blocks[kernel.body].insts;
        let end = insts.iter().rposition(|i| !matches!(kernel.insts[*i].op, Op::Return)).map_or(0, |n| n + 1);
        self.instructions(&insts[..end]);
        self.flush_loads();
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
            Op::For { start, end, step, init, body, keep_rolled } => {
                self.for_loop(inst, [*start, *end, *step], init, *body, *keep_rolled);
            }
            Op::Loop { init, body, keep_rolled } => return self.endless_loop(inst, init, *body, *keep_rolled),
            Op::Region { body } => {
                self.flush_loads();
                return self.region(inst, *body);
            }
            Op::Yield(values) => return Some(Flow::Falls(values.clone())),
            Op::Break(target, values) => return Some(self.break_to(*target, values)),
            Op::Continue(target, values) => return Some(self.continue_to(*target, values)),
            Op::Return => {
                self.line("return;");
                return Some(Flow::Leaves);
            }
            Op::Trap(message) => {
                self.trap(inst, message);
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
        self.flush_loads();
        match (self.falls(then_block), self.falls(else_block)) {
            (false, _) => {
                self.braced(&format!("if ({})", condition.text), then_block, &[]);
                self.inline(inst, else_block)
            }
            (true, false) => {
                self.braced(&format!("if ({})", condition.negation()), else_block, &[]);
                self.inline(inst, then_block)
            }
            (true, true) => {
                self.if_with_results(inst, &condition, then_block, else_block);
                None
            }
        }
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
        let negated = self.only_yields(then_block) && !self.only_yields(else_block);
        let (first, second) = if negated { (else_block, then_block) } else { (then_block, else_block) };
        let header = format!("if ({})", if negated { condition.negation() } else { condition.text.clone() });
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
                let storage = self.new_storage(&hint, self.kernel.ty(*result));
                let initial = if second_is_initial { kept.get(k).map(|v| self.take(*v)) } else { None };
                self.declare(storage, initial.as_ref());
                storage
            })));
        }
        self.braced(&header, first, &storages);
        if second_is_initial {
            let left: Vec<(Storage, Value)> = reused.iter().zip(&kept).filter_map(|(s, v)| Some(((*s)?, *v))).collect();
            self.else_assigns(&left);
        } else {
            self.reopen("else", second, &storages);
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
        self.indent += 1;
        self.assign(targets);
        self.indent -= 1;
        self.line("}");
    }

    fn cut_closing_brace(&mut self) {
        self.out.truncate(self.out.len() - "}\n".len() - self.indent * 4);
    }

    fn constants(&mut self, block: Block) {
        let kernel = self.kernel;
        for inst in &kernel.blocks[block].insts {
            if let Op::Const(scalar) = kernel.insts[*inst].op {
                self.bind(kernel.insts[*inst].results[0], literal(scalar));
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
        self.indent += 1;
        if let Flow::Falls(values) = self.open_block(block) {
            self.assign_results(storages, &values);
        }
        self.drop_pending(block);
        self.indent -= 1;
        self.line("}");
    }

    /// Goes on after a closing brace: `} else {`.
    fn reopen(&mut self, word: &str, block: Block, storages: &[Option<Storage>]) {
        self.cut_closing_brace();
        self.braced(&format!("}} {word}"), block, storages);
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
            let expr = self.take(*value);
            storages.push(reused[k].unwrap_or_else(|| {
                let hint = self.hint_of(&[params.get(k).copied(), results.get(k).copied(), Some(*value)]);
                let storage = self.new_storage(&hint, self.kernel.ty(*value));
                self.declare(storage, Some(&expr));
                storage
            }));
        }
        storages
    }

    fn enter(&mut self, inst: Inst, is_loop: bool, breakable: bool, results: Vec<Option<Storage>>, carried: Vec<Storage>) {
        self.contexts.push(Context { inst, is_loop, breakable, results, carried, break_label: None, continue_label: None });
    }

    /// The body of a loop, to its closing brace, and the label behind it.
    fn loop_body(&mut self, insts: &[Inst], body: Block) {
        if let Flow::Falls(values) = self.instructions(insts) {
            let carried = self.contexts.last().map(|c| c.carried.clone()).unwrap_or_default();
            let targets: Vec<(Storage, Value)> = carried.into_iter().zip(values).collect();
            self.assign(&targets);
        }
        self.drop_pending(body);
        let context = self.contexts.pop();
        if let Some(name) = context.as_ref().and_then(|c| c.continue_label.clone()) {
            self.line(&format!("{name}:;"));
        }
        self.indent -= 1;
        self.line("}");
        if let Some(name) = context.and_then(|c| c.break_label) {
            self.line(&format!("{name}:;"));
        }
    }

    fn for_loop(&mut self, inst: Inst, [start, end, step]: [Value; 3], init: &[Value], body: Block, keep_rolled: bool) {
        let kernel = self.kernel;
        let params = kernel.blocks[body].params.clone();
        let ty = kernel.ty(start);
        let counter = self.names.name(&self.hint_of(&[Some(params[0])]));
        let from = self.take(start);
        let limit = self.stable(end, &format!("{counter}_end"));
        let increment = self.increment(&counter, end, step, &limit, ty);
        let carried = self.carried(inst, init, &params[1..]);
        self.flush_loads();
        if keep_rolled {
            self.line("#pragma unroll 1");
        }
        self.line(&format!("for ({} {counter} = {}; {counter} < {limit}; {increment}) {{", value_type(ty), from.text));
        self.indent += 1;
        self.enter(inst, true, true, carried.iter().copied().map(Some).collect(), carried.clone());
        self.bind(params[0], Expr::new(counter, PRIMARY));
        for (param, storage) in params[1..].iter().zip(&carried) {
            self.bind_storage(*param, *storage);
        }
        self.loop_body(&kernel.blocks[body].insts, body);
        for (result, storage) in kernel.insts[inst].results.iter().zip(&carried) {
            self.bind_storage(*result, *storage);
        }
    }

    /// An operand that the loop's header evaluates again and again: a literal or a name that does not change.
    fn stable(&mut self, value: Value, hint: &str) -> String {
        let expr = self.take(value);
        let simple = expr.text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
        if simple && expr.reads.is_empty() && !expr.loads {
            return expr.text;
        }
        self.constant_variable(hint, self.kernel.ty(value), &expr)
    }

    /// The next value of the counter. The trip count is that of unbounded integers, so the step must not pass the end by wrapping.
    fn increment(&mut self, counter: &str, end: Value, step: Value, limit: &str, ty: Type) -> String {
        let constant = |v| self.kernel.constant(v).map(Scalar::as_int);
        let (last, by) = (constant(end), constant(step));
        if by == Some(1) {
            self.take(step);
            return format!("{counter}++");
        }
        let greatest = (1i128 << (ty.bits() - u32::from(ty.is_signed_int()))) - 1;
        let step = self.stable(step, &format!("{counter}_step"));
        if let (Some(last), Some(by)) = (last, by)
            && last - 1 + by <= greatest
        {
            return format!("{counter} += {step}");
        }
        match ty {
            Type::I32 => format!("{counter} += (int)min((uint){step}, (uint){limit} - (uint){counter})"),
            Type::I64 => format!("{counter} += (long)min((ulong){step}, (ulong){limit} - (ulong){counter})"),
            _ if is_promoted(ty) && by.is_some() => format!("{counter} += min({step}, {limit} - {counter})"),
            _ if is_promoted(ty) => format!("{counter} += min((int){step}, {limit} - {counter})"),
            _ => format!("{counter} += min({step}, {limit} - {counter})"),
        }
    }

    fn endless_loop(&mut self, inst: Inst, init: &[Value], body: Block, keep_rolled: bool) -> Option<Flow> {
        let kernel = self.kernel;
        let params = kernel.blocks[body].params.clone();
        let carried = self.carried(inst, init, &params);
        self.flush_loads();
        let results = self.loop_results(inst, &params, &carried);
        self.enter(inst, true, true, results.clone(), carried.clone());
        for (param, storage) in params.iter().zip(&carried) {
            self.bind_storage(*param, *storage);
        }
        let insts = &kernel.blocks[body].insts;
        // A loop that begins by asking whether to go on is a `while`, if the question is one expression.
        let begin = self.out.len();
        let mut rest = &insts[..];
        let mut header = "while (1) {".to_owned();
        self.indent += 1;
        while let [first, others @ ..] = rest {
            if let Some((condition, inner)) = self.leading_test(inst, *first, &results) {
                if self.out.len() == begin {
                    let condition_expr = self.take(condition.value);
                    header = format!("while ({}) {{", if condition.negated { condition_expr.negation() } else { condition_expr.text });
                    self.indent -= 1;
                    if keep_rolled {
                        self.line("#pragma unroll 1");
                    }
                    self.line(&header);
                    self.indent += 1;
                    header.clear();
                    match self.inline(*first, inner) {
                        None => rest = others,
                        Some(_) => rest = &[],
                    }
                }
                break;
            }
            let op = &kernel.insts[*first].op;
            if !(op.is_pure() || matches!(op, Op::Load(_))) {
                break;
            }
            self.plain(*first, op);
            rest = others;
        }
        if !header.is_empty() {
            let written = self.out.split_off(begin);
            self.indent -= 1;
            if keep_rolled {
                self.line("#pragma unroll 1");
            }
            self.line(&header);
            self.indent += 1;
            self.out.push_str(&written);
        }
        self.loop_body(rest, body);
        let exits = !self.exits(inst).is_empty();
        for (result, storage) in kernel.insts[inst].results.iter().zip(&results) {
            if let Some(storage) = storage {
                self.bind_storage(*result, *storage);
            }
        }
        if exits { None } else { Some(Flow::Leaves) }
    }

    /// Whether `first` only decides between leaving `target` with values already in place and going on; the block that goes on.
    fn leading_test(&self, target: Inst, first: Inst, results: &[Option<Storage>]) -> Option<(Test, Block)> {
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
        if leaves(then_block) {
            Some((Test { value: condition, negated: true }, else_block))
        } else if leaves(else_block) {
            Some((Test { value: condition, negated: false }, then_block))
        } else {
            None
        }
    }

    /// Variables for the results of a loop: a carried one where some exit gives just that.
    fn loop_results(&mut self, inst: Inst, params: &[Value], carried: &[Storage]) -> Vec<Option<Storage>> {
        let kernel = self.kernel;
        let exits = self.exits(inst);
        let mut storages: Vec<Option<Storage>> = Vec::new();
        for (k, result) in kernel.insts[inst].results.iter().enumerate() {
            if self.uses[result.0 as usize] == 0 {
                storages.push(None);
                continue;
            }
            let given = exits.iter().filter_map(|values| params.iter().position(|p| values.get(k) == Some(p)));
            let shared = given.map(|j| carried[j]).find(|s| !storages.contains(&Some(*s)));
            storages.push(Some(shared.unwrap_or_else(|| {
                let hint = self.hint_of(&[Some(*result)]);
                let storage = self.new_storage(&hint, kernel.ty(*result));
                self.declare(storage, None);
                storage
            })));
        }
        storages
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
        let kernel = self.kernel;
        if self.exits(inst).is_empty() {
            return self.inline(inst, body);
        }
        let mut results = Vec::new();
        for result in &kernel.insts[inst].results {
            results.push((self.uses[result.0 as usize] > 0).then(|| {
                let hint = self.hint_of(&[Some(*result)]);
                let storage = self.new_storage(&hint, kernel.ty(*result));
                self.declare(storage, None);
                storage
            }));
        }
        self.line("do {");
        self.indent += 1;
        self.enter(inst, false, true, results.clone(), Vec::new());
        if let Flow::Falls(values) = self.open_block(body) {
            self.assign_results(&results, &values);
        }
        self.drop_pending(body);
        self.indent -= 1;
        self.line("} while (0);");
        if let Some(label) = self.contexts.pop().and_then(|c| c.break_label) {
            self.line(&format!("{label}:;"));
        }
        for (result, storage) in kernel.insts[inst].results.iter().zip(&results) {
            if let Some(storage) = storage {
                self.bind_storage(*result, *storage);
            }
        }
        None
    }

    fn break_to(&mut self, target: Inst, values: &[Value]) -> Flow {
        let Some(at) = self.contexts.iter().rposition(|c| c.inst == target) else { return Flow::Leaves };
        let results = self.contexts[at].results.clone();
        self.assign_results(&results, values);
        if self.is_innermost(at) {
            self.line("break;");
        } else {
            let label = self.label(at, "done", |c| &mut c.break_label);
            self.line(&format!("goto {label};"));
        }
        Flow::Leaves
    }

    fn continue_to(&mut self, target: Inst, values: &[Value]) -> Flow {
        let Some(at) = self.contexts.iter().rposition(|c| c.inst == target) else { return Flow::Leaves };
        let targets: Vec<(Storage, Value)> = self.contexts[at].carried.iter().copied().zip(values.iter().copied()).collect();
        self.assign(&targets);
        if self.is_innermost(at) {
            self.line("continue;");
        } else {
            let label = self.label(at, "next", |c| &mut c.continue_label);
            self.line(&format!("goto {label};"));
        }
        Flow::Leaves
    }

    /// Whether C's `break` and `continue` mean this statement.
    fn is_innermost(&self, at: usize) -> bool {
        self.contexts.iter().rposition(|c| c.breakable) == Some(at)
    }

    fn label(&mut self, at: usize, word: &str, slot: fn(&mut Context) -> &mut Option<String>) -> String {
        if let Some(label) = slot(&mut self.contexts[at]) {
            return label.clone();
        }
        let label = self.names.name(word);
        *slot(&mut self.contexts[at]) = Some(label.clone());
        label
    }

    /// The first name among the values' own, else the first value's.
    fn hint_of(&self, values: &[Option<Value>]) -> String {
        let named = values.iter().flatten().find_map(|v| self.kernel.values[*v].name.as_deref().map(str::to_owned));
        named.or_else(|| values.iter().flatten().next().map(|v| self.hint(*v))).unwrap_or_else(|| "v".into())
    }
}

/// The question a `while` asks.
struct Test {
    value: Value,
    negated: bool,
}
