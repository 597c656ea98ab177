//! Annotations with constants and generics filled in: what one instance asks of its loops.

use super::super::tree::{Asked, LoopAnnotations, ScopeId};
use super::super::types::{Arg, Const, Kind, Ty};
use super::Checker;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Unroll;
use crate::syntax::{Annotation, AnnotationKind, LoopAttributes, LoopKeyword};
use syn::spanned::Spanned;

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

    /// A constant expression that may be a `bool` or an integer.
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
