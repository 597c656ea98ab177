//! Calls by path: device functions, intrinsics, geometry, `T::function`.

use super::super::items::{AdtKind, Def, FnId, ModuleId, Namespace};
use super::super::tree::{Expr, ExprKind, Geometry};
use super::super::types::{AdtId, Arg, Kind, Ty};
use super::edits::{call_with, castable_to, declared_call, generics_of_call, intrinsic_call, letters};
use super::expression::expr;
use super::{Checker, TypeScope, Unmarked, generic_names};
use crate::diagnostic::Diagnostic;
use crate::intrinsics;
use crate::ir::intrinsic::{Call, IntrinsicId, OperandType};
use crate::ir::{Special, Type};
use crate::nearest::nearest;
use crate::syntax::{is_marked, written};
use proc_macro2::Span;
use syn::spanned::Spanned;

/// `takes 1 argument, 2 were given`.
pub(super) fn arity_text(wanted: usize, given: usize) -> String {
    let (plural, were) = (if wanted == 1 { "" } else { "s" }, if given == 1 { "was" } else { "were" });
    format!("takes {wanted} argument{plural}, {given} {were} given")
}

/// `takes 1 generic argument, 2 were given`.
pub(crate) fn generic_arity_text(wanted: usize, given: usize) -> String {
    arity_text(wanted, given).replacen("argument", "generic argument", 1)
}

/// The functions that say where a thread stands.
pub(super) const GEOMETRY: &[(&str, Geometry)] = &[
    ("thread_idx", Geometry::Special(Special::ThreadIdx)),
    ("block_idx", Geometry::Special(Special::BlockIdx)),
    ("block_dim", Geometry::Special(Special::BlockDim)),
    ("grid_dim", Geometry::Special(Special::GridDim)),
    ("cluster_idx", Geometry::ClusterIdx),
    ("cluster_dim", Geometry::ClusterDim),
    ("global_id", Geometry::GlobalId),
    ("lane_id", Geometry::Special(Special::LaneId)),
    ("warp_id", Geometry::Special(Special::WarpId)),
];

/// The functions that name a place.
const PLACES: [&str; 2] = [intrinsics::SHARED_OF, intrinsics::SHARED_OF_MUT];

/// The type of a row's argument or result.
pub(super) fn operand_type(operand: OperandType, receiver: &Ty) -> Ty {
    match operand {
        OperandType::T => receiver.clone(),
        OperandType::Is(ty) => Ty::Scalar(ty),
        OperandType::Lane => Ty::U32,
        OperandType::Index => Ty::Usize,
        OperandType::UnsignedT => match receiver {
            Ty::Scalar(ty) => Ty::Scalar(ty.to_unsigned()),
            Ty::Isize => Ty::Usize,
            other => other.clone(),
        },
    }
}

/// The IR type a row is looked up with: `usize` has the rows of `u32`.
pub(super) fn row_type(ty: &Ty) -> Option<Type> {
    match ty {
        Ty::Scalar(ty) => Some(*ty),
        Ty::Usize => Some(Type::U32),
        Ty::Isize => Some(Type::I32),
        _ => None,
    }
}

/// The way out where a function of a type is called that nobody defines: `Global::new()`, `Point::new()`.
fn help_of_type(owner: &str, name: &str) -> Option<String> {
    Some(match owner {
        "Global" | "Constant" => format!("a kernel is given its memory: take a parameter, `x: &{owner}<…>`"),
        "Texture2d" | "Matrix" | "MatrixBatch" => format!("a kernel is given its memory: take a parameter, `a: &{owner}<f32>`"),
        "Accumulator" => "sums begin as zeros: `Accumulator::<f32, 64, 64>::zero()`".to_owned(),
        "Rows" => "values of rows begin alike: `Rows::<f32, 64>::splat(0.0)`".to_owned(),
        _ if owner.starts_with(char::is_uppercase) => format!("define it: `#[device] impl {owner} {{ fn {name}(…) … }}`"),
        _ => return None,
    })
}

impl Checker<'_, '_> {
    pub(super) fn call(&mut self, call: &syn::ExprCall, span: Span) -> Expr {
        let syn::Expr::Path(path) = &*call.func else {
            let message = "only functions named by their path can be called in a kernel";
            let help = "choose between calls, not between functions: `if c { f(x) } else { g(x) }`";
            return self.error_expression(Diagnostic::error(call.func.span(), message).help(help));
        };
        let segments: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        if let Some(qself) = &path.qself {
            let ty = self.written_type(&qself.ty);
            return self.associated_call(&ty, segments.last().map_or("", String::as_str), call, span);
        }
        match self.resolve(&segments, Namespace::Values) {
            Some(Def::Function(id)) => {
                if let Some(Def::Adt(owner)) = self.resolve(&segments[..segments.len() - 1], Namespace::Types) {
                    self.check_marked(owner, path.span());
                }
                return self.function_call(id, path, call, span);
            }
            Some(Def::Adt(_)) => {
                let ty = self.named_type(&path.path);
                return self.construct(ty, call, span);
            }
            _ => {}
        }
        if segments.first().is_some_and(|first| first == "Self") {
            match self.scope.self_ty.clone() {
                Some(ty) if segments.len() == 1 => return self.construct(ty, call, span),
                Some(_) => {}
                None => {
                    call.args.iter().for_each(|arg| drop(self.expression(arg)));
                    let error = Diagnostic::error(span, "`Self` outside an impl");
                    return self.error_expression(error.help("write the name of the type").by_rustc());
                }
            }
        }
        let name = segments.last().map_or("", String::as_str);
        if let [.., "Accumulator", "zero"] = segments.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && self.resolve(&segments[..segments.len() - 1], Namespace::Types).is_none()
        {
            return self.no_sums(path, call, span);
        }
        if let [.., "Rows", "splat"] = segments.iter().map(String::as_str).collect::<Vec<_>>()[..]
            && self.resolve(&segments[..segments.len() - 1], Namespace::Types).is_none()
        {
            return self.splat_rows(path, call, span);
        }
        if segments.len() > 1
            && let Some(ty) = self.owner_type(&segments[..segments.len() - 1])
        {
            return self.associated_call(&ty, name, call, span);
        }
        if let Some((_, geometry)) = GEOMETRY.iter().find(|(known, _)| *known == name) {
            self.arity(call, 0, name, "");
            let lane = matches!(geometry, Geometry::Special(Special::LaneId | Special::WarpId));
            return expr(ExprKind::Geometry(*geometry), if lane { Ty::Usize } else { Ty::Dim3 }, span);
        }
        if let Some(array) = self.shared_of(name, call, span) {
            return array;
        }
        if let Some(row) = intrinsics::function(name) {
            let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
            return self.row_call(row, None, args, span);
        }
        if let Some(row) = intrinsics::collective(name) {
            if intrinsics::PRODUCTS.contains(&name) {
                return self.product_call(name, call, span);
            }
            return self.collective_call(row, call, span);
        }
        self.unknown_function(&segments, path.span(), call)
    }

    fn unknown_function(&mut self, segments: &[String], span: Span, call: &syn::ExprCall) -> Expr {
        if let [name] = segments
            && self.lookup_local(name).is_none()
            && let Some(edit) = crate::syntax::macro_edit(name, call)
        {
            return self.error_expression(Diagnostic::error(span, format!("`{name}` is a macro")).help(edit).by_rustc());
        }
        for arg in &call.args {
            self.expression(arg);
        }
        let shown = segments.join("::");
        let name = segments.last().map_or("", String::as_str);
        if let [_] = segments
            && let Some(local) = self.lookup_local(name)
        {
            let ty = self.locals[local.0].ty.clone();
            return self.error_about(&ty, self.refuse_called_variable(name, &ty, span, call));
        }
        let owner = segments.len().checked_sub(2).map_or("", |at| segments[at].as_str());
        if owner == "Dim3" {
            return self.refuse_dim3(span);
        }
        let diagnostic = Diagnostic::error(span, format!("the function `{shown}` is not known to the kernel"));
        let known = intrinsics::rows().filter(|row| row.call == Call::Function).map(|row| row.name);
        let own = self.context.items.function_names(self.scope.module);
        let names = known
            .chain(own)
            .chain(intrinsics::collectives().map(|row| row.name))
            .chain(GEOMETRY.iter().map(|(name, _)| *name))
            .chain(PLACES);
        let is_std = segments.len() > 1 && ["std", "core"].contains(&segments[0].as_str());
        let diagnostic = if let Some(help) = crate::syntax::call_edit(segments, call) {
            diagnostic.help(help).and_by_rustc()
        } else if is_std {
            diagnostic.help(format!("write a `#[device] fn {name}(…)` that does the same"))
        } else if let Some(help) = help_of_type(owner, name) {
            // The type may be one that `rustc` knows, and this does not.
            diagnostic.help(help).by_rustc()
        } else if let Some(nearest) = nearest(name, names) {
            // `rustc` knows what else has a name like this.
            diagnostic.help(format!("did you mean `{nearest}`?")).by_rustc()
        } else {
            diagnostic.help(format!("define it: `#[device] fn {name}(…)`")).by_rustc()
        };
        self.error_expression(diagnostic)
    }

    /// `x(i)`: what is called is a variable.
    fn refuse_called_variable(&self, name: &str, ty: &Ty, span: Span, call: &syn::ExprCall) -> Diagnostic {
        let arguments: Vec<String> = call.args.iter().map(written).collect();
        let help = match (self.infer.shallow(ty), &arguments[..]) {
            (Ty::Global(_) | Ty::Array(..) | Ty::Slice(_) | Ty::Constant(_), [index]) => format!("index it: `{name}[{index}]`"),
            (Ty::Matrix(_), [row, column]) => format!("index it: `{name}[({row}, {column})]`"),
            _ => format!("call the function that is meant by its own name, or give the variable `{name}` another"),
        };
        let message = format!("`{name}` is a variable, of type {}, and cannot be called", self.shown(ty));
        Diagnostic::error(span, message).help(help).and_by_rustc()
    }

    /// Whether a function is not marked, which is said. Of a function of the same unit `syntax` has said so.
    fn is_host_function(&mut self, id: FnId, span: Span) -> bool {
        let item = &self.context.items.functions[id.0];
        if item.parent.is_some() || !self.is_of_another_unit(item.module) || is_marked(item.attrs) {
            return false;
        }
        let name = &item.signature.ident;
        let error = Diagnostic::error(span, format!("`{name}` is not marked for the device")).label(name.span(), "defined here");
        // However often it is called, it is one mark that is missing.
        if self.context.unmarked.borrow_mut().insert(Unmarked::Function(id)) {
            self.report(error.help(format!("write `#[device]` before `fn {name}`")));
        }
        true
    }

    /// Whether what stands in a module is a unit of its own, which its mark makes known.
    pub(super) fn is_of_another_unit(&self, module: ModuleId) -> bool {
        self.context.items.unit_of(module) != self.context.items.unit_of(self.home.module)
    }

    /// Says of a function of an `impl` that this is not marked, if it is that.
    pub(super) fn refuse_host_method(&mut self, adt: AdtId, name: &str, span: Span) -> bool {
        let Some(place) = self.context.items.host_method(adt, name) else { return false };
        let ty = &self.context.items.adts[adt.0].name;
        if self.context.unmarked.borrow_mut().insert(Unmarked::Method(adt)) {
            let message = format!("`{name}`, defined at {place}, is in an `impl` that is not marked for the device");
            self.report(Diagnostic::error(span, message).help(format!("write `#[device]` before that `impl {ty}`")));
        }
        true
    }

    /// Says of a struct or enum that it is not marked.
    pub(super) fn check_marked(&mut self, adt: AdtId, span: Span) {
        let item = &self.context.items.adts[adt.0];
        let module = item.module;
        if !self.is_of_another_unit(module) || is_marked(item.attrs) || self.context.items.is_marked(module) {
            return;
        }
        if !self.context.unmarked.borrow_mut().insert(Unmarked::Type(adt)) {
            return;
        }
        let (keyword, layout) = match item.kind {
            AdtKind::Struct(_) => ("struct", "#[repr(C)]"),
            AdtKind::Enum(..) => ("enum", "#[repr(u32)]"),
        };
        let has = |name: &str, what: &str| {
            item.attrs.iter().any(|attr| attr.path().is_ident(name) && quote::ToTokens::to_token_stream(attr).to_string().contains(what))
        };
        let mut missing = vec!["#[device]"];
        missing.extend((!has("derive", "Copy")).then_some("#[derive(Clone, Copy)]"));
        missing.extend((!has("repr", "")).then_some(layout));
        let error = Diagnostic::error(span, format!("`{}` is not marked for the device", item.name)).label(item.span, "defined here");
        self.report(error.help(format!("write `{}` before `{keyword} {}`", missing.join(" "), item.name)));
    }

    /// Refuses more or fewer arguments than are wanted; `arguments`: what is to stand there.
    pub(super) fn arity(&mut self, call: &syn::ExprCall, wanted: usize, name: &str, arguments: &str) {
        if call.args.len() != wanted {
            let message = format!("`{name}` {}", arity_text(wanted, call.args.len()));
            self.report(Diagnostic::error(call.span(), message).help(call_with(call, arguments)).by_rustc());
        }
    }

    /// A tuple struct of these fields.
    fn construct(&mut self, ty: Ty, call: &syn::ExprCall, span: Span) -> Expr {
        let fields = self.struct_fields(&ty).unwrap_or_default();
        if let [(first, _), ..] = &fields[..]
            && first.parse::<u32>().is_err()
        {
            let shown = self.show(&ty);
            let values = call.args.iter().map(written).chain(std::iter::repeat("…".to_owned()));
            let given: Vec<String> = fields.iter().zip(values).map(|((field, _), value)| format!("{field}: {value}")).collect();
            call.args.iter().for_each(|arg| drop(self.expression(arg)));
            let error = Diagnostic::error(span, format!("the fields of `{shown}` have names, and these values have none"));
            self.report(error.help(format!("write `{shown} {{ {} }}`", given.join(", "))).by_rustc());
            return expr(ExprKind::Int(1), ty, span);
        }
        self.arity(call, fields.len(), &self.show(&ty), &letters(fields.len()));
        let mut values = Vec::new();
        for (index, (arg, (_, field))) in call.args.iter().zip(&fields).enumerate() {
            let value = self.expression(arg);
            self.expect(&value.ty, field, value.span);
            values.push((index as u32, value));
        }
        expr(ExprKind::Aggregate(values, None), ty, span)
    }

    /// `T::name(args)`.
    fn associated_call(&mut self, ty: &Ty, name: &str, call: &syn::ExprCall, span: Span) -> Expr {
        let ty = self.infer.resolve(ty);
        if let Ty::Adt(id, args) = &ty {
            if let Some(method) = self.context.items.method(*id, name) {
                let values: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
                return self.typed_call(method, args, &[], values, span);
            }
            call.args.iter().for_each(|arg| drop(self.expression(arg)));
            let at = match &*call.func {
                syn::Expr::Path(path) => path.path.segments.last().map_or(span, |last| last.ident.span()),
                _ => span,
            };
            if self.refuse_host_method(*id, name, at) {
                return self.anything(span);
            }
            let shown = self.show(&ty);
            let help = match nearest(name, self.context.items.method_names(*id)) {
                Some(near) => format!("did you mean `{shown}::{near}`?"),
                None => format!("define it: `#[device] impl {shown} {{ fn {name}(…) … }}`"),
            };
            let message = format!("`{shown}` has no function `{name}`");
            return self.error_expression(Diagnostic::error(span, message).help(help).by_rustc());
        }
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        if let ("from" | "from_f32" | "from_f64", [_]) = (name, args.as_slice()) {
            let value = args.into_iter().next();
            return match value {
                Some(value) => {
                    self.demand(&value.ty, super::Demand::Scalar, value.span);
                    // Of the numbers without a type these two take their own alone, as do `f32` and `f64` of those with a point.
                    let is_own = match self.infer.kind(&self.infer.shallow(&value.ty)) {
                        Some(Kind::Int) => matches!(ty, Ty::Scalar(Type::U8 | Type::I8)),
                        Some(Kind::Float) => matches!(ty, Ty::Scalar(Type::F32 | Type::F64)),
                        _ => false,
                    };
                    if is_own && name == "from" {
                        self.infer.unify(&value.ty, &ty);
                    }
                    if let ("from", Some(written)) = (name, call.args.first()) {
                        self.lossless.push((value.ty.clone(), ty.clone(), written.clone(), span));
                    }
                    if ty == Ty::BOOL || ty.is_float8() {
                        self.casts.push((value.ty.clone(), ty.clone(), span));
                    }
                    expr(ExprKind::Cast(Box::new(value)), ty, span)
                }
                None => self.error_expression(Diagnostic::error(span, "`from` takes a value").help("write `f32::from(x)`")),
            };
        }
        match row_type(&ty).and_then(|row| intrinsics::associated(name, row)) {
            Some(row) => self.row_call(row, Some(ty), args, span),
            None => {
                let shown = self.show(&ty);
                let error = Diagnostic::error(span, format!("`{shown}` has no function `{name}` in a kernel"));
                let known = row_type(&ty).into_iter().flat_map(intrinsics::associated_names).chain(["from", "from_f32", "from_f64"]);
                self.error_expression(match nearest(name, known) {
                    Some(near) => error.help(format!("did you mean `{shown}::{near}`?")),
                    None => error.help(format!("write a `#[device] fn {name}(…)` that does the same")),
                })
            }
        }
    }

    /// A call of an intrinsic; `receiver` is `T` if the source names it.
    pub(super) fn row_call(&mut self, row: IntrinsicId, receiver: Option<Ty>, args: Vec<Expr>, span: Span) -> Expr {
        let data = row.row();
        let first_is_t = data.args.first() == Some(&OperandType::T);
        let receiver = match (receiver, args.first()) {
            (Some(ty), _) => ty,
            (None, Some(first)) if first_is_t => first.ty.clone(),
            _ => Ty::unit(),
        };
        if args.len() != data.args.len() {
            // A method's receiver stands before the parentheses.
            let own = usize::from(data.call == Call::Method);
            let given = arity_text(data.args.len().saturating_sub(own), args.len().saturating_sub(own));
            let message = format!("`{}` {given}", data.name);
            let help = intrinsic_call(data);
            return self.error_expression(Diagnostic::error(span, message).help(help).by_rustc());
        }
        let mut args = args;
        for (arg, operand) in args.iter_mut().zip(data.args) {
            if *operand == OperandType::Lane {
                self.lane_argument(arg);
                continue;
            }
            let wanted = operand_type(*operand, &receiver);
            self.expect(&arg.ty, &wanted, arg.span);
        }
        if first_is_t && data.call == Call::Function {
            self.settle_receiver(&receiver, row, span);
        }
        let results: Vec<Ty> = data.results.iter().map(|operand| operand_type(*operand, &receiver)).collect();
        let ty = match results.as_slice() {
            [one] => one.clone(),
            _ => Ty::Tuple(results),
        };
        expr(ExprKind::Intrinsic(row, receiver, args), ty, span)
    }

    /// Lanes may be any integer; what is not a `u32` is converted.
    fn lane_argument(&mut self, arg: &mut Expr) {
        let ty = self.infer.shallow(&arg.ty);
        if matches!(arg.kind, ExprKind::Int(_)) && self.infer.kind(&ty).is_some() {
            self.expect(&ty, &Ty::U32, arg.span);
        } else if ty != Ty::U32 {
            self.demand(&ty, super::Demand::Integer, arg.span);
            let span = arg.span;
            let inner = std::mem::replace(arg, expr(ExprKind::Int(0), Ty::U32, span));
            *arg = expr(ExprKind::Cast(Box::new(inner)), Ty::U32, span);
        }
    }

    /// Whether `T` fits a function's class; a literal's type is settled by it.
    pub(super) fn settle_receiver(&mut self, receiver: &Ty, row: IntrinsicId, span: Span) {
        let ty = self.infer.resolve(receiver);
        if matches!(ty, Ty::Var(_)) {
            self.literal_calls.push((row, ty, span));
        } else if row_type(&ty).and_then(|scalar| intrinsics::function_for(row.row().name, scalar)).is_none() {
            let message = format!("`{}` does not take a `{}`", row.row().name, self.show(&ty));
            let help = castable_to(row.row().name, &ty);
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
        }
    }

    fn function_call(&mut self, id: FnId, path: &syn::ExprPath, call: &syn::ExprCall, span: Span) -> Expr {
        let explicit = path.path.segments.last().map(|segment| self.type_arguments(segment)).unwrap_or_default();
        // `Vec2::<f32>::new(…)`: the impl's own arguments stand on the segment before.
        let owner = match path.path.segments.len() {
            n if n >= 2 => self.type_arguments(&path.path.segments[n - 2]),
            _ => Vec::new(),
        };
        let args: Vec<Expr> = call.args.iter().map(|arg| self.expression(arg)).collect();
        if self.is_host_function(id, path.span()) {
            return self.anything(span);
        }
        self.check_borrows(id, call, &args);
        let is_own = path.path.segments.len() == 2 && path.path.segments[0].ident == "Self";
        let owner = match &self.scope.self_ty {
            Some(Ty::Adt(_, args)) if is_own => args.clone(),
            _ => owner,
        };
        self.typed_call(id, &owner, &explicit, args, span)
    }

    /// A call of a device function: `owner` are the generic arguments of the struct whose impl it stands in, `explicit` those of the
    /// turbofish; what is not given is inferred.
    pub(super) fn typed_call(&mut self, id: FnId, owner: &[Arg], explicit: &[Arg], args: Vec<Expr>, span: Span) -> Expr {
        let item = &self.context.items.functions[id.0];
        let (attrs, signature, parent, module) = (item.attrs, item.signature, item.parent, item.module);
        let name = signature.ident.to_string();
        if attrs.iter().any(|a| a.path().segments.last().is_some_and(|s| s.ident == "kernel")) {
            let message = format!("`{name}` is a kernel; a kernel cannot be called from device code");
            return self.error_expression(Diagnostic::error(span, message).help("move the shared code into a `#[device]` function"));
        }
        let empty = TypeScope { module, generics: Default::default(), self_ty: None };
        let mut generics = self.with_scope(empty, |checker| {
            let mut all = parent.map(|(g, _)| checker.fresh_arguments(g)).unwrap_or_default();
            all.extend(checker.fresh_arguments(&signature.generics));
            all
        });
        let parents = parent.map_or(0, |(g, _)| generic_names(None, Some(g)).len());
        let own = generics.len() - parents;
        if !explicit.is_empty() && explicit.len() != own {
            let message = format!("`{name}` {}", generic_arity_text(own, explicit.len()));
            let help = generics_of_call(&name, &generic_names(None, Some(&signature.generics)));
            self.report(Diagnostic::error(span, message).help(help).by_rustc());
        }
        for (generic, given) in generics[parents..].iter_mut().zip(explicit) {
            // `f::<2>`: the value is of the type that the function declares.
            if let (Arg::Const(_, declared), Arg::Const(_, own)) = (&*generic, given) {
                let is_of_type = self.infer.unify(own, declared);
                let ty = self.infer.resolve(declared);
                if !is_of_type {
                    self.expect(own, declared, span);
                } else if let Arg::Const(value, _) = given
                    && let Some(value) = self.known_const(*value)
                {
                    self.check_number(value, &ty, span);
                }
            }
            match (&*generic, given) {
                (Arg::Ty(_), Arg::Ty(_)) | (Arg::Const(..), Arg::Const(..)) => *generic = given.clone(),
                (Arg::Ty(_), Arg::Const(..)) => {
                    let error = Diagnostic::error(span, format!("`{name}` takes a type here, a value was given"));
                    self.report(error.help("write the name of a type: `f32`").by_rustc());
                }
                (Arg::Const(..), Arg::Ty(_)) => {
                    let error = Diagnostic::error(span, format!("`{name}` takes a value here, a type was given"));
                    self.report(error.help("write a number or the name of a constant: `4`").by_rustc());
                }
            }
        }
        let declared = parent.into_iter().flat_map(|(g, _)| &g.params).chain(&signature.generics.params);
        let declared = declared.filter(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
        for (param, generic) in declared.zip(&generics) {
            if let (syn::GenericParam::Type(param), Arg::Ty(ty)) = (param, generic)
                && let Some(demand) = super::bounds::demand(param)
            {
                self.demand(ty, demand, span);
            }
        }
        let names = generic_names(parent.map(|(g, _)| g), Some(&signature.generics));
        let mut scope = TypeScope { module, generics: names.into_iter().zip(generics.iter().cloned()).collect(), self_ty: None };
        if let Some((_, self_ty)) = parent {
            let ty = self.with_scope(scope.clone(), |checker| checker.written_type(self_ty));
            if let Ty::Adt(id, own) = &ty
                && own.len() == owner.len()
            {
                let given = Ty::Adt(*id, owner.to_vec());
                self.infer.unify(&ty, &given);
            }
            scope.self_ty = Some(ty);
        }
        if args.len() != signature.inputs.len() {
            let own = usize::from(signature.receiver().is_some());
            let given = arity_text(signature.inputs.len() - own, args.len().saturating_sub(own));
            let error = Diagnostic::error(span, format!("`{name}` {given}"));
            return self.error_expression(error.help(declared_call(signature)).by_rustc());
        }
        for (arg, input) in args.iter().zip(&signature.inputs) {
            let parameter = self.with_scope(scope.clone(), |checker| checker.parameter_type(input));
            self.expect(&arg.ty, &parameter.ty, arg.span);
            let is_receiver = matches!(input, syn::FnArg::Receiver(_));
            if parameter.reference && parameter.mutable {
                self.check_mutable(arg);
            }
            if parameter.reference && !is_receiver && !self.is_memory(arg) {
                let message = "a reference to a local is not in the kernel language: locals are registers";
                self.report(Diagnostic::error(arg.span, message).help("take the parameter by value, and return what changes"));
            }
        }
        let result = self.with_scope(scope, |checker| checker.written_result(&signature.output));
        expr(ExprKind::Call(id, generics, args), result, span)
    }
}
