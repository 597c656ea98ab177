//! Annotations with constants and generics filled in: what one instance asks of its loops.

use super::super::tree::{Annotations, Rows, ScopeId};
use super::super::types::{Arg, Const, Kind, Ty};
use super::Checker;
use crate::annotations::{Asked, Loops, Modifier, PAD, SWIZZLE};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{SWIZZLE_ROWS, Swizzle};
use crate::syntax::{LoopKeyword, SharedAttribute, Written, WrittenAnnotations, loop_annotations};
use proc_macro2::Span;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// Evaluates the annotations of a loop.
    pub(super) fn annotate(&mut self, scope: ScopeId, attrs: &[syn::Attribute], keyword: LoopKeyword) {
        let mut findings = Diagnostics::new();
        let written = loop_annotations(attrs, keyword, &mut findings);
        let is_refused = findings.has_errors();
        self.context.diagnostics.borrow_mut().append(findings);
        if is_refused || written.is_empty() {
            return;
        }
        let mut all = self.evaluated(&written);
        if keyword != LoopKeyword::For {
            let counts = |asked: &Asked<Span>| asked.annotation.loops != Loops::All && !asked.keeps_rolled();
            let refused = written.iter().filter(|written| all.get(written.annotation).is_some_and(counts));
            refused.filter_map(|written| written.refuse_keyword(keyword)).for_each(|error| self.report(error));
            all = all.filter(|asked| !counts(asked));
        }
        self.check_rolled(&all);
        self.annotations.insert(scope, all);
    }

    /// `unroll(1)` beside what makes several iterations one.
    fn check_rolled(&mut self, all: &Annotations) {
        let Some(rolled) = all.iter().find(|asked| asked.keeps_rolled()) else { return };
        if let Some(asked) = all.iter().find(|asked| asked.annotation.joins) {
            let (keeps, name, count) = (rolled.annotation.name, asked.annotation.name, asked.count());
            let message = format!("`{keeps}(1)` keeps the loop rolled, and `{name}({count})` makes {count} iterations one");
            let error = Diagnostic::error(rolled.place, message).label(asked.place, format!("`{name}` is asked for here"));
            self.report(error.help("remove one of them"));
        }
    }

    /// Annotations with the values of their arguments. What asks for nothing, or is not one that the annotation takes (reported), is left out.
    pub(crate) fn evaluated(&mut self, written: &WrittenAnnotations) -> Annotations {
        written.filter_map(|written| self.asked(written))
    }

    fn asked(&mut self, written: &Written) -> Option<Asked<Span>> {
        let &Asked { annotation, place, mut modifiers, .. } = written;
        if let Some(condition) = &written.condition
            && !self.holds(condition)?
        {
            modifiers = modifiers.without(Modifier::Producer);
        }
        let asked = Asked { annotation, place, argument: None, modifiers, condition: None };
        let Some(expr) = &written.argument else { return Some(asked) };
        let (value, ty) = self.argument_of(expr, annotation.name)?;
        if ty == Ty::BOOL && !annotation.needs_number() {
            return (value != 0).then_some(asked);
        }
        let is_number = ty.is_int() || self.infer.kind(&ty) == Some(Kind::Int);
        let Some(numbers) = annotation.numbers().filter(|_| is_number) else {
            let found = if is_number && self.infer.kind(&ty).is_some() { "a number".to_owned() } else { format!("a `{}`", self.show(&ty)) };
            self.report(written.refuse_type(expr, &found));
            return None;
        };
        if let Some((message, help)) = annotation.refuse_number(value) {
            self.report(Diagnostic::error(expr.span(), message).help(help));
            return None;
        }
        let asks = value != numbers.least || !annotation.needs_number() || annotation.keeps_one;
        u32::try_from(value).ok().filter(|_| asks).map(|value| Asked { argument: Some(value), ..asked })
    }

    /// A constant that an annotation is given; nothing if it is none (reported).
    fn argument_of(&mut self, expr: &syn::Expr, name_of: &str) -> Option<(i128, Ty)> {
        if let syn::Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident().map(ToString::to_string)
            && self.lookup_local(&name).is_some()
        {
            let message = format!("`{name_of}` takes a constant, and `{name}` is a variable");
            self.report(Diagnostic::error(expr.span(), message).help(format!("make `{name}` a const generic of the kernel")));
            return None;
        }
        // One of no type is reported.
        self.constant_of_any_type(expr).filter(|(_, ty)| self.infer.kind(ty) != Some(Kind::Any))
    }

    /// Whether the condition of a modifier holds; nothing if it is none (reported).
    fn holds(&mut self, expr: &syn::Expr) -> Option<bool> {
        let (value, ty) = self.argument_of(expr, Modifier::Producer.name())?;
        if ty != Ty::BOOL {
            let found = if ty.is_int() || self.infer.kind(&ty) == Some(Kind::Int) { "a number" } else { "this" };
            self.report(Written::refuse_condition(expr, found));
            return None;
        }
        Some(value != 0)
    }

    /// Evaluates `pad` and `swizzle` of a shared array.
    pub(super) fn rows(&mut self, attribute: &SharedAttribute, name: &str, ty: &Ty) -> Rows {
        let all = self.evaluated(&attribute.annotations);
        if let (Some(pad), Some(swizzle)) = (all.get(&PAD), all.get(&SWIZZLE)) {
            let message = format!("`pad` and `swizzle` both keep the rows of `{name}` apart; it takes one of them");
            let error = Diagnostic::error(pad.place, message).label(swizzle.place, "`swizzle` is asked for here");
            self.report(error.help("remove `pad`: a swizzled array needs no padding"));
            return Rows::default();
        }
        let Some(asked) = all.iter().next() else { return Rows::default() };
        if let Some((message, help)) = self.refuse_rows(name, ty, asked) {
            let refused = Diagnostic::error(asked.place, message).help(help);
            self.report(if attribute.best_effort { refused.best_effort() } else { refused });
            return Rows::default();
        }
        let swizzle = all.get(&SWIZZLE).and_then(|asked| asked.argument.map_or(Some(Swizzle::Columns), Swizzle::over));
        Rows { pad: all.get(&PAD).map_or(0, |pad| pad.count().into()), swizzle }
    }

    /// What is wrong with the rows of an array that is to be padded or swizzled.
    fn refuse_rows(&self, name: &str, ty: &Ty, asked: &Asked<Span>) -> Option<(String, String)> {
        let what = asked.annotation.name;
        let (row, mut rows) = if let Ty::Array(row, rows) = ty {
            (row, Some(*rows))
        } else if let Ty::Slice(row) = ty {
            (row, None)
        } else {
            let is_known = !matches!(ty, Ty::Var(_));
            return is_known.then(|| (format!("`{name}` is not an array: it has no rows to {what}"), format!("remove `{what}`")));
        };
        let Ty::Array(mut element, mut columns) = (**row).clone() else {
            let message = format!("`{name}` has one dimension: it has no rows to {what}");
            let rows = if matches!(ty, Ty::Slice(_)) { "[[f32; 32]]" } else { "[[f32; 32]; 32]" };
            return Some((message, format!("remove `{what}`, or declare rows: `{rows}`")));
        };
        while let Ty::Array(inner, len) = *element {
            rows = Some(columns);
            (element, columns) = (inner, len);
        }
        if what == PAD.name {
            return None;
        }
        if let Some(swizzle) = asked.argument.and_then(Swizzle::over) {
            return self.refuse_tile(name, (&element, columns, rows.filter(|_| !matches!(ty, Ty::Slice(_)))), swizzle);
        }
        let is_scalar = matches!(*element, Ty::Scalar(_) | Ty::Usize | Ty::Isize);
        let help = format!("pad it instead: `#[shared({}pad = 1)]`", if matches!(ty, Ty::Slice(_)) { "dynamic, " } else { "" });
        match columns {
            _ if !is_scalar => {
                Some((format!("the elements of `{name}` are `{}`; those of a swizzled array are scalars", self.show(&element)), help))
            }
            Const::Value(columns) if columns < 1 || columns & (columns - 1) != 0 => {
                Some((format!("`{name}` has {columns} columns; a swizzled array has a power of two of them"), help))
            }
            _ => None,
        }
    }

    /// What is wrong with the element, the columns and the rows of an array that is to be swizzled over bytes; no rows: the launch counts them.
    fn refuse_tile(&self, name: &str, (element, columns, rows): (&Ty, Const, Option<Const>), swizzle: Swizzle) -> Option<(String, String)> {
        let over = swizzle.bytes().unwrap_or(1);
        let Ty::Scalar(scalar) = element else {
            let message =
                format!("the elements of `{name}` are `{}`; those of a swizzled array are scalars of a known size", self.show(element));
            return Some((message, "remove `swizzle`".to_owned()));
        };
        let size = u64::from(scalar.bytes());
        let Some(rows) = rows else {
            let message = format!("`{name}` is dynamic, and `swizzle = {over}` is for arrays whose rows are counted before the launch");
            return Some((message, "write `swizzle` alone, or give the array a length and leave `dynamic` out".to_owned()));
        };
        let (Const::Value(columns), Const::Value(rows)) = (columns, rows) else { return None };
        let row = u64::try_from(columns).unwrap_or(0).saturating_mul(size);
        if row == 0 || !row.is_multiple_of(over) {
            let message = format!(
                "the rows of `{name}` have {columns} elements of {size} byte{}, {row} bytes, and `swizzle = {over}` parts them into slabs of {over}",
                if size == 1 { "" } else { "s" }
            );
            let fits = [128, 64, 32].into_iter().find(|bytes| row > 0 && row.is_multiple_of(*bytes));
            let help = match fits {
                Some(fits) => format!("write `swizzle = {fits}`, or make the rows a multiple of {} elements long", over / size),
                None => format!("make the rows a multiple of {} elements long", over / size),
            };
            return Some((message, help));
        }
        if rows < 1 || rows % i128::from(SWIZZLE_ROWS) != 0 {
            let message = format!("`{name}` has {rows} rows, and `swizzle = {over}` repeats after {SWIZZLE_ROWS}");
            let more = (rows.max(1) as u64).next_multiple_of(SWIZZLE_ROWS);
            return Some((message, format!("give it {more} rows, or write `swizzle` alone")));
        }
        None
    }

    /// A constant expression that may be a `bool` or an integer. A number without a type is as it is written: it may be larger than an `i32`.
    pub(crate) fn constant_of_any_type(&mut self, expr: &syn::Expr) -> Option<(i128, Ty)> {
        let name = match expr {
            syn::Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        let generic = name.and_then(|name| self.scope.generics.get(&name).cloned());
        let (value, ty) = match generic {
            Some(Arg::Const(value, ty)) => (value, *ty),
            _ => {
                let ty = self.infer.fresh(Kind::Any);
                (self.const_expression(expr, &ty), ty)
            }
        };
        match self.infer.resolve_const(value) {
            Const::Value(value) => Some((value, self.infer.resolve(&ty))),
            Const::Var(_) => None,
        }
    }
}
