//! Annotations with constants and generics filled in: what one instance asks of its loops.

use super::super::tree::{Asked, LoopAnnotations, Rows, ScopeId};
use super::super::types::{Arg, Const, Kind, Ty};
use super::Checker;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Unroll;
use crate::syntax::{Annotation, AnnotationKind, LoopAttributes, LoopKeyword, SharedAttribute};
use syn::spanned::Spanned;

/// Most room behind a row, elements: as many as 32-bit words of two rounds through all banks.
const MOST_PADDING: i128 = 64;

/// The value of an annotation's argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// There is none.
    Absent,
    /// `true` or `false`.
    Bool(bool),
    /// A number that the annotation takes.
    Number(u32),
}

impl Checker<'_, '_> {
    /// Evaluates the annotations of a loop.
    pub(super) fn annotate(&mut self, scope: ScopeId, attrs: &[syn::Attribute], keyword: LoopKeyword) {
        let mut findings = Diagnostics::new();
        let attributes = LoopAttributes::parse(attrs, keyword, &mut findings);
        let is_refused = findings.has_errors();
        self.context.diagnostics.borrow_mut().append(findings);
        if is_refused || attributes.annotations.is_empty() {
            return;
        }
        let mut all = LoopAnnotations::default();
        for annotation in &attributes.annotations {
            let Some(argument) = self.annotation_argument(annotation) else { continue };
            if keyword != LoopKeyword::For
                && annotation.kind == AnnotationKind::Unroll
                && !matches!(argument, Argument::Number(1) | Argument::Bool(false))
            {
                annotation.refuse_keyword(keyword).into_iter().for_each(|error| self.report(error));
                continue;
            }
            all.add(annotation, argument);
        }
        self.check_rolled(&all);
        self.annotations.insert(scope, all);
    }

    /// `unroll(1)` beside what makes several iterations one.
    fn check_rolled(&mut self, all: &LoopAnnotations) {
        let Some(rolled) = all.rolled else { return };
        let unrolling = [("ilp", &all.ilp), ("vectorize", &all.vectorize)];
        if let Some((name, asked)) = unrolling.into_iter().find_map(|(name, asked)| asked.map(|asked| (name, asked))) {
            let message = format!("`unroll(1)` keeps the loop rolled, and `{name}({0})` makes {0} iterations one", asked.value);
            let error = Diagnostic::error(rolled, message).label(asked.span, format!("`{name}` is asked for here"));
            self.report(error.help("remove one of them"));
        }
    }

    /// The value of an annotation's argument. `None` if it is not one that the annotation takes (reported).
    pub(crate) fn annotation_argument(&mut self, annotation: &Annotation) -> Option<Argument> {
        let Some(expr) = &annotation.argument else { return Some(Argument::Absent) };
        if let syn::Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident().map(ToString::to_string)
            && self.lookup_local(&name).is_some()
        {
            let message = format!("`{}` takes a constant, and `{name}` is a variable", annotation.kind.name());
            self.report(Diagnostic::error(expr.span(), message).help(format!("make `{name}` a const generic of the kernel")));
            return None;
        }
        let (value, ty) = self.constant_of_any_type(expr)?;
        if self.infer.kind(&ty) == Some(Kind::Any) {
            // Reported.
            return None;
        }
        if ty == Ty::BOOL && annotation.kind.takes_bool() {
            return Some(Argument::Bool(value != 0));
        }
        let is_number = ty.is_int() || self.infer.kind(&ty) == Some(Kind::Int);
        if !is_number || !annotation.kind.takes_number() {
            let found = if is_number && self.infer.kind(&ty).is_some() { "a number".to_owned() } else { format!("a `{}`", self.show(&ty)) };
            self.report(annotation.refuse_type(expr, &found));
            return None;
        }
        if let Some((message, help)) = annotation.kind.check_number(value) {
            self.report(Diagnostic::error(expr.span(), message).help(help));
            return None;
        }
        u32::try_from(value).ok().map(Argument::Number)
    }

    /// Evaluates `pad` and `swizzle` of a shared array.
    pub(super) fn rows(&mut self, attribute: &SharedAttribute, name: &str, ty: &Ty) -> Rows {
        let pad = attribute.pad.as_ref().and_then(|pad| Some((self.pad(pad.value.as_ref()?)?, pad.span)));
        let swizzled = attribute.swizzle.as_ref().and_then(|swizzle| match &swizzle.value {
            Some(value) => self.is_swizzled(value)?.then_some(swizzle.span),
            None => Some(swizzle.span),
        });
        let pad = pad.filter(|(pad, _)| *pad > 0);
        let (asked, what) = match (pad, swizzled) {
            (None, None) => return Rows::default(),
            (Some((_, pad)), Some(swizzle)) => {
                let message = format!("`pad` and `swizzle` both keep the rows of `{name}` apart; it takes one of them");
                let error = Diagnostic::error(pad, message).label(swizzle, "`swizzle` is asked for here");
                self.report(error.help("remove `pad`: a swizzled array needs no padding"));
                return Rows::default();
            }
            (Some((_, span)), None) => (span, "pad"),
            (None, Some(span)) => (span, "swizzle"),
        };
        if let Some((message, help)) = self.refuse_rows(name, ty, what) {
            let refused = Diagnostic::error(asked, message).help(help);
            self.report(if attribute.best_effort { refused.best_effort() } else { refused });
            return Rows::default();
        }
        Rows { pad: pad.map_or(0, |(pad, _)| pad), swizzled: swizzled.is_some() }
    }

    /// What is wrong with the rows of an array that is to be padded or swizzled.
    fn refuse_rows(&self, name: &str, ty: &Ty, what: &str) -> Option<(String, String)> {
        let Ty::Array(row, _) = ty else {
            let is_known = !matches!(ty, Ty::Var(_));
            return is_known.then(|| (format!("`{name}` is not an array: it has no rows to {what}"), format!("remove `{what}`")));
        };
        let Ty::Array(mut element, mut columns) = (**row).clone() else {
            let message = format!("`{name}` has one dimension: it has no rows to {what}");
            return Some((message, format!("remove `{what}`, or declare rows: `[[f32; 32]; 32]`")));
        };
        while let Ty::Array(inner, len) = *element {
            (element, columns) = (inner, len);
        }
        if what == "pad" {
            return None;
        }
        let is_scalar = matches!(*element, Ty::Scalar(_) | Ty::Usize | Ty::Isize);
        let help = "pad it instead: `#[shared(pad = 1)]`".to_owned();
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

    fn pad(&mut self, value: &syn::Expr) -> Option<u64> {
        let (pad, ty) = self.constant_of_any_type(value)?;
        if !ty.is_int() && self.infer.kind(&ty) != Some(Kind::Int) {
            let error = Diagnostic::error(value.span(), format!("`pad` takes a number, not a `{}`", self.show(&ty)));
            self.report(error.help("write `pad = 1`"));
            return None;
        }
        if !(0..=MOST_PADDING).contains(&pad) {
            let message = format!("`pad = {pad}` is not possible: the padding after a row is 0 to {MOST_PADDING} elements");
            self.report(Diagnostic::error(value.span(), message).help("write `pad = 1`: this is usually enough"));
            return None;
        }
        u64::try_from(pad).ok()
    }

    fn is_swizzled(&mut self, value: &syn::Expr) -> Option<bool> {
        let (swizzle, ty) = self.constant_of_any_type(value)?;
        if ty != Ty::BOOL {
            let found = if self.infer.kind(&ty) == Some(Kind::Int) { "a number".to_owned() } else { format!("a `{}`", self.show(&ty)) };
            let error = Diagnostic::error(value.span(), format!("`swizzle` is `true` or `false`, not {found}"));
            self.report(error.help("write `swizzle` alone"));
            return None;
        }
        Some(swizzle != 0)
    }

    /// A constant expression that may be a `bool` or an integer. A number without a type is as it is written: it may be larger than an `i32`.
    fn constant_of_any_type(&mut self, expr: &syn::Expr) -> Option<(i128, Ty)> {
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

impl LoopAnnotations {
    /// Adds what an annotation asks with this argument: nothing, for one iteration at a time and for `false`.
    pub(crate) fn add(&mut self, annotation: &Annotation, argument: Argument) {
        let is_on = argument != Argument::Bool(false);
        let number = match argument {
            Argument::Number(number) => Some(number).filter(|number| *number > 1),
            _ => None,
        };
        match annotation.kind {
            AnnotationKind::Unroll => match argument {
                Argument::Number(1) => self.rolled = Some(annotation.span),
                Argument::Number(number) => self.unroll = Some(Asked::new(Unroll::By(number), annotation)),
                _ => self.unroll = is_on.then(|| Asked::new(Unroll::Full, annotation)),
            },
            AnnotationKind::Ilp => self.ilp = number.map(|number| Asked::new(number, annotation)),
            AnnotationKind::Vectorize => self.vectorize = number.map(|number| Asked::new(number, annotation)),
            AnnotationKind::BatchLoads => self.batch_loads = is_on.then(|| Asked::new((), annotation)),
            AnnotationKind::Prefetch => self.prefetch = is_on.then(|| Asked::new((), annotation)),
        }
    }
}
