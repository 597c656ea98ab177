//! Values and where they are: still an expression, a name, or a variable that changes.
//!
//! A pending expression that loads is settled before any other statement, so loads stay in order among the accesses of the thread; one
//! that reads a variable is settled before that variable changes.

use super::{Context, Expr, Language, PRIMARY};
use crate::analysis::exits::Exits;
use crate::ir::{Block, Inst, Kernel, Op, Region, Value};

/// A variable that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Storage(u32);

/// What stands for a value.
#[derive(Clone)]
pub(in super::super) enum Binding<X> {
    /// Nothing yet.
    Unbound,
    /// An expression for its one use.
    Pending(Expr<X>),
    /// A name, a literal: as often as needed.
    Atom(Expr<X>),
    /// A variable.
    Stored(Storage),
}

/// An expression not printed yet.
struct Pending {
    value: Value,
    block: Block,
    level: usize,
}

/// A variable.
pub(in super::super) struct StorageData {
    /// Its name.
    pub(in super::super) name: String,
    /// The value it was made for, whose type it has.
    pub(in super::super) like: Value,
    values: Vec<Value>,
}

/// What a value is called of which nothing is known.
pub(in super::super) const UNNAMED: &str = "t";

/// The values of a kernel being printed, and the text so far.
pub(in super::super) struct State<X> {
    /// The text.
    pub(in super::super) text: String,
    /// How many blocks are open.
    pub(in super::super) level: usize,
    /// Uses of each value in the kernel.
    pub(in super::super) uses: Vec<u32>,
    /// Those not yet printed.
    remaining: Vec<u32>,
    /// The last instruction that uses each value.
    pub(in super::super) user: Vec<Option<Inst>>,
    /// The block of each instruction.
    pub(in super::super) block_of: Vec<Option<Block>>,
    /// What stands for each value.
    pub(in super::super) bindings: Vec<Binding<X>>,
    /// The loop in which each value was bound to its variable.
    bound_in: Vec<Option<Inst>>,
    pending: Vec<Pending>,
    storages: Vec<StorageData>,
    /// The statements around the present place that can be left, outermost first.
    pub(in super::super) contexts: Vec<Context>,
    /// By value: where it is used, as places in program order.
    used_at: Vec<Vec<u32>>,
    /// By instruction: its place in program order, and that behind all in it.
    extent: Vec<(u32, u32)>,
    /// What leaves each loop and region.
    pub(super) exits: Exits,
}

impl<X: Clone> State<X> {
    /// Finds where every value is used and which block every instruction stands in.
    pub(in super::super) fn new(kernel: &Kernel) -> State<X> {
        let uses = kernel.use_counts();
        let mut user = vec![None; kernel.values.len()];
        let mut block_of = vec![None; kernel.insts.len()];
        let mut used_at = vec![Vec::new(); kernel.values.len()];
        let mut extent = vec![(0, 0); kernel.insts.len()];
        let mut place = 0;
        kernel.for_each_inst(|kernel, block, inst| {
            block_of[inst.0 as usize] = Some(block);
            kernel.insts[inst].op.for_each_operand(|value| {
                user[value.0 as usize] = Some(inst);
                used_at[value.0 as usize].push(place);
            });
            extent[inst.0 as usize].0 = place;
            place += 1;
        });
        end_extents(kernel, kernel.body, &mut 0, &mut extent);
        State {
            text: String::new(),
            level: 0,
            remaining: uses.clone(),
            uses,
            user,
            block_of,
            bindings: vec![Binding::Unbound; kernel.values.len()],
            bound_in: vec![None; kernel.values.len()],
            pending: Vec::new(),
            storages: Vec::new(),
            contexts: Vec::new(),
            used_at,
            extent,
            exits: Exits::of(kernel),
        }
    }

    /// How often the blocks of `owner` use a value.
    pub(super) fn uses_within(&self, owner: Inst, value: Value) -> u32 {
        let (start, end) = self.extent[owner.0 as usize];
        let places = &self.used_at[value.0 as usize];
        let before = |place: u32| places.partition_point(|used| *used < place);
        (before(end) - before(start + 1)) as u32
    }

    /// Whether anything uses a value.
    pub(in super::super) fn is_used(&self, value: Value) -> bool {
        self.uses[value.0 as usize] > 0
    }

    /// Whether a value has one use, in the block of `inst`, which makes it.
    pub(in super::super) fn is_used_once_here(&self, inst: Inst, value: Value) -> bool {
        let user = self.user[value.0 as usize];
        self.uses[value.0 as usize] == 1 && user.is_some_and(|user| self.block_of[user.0 as usize] == self.block_of[inst.0 as usize])
    }

    /// A variable's data.
    pub(in super::super) fn storage(&self, storage: Storage) -> &StorageData {
        &self.storages[storage.0 as usize]
    }

    /// What stands for a value.
    pub(in super::super) fn binding(&self, value: Value) -> &Binding<X> {
        &self.bindings[value.0 as usize]
    }

    /// The loop around the present place.
    fn current_loop(&self) -> Option<Inst> {
        self.contexts.iter().rev().find(|context| context.is_loop).map(|context| context.inst)
    }

    /// Forgets what a finished block left over: results that only dead code uses.
    pub(in super::super) fn drop_pending(&mut self, block: Block) {
        self.pending.retain(|pending| pending.block != block);
    }
}

/// Notes the place behind each instruction of a block; `place` goes on in program order.
fn end_extents(kernel: &Kernel, block: Block, place: &mut u32, extent: &mut [(u32, u32)]) {
    for inst in &kernel.blocks[block].insts {
        *place += 1;
        kernel.insts[*inst].op.blocks().into_iter().for_each(|child| end_extents(kernel, child, place, extent));
        extent[inst.0 as usize].1 = *place;
    }
}

/// Whether an instruction's values are assigned to variables, whose names say enough.
pub(in super::super) fn is_assignment(op: &Op) -> bool {
    op.is_terminator() || matches!(op, Op::Region(Region::For { .. } | Region::Loop { .. }))
}

/// The uses of values by a construct.
#[derive(Clone, Copy)]
pub(in super::super) enum Within {
    /// Those in an instruction's blocks.
    Blocks(Inst),
    /// One use of one value.
    Once(Value),
}

/// What every language does with values.
pub(in super::super) trait Values<'k>: Language<'k> {
    /// Prints a line.
    fn line(&mut self, text: &str) {
        let state = self.state_mut();
        for _ in 0..state.level {
            state.text.push_str("    ");
        }
        state.text.push_str(text);
        state.text.push('\n');
    }

    /// Goes one block in.
    fn enter_block(&mut self) {
        self.state_mut().level += 1;
        self.enter_scope();
    }

    /// And out of it.
    fn leave_block(&mut self) {
        self.state_mut().level -= 1;
        self.leave_scope();
    }

    /// The expression of an operand, as it is: consumes one use of it.
    fn take(&mut self, value: Value) -> Expr<Self::Extra> {
        let state = self.state_mut();
        let index = value.0 as usize;
        state.remaining[index] = state.remaining[index].saturating_sub(1);
        match &state.bindings[index] {
            Binding::Atom(expr) => expr.clone(),
            Binding::Stored(storage) => {
                let mut expr = Expr::new(state.storage(*storage).name.clone(), PRIMARY);
                expr.reads.push(*storage);
                expr
            }
            Binding::Pending(_) => {
                state.pending.retain(|pending| pending.value != value);
                if let Binding::Pending(expr) = std::mem::replace(&mut state.bindings[index], Binding::Unbound) {
                    expr
                } else {
                    Expr::new("0", PRIMARY)
                }
            }
            // The verifier refuses uses before definitions.
            Binding::Unbound => Expr::new("0", PRIMARY),
        }
    }

    /// Lets `expr` stand for `value` at every use.
    fn bind(&mut self, value: Value, expr: Expr<Self::Extra>) {
        self.state_mut().bindings[value.0 as usize] = Binding::Atom(expr);
    }

    /// Lets a variable stand for `value` from here on.
    fn bind_storage(&mut self, value: Value, storage: Storage) {
        let state = self.state_mut();
        state.storages[storage.0 as usize].values.push(value);
        state.bound_in[value.0 as usize] = state.current_loop();
        state.bindings[value.0 as usize] = Binding::Stored(storage);
    }

    /// The same for several; no storage, no use.
    fn bind_storages(&mut self, values: &[Value], storages: &[Option<Storage>]) {
        for (value, storage) in values.iter().zip(storages) {
            if let Some(storage) = storage {
                self.bind_storage(*value, *storage);
            }
        }
    }

    /// Lets `expr` stand for the result of `inst`: pending, or as a name of its own.
    fn define(&mut self, inst: Inst, value: Value, expr: Expr<Self::Extra>) {
        if !self.state().is_used(value) {
            return;
        }
        if self.is_inlined(inst, value, &expr) {
            self.wait(inst, value, expr);
        } else {
            self.materialise(value, &expr);
        }
    }

    /// Lets `expr` wait for the one use of `value`.
    fn wait(&mut self, inst: Inst, value: Value, expr: Expr<Self::Extra>) {
        let state = self.state_mut();
        state.bindings[value.0 as usize] = Binding::Pending(expr);
        if let Some(block) = state.block_of[inst.0 as usize] {
            state.pending.push(Pending { value, block, level: state.level });
        }
    }

    /// Lets `result` stand for what `value` stands for.
    fn alias(&mut self, inst: Inst, result: Value, value: Value) {
        if !self.state().is_used(result) {
            return;
        }
        if let Binding::Stored(storage) = *self.state().binding(value) {
            self.take(value);
            self.bind_storage(result, storage);
            return;
        }
        let atom = if let Binding::Atom(expr) = self.state().binding(value) { Some(expr.text.clone()) } else { None };
        let expr = self.take_like(value, result);
        // What was converted on the way is to be converted once.
        if atom.is_some_and(|text| text == expr.text) { self.bind(result, expr) } else { self.define(inst, result, expr) }
    }

    /// Prints a constant that holds `expr` and stands for `value`.
    fn materialise(&mut self, value: Value, expr: &Expr<Self::Extra>) {
        let name = self.constant_variable(&self.hint(value), value, expr);
        self.bind(value, Expr::new(name, PRIMARY));
    }

    /// The first name among the values' own, else what is said of any of them.
    fn hint_of(&self, values: &[Option<Value>]) -> String {
        let named = values.iter().flatten().find_map(|v| self.kernel().values[*v].name.as_deref().map(str::to_owned));
        let known = || values.iter().flatten().map(|v| self.hint(*v)).find(|hint| hint != UNNAMED);
        named.or_else(known).unwrap_or_else(|| UNNAMED.to_owned())
    }

    /// Prints pending loads: before any statement that is not a plain definition.
    fn flush_loads(&mut self) {
        self.flush(|expr| expr.loads);
    }

    /// Prints pending expressions that read `storage`.
    fn flush_reads(&mut self, storage: Storage) {
        self.flush(|expr| expr.reads.contains(&storage));
    }

    /// Prints the pending expressions of this block that `which` says.
    fn flush(&mut self, which: impl Fn(&Expr<Self::Extra>) -> bool) {
        let state = self.state();
        let is_due = |p: &&Pending| p.level == state.level && matches!(state.binding(p.value), Binding::Pending(e) if which(e));
        let due: Vec<Value> = state.pending.iter().filter(is_due).map(|p| p.value).collect();
        for value in due {
            let state = self.state_mut();
            state.pending.retain(|p| p.value != value);
            if let Binding::Pending(expr) = std::mem::replace(&mut state.bindings[value.0 as usize], Binding::Unbound) {
                self.materialise(value, &expr);
            }
        }
    }

    /// A new variable of a value's type, not declared yet.
    fn new_storage(&mut self, hint: &str, like: Value) -> Storage {
        let name = self.declare_name(hint);
        let storages = &mut self.state_mut().storages;
        storages.push(StorageData { name, like, values: Vec::new() });
        Storage(storages.len() as u32 - 1)
    }

    /// A variable for a result that is assigned on every way to its first use.
    fn declared_result(&mut self, result: Value) -> Storage {
        let storage = self.new_storage(&self.hint_of(&[Some(result)]), result);
        self.declare(storage, None);
        storage
    }

    /// The variable of `value`, if nothing needs its present content after the uses `within` the construct about to be printed, so that the
    /// construct may change it.
    fn reusable(&mut self, value: Value, within: Within) -> Option<Storage> {
        if let Binding::Stored(Storage(storage)) = *self.state().binding(value) {
            // What is not needed any more is in nobody's way.
            let State { storages, remaining, .. } = self.state_mut();
            storages[storage as usize].values.retain(|value| remaining[value.0 as usize] > 0);
        }
        let state = self.state();
        let within = |value: Value| match within {
            Within::Blocks(owner) => state.uses_within(owner, value),
            Within::Once(only) => u32::from(value == only),
        };
        let Binding::Stored(storage) = *state.binding(value) else { return None };
        let same_loop = state.bound_in[value.0 as usize] == state.current_loop();
        let unused_after = state.storage(storage).values.iter().all(|v| state.remaining[v.0 as usize] <= within(*v));
        let reads = |p: &Pending| matches!(state.binding(p.value), Binding::Pending(e) if e.reads.contains(&storage));
        let read_outside = state.pending.iter().any(|p| p.level != state.level && reads(p));
        if !same_loop || !unused_after || read_outside {
            return None;
        }
        self.flush_reads(storage);
        Some(storage)
    }

    /// `targets = values`, all at once: none of the values sees a variable already changed.
    fn assign(&mut self, targets: &[(Storage, Value)]) {
        let mut left: Vec<(Storage, Expr<Self::Extra>)> = Vec::new();
        for (storage, value) in targets {
            let like = self.state().storage(*storage).like;
            left.push((*storage, self.take_like(*value, like)));
        }
        left.retain(|(storage, expr)| self.state().storage(*storage).name != expr.text);
        while !left.is_empty() {
            let is_free = |i: usize| left.iter().enumerate().all(|(j, (_, e))| i == j || !e.reads.contains(&left[i].0));
            if let Some(i) = (0..left.len()).find(|i| is_free(*i)) {
                let (storage, expr) = left.remove(i);
                let statement = self.assigned(&self.state().storage(storage).name, &expr);
                self.line(&statement);
                continue;
            }
            // A cycle (a swap): what reads the first variable is computed before it changes.
            let first = left[0].0;
            for entry in left.iter_mut().skip(1) {
                if entry.1.reads.contains(&first) {
                    let like = self.state().storage(entry.0).like;
                    let name = self.constant_variable("next", like, &entry.1);
                    entry.1 = Expr::new(name, PRIMARY);
                }
            }
        }
    }
}

impl<'k, L: Language<'k>> Values<'k> for L {}
