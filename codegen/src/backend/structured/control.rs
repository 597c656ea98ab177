//! Blocks, `if`s, loops, regions, and the exits from them.
//!
//! An `if` one side of which leaves prints without `else`, the other side following it. A side that only passes values on gives the
//! variables their first values before the `if`. A loop that begins by asking whether to go on is a `while`.

use super::values::Within;
use super::{Binding, Expr, Storage, Values};
use crate::analysis::exits::exit_values;
use crate::ir::{Address, Block, Compute, Inst, Memory, MemoryOp, Op, Region, Terminator, Value};

/// How a block ends.
pub(in super::super) enum Flow {
    /// It yields these to its owner; control goes on after it.
    Falls(Vec<Value>),
    /// Control does not reach its end.
    Leaves,
}

/// A statement that can be left.
#[derive(Clone)]
pub(in super::super) struct Context {
    /// The `For`, `Loop` or `Block`.
    pub(in super::super) inst: Inst,
    /// Whether it is a loop.
    pub(in super::super) is_loop: bool,
    /// Where exits from within other statements go: the language's own.
    pub(in super::super) break_label: Option<String>,
    /// The same for the next iteration.
    pub(in super::super) continue_label: Option<String>,
    results: Vec<Option<Storage>>,
    carried: Vec<Storage>,
}

impl Context {
    /// A statement whose variables are not known yet.
    pub(in super::super) fn new(inst: Inst, is_loop: bool) -> Context {
        Context { inst, is_loop, break_label: None, continue_label: None, results: Vec::new(), carried: Vec::new() }
    }
}

/// What every language does with control flow.
pub(in super::super) trait Control<'k>: Values<'k> {
    /// Prints the kernel's body. The `return` at its very end says nothing.
    fn body(&mut self) {
        let kernel = self.kernel();
        let insts = &kernel.blocks[kernel.body].insts;
        let end = insts.iter().rposition(|i| !matches!(kernel.insts[*i].op, Op::Terminator(Terminator::Return))).map_or(0, |n| n + 1);
        self.instructions(&insts[..end]);
        self.flush_loads();
    }

    /// Prints instructions up to the end of their block, or to one that leaves it.
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
        match &self.kernel().insts[inst].op {
            Op::Region(Region::If { condition, then_block, else_block }) => {
                return self.if_else(inst, *condition, *then_block, *else_block);
            }
            Op::Region(Region::For { start, end, step, init, body, keep_rolled }) => {
                self.for_loop(inst, [*start, *end, *step], init, *body, *keep_rolled);
            }
            Op::Region(Region::Loop { init, body, keep_rolled }) => return self.endless_loop(inst, init, *body, *keep_rolled),
            Op::Region(Region::Block { body }) => {
                self.flush_loads();
                return self.region(inst, *body);
            }
            Op::Terminator(Terminator::Yield(values)) => return Some(Flow::Falls(values.clone())),
            Op::Terminator(Terminator::Break(target, values)) => return Some(self.leave(*target, values, true)),
            Op::Terminator(Terminator::Continue(target, values)) => return Some(self.leave(*target, values, false)),
            Op::Terminator(Terminator::Return) => {
                self.line("return;");
                return Some(Flow::Leaves);
            }
            Op::Terminator(Terminator::Trap(message)) => {
                self.trap(inst, message);
                return Some(Flow::Leaves);
            }
            op @ (Op::Compute(_)
            | Op::Memory(_)
            | Op::Texture(..)
            | Op::Intrinsic(..)
            | Op::Collective(_)
            | Op::Tensor(_)
            | Op::Engine(_)
            | Op::Message(_)) => {
                self.plain(inst, op);
            }
        }
        None
    }

    // ---- if

    /// An `if`; a flow, if neither side goes on.
    fn if_else(&mut self, inst: Inst, condition: Value, then_block: Block, else_block: Block) -> Option<Flow> {
        let condition = self.take(condition);
        self.flush_loads();
        match (self.falls(then_block), self.falls(else_block)) {
            (false, _) => {
                self.braced(&self.if_header(&condition.text), then_block, &[]);
                self.inline(inst, else_block)
            }
            (true, false) => {
                self.braced(&self.if_header(&condition.negation().0), else_block, &[]);
                self.inline(inst, then_block)
            }
            (true, true) => {
                if !self.short_if(inst, &condition, [then_block, else_block]) {
                    self.if_with_results(inst, &condition, then_block, else_block);
                }
                None
            }
        }
    }

    /// Whether control reaches the end of a block.
    fn falls(&self, block: Block) -> bool {
        self.kernel().blocks[block].insts.is_empty() || self.kernel().yielded(block).is_some()
    }

    /// Whether a block only yields, values from outside or constants.
    fn only_yields(&self, block: Block) -> bool {
        let mut others = self.kernel().ops(block).rev().skip(1);
        others.all(|op| matches!(op, Op::Compute(Compute::Const(_)))) && self.falls(block)
    }

    /// What a block yields.
    fn yields(&self, block: Block) -> &'k [Value] {
        self.kernel().yielded(block).unwrap_or_default()
    }

    /// Prints a block where it stands, without braces; its values become the results of its owner.
    fn inline(&mut self, inst: Inst, block: Block) -> Option<Flow> {
        let flow = match self.open_block(block) {
            Flow::Leaves => Some(Flow::Leaves),
            Flow::Falls(values) => {
                for (result, value) in self.kernel().insts[inst].results.iter().zip(values) {
                    self.alias(inst, *result, value);
                }
                None
            }
        };
        self.state_mut().drop_pending(block);
        flow
    }

    /// Prints a block, leaving the expressions that it yields for the caller to take.
    fn open_block(&mut self, block: Block) -> Flow {
        let kernel = self.kernel();
        self.instructions(&kernel.blocks[block].insts)
    }

    /// An `if` both sides of which go on. A side that only yields gives the results their first values, before the `if`.
    fn if_with_results(&mut self, inst: Inst, condition: &Expr<Self::Extra>, then_block: Block, else_block: Block) {
        let results = &self.kernel().insts[inst].results;
        let is_negated = self.only_yields(then_block) && !self.only_yields(else_block);
        let (first, second) = if is_negated { (else_block, then_block) } else { (then_block, else_block) };
        let header = self.if_header(&if is_negated { condition.negation().0 } else { condition.text.clone() });
        let second_is_initial = self.only_yields(second);
        if second_is_initial {
            self.constants(second);
        }
        let (changed, kept) = (self.yields(first), self.yields(second));
        let reused = self.reused_results(inst, changed, kept);
        let mut storages = Vec::new();
        for (k, result) in results.iter().enumerate() {
            if !self.state().is_used(*result) {
                storages.push(None);
                continue;
            }
            storages.push(Some(reused[k].unwrap_or_else(|| {
                let hint = self.hint_of(&[Some(*result), changed.get(k).copied(), kept.get(k).copied()]);
                let storage = self.new_storage(&hint, *result);
                let initial = kept.get(k).filter(|_| second_is_initial).map(|value| self.take_like(*value, *result));
                self.declare(storage, initial.as_ref());
                storage
            })));
        }
        self.braced(&header, first, &storages);
        if second_is_initial {
            let left: Vec<(Storage, Value)> = reused.iter().zip(kept).filter_map(|(s, v)| Some(((*s)?, *v))).collect();
            self.else_assigns(&left);
        } else {
            self.cut_closing_brace();
            self.braced("} else", second, &storages);
        }
        self.bind_storages(results, &storages);
    }

    /// For each result, the variable of a value that one side passes on, if the `if` may change it.
    fn reused_results(&mut self, inst: Inst, changed: &[Value], kept: &[Value]) -> Vec<Option<Storage>> {
        let mut reused: Vec<Option<Storage>> = Vec::new();
        for (k, result) in self.kernel().insts[inst].results.iter().enumerate() {
            let mut found = None;
            if self.state().is_used(*result) {
                for value in [kept.get(k), changed.get(k)].into_iter().flatten() {
                    found = found.or_else(|| self.reusable(*value, Within::Blocks(inst))).filter(|s| !reused.contains(&Some(*s)));
                }
            }
            reused.push(found);
        }
        reused
    }

    /// The side of an `if` that only passes values on, for the results that had no first value.
    fn else_assigns(&mut self, targets: &[(Storage, Value)]) {
        let needed = |(storage, value): &&(Storage, Value)| !matches!(self.state().binding(*value), Binding::Stored(s) if s == storage);
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

    /// Takes the line of a closing brace back to its indentation.
    fn cut_closing_brace(&mut self) {
        let state = self.state_mut();
        state.text.truncate(state.text.len() - "}\n".len() - state.level * 4);
    }

    /// Binds the constants of a block that only yields.
    fn constants(&mut self, block: Block) {
        let kernel = self.kernel();
        for inst in &kernel.blocks[block].insts {
            if let Op::Compute(Compute::Const(scalar)) = kernel.insts[*inst].op {
                let literal = self.literal(scalar);
                self.bind(kernel.insts[*inst].results[0], literal);
            }
        }
    }

    /// `header { block }`, assigning what the block yields.
    fn braced(&mut self, header: &str, block: Block, storages: &[Option<Storage>]) {
        self.line(&format!("{header} {{"));
        self.enter_block();
        self.assigning(block, storages);
        self.leave_block();
        self.line("}");
    }

    /// A block, assigning what it yields.
    fn assigning(&mut self, block: Block, storages: &[Option<Storage>]) {
        if let Flow::Falls(values) = self.open_block(block) {
            self.assign_results(storages, &values);
        }
        self.state_mut().drop_pending(block);
    }

    /// `assign`, where there is a variable.
    fn assign_results(&mut self, storages: &[Option<Storage>], values: &[Value]) {
        let targets: Vec<(Storage, Value)> = storages.iter().zip(values).filter_map(|(s, v)| Some(((*s)?, *v))).collect();
        self.assign(&targets);
    }

    // ---- loops

    /// Variables for what is carried round, with their first values.
    fn carried(&mut self, inst: Inst, init: &[Value], params: &[Value]) -> Vec<Storage> {
        let results = &self.kernel().insts[inst].results;
        let mut reused: Vec<Option<Storage>> = Vec::new();
        for value in init {
            let uses = init.iter().filter(|v| *v == value).count() as u32;
            let storage = if uses == 1 { self.reusable(*value, Within::Once(*value)) } else { None };
            reused.push(storage.filter(|s| !reused.contains(&Some(*s))));
        }
        let mut storages = Vec::new();
        for (k, value) in init.iter().enumerate() {
            let expr = self.take_like(*value, params[k]);
            storages.push(reused[k].unwrap_or_else(|| {
                let hint = self.hint_of(&[params.get(k).copied(), results.get(k).copied(), Some(*value)]);
                let storage = self.new_storage(&hint, params[k]);
                self.declare(storage, Some(&expr));
                storage
            }));
        }
        storages
    }

    /// Begins a statement that can be left.
    fn push_context(&mut self, inst: Inst, is_loop: bool, results: &[Option<Storage>], carried: &[Storage]) {
        let mut context = self.context(inst, is_loop);
        (context.results, context.carried) = (results.to_vec(), carried.to_vec());
        self.state_mut().contexts.push(context);
    }

    /// A `For`'s body, up to and with its closing brace: its header stands, the context is pushed, the counter bound.
    fn counted_body(&mut self, inst: Inst, body: Block, carried: &[Storage]) {
        let kernel = self.kernel();
        let storages: Vec<Option<Storage>> = carried.iter().copied().map(Some).collect();
        self.bind_storages(&kernel.blocks[body].params[1..], &storages);
        self.loop_body(&kernel.blocks[body].insts, body);
        self.bind_storages(&kernel.insts[inst].results, &storages);
    }

    /// The rest of a loop's body, to its closing brace.
    fn loop_body(&mut self, insts: &[Inst], body: Block) {
        if let Flow::Falls(values) = self.instructions(insts) {
            let carried = self.state().contexts.last().map(|context| context.carried.clone()).unwrap_or_default();
            let targets: Vec<(Storage, Value)> = carried.into_iter().zip(values).collect();
            self.assign(&targets);
        }
        self.state_mut().drop_pending(body);
        if let Some(context) = self.state_mut().contexts.pop() {
            self.close(&context);
        }
    }

    /// A `Loop`; a flow, if nothing leaves it.
    fn endless_loop(&mut self, inst: Inst, init: &[Value], body: Block, keep_rolled: bool) -> Option<Flow> {
        let kernel = self.kernel();
        let params = &kernel.blocks[body].params;
        let carried = self.carried(inst, init, params);
        self.flush_loads();
        let results = self.loop_results(inst, params, &carried);
        self.push_context(inst, true, &results, &carried);
        let begin = self.state().text.len();
        self.enter_block();
        self.bind_storages(params, &carried.iter().copied().map(Some).collect::<Vec<_>>());
        let (condition, inner, rest) = self.leading_question(inst, &kernel.blocks[body].insts, &results, begin);
        // The header is known now; what was printed meanwhile stands behind it.
        let written = self.state_mut().text.split_off(begin);
        self.state_mut().level -= 1;
        if keep_rolled {
            self.line(Self::KEEP_ROLLED);
        }
        let header = self.loop_header(condition.as_deref(), body);
        self.line(&format!("{header} {{"));
        self.state_mut().level += 1;
        self.state_mut().text.push_str(&written);
        let leaves = inner.is_some_and(|(first, block)| self.inline(first, block).is_some());
        self.loop_body(if leaves { &[] } else { rest }, body);
        self.bind_storages(&kernel.insts[inst].results, &results);
        if self.exits(inst).is_empty() { Some(Flow::Leaves) } else { None }
    }

    /// If a loop begins by asking whether to go on, in one expression: the condition of going on, the `If` and the side that goes on.
    /// Prints what comes before the first statement; gives the instructions not printed yet.
    fn leading_question<'i>(
        &mut self,
        inst: Inst,
        insts: &'i [Inst],
        results: &[Option<Storage>],
        begin: usize,
    ) -> (Option<String>, Option<(Inst, Block)>, &'i [Inst]) {
        let mut rest = insts;
        while let [first, others @ ..] = rest {
            let op = &self.kernel().insts[*first].op;
            if let Some((condition, is_negated, block)) = self.leading_test(inst, *first, results)
                && self.state().text.len() == begin
            {
                let condition = self.take(condition);
                let condition = if is_negated { condition.negation().0 } else { condition.text };
                return (Some(condition), Some((*first, block)), others);
            }
            if !op.effects(self.kernel()).is_pure() && !matches!(op, Op::Memory(Memory { op: MemoryOp::Load, at: Address::Path(_) })) {
                break;
            }
            self.plain(*first, op);
            rest = others;
        }
        (None, None, rest)
    }

    /// Whether `first` only decides between leaving `target` with values already in place and going on: the condition, whether it
    /// is that of leaving, and the block that goes on.
    fn leading_test(&self, target: Inst, first: Inst, results: &[Option<Storage>]) -> Option<(Value, bool, Block)> {
        let kernel = self.kernel();
        let Op::Region(Region::If { condition, then_block, else_block }) = kernel.insts[first].op else { return None };
        let leaves = |block: Block| {
            let [only] = kernel.blocks[block].insts[..] else { return false };
            let Op::Terminator(Terminator::Break(to, values)) = &kernel.insts[only].op else { return false };
            *to == target
                && results.iter().zip(values).all(|(storage, value)| match (storage, self.state().binding(*value)) {
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
        for (k, result) in self.kernel().insts[inst].results.iter().enumerate() {
            if !self.state().is_used(*result) {
                storages.push(None);
                continue;
            }
            let given = exits.iter().filter_map(|values| params.iter().position(|p| values.get(k) == Some(p)));
            let shared = given.map(|j| carried[j]).find(|s| !storages.contains(&Some(*s)));
            storages.push(Some(shared.unwrap_or_else(|| self.declared_result(*result))));
        }
        storages
    }

    /// What the exits to `target` give it.
    fn exits(&self, target: Inst) -> Vec<Vec<Value>> {
        let breaks = &self.state().exits.get(target).breaks;
        breaks.iter().map(|exit| exit_values(&self.kernel().insts[*exit].op).to_vec()).collect()
    }

    // ---- regions and exits

    /// A region; a flow, if nothing goes on after it.
    fn region(&mut self, inst: Inst, body: Block) -> Option<Flow> {
        if self.exits(inst).is_empty() {
            return self.inline(inst, body);
        }
        let mut results = Vec::new();
        for result in &self.kernel().insts[inst].results {
            let is_used = self.state().is_used(*result);
            results.push(is_used.then(|| self.declared_result(*result)));
        }
        self.push_context(inst, false, &results, &[]);
        let header = self.region_header();
        self.line(&format!("{header} {{"));
        self.enter_block();
        self.assigning(body, &results);
        if let Some(context) = self.state_mut().contexts.pop() {
            self.close(&context);
        }
        self.bind_storages(&self.kernel().insts[inst].results, &results);
        None
    }

    /// An exit.
    fn leave(&mut self, target: Inst, values: &[Value], is_break: bool) -> Flow {
        let Some(at) = self.state().contexts.iter().rposition(|context| context.inst == target) else { return Flow::Leaves };
        let context = &self.state().contexts[at];
        let storages = if is_break { context.results.clone() } else { context.carried.iter().copied().map(Some).collect() };
        self.assign_results(&storages, values);
        let statement = self.exit(at, is_break);
        self.line(&statement);
        Flow::Leaves
    }
}

impl<'k, L: Values<'k>> Control<'k> for L {}
