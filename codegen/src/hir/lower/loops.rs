//! Loops: what their bodies assign is carried round as values.

use super::environment::{Tree, Var};
use super::place::Place;
use super::{Exit, Lowerer};
use crate::annotations::Asked;
use crate::hir::tree::{self, Block as Body, Expr, ExprKind, ForLoop, LocalId, LocalKind, ScopeId, Statement};
use crate::hir::types::Ty;
use crate::ir::{Annotations, Inst, Op, Region, Terminator, Value};

impl Lowerer<'_, '_> {
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
        asked.filter(|asked| !asked.keeps_rolled()).filter_map(|&Asked { annotation, place, argument, modifiers, condition }| {
            let outer = self.loc;
            self.at(place);
            let place = std::mem::replace(&mut self.loc, outer);
            Some(Asked { annotation, place, argument, modifiers, condition })
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
        let exit = Exit { inst, carried, result: Some(ty.clone()) };
        self.frame_mut().scopes.insert(scope, exit.clone());
        let params = self.kernel.blocks[inner].params.clone();
        let results = self.inside(&exit, inner, &params, |lowerer| {
            body(lowerer, &exit);
            Vec::new()
        });
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
        let exit = Exit { inst, carried: carried.to_vec(), result: None };
        self.frame_mut().scopes.insert(walk.scope, exit.clone());
        let params = self.kernel.blocks[inner].params.clone();
        self.inside(&exit, inner, &params[1..], |lowerer| {
            body(lowerer, params[0]);
            Vec::new()
        });
    }

    /// The variables an expression assigns, of those declared so far.
    pub(super) fn assigned(&self, expr: &Expr) -> Vec<usize> {
        let mut locals = Vec::new();
        collect(expr, &mut locals);
        self.roots(locals)
    }

    pub(super) fn assigned_in_block(&self, block: &Body) -> Vec<usize> {
        let mut locals = Vec::new();
        in_block(block).for_each(|expr| collect(expr, &mut locals));
        self.roots(locals)
    }

    fn roots(&self, locals: Vec<LocalId>) -> Vec<usize> {
        let mut vars = Vec::new();
        for local in locals {
            let var = self.var(local);
            match &self.vars[var] {
                Var::Value(_) => vars.push(var),
                Var::Place(Place::Register { var, .. }) => vars.push(*var),
                Var::Place(Place::Memory { .. } | Place::Guarded { .. } | Place::Group { .. }) | Var::Undeclared => {}
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

/// Every local that an expression may assign.
fn collect(expr: &Expr, locals: &mut Vec<LocalId>) {
    match &expr.kind {
        ExprKind::Assign(target, _) | ExprKind::AssignOp(_, target, _) => collect_target(target, locals),
        ExprKind::MultiplyAdd(_, sums) => collect_target(sums, locals),
        // A function may assign what it gets by reference; which parameters are references is not looked up: one too many is carried.
        ExprKind::Call(_, _, args) => args.iter().for_each(|arg| locals.extend(root(arg))),
        _ => {}
    }
    children(expr).into_iter().for_each(|child| collect(child, locals));
}

/// The expressions directly below one.
fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary(_, a)
        | ExprKind::Cast(a)
        | ExprKind::Field(a, _)
        | ExprKind::Repeat(a, _)
        | ExprKind::Len(a)
        | ExprKind::SplatRows(a)
        | ExprKind::ReduceRows(_, a)
        | ExprKind::Let(_, a) => vec![a],
        ExprKind::Binary(_, a, b)
        | ExprKind::Compare(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Assign(a, b)
        | ExprKind::AssignOp(_, a, b)
        | ExprKind::Index(a, b)
        | ExprKind::Position(a, b)
        | ExprKind::RowOf(a, b)
        | ExprKind::SharedOf(a, b, _)
        | ExprKind::VectorLoad(a, b, _) => vec![a, b],
        ExprKind::MultiplyAdd([(a, _), (b, _)], sums) => vec![a, b, sums],
        ExprKind::StoreSums(a, b, from) => [&**a, b].into_iter().chain(from.as_deref()).collect(),
        ExprKind::VectorStore(a, b, c) => vec![a, b, c],
        ExprKind::Texture(_, first, all) | ExprKind::Assert(first, _, all) => std::iter::once(&**first).chain(all).collect(),
        ExprKind::Atomic(_, _, a, b, operands) => [&**a, b].into_iter().chain(operands).collect(),
        ExprKind::Aggregate(fields, base) => fields.iter().map(|(_, field)| field).chain(base.as_deref()).collect(),
        ExprKind::Array(all)
        | ExprKind::Call(_, _, all)
        | ExprKind::Intrinsic(_, _, all)
        | ExprKind::Collective(_, all)
        | ExprKind::Print(_, all) => all.iter().collect(),
        ExprKind::If(a, b, c) => [&**a, b].into_iter().chain(c.as_deref()).collect(),
        ExprKind::Match(value, arms) => {
            std::iter::once(&**value).chain(arms.iter().flat_map(|arm| arm.guard.iter().chain([&arm.body]))).collect()
        }
        ExprKind::Block(block) | ExprKind::Labelled(_, block) | ExprKind::Loop(_, block) => in_block(block).collect(),
        ExprKind::While(_, condition, block) => std::iter::once(&**condition).chain(in_block(block)).collect(),
        ExprKind::For(walk) => [&walk.start, &walk.end].into_iter().chain(&walk.step).chain(in_block(&walk.body)).collect(),
        ExprKind::Break(_, value) | ExprKind::Return(value) => value.as_deref().into_iter().collect(),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Const(_)
        | ExprKind::Local(_)
        | ExprKind::Continue(_)
        | ExprKind::NoSums
        | ExprKind::Geometry(_)
        | ExprKind::Trap(_) => Vec::new(),
    }
}

/// The expressions directly in a block.
fn in_block(block: &Body) -> impl Iterator<Item = &Expr> {
    let statements = block.statements.iter().filter_map(|statement| match statement {
        Statement::Let(_, Some(expr)) | Statement::Expr(expr) => Some(expr),
        Statement::Let(_, None) | Statement::Shared(_) => None,
    });
    statements.chain(block.tail.as_deref())
}

/// Whether a body returns from within.
pub(super) fn returns_early(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Return(_)) || children(expr).into_iter().any(returns_early)
}
