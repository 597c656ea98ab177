//! Variables that are declared without a value: each has one before it is used, whichever way the thread came, and one without `mut` gets it once.
//!
//! `rustc` says the same of the host twin. Here it is found by one walk through the body: at each place, which variables surely have a value and which may.

use super::super::tree::{Block, Body, Expr, ExprKind, ForLoop, LocalId, Pattern, PatternKind, ScopeId, Statement};
use super::super::types::Ty;
use super::Context;
use crate::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is known of the variables where the walk is.
#[derive(Clone, Default)]
struct State {
    /// Whether no thread comes here.
    is_dead: bool,
    /// Variables that have a value, whichever way a thread came.
    surely: BTreeSet<LocalId>,
    /// Variables that have one on some way.
    perhaps: BTreeSet<LocalId>,
}

impl State {
    /// Where two ways meet.
    fn join(&mut self, other: &State) {
        if other.is_dead {
            return;
        }
        if self.is_dead {
            *self = other.clone();
            return;
        }
        self.surely = self.surely.intersection(&other.surely).copied().collect();
        self.perhaps.extend(&other.perhaps);
    }

    fn dead() -> State {
        State { is_dead: true, ..State::default() }
    }
}

/// Refuses uses of variables without a value. `declared` are those of a `let` without one, each with whether it was declared `mut`.
pub(super) fn check(context: &Context<'_>, body: &Body, declared: &BTreeMap<LocalId, bool>) {
    if declared.is_empty() {
        return;
    }
    let mut walk = Walk { context, body, declared, state: State::default(), breaks: HashMap::new(), repeats: HashMap::new(), is_silent: 0 };
    walk.expr(&body.root);
}

struct Walk<'w, 'p> {
    context: &'w Context<'p>,
    body: &'w Body,
    declared: &'w BTreeMap<LocalId, bool>,
    state: State,
    /// What is known behind each open loop or block, of the ways that leave it by `break`.
    breaks: HashMap<ScopeId, State>,
    /// What is known at the end of a turn, of the ways that end it by `continue`.
    repeats: HashMap<ScopeId, State>,
    /// Walks in which nothing is said: the first through each open loop.
    is_silent: u32,
}

impl Walk<'_, '_> {
    fn say(&self, diagnostic: Diagnostic) {
        if self.is_silent == 0 {
            self.context.report(diagnostic.by_rustc());
        }
    }

    fn used(&mut self, id: LocalId, expr: &Expr) {
        if self.state.is_dead || !self.declared.contains_key(&id) || self.state.surely.contains(&id) {
            return;
        }
        let local = &self.body.locals[id.0];
        let name = &local.name;
        let message = match self.state.perhaps.contains(&id) {
            true => format!("`{name}` may have no value here: not every way to this place gives it one"),
            false => format!("`{name}` has no value here"),
        };
        let help = format!("give it one where it is declared, `let mut {name} = …;`, or on every way before this");
        self.say(Diagnostic::error(expr.span, message).label(local.span, "declared without a value").help(help));
        // Said once of the places behind this one.
        self.state.surely.insert(id);
    }

    fn assigned(&mut self, id: LocalId, place: &Expr) {
        let Some(is_mutable) = self.declared.get(&id) else { return };
        if !is_mutable && !self.state.is_dead && self.state.perhaps.contains(&id) {
            let local = &self.body.locals[id.0];
            let message = format!("`{}` may have a value already, and was not declared `mut`", local.name);
            self.say(
                Diagnostic::error(place.span, message).label(local.span, "declared here").help(format!("write `let mut {};`", local.name)),
            );
        }
        self.state.surely.insert(id);
        self.state.perhaps.insert(id);
    }

    /// A variable that is declared anew, in each turn of a loop say.
    fn declare(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Bind(id, inner) => {
                self.state.surely.remove(id);
                self.state.perhaps.remove(id);
                inner.iter().for_each(|inner| self.declare(inner));
            }
            PatternKind::Fields(fields) => fields.iter().for_each(|(_, field)| self.declare(field)),
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match statement {
                // What a pattern names beside variables are constants.
                Statement::Let(_, Some(init)) => self.expr(init),
                Statement::Let(pattern, None) => self.declare(pattern),
                Statement::Shared(_) => {}
                Statement::Expr(expr) => self.expr(expr),
            }
        }
        block.tail.iter().for_each(|tail| self.expr(tail));
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    /// A loop: `turn` is one turn of it, `ends` whether it may end by itself, before a turn.
    fn turns(&mut self, scope: ScopeId, ends: bool, turn: impl Fn(&mut Self)) {
        // What a turn may have assigned, the next finds assigned. In a walk that says nothing that is of no matter, so loops in loops are not walked ever more often.
        if self.is_silent == 0 {
            let entry = self.state.clone();
            self.is_silent += 1;
            self.turn(scope, &turn);
            self.is_silent -= 1;
            let again = std::mem::replace(&mut self.state, entry);
            // What stands behind a `break` gives nothing to the next turn.
            if !again.is_dead {
                self.state.perhaps.extend(&again.perhaps);
            }
        }
        let head = self.state.clone();
        self.turn(scope, &turn);
        let mut behind = self.breaks.remove(&scope).unwrap_or_else(State::dead);
        if ends {
            behind.join(&head);
            if !self.state.is_dead {
                behind.perhaps.extend(&self.state.perhaps);
            }
        }
        self.state = behind;
    }

    /// One turn, up to where the next begins.
    fn turn(&mut self, scope: ScopeId, turn: &impl Fn(&mut Self)) {
        self.open(scope);
        turn(self);
        let repeated = self.repeats.remove(&scope).unwrap_or_else(State::dead);
        self.state.join(&repeated);
    }

    fn open(&mut self, scope: ScopeId) {
        self.breaks.insert(scope, State::dead());
        self.repeats.insert(scope, State::dead());
    }

    fn leave(&mut self, by: fn(&mut Self) -> &mut HashMap<ScopeId, State>, scope: ScopeId) {
        let here = self.state.clone();
        by(self).entry(scope).or_insert_with(State::dead).join(&here);
        self.state = State::dead();
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Const(_) | ExprKind::NoSums | ExprKind::Geometry(_) => {}
            ExprKind::Local(id) => self.used(*id, expr),
            ExprKind::Assign(place, value) => {
                self.expr(value);
                match &place.kind {
                    ExprKind::Local(id) => self.assigned(*id, place),
                    _ => self.expr(place),
                }
            }
            ExprKind::AssignOp(_, place, value) => self.all([&**value, &**place]),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) | ExprKind::Field(a, _) | ExprKind::Len(a) | ExprKind::Repeat(a, _) => self.expr(a),
            ExprKind::SplatRows(a) | ExprKind::ReduceRows(_, a) => self.expr(a),
            ExprKind::Binary(_, a, b) | ExprKind::Compare(_, a, b) | ExprKind::Index(a, b) | ExprKind::VectorLoad(a, b, _) => {
                self.all([&**a, &**b]);
            }
            ExprKind::Position(a, b) | ExprKind::RowOf(a, b) | ExprKind::SharedOf(a, b, _) => self.all([&**a, &**b]),
            // Where the right side is looked at, so is what it assigned; it assigns nothing otherwise than by a block.
            ExprKind::And(a, b) | ExprKind::Or(a, b) => self.all([&**a, &**b]),
            ExprKind::VectorStore(a, b, c) => self.all([&**a, &**b, &**c]),
            ExprKind::StoreSums(a, b, c) => self.all([&**a, &**b].into_iter().chain(c.as_deref())),
            ExprKind::MultiplyAdd([(a, _), (b, _)], sums) => self.all([&**a, &**b, &**sums]),
            ExprKind::Aggregate(fields, rest) => self.all(fields.iter().map(|(_, field)| field).chain(rest.as_deref())),
            ExprKind::Array(items) | ExprKind::Intrinsic(_, _, items) | ExprKind::Collective(_, items) | ExprKind::Print(_, items) => {
                self.all(items);
            }
            ExprKind::Call(_, _, items) => self.all(items),
            ExprKind::Texture(_, a, items) => self.all(std::iter::once(&**a).chain(items)),
            ExprKind::Atomic(_, _, a, b, items) => self.all([&**a, &**b].into_iter().chain(items)),
            ExprKind::Assert(a, _, items) => self.all(std::iter::once(&**a).chain(items)),
            ExprKind::Trap(_) => self.state = State::dead(),
            ExprKind::Block(block) => self.block(block),
            ExprKind::Labelled(scope, block) => {
                self.open(*scope);
                self.block(block);
                let behind = self.breaks.remove(scope).unwrap_or_else(State::dead);
                self.state.join(&behind);
            }
            ExprKind::If(condition, then, otherwise) => {
                self.expr(condition);
                let before = self.state.clone();
                self.expr(then);
                let behind = std::mem::replace(&mut self.state, before);
                otherwise.iter().for_each(|otherwise| self.expr(otherwise));
                self.state.join(&behind);
            }
            ExprKind::Match(value, arms) => {
                self.expr(value);
                let before = self.state.clone();
                let mut behind = State::dead();
                for arm in arms {
                    self.state = before.clone();
                    arm.guard.iter().for_each(|guard| self.expr(guard));
                    self.expr(&arm.body);
                    behind.join(&self.state);
                }
                self.state = behind;
            }
            ExprKind::Let(_, value) => self.expr(value),
            ExprKind::While(scope, condition, block) => {
                // The condition is looked at before each turn, and once more.
                self.expr(condition);
                self.turns(*scope, true, |walk| {
                    walk.expr(condition);
                    walk.block(block);
                });
            }
            ExprKind::Loop(scope, block) => self.turns(*scope, false, |walk| walk.block(block)),
            ExprKind::For(walked) => self.for_loop(walked),
            ExprKind::Break(scope, value) => {
                value.iter().for_each(|value| self.expr(value));
                self.leave(|walk| &mut walk.breaks, *scope);
            }
            ExprKind::Continue(scope) => self.leave(|walk| &mut walk.repeats, *scope),
            ExprKind::Return(value) => {
                value.iter().for_each(|value| self.expr(value));
                self.state = State::dead();
            }
        }
        // A call of what does not return.
        if matches!(expr.kind, ExprKind::Call(..)) && self.body.infer.shallow(&expr.ty) == Ty::Never {
            self.state = State::dead();
        }
    }

    fn for_loop(&mut self, walked: &ForLoop) {
        self.all([&walked.start, &walked.end].into_iter().chain(&walked.step));
        self.turns(walked.scope, true, |walk| walk.block(&walked.body));
    }
}
