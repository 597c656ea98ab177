//! Values and where they are: an expression for their one use, a name, or a `let mut` variable.
//!
//! What the source named keeps its `let`; what is used once is written where it is used. A load is, only if nothing else of the text
//! would come between: the order of loads and stores in the text is that of the kernel, since that is what a reader looks for.
//! Carried values and results of an `if` live in variables, one for all the values that follow each other.

use super::Printer;
use super::expression::{Expr, PRIMARY};
use super::kinds::{Kind, type_text};
use crate::ir::{Block, Inst, Object, Op, Scalar, Type, Value};

/// A `let mut` variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Storage(u32);

/// What stands for a value.
#[derive(Clone)]
pub(super) enum Binding {
    /// Nothing yet.
    Unbound,
    /// An expression for its one use.
    Pending(Expr),
    /// A name or a constant: as often as needed.
    Atom(Expr),
    /// A variable.
    Stored(Storage),
}

/// An expression not printed yet.
pub(super) struct Pending {
    value: Value,
    block: Block,
    level: usize,
}

/// A variable.
pub(super) struct StorageData {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) kind: Kind,
    values: Vec<Value>,
}

/// What a value is called of which nothing is known.
pub(super) const UNNAMED: &str = "t";

/// Expressions longer than this become a `let` of their own.
const LONGEST: usize = 110;

impl Printer<'_> {
    /// The expression of an operand, as it is: consumes one use of it.
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

    /// The same as a value of a kind, with the cast that it takes.
    pub(super) fn take_as(&mut self, value: Value, kind: Kind) -> Expr {
        let (ty, own) = (self.kernel.ty(value), self.kinds.value(value));
        let expr = self.take(value);
        if ty != self.kernel.index_type() || own == kind || expr.literal.is_some() {
            expr
        } else {
            expr.cast(ty, own, &type_text(ty, kind))
        }
    }

    fn stored(&self, storage: Storage) -> Expr {
        let mut expr = Expr::new(self.storage(storage).name.clone(), PRIMARY);
        expr.reads.push(storage);
        expr
    }

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

    /// Lets `expr` stand for the result of `inst`: pending, or as a name of its own.
    pub(super) fn define(&mut self, inst: Inst, value: Value, expr: Expr) {
        if self.uses[value.0 as usize] == 0 {
            return;
        }
        if self.is_inlined(inst, value) && expr.text.len() <= LONGEST {
            self.wait(inst, value, expr);
        } else {
            self.materialise(value, &expr);
        }
    }

    /// Lets `expr` wait for the one use of `value`.
    pub(super) fn wait(&mut self, inst: Inst, value: Value, expr: Expr) {
        self.bindings[value.0 as usize] = Binding::Pending(expr);
        if let Some(block) = self.block_of[inst.0 as usize] {
            self.pending.push(Pending { value, block, level: self.level });
        }
    }

    /// Whether a value's one use puts it into a variable or a place, here.
    pub(super) fn is_passed_on(&self, inst: Inst, value: Value) -> bool {
        let passes = |user: Inst| is_assignment(&self.kernel.insts[user].op) || matches!(self.kernel.insts[user].op, Op::Store(..));
        self.is_single(inst, value) && self.user[value.0 as usize].is_some_and(passes)
    }

    /// Whether a value is to be written where it is used.
    fn is_inlined(&self, inst: Inst, value: Value) -> bool {
        let op = &self.kernel.insts[inst].op;
        if op.is_pure() { self.is_single(inst, value) } else { self.moves[inst.0 as usize] }
    }

    /// Whether a value has one use, in its own block, and the source has no `let` for it.
    fn is_single(&self, inst: Inst, value: Value) -> bool {
        let index = value.0 as usize;
        let is_here = self.user[index].is_some_and(|user| self.block_of[user.0 as usize] == self.block_of[inst.0 as usize]);
        let is_assigned = self.user[index].is_some_and(|user| is_assignment(&self.kernel.insts[user].op));
        self.uses[index] == 1 && is_here && (is_assigned || self.kernel.values[value].name.is_none())
    }

    /// Finds the loads that may be written where they are used: nothing that is a statement stands between.
    pub(super) fn find_moves(&mut self) {
        let kernel = self.kernel;
        self.moves = vec![false; kernel.insts.len()];
        let mut blocks: Vec<Block> = Vec::new();
        kernel.for_each_inst(|_, block, _| {
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        });
        for block in blocks {
            let insts = &kernel.blocks[block].insts;
            // From the back: `next` is the statement that a load here would be written in.
            let mut next: Option<Inst> = None;
            for inst in insts.iter().rev() {
                let data = &kernel.insts[*inst];
                let single = data.results.len() == 1 && self.is_single(*inst, data.results[0]);
                let is_text = matches!(data.op, Op::Const(_)) || (data.op.is_pure() && single);
                if matches!(data.op, Op::Load(_)) && single && next == self.statement_of(data.results[0]) && next.is_some() {
                    self.moves[inst.0 as usize] = true;
                } else if !is_text {
                    next = Some(*inst);
                }
            }
        }
    }

    /// The instruction whose text has a value in it: its user, or that one's.
    fn statement_of(&self, value: Value) -> Option<Inst> {
        let mut user = self.user[value.0 as usize]?;
        loop {
            let data = &self.kernel.insts[user];
            match data.results[..] {
                [result] if data.op.is_pure() && self.is_single(user, result) => user = self.user[result.0 as usize]?,
                _ => return Some(user),
            }
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
        let expr = self.take_as(value, self.kinds.value(result));
        if atom && expr.level >= PRIMARY { self.bind(result, expr) } else { self.define(inst, result, expr) }
    }

    /// Prints a `let` that holds `expr` and stands for `value`.
    pub(super) fn materialise(&mut self, value: Value, expr: &Expr) {
        let text = expr.typed(self.kernel.ty(value), self.kinds.value(value));
        let name = self.declare_name(&self.hint(value));
        self.line(&format!("let {name} = {text};"));
        self.bind(value, Expr::new(name, PRIMARY));
    }

    /// A new name, visible from here on.
    pub(super) fn declare_name(&mut self, hint: &str) -> String {
        let at = self.text.len();
        self.names.declare(hint, at)
    }

    /// The source's name for a value, or one that says where it comes from.
    pub(super) fn hint(&self, value: Value) -> String {
        let data = &self.kernel.values[value];
        if let Some(name) = &data.name {
            return name.to_string();
        }
        let object = |object: &Object| self.kernel.objects[*object].name.clone();
        match (self.kernel.def(value).map(|(_, op)| op), data.ty) {
            (Some(Op::Load(access)), _) => object(&access.object),
            (Some(Op::Len(of)), _) => format!("{}_len", object(of)),
            (None, ty) if ty.is_int() => "j".to_owned(),
            (_, Type::Bool) => "guard".to_owned(),
            _ => UNNAMED.to_owned(),
        }
    }

    /// Prints pending expressions that read `storage`.
    pub(super) fn flush_reads(&mut self, storage: Storage) {
        self.flush(|expr| expr.reads.contains(&storage));
    }

    /// Prints pending expressions that load, before something that may wait or write.
    pub(super) fn flush_loads(&mut self) {
        self.flush(|expr| expr.loads);
    }

    fn flush(&mut self, which: impl Fn(&Expr) -> bool) {
        let due: Vec<Value> = self
            .pending
            .iter()
            .filter(|p| p.level == self.level && matches!(&self.bindings[p.value.0 as usize], Binding::Pending(e) if which(e)))
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

    /// A new variable for a value, not declared yet.
    pub(super) fn new_storage(&mut self, hint: &str, value: Value) -> Storage {
        let name = self.declare_name(hint);
        self.storages.push(StorageData { name, ty: self.kernel.ty(value), kind: self.kinds.value(value), values: Vec::new() });
        Storage(self.storages.len() as u32 - 1)
    }

    /// Declares a variable. One without a first value is assigned on every way to its first use.
    pub(super) fn declare(&mut self, storage: Storage, first: Option<&Expr>) {
        let StorageData { name, ty, kind, .. } = self.storage(storage);
        let text = match first {
            Some(expr) => format!("let mut {name} = {};", expr.typed(*ty, *kind)),
            None => format!("let mut {name} = {};", Expr::literal(Scalar::new(*ty, 0)).typed(*ty, *kind)),
        };
        self.line(&text);
    }

    /// The variable of `value`, if nothing needs its present content after the uses counted in `within`, so that what is about to be
    /// printed may change it.
    pub(super) fn reusable(&mut self, value: Value, within: &dyn Fn(Value) -> u32) -> Option<Storage> {
        let Binding::Stored(storage) = self.bindings[value.0 as usize] else { return None };
        let same_loop = self.bound_in[value.0 as usize] == self.current_loop();
        let unused_after = self.storage(storage).values.iter().all(|v| self.remaining[v.0 as usize] <= within(*v));
        let read_outside = self.pending.iter().any(|p| {
            p.level != self.level && matches!(&self.bindings[p.value.0 as usize], Binding::Pending(e) if e.reads.contains(&storage))
        });
        if !same_loop || !unused_after || read_outside {
            return None;
        }
        self.flush_reads(storage);
        Some(storage)
    }

    /// `targets = values`, all at once: none of the values sees a variable already changed.
    pub(super) fn assign(&mut self, targets: &[(Storage, Value)]) {
        let mut left: Vec<(Storage, Expr)> = Vec::new();
        for (storage, value) in targets {
            let kind = self.storage(*storage).kind;
            left.push((*storage, self.take_as(*value, kind)));
        }
        left.retain(|(storage, expr)| self.storage(*storage).name != expr.text);
        while !left.is_empty() {
            let is_free = |i: usize| left.iter().enumerate().all(|(j, (_, e))| i == j || !e.reads.contains(&left[i].0));
            if let Some(i) = (0..left.len()).find(|i| is_free(*i)) {
                let (storage, expr) = left.remove(i);
                let name = self.storage(storage).name.clone();
                self.line(&expr.assigned_to(&name));
                continue;
            }
            // A cycle (a swap): what reads the first variable is computed before it changes.
            let first = left[0].0;
            for entry in left.iter_mut().skip(1) {
                if entry.1.reads.contains(&first) {
                    let (ty, kind) = (self.storage(entry.0).ty, self.storage(entry.0).kind);
                    let text = entry.1.typed(ty, kind);
                    let name = self.declare_name("next");
                    self.line(&format!("let {name} = {text};"));
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
        self.user = vec![None; kernel.values.len()];
        self.block_of = vec![None; kernel.insts.len()];
        kernel.for_each_inst(|kernel, block, inst| {
            self.block_of[inst.0 as usize] = Some(block);
            kernel.insts[inst].op.for_each_operand(|value| self.user[value.0 as usize] = Some(inst));
        });
        self.find_moves();
    }
}

/// Whether an instruction's values are assigned to variables, whose names say enough.
fn is_assignment(op: &Op) -> bool {
    op.is_terminator() || matches!(op, Op::For { .. } | Op::Loop { .. })
}
