//! Values and where they are: still an expression, a named constant, or a variable that changes.
//!
//! A value becomes part of its user's expression if it is used once, in the same block, and moving it there cannot change it;
//! everything else gets a name. A pending expression that loads is settled before any other statement, so loads stay in order
//! among the accesses of the thread; one that reads a variable is settled before that variable changes.
//!
//! Values carried round a loop, and results of an `if`, live in variables ([`Storage`]). Invariant: of the values bound to one
//! variable, at most one is still to be used. That is what lets the accumulator of an inner loop be that of the outer one.

use super::Writer;
use super::expressions::{Expr, PRIMARY};
use super::types::value_type;
use crate::ir::{Block, Inst, Op, Type, Value};

/// A variable that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Storage(u32);

/// What stands for a value.
#[derive(Clone)]
pub(super) enum Binding {
    /// Nothing yet.
    Unbound,
    /// An expression for its one use.
    Pending(Expr),
    /// A name, a literal: as often as needed.
    Atom(Expr),
    /// A variable.
    Stored(Storage),
}

/// An expression not printed yet.
pub(super) struct Pending {
    value: Value,
    block: Block,
    depth: usize,
}

/// A variable.
pub(super) struct StorageData {
    /// Its name.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: Type,
    values: Vec<Value>,
}

/// Expressions longer than this become a statement of their own.
const LONGEST: usize = 100;

impl Writer<'_> {
    /// The expression of an operand: consumes one use of it.
    pub(super) fn take(&mut self, value: Value) -> Expr {
        let index = value.0 as usize;
        self.remaining[index] = self.remaining[index].saturating_sub(1);
        match &self.bindings[index] {
            Binding::Atom(expr) => expr.clone(),
            Binding::Stored(storage) => self.stored(*storage),
            Binding::Pending(_) => {
                self.pending.retain(|p| p.value != value);
                match std::mem::replace(&mut self.bindings[index], Binding::Unbound) {
                    Binding::Pending(expr) => expr,
                    _ => Expr::new("0", PRIMARY),
                }
            }
            // The verifier refuses uses before definitions.
            Binding::Unbound => Expr::new("0", PRIMARY),
        }
    }

    fn stored(&self, storage: Storage) -> Expr {
        let mut expr = Expr::new(self.storage(storage).name.clone(), PRIMARY);
        expr.reads.push(storage);
        expr
    }

    /// A variable's data.
    pub(super) fn storage(&self, storage: Storage) -> &StorageData {
        &self.storages[storage.0 as usize]
    }

    /// Lets `expr` stand for `value` at every use.
    pub(super) fn bind(&mut self, value: Value, expr: Expr) {
        self.bindings[value.0 as usize] = Binding::Atom(expr);
    }

    /// Lets a variable stand for `value` from here on.
    pub(super) fn bind_storage(&mut self, value: Value, storage: Storage) {
        self.storages[storage.0 as usize].values.push(value);
        self.bound_in[value.0 as usize] = self.current_loop();
        self.bindings[value.0 as usize] = Binding::Stored(storage);
    }

    /// Lets `expr` stand for the result of `inst`: pending, or as a constant of its own.
    pub(super) fn define(&mut self, inst: Inst, value: Value, expr: Expr) {
        let index = value.0 as usize;
        if self.uses[index] == 0 {
            return;
        }
        let block = self.block_of[inst.0 as usize];
        let here = self.user_block[index] == block;
        let named = self.kernel.values[value].name.is_some() && !self.ends_in_terminator[index];
        if self.uses[index] == 1 && here && !named && expr.text.len() <= LONGEST {
            self.bindings[index] = Binding::Pending(expr);
            if let Some(block) = block {
                self.pending.push(Pending { value, block, depth: self.indent });
            }
        } else {
            self.materialise(value, &expr);
        }
    }

    /// Lets `result` stand for what `value` stands for.
    pub(super) fn alias(&mut self, inst: Inst, result: Value, value: Value) {
        if self.uses[result.0 as usize] == 0 {
            return;
        }
        if let Binding::Stored(storage) = self.bindings[value.0 as usize] {
            self.take(value);
            self.bind_storage(result, storage);
            return;
        }
        let atom = matches!(self.bindings[value.0 as usize], Binding::Atom(_));
        let expr = self.take(value);
        if atom { self.bind(result, expr) } else { self.define(inst, result, expr) }
    }

    /// Prints a constant that holds `expr` and stands for `value`.
    pub(super) fn materialise(&mut self, value: Value, expr: &Expr) {
        let name = self.constant_variable(&self.hint(value), self.kernel.ty(value), expr);
        self.bind(value, Expr::new(name, PRIMARY));
    }

    /// Prints a constant that holds `expr`.
    pub(super) fn constant_variable(&mut self, hint: &str, ty: Type, expr: &Expr) -> String {
        let name = self.names.name(hint);
        self.line(&format!("const {} {name} = {};", value_type(ty), expr.text));
        name
    }

    /// The source's name for a value, or its name in the IR.
    pub(super) fn hint(&self, value: Value) -> String {
        self.kernel.values[value].name.as_deref().map_or_else(|| value.to_string(), str::to_owned)
    }

    /// Prints pending loads: before any statement that is not a plain definition.
    pub(super) fn flush_loads(&mut self) {
        self.flush(|expr| expr.loads);
    }

    /// Prints pending expressions that read `storage`.
    pub(super) fn flush_reads(&mut self, storage: Storage) {
        self.flush(|expr| expr.reads.contains(&storage));
    }

    fn flush(&mut self, which: impl Fn(&Expr) -> bool) {
        let due: Vec<Value> = self
            .pending
            .iter()
            .filter(|p| p.depth == self.indent && matches!(&self.bindings[p.value.0 as usize], Binding::Pending(e) if which(e)))
            .map(|p| p.value)
            .collect();
        for value in due {
            self.pending.retain(|p| p.value != value);
            if let Binding::Pending(expr) = std::mem::replace(&mut self.bindings[value.0 as usize], Binding::Unbound) {
                self.materialise(value, &expr);
            }
        }
    }

    /// Forgets what a finished block left over: results that only dead code uses.
    pub(super) fn drop_pending(&mut self, block: Block) {
        self.pending.retain(|p| p.block != block);
    }

    /// A new variable, not declared yet.
    pub(super) fn new_storage(&mut self, hint: &str, ty: Type) -> Storage {
        let name = self.names.name(hint);
        self.storages.push(StorageData { name, ty, values: Vec::new() });
        Storage(self.storages.len() as u32 - 1)
    }

    /// Declares a variable.
    pub(super) fn declare(&mut self, storage: Storage, init: Option<&Expr>) {
        let data = self.storage(storage);
        let init = init.map_or(String::new(), |e| format!(" = {}", e.text));
        self.line(&format!("{} {}{init};", value_type(data.ty), data.name));
    }

    /// The variable of `value`, if nothing needs its present content after the uses counted in `within` (uses of each value by the
    /// construct about to be printed), so that the construct may change it.
    pub(super) fn reusable(&mut self, value: Value, within: &dyn Fn(Value) -> u32) -> Option<Storage> {
        let Binding::Stored(storage) = self.bindings[value.0 as usize] else { return None };
        let same_loop = self.bound_in[value.0 as usize] == self.current_loop();
        let unused_after = self.storage(storage).values.iter().all(|v| self.remaining[v.0 as usize] <= within(*v));
        let read_outside = self.pending.iter().any(|p| {
            p.depth != self.indent && matches!(&self.bindings[p.value.0 as usize], Binding::Pending(e) if e.reads.contains(&storage))
        });
        if !same_loop || !unused_after || read_outside {
            return None;
        }
        self.flush_reads(storage);
        Some(storage)
    }

    /// `targets = values`, all at once: none of the values sees a variable already changed.
    pub(super) fn assign(&mut self, targets: &[(Storage, Value)]) {
        let mut left: Vec<(Storage, Expr)> = targets.iter().map(|(storage, value)| (*storage, self.take(*value))).collect();
        left.retain(|(storage, expr)| self.storage(*storage).name != expr.text);
        while !left.is_empty() {
            let is_free = |i: usize| left.iter().enumerate().all(|(j, (_, e))| i == j || !e.reads.contains(&left[i].0));
            if let Some(i) = (0..left.len()).find(|i| is_free(*i)) {
                let (storage, expr) = left.remove(i);
                let name = self.storage(storage).name.clone();
                self.line(&format!("{name} = {};", expr.text));
                continue;
            }
            // A cycle (a swap): what reads the first variable is computed before it changes.
            let first = left[0].0;
            for entry in left.iter_mut().skip(1) {
                if entry.1.reads.contains(&first) {
                    let ty = self.storage(entry.0).ty;
                    let hint = format!("next_{}", self.storage(entry.0).name);
                    let name = self.constant_variable(&hint, ty, &entry.1);
                    entry.1 = Expr::new(name, PRIMARY);
                }
            }
        }
    }

    /// Finds where every value is used and which block every instruction stands in.
    pub(super) fn index_uses(&mut self) {
        let kernel = self.kernel;
        self.uses = kernel.use_counts();
        self.remaining = self.uses.clone();
        self.bindings = vec![Binding::Unbound; kernel.values.len()];
        self.bound_in = vec![None; kernel.values.len()];
        self.user_block = vec![None; kernel.values.len()];
        self.ends_in_terminator = vec![false; kernel.values.len()];
        self.block_of = vec![None; kernel.insts.len()];
        kernel.for_each_inst(|kernel, block, inst| {
            self.block_of[inst.0 as usize] = Some(block);
            let op = &kernel.insts[inst].op;
            for value in op.operands() {
                self.user_block[value.0 as usize] = Some(block);
                self.ends_in_terminator[value.0 as usize] = op.is_terminator() || matches!(op, Op::For { .. } | Op::Loop { .. });
            }
        });
    }
}
