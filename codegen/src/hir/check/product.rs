//! Products of shared tiles: `multiply_add(&a, transposed(&b), &mut sums)`, and what an `Accumulator` of sums is asked for.

use super::super::tree::{Expr, ExprKind, FactorForm, RowReduction};
use super::super::types::{Arg, Const, Kind, Ty};
use super::Checker;
use super::call::arity_text;
use super::edits::{call_with, method_with};
use super::expression::expr;
use crate::diagnostic::Diagnostic;
use crate::intrinsics::{MULTIPLY_ADD, TRANSPOSED};
use crate::ir::{PRODUCTS, Type};
use crate::syntax::written;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// The methods of an accumulator.
const METHODS: [&str; 8] = ["len", "operand", "position", "row", "row_max", "row_sum", "store", "store_columns"];

/// What makes sums a factor.
const OPERAND: &str = "operand";

/// A factor as it is written.
struct Factor {
    name: String,
    expr: Expr,
    form: FactorForm,
    rows: Const,
    columns: Const,
    element: Ty,
}

impl Factor {
    /// Its rows and columns as a factor.
    fn sides(&self) -> [Const; 2] {
        if self.is_transposed() { [self.columns, self.rows] } else { [self.rows, self.columns] }
    }

    fn is_transposed(&self) -> bool {
        matches!(self.form, FactorForm::Transposed)
    }
}

impl Checker<'_, '_> {
    /// A call of `multiply_add`, or of what is only an argument of it.
    pub(super) fn product_call(&mut self, name: &str, call: &syn::ExprCall, span: Span) -> Expr {
        if name == TRANSPOSED {
            call.args.iter().for_each(|arg| drop(self.expression(arg)));
            let message = format!("`{TRANSPOSED}` says how `{MULTIPLY_ADD}` takes a factor, and is no value");
            let help = format!("write it there: `{MULTIPLY_ADD}(&a, {TRANSPOSED}(&b), &mut sums)`");
            return self.error_expression(Diagnostic::error(span, message).help(help));
        }
        let args: Vec<&syn::Expr> = call.args.iter().collect();
        let [a, b, sums] = args[..] else {
            call.args.iter().for_each(|arg| drop(self.expression(arg)));
            let message = format!("`{MULTIPLY_ADD}` {}", arity_text(3, args.len()));
            let help = call_with(call, "&a, &b, &mut sums");
            return self.error_expression(Diagnostic::error(call.span(), message).help(help).by_rustc());
        };
        let (a, b) = (self.left_factor(a), self.factor(b));
        let sums_name = place_name(sums);
        // The one local that is taken by reference.
        let sums = match sums {
            syn::Expr::Reference(reference) => self.expression(&reference.expr),
            other => self.expression(other),
        };
        let (Some(a), Some(b)) = (a, b) else { return self.anything(span) };
        let sum = self.infer.fresh(Kind::Any);
        let [m, n] = [(); 2].map(|()| self.infer.fresh_const());
        if !self.infer.unify(&sums.ty, &Ty::Accumulator(Box::new(sum.clone()), m, n)) {
            let message = format!("`{MULTIPLY_ADD}` adds to an `Accumulator`, and `{sums_name}` is a `{}`", self.show(&sums.ty));
            let help = "declare the sums: `let mut sums = Accumulator::<f32, 64, 64>::zero();`";
            return self.error_about(&sums.ty.clone(), Diagnostic::error(sums.span, message).help(help).and_by_rustc());
        }
        self.check_mutable(&sums);
        self.check_sides((&a, &b), [m, n], (&sums_name, sums.span));
        self.check_elements((&a, &b), &sum, (&sums_name, sums.span));
        let factors = [a, b].map(|factor| (Box::new(factor.expr), factor.form));
        expr(ExprKind::MultiplyAdd(factors, Box::new(sums)), Ty::unit(), span)
    }

    /// `sums.operand::<U>()`, or what any factor may be.
    fn left_factor(&mut self, arg: &syn::Expr) -> Option<Factor> {
        let syn::Expr::MethodCall(call) = arg else { return self.factor(arg) };
        if call.method != OPERAND {
            return self.factor(arg);
        }
        let receiver = self.expression(&call.receiver);
        let Ty::Accumulator(_, rows, columns) = self.infer.resolve(&receiver.ty) else {
            self.unknown_method(call, &receiver, Vec::new());
            return None;
        };
        let element = match &self.turbofish(call)[..] {
            [] => self.infer.fresh(Kind::Any),
            [Arg::Ty(element)] => element.clone(),
            _ => {
                let help = format!("name the elements: `{OPERAND}::<bf16>()`");
                self.report(Diagnostic::error(call.span(), format!("`{OPERAND}` takes one type")).help(help).and_by_rustc());
                return None;
            }
        };
        if !call.args.is_empty() {
            call.args.iter().for_each(|arg| drop(self.expression(arg)));
            let error = Diagnostic::error(call.span(), format!("`{OPERAND}` {}", arity_text(0, call.args.len())));
            self.report(error.help(method_with(call, "")).by_rustc());
        }
        let name = place_name(&call.receiver);
        Some(Factor { name, expr: receiver, form: FactorForm::Operand(element.clone()), rows, columns, element })
    }

    /// `&tile`, or `transposed(&tile)`.
    fn factor(&mut self, arg: &syn::Expr) -> Option<Factor> {
        if let syn::Expr::MethodCall(call) = arg
            && call.method == OPERAND
        {
            // Says that it is no value.
            self.expression(arg);
            return None;
        }
        let inner = match arg {
            syn::Expr::Call(call) if is_transposed(call) && call.args.len() == 1 => call.args.first(),
            _ => None,
        };
        let (form, tile) = (if inner.is_some() { FactorForm::Transposed } else { FactorForm::Array }, inner.unwrap_or(arg));
        let expr = self.expression(tile);
        let name = place_name(tile);
        let element = self.infer.fresh(Kind::Any);
        let [rows, columns] = [(); 2].map(|()| self.infer.fresh_const());
        let wanted = Ty::Array(Box::new(Ty::Array(Box::new(element.clone()), columns)), rows);
        if !self.infer.unify(&expr.ty, &wanted) {
            let message = format!("a factor of `{MULTIPLY_ADD}` is a shared array of rows, and `{name}` is a `{}`", self.show(&expr.ty));
            let help = "copy the part of the matrix that the block works on into one: `#[shared] let mut tile: [[f32; 32]; 64];`";
            self.error_about(&expr.ty.clone(), Diagnostic::error(expr.span, message).help(help).and_by_rustc());
            return None;
        }
        Some(Factor { name, expr, form, rows, columns, element })
    }

    /// M × K by K × N is M × N.
    fn check_sides(&mut self, (a, b): (&Factor, &Factor), [m, n]: [Const; 2], (sums, span): (&str, Span)) {
        let ([m_of_a, k_of_a], [k_of_b, n_of_b]) = (a.sides(), b.sides());
        let known = |checker: &Self, side: Const| checker.known_const(side).map_or_else(|| "_".to_owned(), |side| side.to_string());
        let shape = |checker: &Self, [rows, columns]: [Const; 2]| format!("{} × {}", known(checker, rows), known(checker, columns));
        if !self.infer.unify_consts(k_of_a, k_of_b) {
            let message = format!(
                "`{}` is {} and `{}` is {}: there is no such product",
                a.name,
                shape(self, a.sides()),
                b.name,
                shape(self, b.sides())
            );
            let turned = [b.columns, b.rows].map(|side| self.known_const(side));
            let help = match (turned, self.known_const(k_of_a)) {
                ([Some(columns), _], Some(k)) if !b.is_transposed() && columns == k => format!("write `{TRANSPOSED}(&{})`", b.name),
                ([_, Some(rows)], Some(k)) if b.is_transposed() && rows == k => format!("write `&{}`", b.name),
                (_, Some(k)) => format!("give `{}` {k} rows", b.name),
                (_, None) => format!("give `{}` as many rows as `{}` has columns", b.name, a.name),
            };
            self.report(Diagnostic::error(b.expr.span, message).help(help).and_by_rustc());
            return;
        }
        if !self.infer.unify_consts(m, m_of_a) || !self.infer.unify_consts(n, n_of_b) {
            let (given, needed) = (shape(self, [m, n]), shape(self, [m_of_a, n_of_b]));
            let message = format!("the product of `{}` and `{}` is {needed}, and `{sums}` is {given}", a.name, b.name);
            let help = format!("declare it so: `Accumulator::<_, {}, {}>::zero()`", known(self, m_of_a), known(self, n_of_b));
            self.report(Diagnostic::error(span, message).help(help).and_by_rustc());
        }
    }

    /// There are no products of such elements.
    fn no_products_of(&mut self, a: &Factor, element: &str) {
        let (last, others) = PRODUCTS.split_last().map_or((String::new(), &[][..]), |((last, _), others)| (format!("`{last}`"), others));
        let others: Vec<String> = others.iter().map(|(factor, _)| format!("`{factor}`")).collect();
        let message = format!("`{}` has elements of `{element}`, and products are of {} and {last}", a.name, others.join(", "));
        self.report(Diagnostic::error(a.expr.span, message).help("use one of these").and_by_rustc());
    }

    /// Whether there are products of such elements into such sums.
    fn check_elements(&mut self, (a, b): (&Factor, &Factor), sum: &Ty, (sums, span): (&str, Span)) {
        if !self.infer.unify(&a.element, &b.element) {
            let message = format!(
                "`{}` has elements of `{}`, and `{}` of `{}`: the factors of a product are of one type",
                a.name,
                self.show(&a.element),
                b.name,
                self.show(&b.element)
            );
            let help = match a.form {
                FactorForm::Operand(_) => format!("write `{OPERAND}::<{}>()`", self.show(&b.element)),
                FactorForm::Array | FactorForm::Transposed => "copy both from matrices of one type".to_owned(),
            };
            self.report(Diagnostic::error(b.expr.span, message).help(help).and_by_rustc());
            return;
        }
        let Ty::Scalar(element) = self.infer.shallow(&a.element) else {
            if !self.is_open(&a.element) {
                self.no_products_of(a, &self.show(&a.element));
            }
            return;
        };
        let known: Vec<Type> = PRODUCTS.iter().filter(|(factor, _)| *factor == element).map(|(_, sum)| *sum).collect();
        let Some(wanted) = known.first() else {
            self.no_products_of(a, &element.to_string());
            return;
        };
        let found = self.infer.shallow(sum);
        if !known.iter().any(|ty| found == Ty::Scalar(*ty)) && !self.infer.unify(&found, &Ty::Scalar(*wanted)) {
            let message = format!("products of `{element}` are added in `{wanted}`, and `{sums}` has sums of `{}`", self.show(&found));
            let help = format!("declare it so: `Accumulator::<{wanted}, …>::zero()`");
            self.report(Diagnostic::error(span, message).help(help).and_by_rustc());
            return;
        }
        if let Ty::Accumulator(of_operand, ..) = self.infer.resolve(&a.expr.ty)
            && !self.infer.unify(&of_operand, sum)
        {
            let message = format!(
                "`{}` has sums of `{}`, and `{sums}` of `{}`: sums that become a factor are added to sums of their own type",
                a.name,
                self.show(&of_operand),
                self.show(sum)
            );
            let help = format!("declare it so: `Accumulator::<{wanted}, …>::zero()`");
            self.report(Diagnostic::error(a.expr.span, message).help(help));
        }
    }

    /// `Accumulator::<T, M, N>::zero()`.
    pub(super) fn no_sums(&mut self, path: &syn::ExprPath, call: &syn::ExprCall, span: Span) -> Expr {
        self.arity(call, 0, "zero", "");
        let mut owner = path.path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let ty = self.named_type(&owner);
        self.accumulators.push((ty.clone(), span));
        expr(ExprKind::NoSums, ty, span)
    }

    /// `Rows::<T, M>::splat(value)`.
    pub(super) fn splat_rows(&mut self, path: &syn::ExprPath, call: &syn::ExprCall, span: Span) -> Expr {
        self.arity(call, 1, "splat", "0.0");
        let mut owner = path.path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let ty = self.named_type(&owner);
        let Some(value) = call.args.first().map(|arg| self.expression(arg)) else { return self.anything(span) };
        self.accumulators.push((ty.clone(), span));
        if let Ty::Rows(element, _) = self.infer.shallow(&ty) {
            self.expect(&value.ty, &element, value.span);
        }
        expr(ExprKind::SplatRows(Box::new(value)), ty, span)
    }

    /// What can be asked of the values of rows.
    pub(super) fn rows_method(&mut self, call: &syn::ExprMethodCall, receiver: Expr, span: Span) -> Expr {
        if call.method != "len" {
            return self.unknown_method(call, &receiver, vec!["len"]);
        }
        call.args.iter().for_each(|arg| drop(self.expression(arg)));
        if !call.args.is_empty() {
            let message = format!("`len` {}", arity_text(0, call.args.len()));
            return self.error_expression(Diagnostic::error(span, message).help(method_with(call, "")).by_rustc());
        }
        expr(ExprKind::Len(Box::new(receiver)), Ty::Usize, span)
    }

    /// What can be asked of sums.
    pub(super) fn accumulator_method(
        &mut self,
        call: &syn::ExprMethodCall,
        receiver: Expr,
        (sum, sides): (&Ty, [Const; 2]),
        span: Span,
    ) -> Expr {
        let name = call.method.to_string();
        let wanted = match name.as_str() {
            OPERAND => {
                call.args.iter().for_each(|arg| drop(self.expression(arg)));
                let message = format!("`{OPERAND}` says how `{MULTIPLY_ADD}` takes sums as its left factor, and is no value");
                let help = format!("write it there: `{MULTIPLY_ADD}(sums.{OPERAND}::<bf16>(), &b, &mut more)`");
                return self.error_expression(Diagnostic::error(span, message).help(help));
            }
            "len" | "row_max" | "row_sum" => 0,
            "position" | "row" | "store" => 1,
            "store_columns" => 2,
            _ => return self.unknown_method(call, &receiver, METHODS.to_vec()),
        };
        let mut args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        if args.len() != wanted {
            let message = format!("`{name}` {}", arity_text(wanted, args.len()));
            let arguments = match name.as_str() {
                "position" | "row" => "k",
                "store" => "&mut tile",
                "store_columns" => "from, &mut tile",
                _ => "",
            };
            return self.error_expression(Diagnostic::error(span, message).help(method_with(call, arguments)).by_rustc());
        }
        if let Some(reduction) = RowReduction::named(&name) {
            return expr(ExprKind::ReduceRows(reduction, Box::new(receiver)), Ty::Rows(Box::new(sum.clone()), sides[0]), span);
        }
        let Some(arg) = args.pop() else { return expr(ExprKind::Len(Box::new(receiver)), Ty::Usize, span) };
        if name == "row" {
            self.expect(&arg.ty, &Ty::Usize, arg.span);
            return expr(ExprKind::RowOf(Box::new(receiver), Box::new(arg)), Ty::Usize, span);
        }
        if name == "position" {
            self.expect(&arg.ty, &Ty::Usize, arg.span);
            return expr(ExprKind::Position(Box::new(receiver), Box::new(arg)), Ty::Tuple(vec![Ty::Usize; 2]), span);
        }
        let element = self.infer.fresh(Kind::Any);
        let [rows, mut columns] = sides;
        let from = args.pop();
        if let Some(from) = &from {
            self.expect(&from.ty, &Ty::Usize, from.span);
            columns = self.infer.fresh_const();
        }
        let tile = Ty::Array(Box::new(Ty::Array(Box::new(element.clone()), columns)), rows);
        if !self.infer.unify(&arg.ty, &tile) {
            // `store_columns` takes an array of some of the columns.
            let extents = if from.is_some() { "rows" } else { "rows and columns" };
            let tile = call.args.last().map_or_else(String::new, place_name);
            let message = format!(
                "`{name}` writes {} sums to a shared array of as many {extents}, and `{tile}` is a `{}`",
                Ty::Accumulator(Box::new(sum.clone()), sides[0], sides[1]),
                self.show(&arg.ty)
            );
            let help = match sides.map(|side| self.known_const(side)) {
                [Some(rows), _] if from.is_some() => {
                    format!("declare it so, with the columns that are written at a time: `#[shared] let mut tile: [[f32; 16]; {rows}];`")
                }
                [Some(rows), Some(columns)] => format!("declare it so: `#[shared] let mut tile: [[f32; {columns}]; {rows}];`"),
                _ => "give the sums' sides: `Accumulator::<f32, 64, 64>::zero()`".to_owned(),
            };
            return self.error_about(&arg.ty.clone(), Diagnostic::error(arg.span, message).help(help).and_by_rustc());
        }
        self.check_mutable(&arg);
        self.demand(&element, super::Demand::Scalar, arg.span);
        expr(ExprKind::StoreSums(Box::new(receiver), Box::new(arg), from.map(Box::new)), Ty::unit(), span)
    }

    /// Says of accumulators whose types nothing settles that this is missing.
    pub(super) fn settle_accumulators(&mut self) {
        for (ty, span) in std::mem::take(&mut self.accumulators) {
            let (sum, rows, columns) = match self.infer.resolve(&ty) {
                Ty::Accumulator(sum, rows, columns) => (sum, rows, columns),
                Ty::Rows(value, rows) => {
                    if self.is_open(&value) || self.known_const(rows).is_none() {
                        let help = "write it: `Rows::<f32, 64>::splat(0.0)`";
                        self.report(Diagnostic::error(span, "the rows' type and number are not known").help(help).and_by_rustc());
                    }
                    continue;
                }
                _ => continue,
            };
            let is_number = matches!(&*sum, Ty::Scalar(ty) if PRODUCTS.iter().any(|(_, sum)| sum == ty));
            if self.is_open(&sum) || [rows, columns].iter().any(|side| self.known_const(*side).is_none()) {
                let help = "write it: `Accumulator::<f32, 64, 64>::zero()`";
                self.report(Diagnostic::error(span, "the sums' type, rows and columns are not known").help(help).and_by_rustc());
            } else if !is_number {
                let message = format!("sums are `f32`, `f64` or `i32`, not `{}`", self.show(&sum));
                self.report(Diagnostic::error(span, message).help("write `Accumulator::<f32, …>`").and_by_rustc());
            }
        }
    }
}

fn is_transposed(call: &syn::ExprCall) -> bool {
    matches!(&*call.func, syn::Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == TRANSPOSED))
}

/// A place as it is written, without what makes a reference of it.
fn place_name(arg: &syn::Expr) -> String {
    written(arg).trim_start_matches('&').trim_start().trim_start_matches("mut ").to_owned()
}
