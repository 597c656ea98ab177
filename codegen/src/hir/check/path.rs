//! Paths as values: locals, const generics, constants, enum variants, inherent constants.

use super::super::items::{AdtKind, ConstId, Def, Namespace};
use super::super::tree::{Expr, ExprKind, LocalKind};
use super::super::types::{AdtId, Arg, Const, Ty};
use super::inherent;
use super::ty::constant_expression;
use super::{Checker, TypeScope, generic_names};
use crate::diagnostic::Diagnostic;
use crate::ir::{Scalar, Type};
use crate::nearest::nearest;
use crate::syntax::{ConstValue, written};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// The type of a constant handed in from outside, as far as it says.
pub(crate) fn value_type(value: &ConstValue) -> Ty {
    match value {
        ConstValue::Scalar(scalar) => Ty::Scalar(scalar.ty),
        ConstValue::Index(_, signed) => {
            if *signed {
                Ty::Isize
            } else {
                Ty::Usize
            }
        }
        ConstValue::Array(items) => {
            let element = items.first().map_or(Ty::Usize, value_type);
            Ty::Array(Box::new(element), Const::Value(items.len() as i128))
        }
        ConstValue::Tuple(items) => Ty::Tuple(items.iter().map(value_type).collect()),
    }
}

/// The value of a const generic.
fn generic_value(value: i128, ty: &Ty) -> ConstValue {
    match ty {
        Ty::Scalar(Type::Bool) => ConstValue::Scalar(Scalar::bool(value != 0)),
        Ty::Scalar(ty) => ConstValue::Scalar(Scalar::int(*ty, value)),
        Ty::Isize => ConstValue::Index(value, true),
        _ => ConstValue::Index(value, false),
    }
}

/// What to use in place of a `static`.
fn instead_of_static(item: &syn::ItemStatic) -> String {
    let (name, ty) = (&item.ident, written(&item.ty));
    let is_shared = ["Atomic", "Mutex", "Cell", "Lock"].iter().any(|word| ty.contains(word));
    if is_shared || matches!(item.mutability, syn::StaticMutability::Mut(_)) {
        let element = if ty.contains(['<', '[']) { "…".to_owned() } else { ty.trim_start_matches("Atomic").to_lowercase() };
        return format!("pass a buffer: `{}: &mut Global<{element}>`", name.to_string().to_lowercase());
    }
    format!("define a constant in its place: `const {name}: {ty} = …;`")
}

impl Checker<'_, '_> {
    pub(super) fn path_expression(&mut self, path: &syn::ExprPath) -> Expr {
        let span = path.span();
        if let Some(ident) = path.path.get_ident() {
            let name = ident.to_string();
            if let Some(local) = self.lookup_local(&name) {
                let ty = self.locals[local.0].ty.clone();
                return Expr { kind: ExprKind::Local(local), ty, span };
            }
            if let Some(constant) = self.lookup_constant(&name) {
                let (ty, value) = (*constant).clone();
                return constant_expression(value, ty, span);
            }
            if let Some(Arg::Const(value, ty)) = self.scope.generics.get(&name).cloned() {
                let Const::Value(value) = self.infer.resolve_const(value) else {
                    let error = Diagnostic::error(span, format!("the value of `{name}` is not known here"));
                    return self.error_expression(error.help("write the generics of the type where it is named: `::<8>`"));
                };
                let ty = self.infer.resolve(&ty);
                return constant_expression(generic_value(value, &ty), ty, span);
            }
        }
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let Some(expr) = self.associated_value(path, &segments, span) {
            return expr;
        }
        match self.resolve(&segments, Namespace::Values) {
            Some(Def::Const(id)) => match self.context.constant(id) {
                Some((ty, value)) => constant_expression(value, ty, span),
                None => self.anything(span),
            },
            Some(Def::Value(value)) => {
                let ty = value_type(&value);
                constant_expression(value, ty, span)
            }
            Some(Def::Variant(adt, index)) => {
                self.check_marked(adt, span);
                let AdtKind::Enum(variants, repr) = &self.context.items.adts[adt.0].kind else {
                    return self.unknown_path(&segments, span);
                };
                let value = ConstValue::Scalar(Scalar::int(*repr, variants[index].1));
                constant_expression(value, Ty::Adt(adt, Vec::new()), span)
            }
            Some(Def::Function(_)) => {
                let message = format!("`{}` is a function; as a value it is not in the kernel language", segments.join("::"));
                self.error_expression(Diagnostic::error(span, message).help("call it where it is needed"))
            }
            Some(Def::Adt(id)) if self.context.field_types(&Ty::Adt(id, Vec::new())).is_some_and(|f| f.is_empty()) => {
                Expr { kind: ExprKind::Aggregate(Vec::new(), None), ty: Ty::Adt(id, Vec::new()), span }
            }
            _ => self.unknown_path(&segments, span),
        }
    }

    /// `f32::MAX`, `T::ZERO`, `Self::N`, `std::f32::consts::PI`.
    fn associated_value(&mut self, path: &syn::ExprPath, segments: &[String], span: Span) -> Option<Expr> {
        if let Some((ty, value)) = inherent::math_constant(segments) {
            return Some(constant_expression(ConstValue::Scalar(value), Ty::Scalar(ty), span));
        }
        let (name, owner) = segments.split_last()?;
        let ty = match &path.qself {
            Some(qself) => self.written_type(&qself.ty),
            None => self.owner_type(owner)?,
        };
        let ty = self.infer.resolve(&ty);
        if let Ty::Adt(id, args) = &ty {
            self.check_marked(*id, span);
            if let AdtKind::Enum(variants, repr) = &self.context.items.adts[id.0].kind
                && let Some((_, value)) = variants.iter().find(|(variant, _)| variant == name)
            {
                return Some(constant_expression(ConstValue::Scalar(Scalar::int(*repr, *value)), ty, span));
            }
            let constant = self.context.items.associated_constant(*id, name)?;
            if !args.is_empty() {
                return self.generic_constant(constant, *id, args, span);
            }
            let (ty, value) = self.context.constant(constant)?;
            return Some(constant_expression(value, ty, span));
        }
        if let (Ty::Var(_), "ZERO" | "ONE") = (&ty, name.as_str()) {
            // Every number has them, whichever it turns out to be.
            return Some(Expr { kind: ExprKind::Int(i128::from(name == "ONE")), ty, span });
        }
        if let Some(expr) = inherent::index_constant(&ty, name) {
            return Some(Expr { kind: expr, ty: if name == "BITS" { Ty::U32 } else { ty }, span });
        }
        let Ty::Scalar(scalar) = ty else { return None };
        let value = inherent::constant(scalar, name)?;
        Some(constant_expression(ConstValue::Scalar(value), Ty::Scalar(value.ty), span))
    }

    /// A constant of a generic struct: as it depends on the struct's arguments, which may not be inferred yet, its expression stands for
    /// it.
    fn generic_constant(&mut self, constant: ConstId, adt: AdtId, args: &[Arg], span: Span) -> Option<Expr> {
        let item = &self.context.items.constants[constant.0];
        let (generics, self_ty) = item.parent?;
        let fresh = self.with_scope(TypeScope { module: item.module, generics: Default::default(), self_ty: None }, |checker| {
            checker.fresh_arguments(generics)
        });
        let generics = generic_names(None, Some(generics)).into_iter().zip(fresh).collect();
        let mut scope = TypeScope { module: item.module, generics, self_ty: None };
        let written = self.with_scope(scope.clone(), |checker| checker.written_type(self_ty));
        self.infer.unify(&written, &Ty::Adt(adt, args.to_vec()));
        scope.self_ty = Some(written);
        if !self.context.open_constant(constant) {
            let error = Diagnostic::error(span, "a constant is defined by itself");
            self.report(error.help("give it its value as a number").by_rustc());
            return None;
        }
        let value = self.elsewhere(scope, |checker| {
            let ty = checker.written_type(item.ty);
            let value = checker.expression(item.value);
            checker.expect(&value.ty, &ty, value.span);
            value
        });
        self.context.close_constant();
        Some(value)
    }

    /// The type before the last `::`: a generic, `Self`, a primitive, `half::f16`, a struct.
    pub(super) fn owner_type(&mut self, owner: &[String]) -> Option<Ty> {
        let last = owner.last()?;
        if owner.len() == 1 {
            if last == "Self" {
                return self.scope.self_ty.clone();
            }
            if let Some(Arg::Ty(ty)) = self.scope.generics.get(last) {
                return Some(ty.clone());
            }
        }
        match self.resolve(owner, Namespace::Types) {
            Some(Def::Adt(id)) => {
                let generics = self.context.items.adts[id.0].generics;
                Some(Ty::Adt(id, self.fresh_arguments(generics)))
            }
            Some(Def::Alias(index)) => Some(self.alias_type(index)),
            Some(_) => None,
            None => Ty::primitive(last),
        }
    }

    fn unknown_path(&mut self, segments: &[String], span: Span) -> Expr {
        let shown = segments.join("::");
        if let [owner, name] = segments
            && let Some(ty) = Ty::primitive(owner)
        {
            let known = ["MAX", "MIN", "BITS", "EPSILON", "INFINITY", "NEG_INFINITY", "NAN", "MIN_POSITIVE", "ZERO", "ONE"];
            let error = Diagnostic::error(span, format!("`{ty}` has no constant `{name}` in a kernel")).by_rustc();
            let near = nearest(name, known);
            return self.error_expression(match near {
                Some(near) => error.help(format!("did you mean `{owner}::{near}`?")),
                None => error.help(format!("define it: `const {name}: {ty} = …;`")),
            });
        }
        if let Some(foreign) = crate::syntax::foreign(&shown) {
            let error = Diagnostic::error(span, format!("the constant `{shown}` is not known to the kernel"));
            return self.error_expression(error.help(foreign.edit()).and_by_rustc());
        }
        if let [name] = segments
            && let Some(is_number) = self.variables.get(name)
        {
            return self.error_expression(self.refuse_variable(name, *is_number, span));
        }
        if let Some((item, help)) = self.context.items.static_of(self.scope.module, segments).map(|item| (item, instead_of_static(item))) {
            let message = format!("`{}` is a `static`, which a kernel neither reads nor writes", item.ident);
            return self.error_expression(Diagnostic::error(span, message).help(help));
        }
        let message = format!("`{shown}` is not known here");
        let diagnostic = if segments.len() > 1 || shown.chars().next().is_some_and(char::is_uppercase) {
            let help =
                format!("its value comes from outside this source: give it with `-D {shown}=VALUE`, or define it in the kernel's module");
            Diagnostic::error(span, message).help(help)
        } else {
            let locals = self.locals.iter().map(|local| local.name.as_str()).filter(|name| self.lookup_local(name).is_some());
            let help = match nearest(&shown, locals) {
                _ if super::call::GEOMETRY.iter().any(|(name, _)| *name == shown) => format!("call it: `{shown}()`"),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("declare it, `let {shown} = …;`, or take it as a parameter: `{shown}: usize`"),
            };
            Diagnostic::error(span, message).help(help)
        };
        self.error_expression(diagnostic.by_rustc())
    }

    /// A variable in an expression that is computed while the kernel is compiled.
    pub(super) fn refuse_variable(&self, name: &str, is_number: bool, span: Span) -> Diagnostic {
        let message = format!("`{name}` is a variable, and what stands here has to be known while the kernel is compiled");
        let constant = if is_number { name.to_uppercase() } else { "LEN".to_owned() };
        let help = format!("define `const {constant}: usize = …;` and write `{constant}`, or make it a const generic of the function");
        Diagnostic::error(span, message).help(help).by_rustc()
    }

    /// Whether an expression names a place: something that can be assigned, indexed in place, or passed by reference.
    pub(super) fn is_place(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(_) | ExprKind::SharedOf(..) => true,
            ExprKind::Field(base, _) | ExprKind::Index(base, _) => Checker::is_place(base),
            _ => false,
        }
    }

    /// Whether a place is memory that outlives the thread's registers: a buffer, shared memory, a reference given by the caller.
    pub(super) fn is_memory(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(id) => {
                self.locals[id.0].kind != LocalKind::Variable
                    || self.infer.shallow(&self.locals[id.0].ty).is_memory()
                    || self.context.is_group(&self.infer.shallow(&self.locals[id.0].ty))
            }
            ExprKind::SharedOf(..) => true,
            ExprKind::Field(base, _) | ExprKind::Index(base, _) => self.is_memory(base),
            _ => false,
        }
    }
}
