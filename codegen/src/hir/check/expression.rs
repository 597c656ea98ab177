//! Expressions: literals, operators, aggregates, places. Control flow is in `control`, calls in `call`.

use super::super::tree::{Block, Expr, ExprKind, LocalKind, Statement};
use super::super::types::{Const, Kind, Ty};
use super::edits::instead_of_assigning;
use super::literals::{Literal, settle_cast};
use super::{Checker, Demand};
use crate::diagnostic::Diagnostic;
use crate::ir::{BinaryOp, CompareOp, Type, UnaryOp};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// Most fields of a tuple, those of the tuples in it counted.
const MOST_FIELDS: usize = 1024;

/// What a binary operator of the source is here, whether it assigns or not.
enum Operator {
    Arithmetic(BinaryOp, Demand),
    Shift(BinaryOp),
    Compare(CompareOp),
    And,
    Or,
    Unknown,
}

fn operator(op: &syn::BinOp) -> Operator {
    use Operator::{And, Arithmetic, Compare, Or, Shift, Unknown};
    match op {
        syn::BinOp::Add(_) | syn::BinOp::AddAssign(_) => Arithmetic(BinaryOp::Add, Demand::Number),
        syn::BinOp::Sub(_) | syn::BinOp::SubAssign(_) => Arithmetic(BinaryOp::Sub, Demand::Number),
        syn::BinOp::Mul(_) | syn::BinOp::MulAssign(_) => Arithmetic(BinaryOp::Mul, Demand::Number),
        syn::BinOp::Div(_) | syn::BinOp::DivAssign(_) => Arithmetic(BinaryOp::Div, Demand::Number),
        syn::BinOp::Rem(_) | syn::BinOp::RemAssign(_) => Arithmetic(BinaryOp::Rem, Demand::Number),
        syn::BinOp::BitAnd(_) | syn::BinOp::BitAndAssign(_) => Arithmetic(BinaryOp::And, Demand::Bits),
        syn::BinOp::BitOr(_) | syn::BinOp::BitOrAssign(_) => Arithmetic(BinaryOp::Or, Demand::Bits),
        syn::BinOp::BitXor(_) | syn::BinOp::BitXorAssign(_) => Arithmetic(BinaryOp::Xor, Demand::Bits),
        syn::BinOp::Shl(_) | syn::BinOp::ShlAssign(_) => Shift(BinaryOp::Shl),
        syn::BinOp::Shr(_) | syn::BinOp::ShrAssign(_) => Shift(BinaryOp::Shr),
        syn::BinOp::Eq(_) => Compare(CompareOp::Eq),
        syn::BinOp::Ne(_) => Compare(CompareOp::Ne),
        syn::BinOp::Lt(_) => Compare(CompareOp::Lt),
        syn::BinOp::Le(_) => Compare(CompareOp::Le),
        syn::BinOp::Gt(_) => Compare(CompareOp::Gt),
        syn::BinOp::Ge(_) => Compare(CompareOp::Ge),
        syn::BinOp::And(_) => And,
        syn::BinOp::Or(_) => Or,
        _ => Unknown,
    }
}

pub(super) fn expr(kind: ExprKind, ty: Ty, span: Span) -> Expr {
    Expr { kind, ty, span }
}

impl Checker<'_, '_> {
    /// Types an expression.
    pub(crate) fn expression(&mut self, e: &syn::Expr) -> Expr {
        let span = e.span();
        match e {
            syn::Expr::Lit(lit) => self.literal(&lit.lit, span),
            syn::Expr::Path(path) => self.path_expression(path),
            syn::Expr::Paren(paren) => self.expression(&paren.expr),
            syn::Expr::Group(group) => self.expression(&group.expr),
            syn::Expr::Unary(unary) => self.unary(unary, span),
            syn::Expr::Binary(binary) => self.binary(binary, span),
            syn::Expr::Assign(assign) => self.assign(assign, span),
            syn::Expr::Cast(cast) => self.cast(cast, span),
            syn::Expr::Field(field) => self.field(field, span),
            syn::Expr::Index(index) => self.index(index, span),
            syn::Expr::Tuple(tuple) => {
                let fields: Vec<Expr> = tuple.elems.iter().map(|e| self.expression(e)).collect();
                let ty = Ty::Tuple(fields.iter().map(|f| f.ty.clone()).collect());
                if self.infer.weigh(&ty, MOST_FIELDS) == 0 {
                    let message = format!("this tuple has more than {MOST_FIELDS} fields, those of its fields counted");
                    return self.error_expression(Diagnostic::error(span, message).help("use arrays, or a buffer"));
                }
                expr(ExprKind::Aggregate((0..).zip(fields).collect(), None), ty, span)
            }
            syn::Expr::Array(array) => {
                let element = self.infer.fresh(Kind::Any);
                let elements: Vec<Expr> = array.elems.iter().map(|e| self.expression(e)).collect();
                for e in &elements {
                    self.expect(&e.ty, &element, e.span);
                }
                let ty = Ty::Array(Box::new(element), Const::Value(elements.len() as i128));
                expr(ExprKind::Array(elements), ty, span)
            }
            syn::Expr::Repeat(repeat) => {
                let element = self.expression(&repeat.expr);
                let len = self.const_expression(&repeat.len, &Ty::Usize);
                let ty = Ty::Array(Box::new(element.ty.clone()), len);
                self.arrays.push((ty.clone(), span));
                expr(ExprKind::Repeat(Box::new(element), len), ty, span)
            }
            syn::Expr::Struct(literal) => self.struct_literal(literal, span),
            syn::Expr::Block(block) => self.block_expression(block, span),
            syn::Expr::Const(block) => {
                let (block, ty) = self.block(&block.block.stmts);
                expr(ExprKind::Block(block), ty, span)
            }
            syn::Expr::Reference(reference) => self.reference(reference, span),
            syn::Expr::If(e) => self.if_expression(e, span),
            syn::Expr::Match(e) => self.match_expression(e, span),
            syn::Expr::Let(e) => self.let_condition(e, span),
            syn::Expr::While(e) => self.while_loop(e, span),
            syn::Expr::Loop(e) => self.endless_loop(e, span),
            syn::Expr::ForLoop(e) => self.for_loop(e, span),
            syn::Expr::Break(e) => self.break_expression(e, span),
            syn::Expr::Continue(e) => self.continue_expression(e, span),
            syn::Expr::Return(e) => self.return_expression(e, span),
            syn::Expr::Call(e) => self.call(e, span),
            syn::Expr::MethodCall(e) => self.method_call(e, span),
            syn::Expr::Macro(e) => self.macro_expression(&e.mac, span),
            other => {
                let error = Diagnostic::error(span, "this expression is not in the kernel language");
                self.error_expression(error.help(crate::syntax::edit_of_expression(other)))
            }
        }
    }

    fn literal(&mut self, lit: &syn::Lit, span: Span) -> Expr {
        match lit {
            syn::Lit::Int(int) => {
                // In a pattern `-3` is one literal.
                let Ok(value) = int.base10_parse::<i128>() else {
                    let message = "this integer is too large: the widest integers of a kernel have 64 bits";
                    let help = "write at most 0xffff_ffff_ffff_ffff, or two integers of 64 bits";
                    return self.error_expression(Diagnostic::error(span, message).help(help).by_rustc());
                };
                let Some(ty) = self.suffixed(int.suffix(), int.base10_digits(), Kind::Int, span) else { return self.anything(span) };
                if ty.is_float() {
                    return expr(ExprKind::Float(value as f64), ty, span);
                }
                self.literals.push(Literal::int(value, &ty, span));
                expr(ExprKind::Int(value), ty, span)
            }
            syn::Lit::Float(float) => {
                let Ok(value) = float.base10_parse::<f64>() else {
                    return self.error_expression(Diagnostic::error(span, "this number cannot be read").by_rustc());
                };
                let Some(ty) = self.suffixed(float.suffix(), float.base10_digits(), Kind::Float, span) else { return self.anything(span) };
                self.literals.push(Literal::float(float.base10_digits(), &ty, span));
                // Read as `f32` where it is one, so that it is rounded once.
                let value = match &ty {
                    Ty::Scalar(Type::F32) => float.base10_parse::<f32>().map_or(value, f64::from),
                    _ => value,
                };
                expr(ExprKind::Float(value), ty, span)
            }
            syn::Lit::Bool(value) => {
                let scalar = crate::syntax::ConstValue::Scalar(crate::ir::Scalar::bool(value.value));
                expr(ExprKind::Const(scalar), Ty::BOOL, span)
            }
            syn::Lit::Byte(byte) => expr(ExprKind::Int(i128::from(byte.value())), Ty::Scalar(Type::U8), span),
            _ => {
                let diagnostic = Diagnostic::error(span, "text is not a value in a kernel");
                self.error_expression(diagnostic.help("text is allowed in `print!` and `assert!` only"))
            }
        }
    }

    /// The type of a number with this suffix. CUDA's suffixes are named with what Rust has for them.
    fn suffixed(&mut self, suffix: &str, digits: &str, kind: Kind, span: Span) -> Option<Ty> {
        if suffix.is_empty() {
            return Some(self.infer.fresh(kind));
        }
        let known = Ty::primitive(suffix).filter(|ty| ty.is_float() || ty.is_int() && matches!(kind, Kind::Int));
        if known.is_none() {
            let meant = match suffix.to_ascii_lowercase().as_str() {
                "f" => "f32",
                "l" | "ll" => "i64",
                "ul" | "lu" | "ull" | "llu" => "u64",
                _ if matches!(kind, Kind::Float) => "f32",
                _ => "u32",
            };
            let message = format!("`{suffix}` is not a suffix of such a number");
            self.report(Diagnostic::error(span, message).help(format!("write `{digits}{meant}`, or leave the suffix out")).and_by_rustc());
        }
        known
    }

    fn unary(&mut self, unary: &syn::ExprUnary, span: Span) -> Expr {
        // References are transparent, so `*x` is `x`.
        if matches!(unary.op, syn::UnOp::Deref(_)) {
            let operand = self.expression(&unary.expr);
            let is_variable = match root_of(&operand).kind {
                ExprKind::Local(id) => self.locals[id.0].kind == LocalKind::Variable,
                _ => true,
            };
            return match self.infer.shallow(&operand.ty) {
                Ty::Constant(inner) => expr(operand.kind, *inner, span),
                ty @ (Ty::Scalar(_) | Ty::Usize | Ty::Isize) if is_variable || matches!(operand.kind, ExprKind::Index(..)) => {
                    let message = format!("this is a value, `{}`, and no reference", self.show(&ty));
                    let help = format!("write `{}`", crate::syntax::written(&unary.expr));
                    self.error_expression(Diagnostic::error(span, message).help(help).and_by_rustc())
                }
                _ => operand,
            };
        }
        let operand = self.expression(&unary.expr);
        let ty = operand.ty.clone();
        let op = if matches!(unary.op, syn::UnOp::Neg(_)) { UnaryOp::Neg } else { UnaryOp::Not };
        self.demand(&ty, if op == UnaryOp::Neg { Demand::Signed } else { Demand::Bits }, span);
        match (op, &operand.kind) {
            (UnaryOp::Neg, ExprKind::Int(value)) => {
                self.note_sign(&operand, span);
                expr(ExprKind::Int(value.wrapping_neg()), ty, span)
            }
            (UnaryOp::Neg, ExprKind::Float(value)) => expr(ExprKind::Float(-value), ty, span),
            _ => expr(ExprKind::Unary(op, Box::new(operand)), ty, span),
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary, span: Span) -> Expr {
        let left = self.expression(&binary.left);
        let right = self.expression(&binary.right);
        let assigns = super::mismatch::is_assignment(&binary.op);
        if assigns {
            self.assignable(&left);
        }
        match operator(&binary.op) {
            Operator::Arithmetic(op, demand) => {
                let ty = self.expect_operand(binary, &left, &right);
                self.demand(&left.ty, demand, span);
                self.arithmetic(op, (left, right), if assigns { None } else { Some(ty) }, span)
            }
            Operator::Shift(op) => {
                self.demand(&left.ty, Demand::Integer, left.span);
                self.demand(&right.ty, Demand::Integer, right.span);
                let ty = left.ty.clone();
                self.arithmetic(op, (left, right), if assigns { None } else { Some(ty) }, span)
            }
            Operator::Compare(op) => {
                self.expect_operand(binary, &left, &right);
                let demand = if matches!(op, CompareOp::Eq | CompareOp::Ne) { Demand::Equality } else { Demand::Order };
                self.demand(&left.ty, demand, span);
                expr(ExprKind::Compare(op, Box::new(left), Box::new(right)), Ty::BOOL, span)
            }
            op @ (Operator::And | Operator::Or) => {
                self.expect(&left.ty, &Ty::BOOL, left.span);
                self.expect(&right.ty, &Ty::BOOL, right.span);
                let (left, right) = (Box::new(left), Box::new(right));
                let kind = if matches!(op, Operator::And) { ExprKind::And(left, right) } else { ExprKind::Or(left, right) };
                expr(kind, Ty::BOOL, span)
            }
            Operator::Unknown => self.error_expression(Diagnostic::error(span, "this operator is not in the kernel language")),
        }
    }

    /// An operation of this type, or an assignment of what it gives.
    fn arithmetic(&mut self, op: BinaryOp, (left, right): (Expr, Expr), ty: Option<Ty>, span: Span) -> Expr {
        self.note_literal(op, ty.as_ref().unwrap_or(&left.ty), &right, span);
        let (left, right) = (Box::new(left), Box::new(right));
        match ty {
            Some(ty) => expr(ExprKind::Binary(op, left, right), ty, span),
            None => expr(ExprKind::AssignOp(op, left, right), Ty::unit(), span),
        }
    }

    /// Asked before the place's type is made equal to the value's: an open type is the mark of an error that was reported.
    fn assignable(&mut self, place: &Expr) {
        if self.infer.shallow(&place.ty).is_memory() {
            let of_matrix = !super::matrix::methods(&self.infer.shallow(&place.ty)).is_empty();
            let (what, edit) = if of_matrix { ("matrix", "c[(row, column)] = v") } else { ("buffer", "y[i] = x[i]") };
            let error = Diagnostic::error(place.span, format!("a {what} cannot be assigned, only its elements can"));
            self.report(error.help(format!("write `{edit}` in every thread")).by_rustc());
        } else if matches!(&place.kind, ExprKind::Field(base, _) if matches!(self.infer.shallow(&base.ty), Ty::Matrix(_) | Ty::MatrixBatch(_)))
        {
            let error = Diagnostic::error(place.span, "this is not a place that can be assigned");
            self.report(error.help(instead_of_assigning(place)).by_rustc());
        } else if Checker::is_place(place) {
            self.check_mutable(place);
        } else if !self.is_left_open(&place.ty) {
            let error = Diagnostic::error(place.span, "this is not a place that can be assigned");
            self.report(error.help(instead_of_assigning(place)).by_rustc());
        }
    }

    /// Refuses to change what was not declared to change.
    pub(super) fn check_mutable(&mut self, place: &Expr) {
        let mut root = place;
        let mut of_group = None;
        while let ExprKind::Field(base, _) | ExprKind::Index(base, _) = &root.kind {
            if let ExprKind::Field(base, index) = &root.kind
                && self.context.is_group(&self.infer.shallow(&base.ty))
            {
                of_group = Some((root, base.ty.clone(), *index));
            }
            root = base;
        }
        if let Some((field, group, index)) = of_group
            && self.check_field_of_group(place, field, &group, index)
        {
            return;
        }
        if let ExprKind::SharedOf(_, _, is_mutable) = root.kind {
            return self.check_shared_of_mut(place, is_mutable);
        }
        let ExprKind::Local(id) = &root.kind else { return };
        let local = &self.locals[id.0];
        let (name, ty) = (local.name.clone(), self.show(&local.ty));
        let error = match (self.infer.shallow(&local.ty), local.kind) {
            (Ty::Constant(_), _) => {
                let message = format!("`{name}` is constant memory, which kernels only read");
                Diagnostic::error(place.span, message).help("take a `&mut Global<…>` to write to")
            }
            _ if local.mutable => return,
            (Ty::Global(_), _) => {
                let message = format!("`{name}` is `&{ty}`, which is only read");
                Diagnostic::error(place.span, message).help(format!("take it as `{name}: &mut {ty}`"))
            }
            (_, LocalKind::Reference) if name == "self" => {
                Diagnostic::error(place.span, "`self` is `&self`, which is only read").help("take it as `&mut self`")
            }
            (_, LocalKind::Reference) => {
                let message = format!("`{name}` is `&{ty}`, which is only read");
                Diagnostic::error(place.span, message).help(format!("take it as `{name}: &mut {ty}`"))
            }
            _ => {
                let message = format!("`{name}` is assigned, but was not declared `mut`");
                Diagnostic::error(place.span, message).help(format!("declare it as `mut {name}`"))
            }
        };
        let is_memory = self.infer.shallow(&local.ty).is_memory();
        let error = error.label(local.span, "declared here");
        // Of buffers `rustc` says that they cannot be borrowed, which nobody wrote.
        self.report(if is_memory { error } else { error.by_rustc() });
    }

    /// Refuses to change what a group of parameters holds, but for the elements of its `&mut` buffers. Whether that is all there is to say.
    fn check_field_of_group(&mut self, place: &Expr, field: &Expr, group: &Ty, index: u32) -> bool {
        let group = self.infer.resolve(group);
        // As it is declared: where it is indexed, constant memory is the array in it.
        let declared = self.struct_fields(&group).and_then(|fields| fields.into_iter().nth(index as usize));
        let (name, ty) = declared.unwrap_or_else(|| (String::new(), field.ty.clone()));
        let ty = self.infer.shallow(&ty);
        let error = match &ty {
            Ty::Global(_) if self.context.is_mutable_field(&group, index) => {
                // By a shared reference to the group nothing in it can be changed: that is said of the reference.
                return matches!(&root_of(field).kind, ExprKind::Local(id) if self.locals[id.0].kind == LocalKind::Variable);
            }
            Ty::Global(_) => {
                let (shown, of) = (self.show(&ty), self.show(&group));
                let error = Diagnostic::error(place.span, format!("`{name}` of `{of}` is `&{shown}`, which is only read"));
                self.declared_at(error, &group, index).help(format!("declare it as `{name}: &'a mut {shown}`"))
            }
            Ty::Constant(elements) => {
                let element = match self.infer.shallow(elements) {
                    Ty::Array(element, _) => self.show(&element),
                    other => self.show(&other),
                };
                let message = format!("`{name}` of `{}` is constant memory, which kernels only read", self.show(&group));
                let help = format!("declare it as `{name}: &'a mut Global<{element}>`, and launch with a buffer");
                self.declared_at(Diagnostic::error(place.span, message), &group, index).help(help)
            }
            _ => {
                let message = format!("`{name}` belongs to a group of parameters, and all threads have the same");
                let local = match &root_of(field).kind {
                    ExprKind::Local(id) => Some(&self.locals[id.0]),
                    _ => None,
                };
                let group = local.map_or("p", |local| local.name.as_str());
                let error = Diagnostic::error(place.span, message).help(format!("copy it first: `let mut {name} = {group}.{name};`"));
                // rustc minds only where the group was not declared `mut`.
                if local.is_some_and(|local| local.mutable) { error } else { error.by_rustc() }
            }
        };
        self.report(error);
        true
    }

    /// The same with the place where a field is declared.
    fn declared_at(&self, error: Diagnostic, group: &Ty, index: u32) -> Diagnostic {
        match self.context.field_span(group, index) {
            Some(span) => error.label(span, "declared here"),
            None => error,
        }
    }

    fn assign(&mut self, assign: &syn::ExprAssign, span: Span) -> Expr {
        if let syn::Expr::Infer(_) = &*assign.left {
            let value = self.expression(&assign.right);
            let block = Block { statements: vec![Statement::Expr(value)], tail: None };
            return expr(ExprKind::Block(block), Ty::unit(), span);
        }
        if let Some((pattern, parts)) = super::pattern::destructured(&assign.left) {
            return self.destructure(&pattern, &parts, &assign.right, span);
        }
        let value = self.expression(&assign.right);
        let place = self.expression(&assign.left);
        self.note_assigned(&place);
        self.assignable(&place);
        self.expect(&value.ty, &place.ty, value.span);
        expr(ExprKind::Assign(Box::new(place), Box::new(value)), Ty::unit(), span)
    }

    fn note_assigned(&mut self, place: &Expr) {
        if let ExprKind::Local(id) = place.kind
            && let Some(unfilled) = self.unfilled.get_mut(&id)
        {
            unfilled.is_assigned = true;
        }
    }

    /// `(a, x[i]) = e`: as Rust has it, `{ let (p, q) = e; a = p; x[i] = q; }`.
    fn destructure(&mut self, pattern: &syn::Pat, parts: &[(syn::Ident, &syn::Expr)], value: &syn::Expr, span: Span) -> Expr {
        let value = self.expression(value);
        let block = self.in_scope(|checker| {
            let pattern = checker.pattern(pattern, &value.ty.clone());
            let mut statements = vec![Statement::Let(pattern, Some(value))];
            for (name, place) in parts {
                let part = checker.path_expression(&plain_path(name.clone()));
                let place = checker.expression(place);
                checker.note_assigned(&place);
                checker.expect(&part.ty, &place.ty, place.span);
                checker.assignable(&place);
                let span = place.span;
                statements.push(Statement::Expr(expr(ExprKind::Assign(Box::new(place), Box::new(part)), Ty::unit(), span)));
            }
            Block { statements, tail: None }
        });
        expr(ExprKind::Block(block), Ty::unit(), span)
    }

    fn cast(&mut self, cast: &syn::ExprCast, span: Span) -> Expr {
        let operand = self.expression(&cast.expr);
        let ty = self.written_type(&cast.ty);
        settle_cast(&mut self.infer, &operand, &ty);
        self.demand(&operand.ty, Demand::Scalar, operand.span);
        self.demand(&ty, Demand::Scalar, span);
        self.casts.push((operand.ty.clone(), ty.clone(), span));
        expr(ExprKind::Cast(Box::new(operand)), ty, span)
    }

    /// Constants in memory are reached through their reference.
    pub(super) fn through_constant(&mut self, base: Expr) -> Expr {
        match self.infer.shallow(&base.ty) {
            Ty::Constant(inner) => Expr { ty: *inner, ..base },
            _ => base,
        }
    }

    fn field(&mut self, field: &syn::ExprField, span: Span) -> Expr {
        let base = self.expression(&field.base);
        let base = self.through_constant(base);
        let ty = self.infer.shallow(&base.ty);
        let name = member_name(&field.member);
        let found = match &ty {
            Ty::Dim3 => ["x", "y", "z"].iter().position(|axis| *axis == name).map(|i| (i, Ty::Usize)),
            Ty::Tuple(fields) => name.parse().ok().and_then(|i: usize| Some((i, fields.get(i)?.clone()))),
            Ty::Adt(..) => {
                let fields = self.struct_fields(&ty).unwrap_or_default();
                fields.into_iter().enumerate().find(|(_, (field, _))| *field == name).map(|(i, (_, ty))| (i, ty))
            }
            _ => None,
        };
        match found {
            Some((index, ty)) => expr(ExprKind::Field(Box::new(base), index as u32), ty, span),
            None if name == "len" && matches!(ty, Ty::Global(_) | Ty::Slice(_) | Ty::Array(..)) => {
                let error = Diagnostic::error(field.member.span(), "`len` is a method");
                self.error_expression(error.help(format!("call it: `{}.len()`", crate::syntax::written(&field.base))).and_by_rustc())
            }
            None if super::matrix::methods(&ty).contains(&name.as_str()) => {
                let error = Diagnostic::error(field.member.span(), format!("`{name}` is a method"));
                let help = format!("call it: `{}.{name}()`", crate::syntax::written(&field.base));
                self.error_expression(error.help(help).and_by_rustc())
            }
            None => {
                let message = format!("{} has no field `{name}`", self.shown(&ty));
                let help = self.instead_of_field(&ty, &name);
                self.error_about(&ty, Diagnostic::error(field.member.span(), message).help(help).by_rustc())
            }
        }
    }

    fn index(&mut self, index: &syn::ExprIndex, span: Span) -> Expr {
        let base = self.expression(&index.expr);
        let base = self.through_constant(base);
        if let Ty::Matrix(element) = self.infer.shallow(&base.ty) {
            return self.matrix_element(index, base, *element, span);
        }
        let position = match self.refuse_negative(&index.expr, &index.index) {
            Some(refused) => refused,
            None => self.expression(&index.index),
        };
        if let (Ty::MatrixBatch(_), Ty::Tuple(_)) = (self.infer.shallow(&base.ty), self.infer.shallow(&position.ty)) {
            let message = "an element of a batch of matrices is named by the matrix first";
            let at = (crate::syntax::written(&index.expr), crate::syntax::written(&index.index));
            let help = format!("write `{}[i][{}]`, where `i` is the number of the matrix", at.0, at.1);
            return self.error_expression(Diagnostic::error(position.span, message).help(help).and_by_rustc());
        }
        self.expect_index(&index.index, &position);
        if let ExprKind::Local(id) = base.kind
            && let Some(unfilled) = self.unfilled.get_mut(&id)
        {
            unfilled.used.get_or_insert(span);
        }
        match self.infer.shallow(&base.ty) {
            Ty::MatrixBatch(element) => expr(ExprKind::Index(Box::new(base), Box::new(position)), Ty::Matrix(element), span),
            Ty::Array(element, _) | Ty::Slice(element) | Ty::Global(element) | Ty::Accumulator(element, ..) | Ty::Rows(element, _) => {
                expr(ExprKind::Index(Box::new(base), Box::new(position)), *element, span)
            }
            ty => {
                let error = Diagnostic::error(span, format!("{} cannot be indexed", self.shown(&ty)));
                let error = error.help(self.instead_of_index(&ty, &index.index));
                self.error_about(&ty, if matches!(ty, Ty::Texture(_)) { error.and_by_rustc() } else { error.by_rustc() })
            }
        }
    }

    fn struct_literal(&mut self, literal: &syn::ExprStruct, span: Span) -> Expr {
        let whole = self.struct_value(literal, span);
        if self.context.is_group(&self.infer.shallow(&whole.ty)) {
            let message = format!("`{}` is a group of parameters, which a kernel is given and does not make", self.show(&whole.ty));
            return self.error_expression(Diagnostic::error(span, message).help("pass the buffers on one by one"));
        }
        whole
    }

    fn struct_value(&mut self, literal: &syn::ExprStruct, span: Span) -> Expr {
        let ty = self.named_type(&literal.path);
        if self.infer.shallow(&ty) == Ty::Dim3 {
            return self.refuse_dim3(span);
        }
        let Some(fields) = self.struct_fields(&ty) else {
            let error = Diagnostic::error(span, format!("`{}` is not a struct", self.show(&ty)));
            return self.error_expression(error.help(self.instead_of_fields(&ty)).by_rustc());
        };
        let mut given = Vec::new();
        for value in &literal.fields {
            let name = member_name(&value.member);
            let typed = self.expression(&value.expr);
            match fields.iter().position(|(field, _)| *field == name) {
                Some(index) => {
                    self.expect(&typed.ty, &fields[index].1.clone(), typed.span);
                    given.push((index as u32, typed));
                }
                None => {
                    let message = format!("{} has no field `{name}`", self.shown(&ty));
                    let help = self.instead_of_field(&ty, &name);
                    self.report(Diagnostic::error(value.member.span(), message).help(help).by_rustc());
                }
            }
        }
        let base = literal.rest.as_ref().map(|rest| {
            let base = self.expression(rest);
            self.expect(&base.ty, &ty, base.span);
            Box::new(base)
        });
        if base.is_none() {
            for (index, (name, _)) in fields.iter().enumerate() {
                if !given.iter().any(|(i, _)| *i as usize == index) {
                    let error = Diagnostic::error(span, format!("field `{name}` is missing"));
                    self.report(error.help(format!("write `{name}: …`, or take the rest of another value: `..other`")).by_rustc());
                }
            }
        }
        expr(ExprKind::Aggregate(given, base), ty, span)
    }

    /// `Dim3 { … }`, `Dim3::new(…)`.
    pub(super) fn refuse_dim3(&mut self, span: Span) -> Expr {
        self.error_expression(Diagnostic::error(span, "`Dim3` is made by the geometry functions only").help("use a tuple"))
    }

    /// `&x`: transparent, and only for memory that can be passed on.
    fn reference(&mut self, reference: &syn::ExprReference, span: Span) -> Expr {
        let inner = self.expression(&reference.expr);
        if !self.is_memory(&inner) {
            let message = "a reference to a local is not in the kernel language: locals are registers";
            let help = "pass the value itself, or give the function a `#[shared]` array or a buffer";
            return self.error_expression(Diagnostic::error(span, message).help(help));
        }
        inner
    }
}

/// A name as an expression.
pub(super) fn plain_path(name: impl Into<syn::Path>) -> syn::ExprPath {
    syn::ExprPath { attrs: Vec::new(), qself: None, path: name.into() }
}

/// A field's name, or its number.
pub(super) fn member_name(member: &syn::Member) -> String {
    match member {
        syn::Member::Named(ident) => ident.to_string(),
        syn::Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The expression that a place is part of.
fn root_of(place: &Expr) -> &Expr {
    match &place.kind {
        ExprKind::Field(base, _) | ExprKind::Index(base, _) => root_of(base),
        _ => place,
    }
}
