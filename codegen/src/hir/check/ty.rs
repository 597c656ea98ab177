//! Written types: `f32`, `[[f32; T]; T]`, `&mut Global<Particle>` … with generics filled in.

use super::super::items::{AdtKind, Def, Namespace};
use super::super::tree::{Expr, ExprKind};
use super::super::types::{Arg, Const, Infer, Kind, Ty};
use super::{Checker, ParameterType, TypeScope};
use crate::diagnostic::Diagnostic;
use crate::ir::Type;
use crate::nearest::nearest;
use crate::syntax::ConstValue;
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;

impl Checker<'_, '_> {
    /// The type written in the current scope. References are transparent.
    pub(crate) fn written_type(&mut self, ty: &syn::Type) -> Ty {
        match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.path_type(&path.path),
            syn::Type::Tuple(tuple) => Ty::Tuple(tuple.elems.iter().map(|t| self.written_type(t)).collect()),
            syn::Type::Array(array) => {
                let element = self.written_type(&array.elem);
                let len = self.const_expression(&array.len, &Ty::Usize);
                Ty::Array(Box::new(element), len)
            }
            syn::Type::Slice(slice) => Ty::Slice(Box::new(self.written_type(&slice.elem))),
            syn::Type::Reference(reference) => self.written_type(&reference.elem),
            syn::Type::Paren(paren) => self.written_type(&paren.elem),
            syn::Type::Group(group) => self.written_type(&group.elem),
            syn::Type::Infer(_) => self.infer.fresh(Kind::Any),
            syn::Type::Never(_) => {
                let message = "`!` is the type of nothing but the result of a function that does not return";
                self.report(Diagnostic::error(ty.span(), message).help("write the type of what is there").by_rustc());
                self.infer.fresh(Kind::Any)
            }
            other => self.unknown_type(other.span(), "this type is not in the kernel language"),
        }
    }

    /// The type of a function's result.
    pub(super) fn written_result(&mut self, output: &syn::ReturnType) -> Ty {
        match output {
            syn::ReturnType::Default => Ty::unit(),
            syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::Never(_)) => Ty::Never,
            syn::ReturnType::Type(_, ty) => self.written_type(ty),
        }
    }

    fn unknown_type(&mut self, span: Span, message: impl Into<String>) -> Ty {
        self.report(
            Diagnostic::error(span, message).help("kernels use `bool`, integers, floats, tuples, arrays and `#[repr(C)]` structs of these"),
        );
        self.infer.fresh(Kind::Any)
    }

    /// Runs `f` with types written in another scope (a callee's signature, a struct's fields).
    pub(super) fn with_scope<R>(&mut self, scope: TypeScope, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.scope, Rc::new(scope));
        let result = f(self);
        self.scope = outer;
        result
    }

    fn path_type(&mut self, path: &syn::Path) -> Ty {
        let Some(last) = path.segments.last() else { return self.unknown_type(path.span(), "empty path") };
        let name = last.ident.to_string();
        if path.segments.len() == 1 {
            if name == "Self"
                && let Some(ty) = &self.scope.self_ty
            {
                return ty.clone();
            }
            if let Some(Arg::Ty(ty)) = self.scope.generics.get(&name) {
                return ty.clone();
            }
        }
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let Some(def) = self.resolve(&segments, Namespace::Types) {
            match def {
                Def::Adt(id) => {
                    self.check_marked(id, path.span());
                    return self.adt_type(&def, last, path.span());
                }
                Def::Alias(index) => return self.alias_type(index),
                _ => {}
            }
        }
        if let Some(ty) = Ty::primitive(&name) {
            return ty;
        }
        match (name.as_str(), self.type_arguments(last).as_slice()) {
            ("Global", [Arg::Ty(element)]) => Ty::Global(Box::new(element.clone())),
            ("Constant", [Arg::Ty(inner)]) => Ty::Constant(Box::new(inner.clone())),
            ("Texture2d", [Arg::Ty(texel)]) => {
                self.check_texel(texel, path.span());
                Ty::Texture(Box::new(texel.clone()))
            }
            ("Matrix", [Arg::Ty(element)]) => Ty::Matrix(Box::new(element.clone())),
            ("MatrixBatch", [Arg::Ty(element)]) => Ty::MatrixBatch(Box::new(element.clone())),
            ("Accumulator", [Arg::Ty(element), Arg::Const(rows, _), Arg::Const(columns, _)]) => {
                Ty::Accumulator(Box::new(element.clone()), *rows, *columns)
            }
            // What a variable's type or a product says of it.
            ("Accumulator", []) => {
                Ty::Accumulator(Box::new(self.infer.fresh(Kind::Any)), self.infer.fresh_const(), self.infer.fresh_const())
            }
            ("Rows", [Arg::Ty(element), Arg::Const(rows, _)]) => Ty::Rows(Box::new(element.clone()), *rows),
            ("Rows", []) => Ty::Rows(Box::new(self.infer.fresh(Kind::Any)), self.infer.fresh_const()),
            ("Dim3", []) => Ty::Dim3,
            _ => {
                let shown = segments.join("::");
                let error = Diagnostic::error(path.span(), format!("the type `{shown}` is not known to the kernel"));
                self.report(match crate::syntax::foreign(&name) {
                    Some(foreign) => error.help(foreign.edit()).and_by_rustc(),
                    None => error.help(self.type_help(&name)).by_rustc(),
                });
                self.infer.fresh(Kind::Any)
            }
        }
    }

    /// What to write in place of a type that is not known: one of nearly the same name, or its definition.
    fn type_help(&self, name: &str) -> String {
        let scalars = Type::SCALARS.iter().map(|(_, name)| *name).chain(["usize", "isize"]);
        let own = self.context.items.type_names(self.scope.module);
        match nearest(name, scalars.chain(["Accumulator", "Rows", "Dim3"]).chain(own)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("define it: `#[device] #[derive(Clone, Copy)] #[repr(C)] struct {name} {{ … }}`"),
        }
    }

    /// What a type alias stands for.
    pub(super) fn alias_type(&mut self, index: usize) -> Ty {
        let (module, item) = self.context.items.aliases[index];
        if self.context.aliases_open.borrow().contains(&index) {
            let message = format!("the type `{}` is defined by itself", item.ident);
            let help = format!("write what it stands for: `type {} = f32;`", item.ident);
            self.report(Diagnostic::error(item.ident.span(), message).help(help).by_rustc());
            return self.infer.fresh(Kind::Any);
        }
        self.context.aliases_open.borrow_mut().push(index);
        let scope = TypeScope { module, generics: Default::default(), self_ty: None };
        let ty = self.with_scope(scope, |checker| checker.written_type(&item.ty));
        self.context.aliases_open.borrow_mut().pop();
        ty
    }

    fn adt_type(&mut self, def: &Def, segment: &syn::PathSegment, span: Span) -> Ty {
        let Def::Adt(id) = def else { return self.infer.fresh(Kind::Any) };
        let adt = &self.context.items.adts[id.0];
        let wanted = adt.generics.params.iter().filter(|p| !matches!(p, syn::GenericParam::Lifetime(_))).count();
        let given = self.type_arguments(segment);
        if given.is_empty() && wanted > 0 {
            return Ty::Adt(*id, self.fresh_arguments(adt.generics));
        }
        if given.len() != wanted {
            let message = format!("`{}` {}", adt.name, super::call::generic_arity_text(wanted, given.len()));
            let own = super::generic_names(None, Some(adt.generics));
            let help = if own.is_empty() { format!("write `{}`", adt.name) } else { format!("write `{}<{}>`", adt.name, own.join(", ")) };
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
            return self.infer.fresh(Kind::Any);
        }
        Ty::Adt(*id, given)
    }

    /// The type of a const generic: a primitive, whatever else has its name. (A struct of that name might have the const generic.)
    fn const_type(&mut self, ty: &syn::Type) -> Ty {
        let name = match ty {
            syn::Type::Path(path) => path.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        name.and_then(|name| Ty::primitive(&name)).unwrap_or_else(|| self.written_type(ty))
    }

    /// New variables for generic parameters.
    pub(super) fn fresh_arguments(&mut self, generics: &syn::Generics) -> Vec<Arg> {
        let mut args = Vec::new();
        for param in &generics.params {
            match param {
                syn::GenericParam::Type(_) => args.push(Arg::Ty(self.infer.fresh(Kind::Any))),
                syn::GenericParam::Const(param) => {
                    let ty = self.const_type(&param.ty);
                    args.push(Arg::Const(self.infer.fresh_const(), Box::new(ty)));
                }
                _ => {}
            }
        }
        args
    }

    /// The generic arguments written in a path's segment.
    pub(super) fn type_arguments(&mut self, segment: &syn::PathSegment) -> Vec<Arg> {
        let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return Vec::new() };
        let mut args = Vec::new();
        for arg in &list.args {
            match arg {
                syn::GenericArgument::Type(ty) => args.push(self.generic_argument(ty)),
                syn::GenericArgument::Const(expr) => {
                    let ty = self.infer.fresh(Kind::Any);
                    let value = self.const_expression(expr, &ty);
                    args.push(Arg::Const(value, Box::new(ty)));
                }
                _ => {}
            }
        }
        args
    }

    /// `N` in `f::<N>` parses as a type: it may name a const generic or a constant.
    fn generic_argument(&mut self, ty: &syn::Type) -> Arg {
        if let syn::Type::Path(path) = ty
            && path.qself.is_none()
        {
            if let Some(ident) = path.path.get_ident()
                && let Some(arg @ Arg::Const(..)) = self.scope.generics.get(&ident.to_string())
            {
                return arg.clone();
            }
            let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
            let is_local = path.path.get_ident().is_some_and(|ident| self.lookup_constant(&ident.to_string()).is_some());
            let is_type = self.resolve(&segments, Namespace::Types).is_some();
            let value = self.resolve(&segments, Namespace::Values);
            if is_local || !is_type && matches!(value, Some(Def::Const(_) | Def::Value(_))) {
                let ty = self.infer.fresh(Kind::Any);
                let expr = syn::Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() });
                let value = self.const_expression(&expr, &ty);
                return Arg::Const(value, Box::new(ty));
            }
            if let [name] = &segments[..]
                && self.lookup_local(name).is_some()
                && !is_type
                // A type may have the name of a variable: `let f32 = …;`.
                && Ty::primitive(name).is_none()
                && !self.scope.generics.contains_key(name)
                && !name.starts_with(char::is_uppercase)
            {
                self.report(self.refuse_variable(name, true, path.span()));
                let ty = self.infer.fresh(Kind::Any);
                return Arg::Const(self.infer.fresh_const(), Box::new(ty));
            }
        }
        Arg::Ty(self.written_type(ty))
    }

    /// A constant integer (or `bool`) expression of this type: an array's length, a generic argument.
    pub(crate) fn const_expression(&mut self, expr: &syn::Expr, ty: &Ty) -> Const {
        if let Some(value) = self.const_generic(expr) {
            return value;
        }
        let was_refused = std::mem::take(&mut self.is_refused);
        let (typed, settled) = self.typed_constant(expr, ty);
        if std::mem::replace(&mut self.is_refused, was_refused) {
            // What it would be is not known: no length goes against it.
            return self.infer.fresh_const();
        }
        match super::super::constant::evaluate_int(&typed, &settled) {
            Ok(value) => Const::Value(value),
            Err(fault) => {
                self.report(fault.error());
                self.infer.fresh_const()
            }
        }
    }

    /// A constant number of whatever type: the bound of a contract. What is none is reported.
    pub(crate) fn const_number(&mut self, expr: &syn::Expr) -> Option<f64> {
        if let Some(value) = self.const_generic(expr) {
            return match value {
                Const::Value(value) => Some(value as f64),
                Const::Var(_) => None,
            };
        }
        let ty = self.infer.fresh(Kind::Any);
        let (typed, settled) = self.typed_constant(expr, &ty);
        match super::super::constant::evaluate(&typed, &settled, &typed.ty) {
            Ok(ConstValue::Scalar(scalar)) if scalar.ty.is_float() => Some(scalar.as_f64()),
            Ok(ConstValue::Scalar(scalar)) if scalar.ty != Type::Bool => Some(scalar.as_int() as f64),
            Ok(ConstValue::Index(value, _)) => Some(value as f64),
            Ok(_) => {
                self.report(Diagnostic::error(expr.span(), "expected a number").help("write a literal, a constant or a const generic"));
                None
            }
            Err(fault) => {
                self.report(fault.error());
                None
            }
        }
    }

    /// The value of a const generic, if the expression is the name of one.
    fn const_generic(&self, expr: &syn::Expr) -> Option<Const> {
        let syn::Expr::Path(path) = expr else { return None };
        match self.scope.generics.get(&path.path.get_ident()?.to_string()) {
            Some(Arg::Const(value, _)) => Some(*value),
            _ => None,
        }
    }

    /// A constant expression of this type, and what is inferred with everything settled.
    fn typed_constant(&mut self, expr: &syn::Expr, ty: &Ty) -> (Expr, Infer) {
        let mut checker = Checker::new(self.context, (*self.scope).clone());
        checker.names = self.constant_names();
        checker.variables = self.variable_names();
        checker.infer = std::mem::take(&mut self.infer);
        let typed = checker.expression(expr);
        checker.expect(&typed.ty, ty, typed.span);
        self.infer = std::mem::take(&mut checker.infer);
        self.is_refused |= checker.is_refused;
        // Literals in it are integers of the type asked for, so nothing is left to default but stand-alone casts. Where any integer will do,
        // they are as wide as integers are: `pad = 1 << 40` is that number.
        let mut settled = self.infer.clone();
        if settled.kind(&settled.shallow(ty)) == Some(Kind::Int) {
            settled.unify(ty, &Ty::Scalar(Type::I64));
        }
        settled.default_literals();
        (typed, settled)
    }

    /// A parameter's type, and whether it is a reference.
    pub(super) fn parameter_type(&mut self, input: &syn::FnArg) -> ParameterType {
        match input {
            syn::FnArg::Receiver(receiver) => {
                let reference = matches!(receiver.kind, syn::ReceiverKind::Reference(..));
                let mutable = match &receiver.kind {
                    syn::ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
                    _ => receiver.mutability.is_some(),
                };
                let ty = self.scope.self_ty.clone();
                ParameterType { ty: ty.unwrap_or_else(|| self.infer.fresh(Kind::Any)), reference, mutable }
            }
            syn::FnArg::Typed(typed) => {
                let mutable = match &*typed.ty {
                    syn::Type::Reference(reference) => reference.mutability.is_some(),
                    _ => matches!(&*typed.pat, syn::Pat::Ident(ident) if ident.mutability.is_some()),
                };
                let reference = matches!(&*typed.ty, syn::Type::Reference(_));
                ParameterType { ty: self.written_type(&typed.ty), reference, mutable }
            }
        }
    }

    /// The fields of a struct with its generics filled in: names and types, in order. Not a struct: `None`.
    pub(super) fn struct_fields(&mut self, ty: &Ty) -> Option<Vec<(String, Ty)>> {
        let shallow = self.infer.shallow(ty);
        if shallow == Ty::Dim3 {
            return Some(["x", "y", "z"].map(|axis| (axis.to_owned(), Ty::Usize)).into());
        }
        let Ty::Adt(id, args) = shallow else { return None };
        let (fields, scope) = self.context.struct_definition(id, &args)?;
        Some(self.with_scope(scope, |checker| {
            let one = |(index, field): (usize, &syn::Field)| {
                let name = field.ident.as_ref().map_or_else(|| index.to_string(), syn::Ident::to_string);
                (name, checker.written_type(&field.ty))
            };
            fields.iter().enumerate().map(one).collect()
        }))
    }
}

impl Checker<'_, '_> {
    /// [`Context::field_types`](super::Context::field_types) of a type that may hold variables of this body: what is not known is reported, and goes with everything.
    pub(super) fn known_field_types(&self, ty: &Ty) -> Option<Vec<(String, Ty)>> {
        self.context.field_types(&self.infer.exported(ty))
    }
}

impl<'p> super::Context<'p> {
    /// The fields of a struct as written, and the scope they are written in.
    pub(crate) fn struct_definition(&self, id: super::super::types::AdtId, args: &[Arg]) -> Option<(&'p syn::Fields, TypeScope)> {
        let adt = &self.items.adts[id.0];
        let AdtKind::Struct(fields) = &adt.kind else { return None };
        let names = super::generic_names(None, Some(adt.generics));
        let generics = names.into_iter().zip(args.iter().cloned()).collect();
        Some((fields, TypeScope { module: adt.module, generics, self_ty: Some(Ty::Adt(id, args.to_vec())) }))
    }

    /// Whether a type is a group of parameters: a struct with a lifetime, whose fields are buffers and values and lie nowhere together.
    pub(crate) fn is_group(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Adt(id, _) if self.items.adts[id.0].generics.lifetimes().next().is_some())
    }

    /// Whether a field of a struct is a `&mut`.
    pub(crate) fn is_mutable_field(&self, ty: &Ty, index: u32) -> bool {
        let Ty::Adt(id, args) = ty else { return false };
        let fields = self.struct_definition(*id, args).map(|(fields, _)| fields);
        let field = fields.and_then(|fields| fields.iter().nth(index as usize));
        matches!(field.map(|field| &field.ty), Some(syn::Type::Reference(reference)) if reference.mutability.is_some())
    }

    /// Where a field of a struct is declared.
    pub(crate) fn field_span(&self, ty: &Ty, index: u32) -> Option<Span> {
        let Ty::Adt(id, args) = ty else { return None };
        let (fields, _) = self.struct_definition(*id, args)?;
        let field = fields.iter().nth(index as usize)?;
        Some(field.ident.as_ref().map_or_else(|| field.ty.span(), syn::Ident::span))
    }

    /// The types of a struct's fields, or of the parameters that a matrix or a batch of them is, all generics known. Neither: `None`.
    pub(crate) fn field_types(&self, ty: &Ty) -> Option<Vec<(String, Ty)>> {
        if let Ty::Matrix(element) | Ty::MatrixBatch(element) = ty {
            let values = super::matrix::methods(ty).iter().map(|name| ((*name).to_owned(), Ty::Usize));
            return Some(std::iter::once(("data".to_owned(), Ty::Global(element.clone()))).chain(values).collect());
        }
        let Ty::Adt(_, _) = ty else { return None };
        let scope = TypeScope { module: super::super::items::ModuleId(0), generics: Default::default(), self_ty: None };
        let mut checker = Checker::new(self, scope);
        let fields = checker.struct_fields(ty)?;
        Some(fields.into_iter().map(|(name, ty)| (name, checker.infer.exported(&ty))).collect())
    }
}

/// An expression of a known constant.
pub(super) fn constant_expression(value: ConstValue, ty: Ty, span: Span) -> Expr {
    Expr { kind: ExprKind::Const(value), ty, span }
}
