//! Branches, matches, exits, and the joining of variables.

use super::environment::{Tree, Var};
use super::{Exit, Lowerer, Returns};
use crate::hir::tree::{Arm, Block as Body, Expr, ExprKind, ScopeId};
use crate::hir::types::Ty;
use crate::ir::{Block, Op, Region, Terminator, Value};

/// Arms of a `match` that are nested in each other.
const MOST_NESTED_ARMS: usize = 64;

/// What is asked of some arms of a `match`.
struct Asked<'t> {
    /// The type of what an arm gives.
    value: &'t Ty,
    /// The type of what the arms together give: that, or a pair of whether one fitted and that.
    joined: &'t Ty,
    rest: Rest,
}

/// The arms behind some of a `match`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// None: these are all.
    None,
    /// None: there were others before.
    Last,
    /// Some, which are asked if none of these fits.
    More,
}

/// What one side of a branch left behind.
struct Side {
    block: Block,
    dead: bool,
    vars: Vec<Var>,
    result: Tree,
}

impl Lowerer<'_, '_> {
    pub(super) fn control(&mut self, expr: &Expr) -> Tree {
        match &expr.kind {
            ExprKind::Labelled(scope, body) => self.labelled(*scope, body, expr),
            ExprKind::If(condition, then, otherwise) => {
                let ty = self.resolve(&expr.ty);
                let condition = self.value(condition);
                self.at(expr.span);
                self.branch(
                    condition,
                    &ty,
                    |lowerer| lowerer.expression(then),
                    |lowerer| match otherwise {
                        Some(otherwise) => lowerer.expression(otherwise),
                        None => lowerer.unit(),
                    },
                )
            }
            ExprKind::Match(value, arms) => {
                let ty = self.resolve(&expr.ty);
                let matched = self.resolve(&value.ty);
                let value = self.whole(value);
                self.arms(&value, &matched, arms, &ty)
            }
            ExprKind::Let(pattern, value) => {
                let ty = self.resolve(&value.ty);
                let value = self.whole(value);
                self.at(expr.span);
                let fits = self.fits(pattern, &ty, &value);
                self.bind(pattern, &ty, value);
                Tree::Leaf(fits.unwrap_or_else(|| self.builder().bool(true)))
            }
            ExprKind::Break(scope, value) => {
                let value = value.as_ref().map(|value| self.expression(value));
                self.at(expr.span);
                if let Some(exit) = self.frame().scopes.get(scope).cloned() {
                    self.leave(&exit, value);
                }
                self.nothing(expr)
            }
            ExprKind::Continue(scope) => {
                if let Some(exit) = self.frame().scopes.get(scope).cloned() {
                    let values = self.leaves_of(&exit.carried);
                    self.terminate(Op::Terminator(Terminator::Continue(exit.inst, values)));
                }
                self.nothing(expr)
            }
            ExprKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expression(value));
                self.at(expr.span);
                match self.frame().returns.clone() {
                    Returns::Function(exit) => self.leave(&exit, value),
                    Returns::Element(inst) => self.terminate(Op::Terminator(Terminator::Continue(inst, Vec::new()))),
                    Returns::Thread => self.terminate(Op::Terminator(Terminator::Return)),
                }
                self.nothing(expr)
            }
            _ => self.unit(),
        }
    }

    /// What an expression that does not return stands for.
    fn nothing(&mut self, expr: &Expr) -> Tree {
        let ty = self.resolve(&expr.ty);
        if ty == Ty::Never { self.unit() } else { self.zero(&ty) }
    }

    /// Leaves a scope with its carried variables and a value.
    pub(super) fn leave(&mut self, exit: &Exit, value: Option<Tree>) {
        let mut values = self.leaves_of(&exit.carried);
        if let (Some(ty), Some(value)) = (&exit.result, value) {
            let ty = ty.clone();
            values.extend(self.result_values(&ty, value));
        }
        self.terminate(Op::Terminator(Terminator::Break(exit.inst, values)));
    }

    /// A value's scalars, as results carry them.
    pub(super) fn result_values(&mut self, ty: &Ty, value: Tree) -> Vec<Value> {
        let values = self.materialized(value).leaves();
        // Others only after an error, or in dead code.
        if values.len() == self.leaf_types(ty).len() { values } else { self.zero(ty).leaves() }
    }

    /// `a && b`, `a || b`: the right side runs only if it must.
    pub(super) fn short_circuit(&mut self, a: &Expr, b: &Expr, and: bool) -> Tree {
        let left = self.value(a);
        if is_cheap(b) {
            let right = self.value(b);
            let op = if and { crate::ir::BinaryOp::And } else { crate::ir::BinaryOp::Or };
            return Tree::Leaf(self.builder().binary(op, left, right));
        }
        let known = |lowerer: &mut Self| Tree::Leaf(lowerer.builder().bool(!and));
        if and {
            self.branch(left, &Ty::BOOL, |lowerer| lowerer.expression(b), known)
        } else {
            self.branch(left, &Ty::BOOL, known, |lowerer| lowerer.expression(b))
        }
    }

    fn side(&mut self, block: Block, before: Vec<Var>, body: impl FnOnce(&mut Self) -> Tree) -> Side {
        self.block = block;
        self.dead = false;
        self.vars = before;
        let result = body(self);
        let result = if self.dead { result } else { self.materialized(result) };
        Side { block: self.block, dead: self.dead, vars: std::mem::take(&mut self.vars), result }
    }

    /// `if`: runs one of two sides; what they leave in variables and as values is joined.
    pub(super) fn branch(
        &mut self,
        condition: Value,
        ty: &Ty,
        then: impl FnOnce(&mut Self) -> Tree,
        otherwise: impl FnOnce(&mut Self) -> Tree,
    ) -> Tree {
        // `if N > 2 { a[2] } …`, N a generic: what is not taken in this instance need not even be possible.
        match self.kernel.known(condition) {
            Some(condition) if condition.is_true() => return then(self),
            Some(_) => return otherwise(self),
            None => {}
        }
        let (then_block, else_block) = (self.kernel.new_block(&[]), self.kernel.new_block(&[]));
        let inst = self.builder().push(Op::Region(Region::If { condition, then_block, else_block }), &[]);
        let (outer, was_dead, loc) = (self.block, self.dead, self.loc);
        let before = std::mem::take(&mut self.vars);
        let known = before.len();
        let then = self.side(then_block, before.clone(), then);
        let mut otherwise = self.side(else_block, before.clone(), otherwise);
        self.block = outer;
        self.dead = was_dead;
        self.loc = loc;
        self.vars = before;
        // Variables declared inside a side end with it; the vector may have grown with temporaries.
        otherwise.vars.truncate(known);
        if then.dead && otherwise.dead {
            // Nothing comes back: what follows is dead, and the block needs an end.
            self.terminate(Op::Terminator(Terminator::Return));
            return self.zero(ty);
        }
        self.join(inst, then, otherwise)
    }

    fn join(&mut self, inst: crate::ir::Inst, then: Side, otherwise: Side) -> Tree {
        let mut changed = Vec::new();
        let mut yields: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
        // Variables first declared on a side (deferred `let x;`) keep that side's shape.
        for index in 0..self.vars.len() {
            let live = if then.dead { &otherwise } else { &then };
            if matches!(self.vars[index], Var::Undeclared) {
                self.vars[index] = live.vars[index].clone();
            }
            let before = self.vars[index].leaves();
            let (mut a, mut b) = (then.vars[index].leaves(), otherwise.vars[index].leaves());
            if then.dead {
                a.clone_from(&b);
            }
            if otherwise.dead {
                b.clone_from(&a);
            }
            if a.len() != before.len() || b.len() != before.len() {
                continue;
            }
            for leaf in 0..before.len() {
                if a[leaf] == b[leaf] && a[leaf] == before[leaf] {
                    continue;
                }
                changed.push((index, leaf));
                yields[0].push(a[leaf]);
                yields[1].push(b[leaf]);
            }
        }
        let live_result = if then.dead { otherwise.result.clone() } else { then.result.clone() };
        let (mut given, mut other) = (then.result.leaves(), otherwise.result.leaves());
        if then.dead {
            given.clone_from(&other);
        } else if otherwise.dead || other.len() != given.len() {
            other.clone_from(&given);
        }
        yields[0].extend(&given);
        yields[1].extend(&other);
        let types = self.types_of(&yields[if then.dead { 1 } else { 0 }]);
        let values: Vec<Value> = types.iter().map(|ty| self.kernel.add_result(inst, *ty)).collect();
        for (side, values) in [(&then, &yields[0]), (&otherwise, &yields[1])] {
            if !side.dead {
                let end = self.kernel.new_inst(Op::Terminator(Terminator::Yield(values.clone())), &[], self.loc);
                self.kernel.blocks[side.block].insts.push(end);
            }
        }
        self.adopt(&changed, &values);
        let mut result = live_result;
        result.replace_leaves(&mut values[changed.len()..].iter().copied());
        result
    }

    /// Gives the changed leaves of variables their joined values.
    fn adopt(&mut self, changed: &[(usize, usize)], values: &[Value]) {
        for ((var, leaf), value) in changed.iter().zip(values) {
            let mut leaves = self.vars[*var].leaves();
            self.name_joined(*var, leaves[*leaf], *value);
            leaves[*leaf] = *value;
            self.vars[*var].replace_leaves(&mut leaves.into_iter());
        }
    }

    /// A `match`. Its arms are asked one after the other, each in the `else` of the one before; of many, so many at a time, and the next ones where
    /// none of those fitted. Else what is made of them would be nested as deep as there are arms.
    fn arms(&mut self, value: &Tree, matched: &Ty, arms: &[Arm], ty: &Ty) -> Tree {
        if arms.len() <= MOST_NESTED_ARMS {
            return self.nested_arms(value, matched, arms, &Asked { value: ty, joined: ty, rest: Rest::None });
        }
        let ty = if *ty == Ty::Never { Ty::unit() } else { ty.clone() };
        // Whether an arm fitted, and what it gave.
        let joined = Ty::Tuple(vec![Ty::BOOL, ty.clone()]);
        let mut found: Option<Tree> = None;
        for (n, part) in arms.chunks(MOST_NESTED_ARMS).enumerate() {
            let is_last = (n + 1) * MOST_NESTED_ARMS >= arms.len();
            let asked = Asked { value: &ty, joined: &joined, rest: if is_last { Rest::Last } else { Rest::More } };
            found = Some(match found {
                None => self.nested_arms(value, matched, part, &asked),
                Some(before) => {
                    let fitted = match &before {
                        Tree::Node(parts) => self.leaf(&parts[0]),
                        _ => self.builder().bool(false),
                    };
                    self.branch(fitted, &joined, |_| before, |lowerer| lowerer.nested_arms(value, matched, part, &asked))
                }
            });
        }
        match found {
            Some(Tree::Node(mut parts)) if parts.len() == 2 => parts.swap_remove(1),
            _ => self.zero(&ty),
        }
    }

    /// Arms, each in the `else` of the one before; the last of all without a guard is taken without asking.
    fn nested_arms(&mut self, value: &Tree, matched: &Ty, arms: &[Arm], asked: &Asked<'_>) -> Tree {
        let Some((arm, rest)) = arms.split_first() else {
            if asked.rest == Rest::More {
                return Tree::Node(vec![Tree::Leaf(self.builder().bool(false)), self.zero(asked.value)]);
            }
            // No arm is left: rustc proved this cannot be reached.
            self.terminate(Op::Terminator(Terminator::Trap("no arm of the `match` fits".to_owned())));
            return self.zero(asked.joined);
        };
        self.at(arm.pattern.span);
        let is_last = rest.is_empty() && arm.guard.is_none() && asked.rest != Rest::More;
        let fits = if is_last { None } else { self.fits(&arm.pattern, matched, value) };
        self.bind(&arm.pattern, matched, value.clone());
        let condition = match (&arm.guard, fits) {
            (None, None) => return self.arm(arm, asked),
            (None, Some(fits)) => fits,
            (Some(guard), None) => self.value(guard),
            (Some(guard), Some(fits)) => {
                let both =
                    self.branch(fits, &Ty::BOOL, |lowerer| lowerer.expression(guard), |lowerer| Tree::Leaf(lowerer.builder().bool(false)));
                self.leaf(&both)
            }
        };
        self.depth += 1;
        let found = self.branch(
            condition,
            asked.joined,
            |lowerer| lowerer.arm(arm, asked),
            |lowerer| lowerer.nested_arms(value, matched, rest, asked),
        );
        self.depth -= 1;
        found
    }

    /// What an arm that fits gives.
    fn arm(&mut self, arm: &Arm, asked: &Asked<'_>) -> Tree {
        let value = self.expression(&arm.body);
        if asked.rest == Rest::None {
            return value;
        }
        let value = if self.dead { self.zero(asked.value) } else { self.materialized(value) };
        Tree::Node(vec![Tree::Leaf(self.builder().bool(true)), value])
    }

    fn labelled(&mut self, scope: ScopeId, body: &Body, expr: &Expr) -> Tree {
        let ty = self.resolve(&expr.ty);
        let carried = self.assigned_in_block(body);
        self.region(carried, &ty, |lowerer, exit| {
            lowerer.frame_mut().scopes.insert(scope, exit.clone());
            lowerer.block(body)
        })
    }

    /// Runs `body` in a region that can be left early with a value of type `ty`.
    pub(super) fn region(&mut self, carried: Vec<usize>, ty: &Ty, body: impl FnOnce(&mut Self, &Exit) -> Tree) -> Tree {
        let inner = self.kernel.new_block(&[]);
        let leaves = self.leaves_of(&carried);
        let mut types = self.types_of(&leaves);
        let count = types.len();
        types.extend(self.leaf_types(ty));
        let inst = self.builder().push(Op::Region(Region::Block { body: inner }), &types);
        let exit = Exit { inst, carried, result: Some(ty.clone()) };
        let results = self.inside(&exit, inner, &[], |lowerer| {
            let value = body(lowerer, &exit);
            if lowerer.dead { Vec::new() } else { lowerer.result_values(ty, value) }
        });
        self.tree_of(ty, &results[count..])
    }

    /// Lowers what stands in a block of its own, where carried variables have these values at first: they and what `body` gives are what it yields.
    /// Gives the construct's results, the first of which the variables have behind it.
    pub(super) fn inside(&mut self, exit: &Exit, inner: Block, first: &[Value], body: impl FnOnce(&mut Self) -> Vec<Value>) -> Vec<Value> {
        let (outer, was_dead, loc) = (self.block, self.dead, self.loc);
        self.block = inner;
        self.dead = false;
        self.set_leaves(&exit.carried, first);
        let given = body(self);
        if !self.dead {
            let mut values = self.leaves_of(&exit.carried);
            values.extend(given);
            self.builder().push(Op::Terminator(Terminator::Yield(values)), &[]);
        }
        self.block = outer;
        self.dead = was_dead;
        self.loc = loc;
        let results = self.kernel.insts[exit.inst].results.clone();
        self.set_leaves(&exit.carried, &results);
        results
    }
}

/// Whether an expression may as well be evaluated where it is not needed: no memory, no calls, a few operations at most.
fn is_cheap(expr: &Expr) -> bool {
    fn cost(expr: &Expr) -> usize {
        const TOO_MUCH: usize = 1000;
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Const(_) | ExprKind::Local(_) => 0,
            ExprKind::Geometry(_) => 1,
            ExprKind::Len(_) => 1,
            ExprKind::Field(base, _) => cost(base),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => 1 + cost(a),
            ExprKind::Binary(crate::ir::BinaryOp::Div | crate::ir::BinaryOp::Rem, ..) => TOO_MUCH,
            ExprKind::Binary(_, a, b) | ExprKind::Compare(_, a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) => 1 + cost(a) + cost(b),
            _ => TOO_MUCH,
        }
    }
    cost(expr) <= 8
}
