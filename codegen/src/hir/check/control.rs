//! Blocks, statements and control flow.

use super::super::tree::{Arm, Block, Direction, Expr, ExprKind, ForLoop, LocalId, LocalKind, Pattern, Rows, ScopeId, Statement};
use super::super::types::{Const, Kind, Ty};
use super::exhaustive::PatternSite;
use super::expression::expr;
use super::{Checker, OpenScope, Unfilled};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::UnaryOp;
use crate::nearest::nearest;
use crate::syntax::{LoopKeyword, SharedAttribute};
use crate::target::limits::MOST_SHARED_BYTES;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// A range with what is done to it: `(a..b).rev().step_by(k)`.
struct Range<'s> {
    range: &'s syn::ExprRange,
    direction: Direction,
    step: Option<&'s syn::Expr>,
}

fn range_of(e: &syn::Expr) -> Option<Range<'_>> {
    match e {
        syn::Expr::Range(range) => Some(Range { range, direction: Direction::Up, step: None }),
        syn::Expr::Paren(paren) => range_of(&paren.expr),
        syn::Expr::Group(group) => range_of(&group.expr),
        syn::Expr::MethodCall(call) => {
            let inner = range_of(&call.receiver)?;
            match (call.method.to_string().as_str(), call.args.len()) {
                ("rev", 0) if inner.direction == Direction::Up => {
                    let direction = if inner.step.is_some() { Direction::StepsDown } else { Direction::Down };
                    Some(Range { direction, ..inner })
                }
                ("step_by", 1) if inner.step.is_none() => Some(Range { step: call.args.first(), ..inner }),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Checker<'_, '_> {
    /// Statements in the current name scope; the type of the block they make.
    pub(super) fn statements(&mut self, statements: &[syn::Stmt]) -> (Block, Ty) {
        let mut block = Block { statements: Vec::new(), tail: None };
        let mut diverges = false;
        self.declare_items(statements);
        for (index, statement) in statements.iter().enumerate() {
            let last = index + 1 == statements.len();
            match statement {
                syn::Stmt::Local(local) => {
                    if let Some(statement) = self.let_statement(local) {
                        diverges |= matches!(&statement, Statement::Let(_, Some(init)) if self.infer.shallow(&init.ty) == Ty::Never);
                        block.statements.push(statement);
                    }
                }
                // A lone `;`.
                syn::Stmt::Expr(syn::Expr::Verbatim(tokens), _) if tokens.is_empty() => {}
                syn::Stmt::Expr(e, semi) => {
                    let typed = self.expression(e);
                    if last && semi.is_none() {
                        let ty = if diverges { Ty::Never } else { typed.ty.clone() };
                        block.tail = Some(Box::new(typed));
                        return (block, ty);
                    }
                    if semi.is_none() {
                        self.expect(&typed.ty, &Ty::unit(), typed.span);
                    }
                    diverges |= self.infer.shallow(&typed.ty) == Ty::Never;
                    block.statements.push(Statement::Expr(typed));
                }
                syn::Stmt::Macro(mac) => {
                    let typed = self.macro_expression(&mac.mac, mac.mac.span());
                    if last && mac.semi_token.is_none() {
                        let ty = typed.ty.clone();
                        block.tail = Some(Box::new(typed));
                        return (block, ty);
                    }
                    diverges |= self.infer.shallow(&typed.ty) == Ty::Never;
                    block.statements.push(Statement::Expr(typed));
                }
                syn::Stmt::Item(syn::Item::Use(_) | syn::Item::Const(_)) => {}
                syn::Stmt::Item(item) => {
                    let help = "move it out of the body, into the kernel's module";
                    self.report(Diagnostic::error(item.span(), "items inside a body are not in the kernel language").help(help));
                }
            }
        }
        (block, if diverges { Ty::Never } else { Ty::unit() })
    }

    fn let_statement(&mut self, local: &syn::Local) -> Option<Statement> {
        let mut findings = Diagnostics::new();
        let shared = SharedAttribute::find(&local.attrs, &mut findings);
        self.context.diagnostics.borrow_mut().append(findings);
        if let Some(shared) = shared {
            return self.shared_declaration(local, &shared);
        }
        let init = local.init.as_ref().map(|init| self.expression(&init.expr));
        // It does not see the names that the pattern binds.
        let otherwise = local.init.as_ref().and_then(|init| init.diverge.as_ref()).map(|(_, diverge)| self.expression(diverge));
        let ty = match &local.pat {
            syn::Pat::Type(typed) => self.written_type(&typed.ty),
            _ => self.infer.fresh(Kind::Any),
        };
        if let Some(init) = &init {
            self.expect(&init.ty, &ty, init.span);
            // `let x = loop {…}` that never ends, `let x = return`: any type will do.
            if self.infer.shallow(&init.ty) == Ty::Never && matches!(self.infer.shallow(&ty), Ty::Var(_)) {
                self.infer.unify(&ty, &Ty::unit());
            }
        }
        let is_second_name = init.as_ref().is_some_and(|init| self.refuse_second_name(&local.pat, init));
        let declared = self.locals.len();
        let pattern = self.pattern(&local.pat, &ty);
        if is_second_name {
            // What is written by it is no second mistake.
            self.locals[declared..].iter_mut().for_each(|local| local.mutable = true);
        }
        if local.init.as_ref().is_none_or(|init| init.diverge.is_none()) {
            let shape = self.shape_of_let(&pattern);
            self.matches.push((PatternSite::Let, ty.clone(), vec![shape], pattern.span));
        }
        if init.is_none() {
            // `let x;` is assigned later, once: whether it is once is looked at when all is typed.
            for (index, local) in self.locals.iter_mut().enumerate().skip(declared) {
                self.unfilled.insert(LocalId(index), Unfilled { is_mutable: local.mutable, ..Unfilled::default() });
                local.mutable = true;
            }
        }
        Some(match (init, otherwise) {
            (Some(init), Some(otherwise)) => Statement::Expr(self.let_else(pattern, init, otherwise, local.span())),
            (init, _) => Statement::Let(pattern, init),
        })
    }

    /// `let a = y;` of a buffer that is written to: to `rustc` it is `a` from here on, and `y` no more. Whether it is that.
    fn refuse_second_name(&mut self, pattern: &syn::Pat, init: &Expr) -> bool {
        let ExprKind::Local(id) = init.kind else { return false };
        let buffer = &self.locals[id.0];
        if !buffer.mutable || !matches!(self.infer.shallow(&buffer.ty), Ty::Global(_)) {
            return false;
        }
        let (name, second) = (&buffer.name, crate::syntax::written(pattern));
        let message =
            format!("`{name}` is a `&mut {}`, which has one name in a kernel: `{second}` would be a second", self.show(&buffer.ty));
        let error = Diagnostic::error(init.span, message).label(buffer.span, "declared here");
        self.report(error.help(format!("write `{name}` where `{second}` stands, and remove this `let`")));
        true
    }

    /// `let p = e else { … }`: as a statement, `if !(let p = e) { … }`, whose names live on.
    fn let_else(&mut self, pattern: Pattern, init: Expr, otherwise: Expr, span: Span) -> Expr {
        if self.infer.shallow(&otherwise.ty) != Ty::Never {
            self.report(
                Diagnostic::error(otherwise.span, "the `else` of a `let` has to leave: `return`, `break` or `continue`")
                    .help("write `return;` at its end")
                    .by_rustc(),
            );
        }
        let fits = expr(ExprKind::Let(pattern, Box::new(init)), Ty::BOOL, span);
        let misses = expr(ExprKind::Unary(UnaryOp::Not, Box::new(fits)), Ty::BOOL, span);
        expr(ExprKind::If(Box::new(misses), Box::new(otherwise), None), Ty::unit(), span)
    }

    fn shared_declaration(&mut self, local: &syn::Local, attribute: &SharedAttribute) -> Option<Statement> {
        let SharedAttribute { dynamic, span, .. } = *attribute;
        let syn::Pat::Type(typed) = &local.pat else {
            let name = crate::syntax::written(&local.pat);
            let name = name.strip_prefix("mut ").unwrap_or(&name);
            let ty = local.init.as_ref().and_then(|init| type_of_value(&init.expr)).unwrap_or_else(|| "[[f32; 16]; 16]".to_owned());
            let without = if local.init.is_some() { ", and no value: the threads store its initial values" } else { "" };
            let help = format!("write its type, `#[shared] let mut {name}: {ty};`{without}");
            self.report(Diagnostic::error(local.pat.span(), "a shared array needs its type").help(help));
            // Its uses are not looked at: they may be right.
            let span = local.pat.span();
            let ty = self.infer.fresh(Kind::Any);
            self.declare(name, ty, LocalKind::Shared, true, span);
            return None;
        };
        let syn::Pat::Ident(ident) = &*typed.pat else {
            let help = "write a `#[shared] let` for each: `#[shared] let mut tile: [f32; 256];`";
            self.report(Diagnostic::error(typed.pat.span(), "a shared array has one plain name").help(help));
            self.bind_anything(&typed.pat);
            return None;
        };
        if let Some(init) = &local.init {
            let help = "remove `= …`; let the threads store its initial values, and call `sync_threads()`";
            self.report(Diagnostic::error(init.expr.span(), "shared memory is not initialised by a `let`").help(help));
        }
        let ty = self.written_type(&typed.ty);
        let within = self.slice_within(&ty);
        match (&ty, dynamic) {
            _ if within.is_some() => {
                let inner = within.unwrap_or_default();
                let message = format!("`[{inner}]` has no length, and only the first dimension of `{}` may be without", ident.ident);
                let help = format!("give it one, `[{inner}; 32]`");
                self.report(Diagnostic::error(typed.ty.span(), message).help(help).by_rustc());
            }
            (Ty::Array(..), false) | (Ty::Slice(_), true) | (Ty::Var(_), _) => {}
            (Ty::Slice(_), false) => {
                let help = "write `#[shared(dynamic)]`, and `.shared_bytes(n)` at the launch";
                self.report(Diagnostic::error(span, "a shared slice has no length").help(help));
            }
            (_, true) => {
                let element = if let Ty::Array(element, _) = &ty { self.show(element) } else { "f32".to_owned() };
                let help = format!("write `let mut {}: [{element}];`", ident.ident);
                self.report(Diagnostic::error(typed.ty.span(), "dynamic shared memory is a slice").help(help));
            }
            (Ty::Scalar(_) | Ty::Usize | Ty::Isize | Ty::Adt(..) | Ty::Tuple(_), false) => {}
            (other, false) => {
                let help = match other {
                    Ty::Accumulator(..) | Ty::Rows(..) => "leave `#[shared]` out: the block's threads hold these values in registers",
                    _ => "write an array, `[f32; 256]`, and copy the elements into it",
                };
                self.report(Diagnostic::error(typed.ty.span(), "shared memory holds arrays, scalars and structs").help(help));
            }
        }
        let kind = if dynamic { LocalKind::SharedDynamic } else { LocalKind::Shared };
        let name = ident.ident.to_string();
        // Of what is refused nothing more is counted: its bytes may be beyond `u64`.
        let rows = if self.is_beyond_shared(&ty, ident) { Rows::default() } else { self.rows(attribute, &name, &ty) };
        let id = self.declare(&name, ty, kind, ident.mutability.is_some(), ident.ident.span());
        self.rows.insert(id, rows);
        Some(Statement::Shared(id))
    }

    /// Whether an array takes more bytes than can be added up with those of the others, which lowering does; or an element of one, of which nobody else sees that no target has so many for a block: then it
    /// is said.
    fn is_beyond_shared(&self, ty: &Ty, ident: &syn::PatIdent) -> bool {
        let of_element = format!("an element of `{}` takes", ident.ident);
        let (mut part, mut what, mut most) = (self.infer.shallow(ty), "shared arrays take", u32::MAX);
        loop {
            let bytes = self.least_bytes(&part);
            if bytes > u64::from(most) {
                let message = format!("{what} {bytes} bytes, and no target has more than {MOST_SHARED_BYTES} for a block");
                self.report(Diagnostic::error(ident.ident.span(), message).help(format!("make `{}` smaller", ident.ident)));
                return true;
            }
            let (Ty::Array(element, _) | Ty::Slice(element)) = part else { return false };
            (part, what, most) = (self.infer.shallow(&element), &of_element, MOST_SHARED_BYTES);
        }
    }

    /// Bytes that a type takes in memory; of one whose size only lowering knows, the least.
    fn least_bytes(&self, ty: &Ty) -> u64 {
        match self.infer.shallow(ty) {
            Ty::Scalar(scalar) => scalar.bytes().into(),
            Ty::Array(element, Const::Value(len)) => {
                // A negative one is reported where it is written.
                let len = u64::try_from(len).unwrap_or(if len < 0 { 0 } else { u64::MAX });
                self.least_bytes(&element).saturating_mul(len)
            }
            Ty::Array(_, Const::Var(_)) | Ty::Slice(_) => 0,
            _ => 1,
        }
    }

    /// The element of a slice that stands within a slice or an array.
    fn slice_within(&self, ty: &Ty) -> Option<String> {
        let (Ty::Array(row, _) | Ty::Slice(row)) = self.infer.shallow(ty) else { return None };
        match self.infer.shallow(&row) {
            Ty::Slice(element) => Some(self.show(&element)),
            row => self.slice_within(&row),
        }
    }

    pub(super) fn block_expression(&mut self, block: &syn::ExprBlock, span: Span) -> Expr {
        let Some(label) = &block.label else {
            let (block, ty) = self.block(&block.block.stmts);
            return expr(ExprKind::Block(block), ty, span);
        };
        let ty = self.infer.fresh(Kind::Any);
        let id = self.open_scope(Some(label), Some(ty.clone()), false);
        let (inner, tail) = self.block(&block.block.stmts);
        self.expect(&tail, &ty, span);
        self.open.pop();
        expr(ExprKind::Labelled(id, inner), ty, span)
    }

    fn open_scope(&mut self, label: Option<&syn::Label>, result: Option<Ty>, is_loop: bool) -> ScopeId {
        let id = ScopeId(self.scopes);
        self.scopes += 1;
        let label = label.map(|label| label.name.ident.to_string());
        self.open.push(OpenScope { label, id, result, is_loop, broken: false });
        id
    }

    /// The type both branches agree on; one that does not return agrees with all.
    fn join(&mut self, a: &Expr, b: &Expr) -> Ty {
        self.expect(&b.ty, &a.ty, b.span);
        if self.infer.shallow(&a.ty) == Ty::Never { b.ty.clone() } else { a.ty.clone() }
    }

    pub(super) fn if_expression(&mut self, e: &syn::ExprIf, span: Span) -> Expr {
        // Names bound by `if let` live in the condition and the then-branch.
        let (condition, then) = self.in_scope(|checker| {
            let condition = checker.condition(&e.cond);
            let (block, ty) = checker.block(&e.then_branch.stmts);
            (condition, expr(ExprKind::Block(block), ty, e.then_branch.span()))
        });
        let Some((_, otherwise)) = &e.else_branch else {
            let value = self.infer.resolve(&then.ty);
            if self.is_number(&value) || value == Ty::BOOL {
                let message = format!("an `if` without an `else` gives nothing, and this is {}", self.shown(&value));
                let error = Diagnostic::error(then.span, message);
                self.report(error.help("write `;` behind the value, `return` before it, or an `else` with another").by_rustc());
                return expr(ExprKind::If(Box::new(condition), Box::new(then), None), value, span);
            }
            self.expect(&then.ty, &Ty::unit(), then.span);
            return expr(ExprKind::If(Box::new(condition), Box::new(then), None), Ty::unit(), span);
        };
        let otherwise = self.expression(otherwise);
        let ty = self.join(&then, &otherwise);
        expr(ExprKind::If(Box::new(condition), Box::new(then), Some(Box::new(otherwise))), ty, span)
    }

    pub(super) fn let_condition(&mut self, e: &syn::ExprLet, span: Span) -> Expr {
        let value = self.expression(&e.expr);
        let pattern = self.pattern(&e.pat, &value.ty.clone());
        expr(ExprKind::Let(pattern, Box::new(value)), Ty::BOOL, span)
    }

    pub(super) fn match_expression(&mut self, e: &syn::ExprMatch, span: Span) -> Expr {
        let value = self.expression(&e.expr);
        let mut ty = Ty::Never;
        let mut arms = Vec::new();
        for arm in &e.arms {
            let arm = self.in_scope(|checker| {
                let (pattern, guard) = match &arm.pat {
                    syn::Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                    pattern => (pattern, None),
                };
                let pattern = checker.pattern(pattern, &value.ty.clone());
                let guard = guard.map(|guard| {
                    let guard = checker.expression(guard);
                    checker.expect(&guard.ty, &Ty::BOOL, guard.span);
                    guard
                });
                let body = checker.expression(&arm.body);
                Arm { pattern, guard, body }
            });
            self.expect(&arm.body.ty, &ty, arm.body.span);
            if self.infer.shallow(&ty) == Ty::Never {
                ty = arm.body.ty.clone();
            }
            arms.push(arm);
        }
        if arms.is_empty() {
            let error = Diagnostic::error(span, "a `match` without arms is not in the kernel language");
            return self.error_expression(error.help("write an arm: `_ => …`"));
        }
        let shapes = arms.iter().map(|arm| self.shape_of_arm(arm)).collect();
        self.matches.push((PatternSite::Match, value.ty.clone(), shapes, e.match_token.span()));
        expr(ExprKind::Match(Box::new(value), arms), ty, span)
    }

    pub(super) fn while_loop(&mut self, e: &syn::ExprWhile, span: Span) -> Expr {
        let id = self.open_scope(e.label.as_ref(), None, true);
        self.annotate(id, &e.attrs, LoopKeyword::While);
        let kind = self.in_scope(|checker| {
            let condition = checker.condition(&e.cond);
            let (body, ty) = checker.block(&e.body.stmts);
            checker.expect(&ty, &Ty::unit(), e.body.span());
            ExprKind::While(id, Box::new(condition), body)
        });
        self.open.pop();
        expr(kind, Ty::unit(), span)
    }

    pub(super) fn endless_loop(&mut self, e: &syn::ExprLoop, span: Span) -> Expr {
        let result = self.infer.fresh(Kind::Any);
        let id = self.open_scope(e.label.as_ref(), Some(result.clone()), true);
        self.annotate(id, &e.attrs, LoopKeyword::Loop);
        let (body, ty) = self.block(&e.body.stmts);
        self.expect(&ty, &Ty::unit(), e.body.span());
        let broken = self.open.pop().is_some_and(|open| open.broken);
        expr(ExprKind::Loop(id, body), if broken { result } else { Ty::Never }, span)
    }

    pub(super) fn for_loop(&mut self, e: &syn::ExprForLoop, span: Span) -> Expr {
        let Some(Range { range, direction, step }) = range_of(&e.expr) else {
            let message = "a `for` in a kernel walks a range";
            let help = "write `for i in a..b`, with `.rev()` or `.step_by(k)` if need be, and index with `i`";
            return self.error_expression(Diagnostic::error(e.expr.span(), message).help(help));
        };
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            let help = "write `for i in a..b`, or `loop` with a `break`";
            return self.error_expression(Diagnostic::error(range.span(), "this range has no end").help(help));
        };
        let start = self.expression(start);
        let end = self.expression(end);
        self.expect(&end.ty, &start.ty, end.span);
        self.demand(&start.ty, super::Demand::Integer, range.span());
        // What is written below 1 has been refused with the syntax.
        let is_refused = |step: &syn::Expr| matches!(step, syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) if matches!(**expr, syn::Expr::Lit(_)));
        let step = step.filter(|step| !is_refused(step)).map(|step| {
            let step = self.expression(step);
            self.expect(&step.ty, &Ty::Usize, step.span);
            if step.known_int() == Some(0) {
                self.report(Diagnostic::error(step.span, "a step of 0 never ends").help("step by 1 or more"));
            }
            step
        });
        let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
        if direction == Direction::StepsDown {
            self.demand(&start.ty, super::Demand::ExactLength { inclusive }, e.expr.span());
        }
        let scope = self.open_scope(e.label.as_ref(), None, true);
        self.annotate(scope, &e.attrs, LoopKeyword::For);
        let (pattern, body) = self.in_scope(|checker| {
            let pattern = checker.pattern(&e.pat, &start.ty.clone());
            let (body, ty) = checker.block(&e.body.stmts);
            checker.expect(&ty, &Ty::unit(), e.body.span());
            (pattern, body)
        });
        self.open.pop();
        let walk = ForLoop { scope, pattern, start, end, inclusive, direction, step, body };
        expr(ExprKind::For(Box::new(walk)), Ty::unit(), span)
    }

    /// `.step_by(k).rev()` of a range whose length Rust does not count.
    pub(super) fn refuse_steps_backwards(&self, ty: &Ty, inclusive: bool, span: Span) -> Diagnostic {
        let (range, ty) = (if inclusive { "a..=b" } else { "a..b" }, self.show(ty));
        let message = format!("`.step_by(k).rev()` needs a length, and Rust counts none for `{range}` of `{ty}`");
        let help = if inclusive && !ty.ends_with("64") {
            "write `(a..b + 1).step_by(k).rev()`, if `b + 1` fits the type"
        } else {
            "count the steps: `for n in (0..count).rev() { let i = a + n * k; … }`"
        };
        Diagnostic::error(span, message).help(help)
    }

    fn find_open(&mut self, label: Option<&syn::Lifetime>, span: Span, what: &str) -> Option<usize> {
        let found = match label {
            Some(label) => {
                let name = label.ident.to_string();
                self.open.iter().rposition(|open| open.label.as_ref() == Some(&name))
            }
            None => self.open.iter().rposition(|open| open.is_loop),
        };
        match label.filter(|_| found.is_none()) {
            Some(label) => {
                let known = self.open.iter().filter_map(|open| open.label.as_deref());
                let help = match nearest(&label.ident.to_string(), known) {
                    Some(near) => format!("write `{what} '{near}`"),
                    None => format!("write it before the loop that is meant: `{label}: for …`"),
                };
                self.report(
                    Diagnostic::error(label.span(), format!("there is no loop around this with the label `{label}`")).help(help).by_rustc(),
                );
            }
            None if found.is_none() => {
                let error = Diagnostic::error(span, format!("`{what}` outside a loop it could leave"));
                self.report(error.help("write `return` to leave the function").by_rustc());
            }
            None => {}
        }
        found
    }

    pub(super) fn break_expression(&mut self, e: &syn::ExprBreak, span: Span) -> Expr {
        let value = e.expr.as_ref().map(|value| self.expression(value));
        let Some(index) = self.find_open(e.label.as_ref(), span, "break") else {
            return expr(ExprKind::Int(0), Ty::Never, span);
        };
        self.open[index].broken = true;
        let (id, result) = (self.open[index].id, self.open[index].result.clone());
        match (&result, &value) {
            (Some(result), Some(value)) => self.expect(&value.ty, result, value.span),
            (Some(result), None) => self.expect(&Ty::unit(), result, span),
            (None, Some(value)) => {
                let error = Diagnostic::error(value.span, "`break` with a value leaves `loop` or a labelled block only");
                let written = e.expr.as_deref().map(crate::syntax::written).unwrap_or_default();
                let help = format!("declare `let mut found;` before the loop, and write `found = {written}; break;`");
                self.report(error.help(help).by_rustc());
            }
            (None, None) => {}
        }
        expr(ExprKind::Break(id, value.map(Box::new)), Ty::Never, span)
    }

    pub(super) fn continue_expression(&mut self, e: &syn::ExprContinue, span: Span) -> Expr {
        match self.find_open(e.label.as_ref(), span, "continue") {
            Some(index) if self.open[index].is_loop => expr(ExprKind::Continue(self.open[index].id), Ty::Never, span),
            Some(index) => {
                let label = self.open[index].label.clone().unwrap_or_default();
                let error = Diagnostic::error(span, "`continue` names a block, not a loop");
                self.error_expression(error.help(format!("write `break '{label}`, which leaves the block")).by_rustc())
            }
            None => expr(ExprKind::Int(0), Ty::Never, span),
        }
    }

    pub(super) fn return_expression(&mut self, e: &syn::ExprReturn, span: Span) -> Expr {
        let value = e.expr.as_ref().map(|value| self.expression(value));
        match &value {
            Some(value) => {
                let help = self.instead_of_result(&value.ty, e.expr.as_deref());
                self.expect_result(&value.ty, value.span, &help);
            }
            None => self.expect_result(&Ty::unit(), span, "write the value behind `return`"),
        }
        expr(ExprKind::Return(value.map(Box::new)), Ty::Never, span)
    }

    /// What to write where a value is given by a function that gives none.
    fn instead_of_result(&self, found: &Ty, value: Option<&syn::Expr>) -> String {
        if self.is_kernel {
            let value = value.map_or_else(|| "v".to_owned(), crate::syntax::written);
            return format!("a kernel gives nothing back: write `y[i] = {value}; return;`, into a buffer");
        }
        let found = self.infer.resolve(found);
        let ty = match self.infer.kind(&found) {
            Some(Kind::Int) => "i32".to_owned(),
            Some(Kind::Float) => "f32".to_owned(),
            _ => self.show(&found),
        };
        format!("remove the value, or write `-> {ty}` behind the parameters")
    }

    /// Whether a value is one that the function gives: none is where it gives `!`, which goes with everything. `help`: the edit where there is a value too many, or none.
    pub(super) fn expect_result(&mut self, found: &Ty, span: Span, help: &str) {
        let result = self.result.clone();
        let found = self.infer.shallow(found);
        if result == Ty::Never && found != Ty::Never && self.infer.kind(&found) != Some(Kind::Any) {
            let message = "a function that gives `!` does not return";
            let error = Diagnostic::error(span, message).help("end it by a `panic!` or an endless loop, or write what it gives: `-> u32`");
            self.report(error.by_rustc());
        }
        let is_unit = |ty: &Ty| matches!(ty, Ty::Tuple(parts) if parts.is_empty());
        let (is_none, is_wanted) = (is_unit(&found), !is_unit(&self.infer.shallow(&result)));
        let is_known = !matches!(found, Ty::Var(_)) || self.infer.kind(&found) != Some(Kind::Any);
        if is_none == is_wanted && is_known && found != Ty::Never && result != Ty::Never {
            let message = format!("expected {}, found {}", self.shown(&result), self.shown(&found));
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
            return;
        }
        self.expect(&found, &result, span);
    }

    /// `N` of a vector access.
    pub(super) fn known_const(&self, value: Const) -> Option<i128> {
        match self.infer.resolve_const(value) {
            Const::Value(value) => Some(value),
            Const::Var(_) => None,
        }
    }
}

/// What to write where a function that gives a value ends without, or with one that it does not give.
pub(super) fn help_of_end(body: &syn::Block, gives: bool) -> &'static str {
    let is_assignment = |e: &syn::Expr| match e {
        syn::Expr::Assign(_) => true,
        syn::Expr::Binary(binary) => super::mismatch::is_assignment(&binary.op),
        _ => false,
    };
    match body.stmts.last() {
        _ if !gives => "write `;` behind it",
        None => "write the value between the braces",
        Some(syn::Stmt::Expr(syn::Expr::If(e), None)) if e.else_branch.is_none() => "write the value behind the `if`, or an `else` with it",
        Some(syn::Stmt::Expr(syn::Expr::ForLoop(_) | syn::Expr::While(_) | syn::Expr::Loop(_), _)) => "write the value behind the loop",
        Some(syn::Stmt::Expr(e, Some(_))) if !is_assignment(e) => "end with the value, and no `;` behind it",
        Some(_) => "write the value behind it",
    }
}

/// The type of an array that is written as a value: `[f32; 256]` of `[0.0f32; 256]`.
fn type_of_value(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Repeat(repeat) => Some(format!("[{}; {}]", type_of_value(&repeat.expr)?, crate::syntax::written(&repeat.len))),
        syn::Expr::Array(array) => Some(format!("[{}; {}]", type_of_value(array.elems.first()?)?, array.elems.len())),
        syn::Expr::Lit(literal) => Some(match &literal.lit {
            syn::Lit::Int(int) if int.suffix().is_empty() => "u32".to_owned(),
            syn::Lit::Int(int) => int.suffix().to_owned(),
            syn::Lit::Float(float) if float.suffix().is_empty() => "f32".to_owned(),
            syn::Lit::Float(float) => float.suffix().to_owned(),
            syn::Lit::Bool(_) => "bool".to_owned(),
            _ => return None,
        }),
        _ => None,
    }
}
