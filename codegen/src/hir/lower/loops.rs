//! Loops: what their bodies assign is carried round as values.

use super::environment::{Tree, Var};
use super::place::Place;
use super::{Exit, Lowerer};
use crate::annotations::Asked;
use crate::hir::tree::{self, Block as Body, Expr, ExprKind, ForLoop, LocalId, LocalKind, ScopeId, Statement};
use crate::hir::types::Ty;
use crate::ir::{Annotations, Inst, Op, Region, Terminator, Value};

impl Lowerer<'_, '_> {
    /// Enters a loop's scope: what `break` and `continue` in it mean.
    fn enter_loop(&mut self, scope: ScopeId, exit: &Exit) {
        let frame = self.frames.len() - 1;
        self.frames[frame].scopes.insert(scope, exit.clone());
    }

    /// Whether a loop is annotated `unroll(1)`.
    fn keeps_rolled(&self, scope: ScopeId) -> bool {
        self.frame().body.annotations.get(&scope).is_some_and(|all| all.iter().any(Asked::keeps_rolled))
    }

    /// Hands on what is asked of a loop.
    fn annotate(&mut self, inst: Inst, scope: ScopeId) {
        let Some(asked) = self.frame().body.annotations.get(&scope).cloned() else { return };
        let annotations = self.annotations(&asked);
        if !annotations.is_empty() {
            self.kernel.annotations.insert(inst, annotations);
        }
    }

    /// The same annotations in the kernel's locations, `unroll(1)` left out.
    pub(super) fn annotations(&mut self, asked: &tree::Annotations) -> Annotations {
        asked.filter(|asked| !asked.keeps_rolled()).filter_map(|&Asked { annotation, place, argument, modifiers }| {
            let outer = self.loc;
            self.at(place);
            let place = std::mem::replace(&mut self.loc, outer);
            Some(Asked { annotation, place, argument, modifiers })
        })
    }

    pub(super) fn while_loop(&mut self, scope: ScopeId, condition: &Expr, body: &Body) -> Tree {
        let mut carried = self.assigned(condition);
        carried.extend(self.assigned_in_block(body));
        self.looped(scope, carried, &Ty::unit(), |lowerer, exit| {
            let holds = lowerer.value(condition);
            let exit = exit.clone();
            lowerer.branch(
                holds,
                &Ty::unit(),
                |lowerer| lowerer.unit(),
                |lowerer| {
                    lowerer.leave(&exit, None);
                    lowerer.unit()
                },
            );
            lowerer.block(body);
        })
    }

    pub(super) fn endless_loop(&mut self, scope: ScopeId, body: &Body, expr: &Expr) -> Tree {
        let ty = self.resolve(&expr.ty);
        let never = ty == Ty::Never;
        let ty = if never { Ty::unit() } else { ty };
        let carried = self.assigned_in_block(body);
        let result = self.looped(scope, carried, &ty, |lowerer, _| {
            lowerer.block(body);
        });
        if never && !self.dead {
            // No `break` leaves it.
            self.terminate(Op::Terminator(Terminator::Return));
        }
        result
    }

    /// A `Loop` that carries these variables and gives a value of type `ty` to its `break`s.
    fn looped(&mut self, scope: ScopeId, mut carried: Vec<usize>, ty: &Ty, body: impl FnOnce(&mut Self, &Exit)) -> Tree {
        carried.sort_unstable();
        carried.dedup();
        let init = self.leaves_of(&carried);
        let types = self.types_of(&init);
        let inner = self.kernel.new_block(&types);
        let mut results = types.clone();
        results.extend(self.leaf_types(ty));
        let keep_rolled = self.keeps_rolled(scope);
        let inst = self.builder().push(Op::Region(Region::Loop { init, body: inner, keep_rolled }), &results);
        self.annotate(inst, scope);
        let (outer, was_dead, loc) = (self.block, self.dead, self.loc);
        let exit = Exit { inst, carried: carried.clone(), result: Some(ty.clone()) };
        self.enter_loop(scope, &exit);
        self.block = inner;
        self.dead = false;
        let params = self.kernel.blocks[inner].params.clone();
        self.set_leaves(&carried, &params);
        body(self, &exit);
        if !self.dead {
            let values = self.leaves_of(&carried);
            self.builder().push(Op::Terminator(Terminator::Yield(values)), &[]);
        }
        self.block = outer;
        self.dead = was_dead;
        self.loc = loc;
        let results = self.kernel.insts[inst].results.clone();
        self.set_leaves(&carried, &results[..types.len()]);
        self.tree_of(ty, &results[types.len()..])
    }

    /// A `For` over `start..end` by `step`; `body` gets the induction variable.
    pub(super) fn counted(&mut self, walk: &ForLoop, carried: &[usize], range: [Value; 3], body: impl FnOnce(&mut Self, Value)) {
        let init = self.leaves_of(carried);
        let types = self.types_of(&init);
        let [start, end, step] = range;
        let mut params = vec![self.kernel.ty(start)];
        params.extend(&types);
        let inner = self.kernel.new_block(&params);
        let keep_rolled = self.keeps_rolled(walk.scope);
        let op = Op::Region(Region::For { start, end, step, init, body: inner, keep_rolled });
        let inst = self.builder().push(op, &types);
        self.annotate(inst, walk.scope);
        let (outer, was_dead, loc) = (self.block, self.dead, self.loc);
        let exit = Exit { inst, carried: carried.to_vec(), result: None };
        self.enter_loop(walk.scope, &exit);
        self.block = inner;
        self.dead = false;
        let params = self.kernel.blocks[inner].params.clone();
        self.set_leaves(carried, &params[1..]);
        body(self, params[0]);
        if !self.dead {
            let values = self.leaves_of(carried);
            self.builder().push(Op::Terminator(Terminator::Yield(values)), &[]);
        }
        self.block = outer;
        self.dead = was_dead;
        self.loc = loc;
        let results = self.kernel.insts[inst].results.clone();
        self.set_leaves(carried, &results);
    }

    /// The variables an expression assigns, of those declared so far.
    pub(super) fn assigned(&self, expr: &Expr) -> Vec<usize> {
        let mut locals = Vec::new();
        collect(expr, &mut locals);
        self.roots(locals)
    }

    pub(super) fn assigned_in_block(&self, block: &Body) -> Vec<usize> {
        let mut locals = Vec::new();
        collect_block(block, &mut locals);
        self.roots(locals)
    }

    fn roots(&self, locals: Vec<LocalId>) -> Vec<usize> {
        let mut vars = Vec::new();
        for local in locals {
            let var = self.var(local);
            match &self.vars[var] {
                Var::Value(_) => vars.push(var),
                Var::Place(Place::Register { var, .. }) => vars.push(*var),
                Var::Place(Place::Memory { .. } | Place::Group { .. }) | Var::Undeclared => {}
            }
        }
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// The variables behind reference parameters of the current frame: an inlined function may assign them.
    pub(super) fn referenced(&self) -> Vec<usize> {
        let body = &self.frame().body;
        let references = body.params.iter().filter(|local| body.locals[local.0].kind == LocalKind::Reference);
        self.roots(references.copied().collect())
    }
}

/// The local a place belongs to.
fn root(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Field(base, _) | ExprKind::Index(base, _) => root(base),
        _ => None,
    }
}

fn collect_target(target: &Expr, locals: &mut Vec<LocalId>) {
    match &target.kind {
        ExprKind::Aggregate(fields, None) => fields.iter().for_each(|(_, field)| collect_target(field, locals)),
        _ => locals.extend(root(target)),
    }
}

fn collect_block(block: &Body, locals: &mut Vec<LocalId>) {
    for statement in &block.statements {
        match statement {
            Statement::Let(_, Some(expr)) | Statement::Expr(expr) => collect(expr, locals),
            Statement::Let(_, None) | Statement::Shared(_) => {}
        }
    }
    if let Some(tail) = &block.tail {
        collect(tail, locals);
    }
}

/// Every local that an expression may assign.
fn collect(expr: &Expr, locals: &mut Vec<LocalId>) {
    match &expr.kind {
        ExprKind::Assign(target, _) | ExprKind::AssignOp(_, target, _) => collect_target(target, locals),
        // A function may assign what it gets by reference; which parameters are references is not looked up: one too many is carried.
        ExprKind::Call(_, _, args) => args.iter().for_each(|arg| locals.extend(root(arg))),
        _ => {}
    }
    for_each_child(expr, &mut |child| collect(child, locals));
    for_each_block(expr, &mut |block| collect_block(block, locals));
}

/// Calls `f` on the expressions directly below one, blocks left out.
fn for_each_child(expr: &Expr, f: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Field(a, _)
        | ExprKind::Repeat(a, _)
        | ExprKind::Len(a)
        | ExprKind::Let(_, a)
        | ExprKind::While(_, a, _) => f(a),
        ExprKind::Binary(_, a, b)
        | ExprKind::Compare(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::AssignOp(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::VectorLoad(a, b, _) => {
            f(a);
            f(b);
        }
        ExprKind::Texture(_, base, coordinates) => {
            f(base);
            coordinates.iter().for_each(f);
        }
        ExprKind::VectorStore(a, b, c) => {
            f(a);
            f(b);
            f(c);
        }
        ExprKind::Aggregate(fields, base) => {
            fields.iter().for_each(|(_, field)| f(field));
            base.iter().for_each(|base| f(base));
        }
        ExprKind::Array(all) | ExprKind::Call(_, _, all) | ExprKind::Intrinsic(_, _, all) | ExprKind::Print(_, all) => {
            all.iter().for_each(f);
        }
        ExprKind::If(a, b, c) => {
            f(a);
            f(b);
            c.iter().for_each(|c| f(c));
        }
        ExprKind::Match(value, arms) => {
            f(value);
            for arm in arms {
                arm.guard.iter().for_each(&mut *f);
                f(&arm.body);
            }
        }
        ExprKind::For(walk) => {
            f(&walk.start);
            f(&walk.end);
            walk.step.iter().for_each(f);
        }
        ExprKind::Break(_, value) | ExprKind::Return(value) => value.iter().for_each(|value| f(value)),
        ExprKind::Atomic(_, a, b, operands) => {
            f(a);
            f(b);
            operands.iter().for_each(f);
        }
        ExprKind::Assert(a, _, values) => {
            f(a);
            values.iter().for_each(f);
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Block(_)
        | ExprKind::Labelled(..)
        | ExprKind::Loop(..)
        | ExprKind::Continue(_)
        | ExprKind::Geometry(_)
        | ExprKind::Trap(_) => {}
    }
}

/// Calls `f` on the blocks directly below an expression.
fn for_each_block(expr: &Expr, f: &mut dyn FnMut(&Body)) {
    match &expr.kind {
        ExprKind::Block(block) | ExprKind::Labelled(_, block) | ExprKind::Loop(_, block) | ExprKind::While(_, _, block) => f(block),
        ExprKind::For(walk) => f(&walk.body),
        _ => {}
    }
}

/// Whether a body returns from within.
pub(super) fn returns_early(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Return(_));
    for_each_child(expr, &mut |child| found |= returns_early(child));
    for_each_block(expr, &mut |block| {
        let statements = block.statements.iter().any(|statement| match statement {
            Statement::Let(_, Some(expr)) | Statement::Expr(expr) => returns_early(expr),
            Statement::Let(_, None) | Statement::Shared(_) => false,
        });
        found |= statements || block.tail.as_ref().is_some_and(|tail| returns_early(tail));
    });
    found
}
