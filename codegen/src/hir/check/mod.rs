//! Types a body: from `syn` expressions to the typed tree, Rust's own rules, all findings at once.
//!
//! Generics are concrete here: a body is checked once for each instance. What `rustc` reports about the host twin is found here too
//! (the command-line tool has no `rustc` beside it) and marked `by_rustc`.

mod annotations;
mod atomics;
mod borrows;
mod bounds;
mod call;
mod cluster;
mod collective;
mod control;
pub(crate) mod edits;
mod equality;
mod exhaustive;
mod expression;
mod familiar;
mod inherent;
mod initialized;
mod literals;
pub(crate) mod matrix;
mod message;
mod method;
mod mismatch;
mod names;
mod path;
mod pattern;
mod product;
mod texture;
mod ty;

pub(crate) use call::generic_arity_text;
pub use inherent::standard_constant;
pub(crate) use pattern::array_len;

use self::names::{Name, Names};
use super::items::{ConstId, FnId, Items, ModuleId};
use super::tree::{Annotations, Block, Body, Expr, ExprKind, LocalData, LocalId, LocalKind, Rows, ScopeId};
use super::types::{AdtId, Arg, Const, Infer, Kind, Ty};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::{ConstValue, Program, generic_name};
use proc_macro2::Span;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Most constants of a chain, each computed from the next: they are looked up by recursion, and a stack has an end.
const MOST_CONSTANTS: usize = 64;

/// A function with its generic arguments.
type FunctionInstance = (FnId, Vec<Arg>);

/// What all bodies of one compilation share.
pub(crate) struct Context<'p> {
    pub(crate) items: Items<'p>,
    pub(crate) diagnostics: RefCell<Diagnostics>,
    constants: RefCell<HashMap<ConstId, Option<(Ty, ConstValue)>>>,
    constants_open: RefCell<Vec<ConstId>>,
    /// Type aliases that are being looked through.
    aliases_open: RefCell<Vec<usize>>,
    /// What was said to want a mark: each is said once.
    unmarked: RefCell<HashSet<Unmarked>>,
    bodies: RefCell<HashMap<FunctionInstance, Option<Rc<Body>>>>,
}

/// Where types are written: what generics and `Self` stand for there.
#[derive(Clone)]
pub(crate) struct TypeScope {
    pub(crate) module: ModuleId,
    pub(crate) generics: HashMap<String, Arg>,
    pub(crate) self_ty: Option<Ty>,
}

/// The type of a signature's parameter, and whether it was written as a reference.
pub(crate) struct ParameterType {
    pub(crate) ty: Ty,
    pub(crate) reference: bool,
    /// Whether the function may assign it: `mut x`, `&mut x`.
    pub(crate) mutable: bool,
}

/// An open loop or labelled block.
pub(super) struct OpenScope {
    label: Option<String>,
    id: ScopeId,
    /// What `break` gives; `None` where it gives nothing (`while`, `for`).
    result: Option<Ty>,
    is_loop: bool,
    broken: bool,
}

/// What is used by device code, and not marked for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unmarked {
    Function(FnId),
    Type(AdtId),
    /// An `impl` of the type.
    Method(AdtId),
}

/// A variable that was declared without a value; arrays are looked at more closely.
#[derive(Clone, Copy, Default)]
struct Unfilled {
    /// Where an element of it is first named.
    used: Option<Span>,
    /// Whether all of it is assigned anywhere.
    is_assigned: bool,
    /// Whether it has atomics, which only shared arrays have.
    has_atomics: bool,
    /// Whether it was declared `mut`.
    is_mutable: bool,
}

/// Demands on a type that can be looked at when inference is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    Number,
    Integer,
    /// Integer or `bool`.
    Bits,
    /// Comparable with `==`: scalars, C-like enums, and structs, tuples and arrays of them.
    Equality,
    /// Ordered: numbers and `bool`.
    Order,
    Signed,
    Float,
    /// A scalar, to print.
    Shown,
    /// A scalar, to cast.
    Scalar,
    /// What a texture can hold.
    Texel,
    /// What a texture can filter.
    FloatTexel,
    /// Counts a range whose steps are walked backwards.
    ExactLength {
        /// `a..=b`.
        inclusive: bool,
    },
}

impl Demand {
    /// What to write instead, where a scalar of this type is not what is demanded.
    fn way_out(self, ty: crate::ir::Type) -> Option<&'static str> {
        use crate::ir::Type::Bool;
        match self {
            Demand::Signed if ty == Bool => Some("the opposite of a `bool` is `!b`"),
            Demand::Signed if ty.is_unsigned_int() => {
                Some("for a number with a sign write `-(x as i32)`, for the one that wraps around `x.wrapping_neg()`")
            }
            Demand::Number | Demand::Integer if ty == Bool => Some("convert it: `b as u32` is 0 or 1"),
            Demand::Integer if ty.is_float() => Some("convert it: `x as i32` leaves the fraction out"),
            Demand::Bits if ty.is_float() => Some("take its bits: `x.to_bits()`"),
            Demand::Float if ty.is_int() => Some("convert it: `x as f32`"),
            _ => None,
        }
    }
}

/// Checks one body.
pub(crate) struct Checker<'c, 'p> {
    pub(crate) context: &'c Context<'p>,
    pub(super) scope: Rc<TypeScope>,
    pub(crate) infer: Infer,
    pub(super) locals: Vec<LocalData>,
    names: Vec<Names>,
    /// The scope that the body itself is written in: only there its own names mean something.
    home: Rc<TypeScope>,
    open: Vec<OpenScope>,
    scopes: usize,
    result: Ty,
    /// Whether it is the body of a kernel, which gives nothing.
    is_kernel: bool,
    /// Of an expression that is computed while the kernel is compiled: the variables around it, which it does not see, and whether each is a number.
    variables: HashMap<String, bool>,
    /// Whether something was refused in place of which [`Checker::anything`] stands.
    is_refused: bool,
    /// `T::from(v)`: from what, into what, `v` as it is written, where.
    lossless: Vec<(Ty, Ty, syn::Expr, Span)>,
    demands: Vec<(Ty, Demand, Span)>,
    /// Calls of the language's functions with literals, whose types are settled last.
    literal_calls: Vec<(crate::ir::intrinsic::IntrinsicId, Ty, Span)>,
    /// Each `match` and `let`: the type of its value, its patterns, where.
    matches: Vec<(exhaustive::PatternSite, Ty, Vec<exhaustive::ArmShape>, Span)>,
    /// `a as T`: from what, to what, where.
    casts: Vec<(Ty, Ty, Span)>,
    /// Divisions by a literal 0 and shifts by a literal: the type of the left side, the count of a shift, where.
    literal_operands: Vec<(Ty, Option<i128>, Span)>,
    /// `x.into()`: from what, into what, the text of `x`, where.
    conversions: Vec<(Ty, Ty, String, Span)>,
    /// Literals, whose types are known last.
    literals: Vec<literals::Literal>,
    /// Variables that were declared without a value.
    unfilled: BTreeMap<LocalId, Unfilled>,
    /// Accumulators that begin, with where.
    accumulators: Vec<(Ty, Span)>,
    /// Arrays that are made on the way, with where.
    arrays: Vec<(Ty, Span)>,
    /// Vector accesses whose number or type of elements is open: both, with where.
    vector_accesses: Vec<(Const, Ty, Span)>,
    /// Names bound by the first alternative of each open or-pattern.
    or_bindings: Vec<Option<HashMap<String, LocalId>>>,
    /// What is asked of loops.
    annotations: HashMap<ScopeId, Annotations>,
    /// How the rows of shared arrays lie.
    rows: HashMap<LocalId, Rows>,
}

impl<'p> Context<'p> {
    pub(crate) fn new(program: &'p Program) -> Context<'p> {
        let mut context = Context {
            items: Items::collect(program),
            diagnostics: RefCell::default(),
            constants: RefCell::default(),
            constants_open: RefCell::default(),
            aliases_open: RefCell::default(),
            unmarked: RefCell::default(),
            bodies: RefCell::default(),
        };
        super::definitions::settle_variants(&mut context);
        context
    }

    /// Adds a finding; what is written once and looked at twice is found once.
    pub(crate) fn report(&self, diagnostic: Diagnostic) {
        let same = |known: &Diagnostic| {
            let (a, b) = (known.span, diagnostic.span);
            known.message == diagnostic.message && a.start() == b.start() && a.end() == b.end()
        };
        let mut all = self.diagnostics.borrow_mut();
        if !all.iter().any(same) {
            all.push(diagnostic);
        }
    }

    /// The checked body of a function with these generic arguments; checked once. `None` if it has errors (reported).
    pub(crate) fn body(&self, function: FnId, args: &[Arg]) -> Option<Rc<Body>> {
        let key = (function, args.to_vec());
        if let Some(known) = self.bodies.borrow().get(&key) {
            return known.clone();
        }
        let body = self.check_function(function, args).map(Rc::new);
        self.bodies.borrow_mut().insert(key, body.clone());
        body
    }

    /// The names of a function's generics (its impl's first) bound to these arguments.
    pub(crate) fn scope_of(&self, function: FnId, args: &[Arg]) -> TypeScope {
        let item = &self.items.functions[function.0];
        let names = generic_names(item.parent.map(|(g, _)| g), Some(&item.signature.generics));
        let generics = names.into_iter().zip(args.iter().cloned()).collect();
        let mut scope = TypeScope { module: item.module, generics, self_ty: None };
        if let Some((_, self_ty)) = item.parent {
            scope.self_ty = Some(self.outer_type(&scope, self_ty));
        }
        scope
    }

    /// The type written outside any body.
    fn outer_type(&self, scope: &TypeScope, written: &syn::Type) -> Ty {
        let mut checker = Checker::new(self, scope.clone());
        let ty = checker.written_type(written);
        checker.infer.exported(&ty)
    }

    fn check_function(&self, function: FnId, args: &[Arg]) -> Option<Body> {
        let errors = self.diagnostics.borrow().iter().count();
        let item = &self.items.functions[function.0];
        let mut checker = Checker::new(self, self.scope_of(function, args));
        checker.result = checker.written_result(&item.signature.output);
        checker.is_kernel = item.attrs.iter().any(|attr| crate::syntax::is_named(attr, "kernel"));
        let mut params = Vec::new();
        let mut patterns = Vec::new();
        for (index, input) in item.signature.inputs.iter().enumerate() {
            let parameter = checker.parameter_type(input);
            let kind = if parameter.reference { LocalKind::Reference } else { LocalKind::Variable };
            let (name, pattern) = match input {
                syn::FnArg::Receiver(_) => ("self".to_owned(), None),
                syn::FnArg::Typed(typed) => match &*typed.pat {
                    syn::Pat::Ident(ident) => (ident.ident.to_string(), None),
                    pattern => (format!("argument{index}"), Some(pattern)),
                },
            };
            let local = checker.declare(&name, parameter.ty.clone(), kind, parameter.mutable, input.span());
            params.push(local);
            if let Some(pattern) = pattern {
                patterns.push((pattern, local));
            }
        }
        let mut lets = Vec::new();
        for (pattern, local) in patterns {
            let ty = checker.locals[local.0].ty.clone();
            let span = pattern.span();
            let pattern = checker.pattern(pattern, &ty);
            lets.push(super::tree::Statement::Let(pattern, Some(Expr { kind: ExprKind::Local(local), ty, span })));
        }
        let mut block = checker.block(&item.block.stmts);
        block.0.statements.splice(0..0, lets);
        let result = checker.result.clone();
        let help = control::help_of_end(item.block, result != Ty::unit());
        checker.expect_result(&block.1, item.block.stmts.last().map_or(item.signature.ident.span(), Spanned::span), help);
        let root = Expr { ty: result.clone(), kind: ExprKind::Block(block.0), span: item.signature.ident.span() };
        checker.finish();
        let is_clean = || self.diagnostics.borrow().iter().skip(errors).all(|d| d.level != crate::diagnostic::Level::Error);
        if !is_clean() {
            return None;
        }
        let Checker { infer, locals, annotations, rows, unfilled, .. } = checker;
        let body = Body { infer, locals, params, result, root, annotations, rows };
        let declared = unfilled.into_iter().map(|(id, unfilled)| (id, unfilled.is_mutable)).collect();
        initialized::check(self, &body, &declared);
        is_clean().then_some(body)
    }

    /// Notes that a constant's value is being looked at. Not if it is already: then it is defined by itself.
    fn open_constant(&self, id: ConstId) -> bool {
        let mut open = self.constants_open.borrow_mut();
        let is_new = !open.contains(&id);
        if is_new {
            open.push(id);
        }
        is_new
    }

    fn close_constant(&self) {
        self.constants_open.borrow_mut().pop();
    }

    /// The value of a constant of the program. `None` if it cannot be known (reported).
    pub(crate) fn constant(&self, id: ConstId) -> Option<(Ty, ConstValue)> {
        if let Some(known) = self.constants.borrow().get(&id) {
            return known.clone();
        }
        let item = &self.items.constants[id.0];
        if !self.open_constant(id) {
            let error = Diagnostic::error(item.value.span(), "a constant is defined by itself");
            self.report(error.help("give it its value as a number").by_rustc());
            return None;
        }
        let depth = self.constants_open.borrow().len();
        let known = if depth > MOST_CONSTANTS {
            let message = format!("this constant is the {depth}th of a chain, each computed from the next; at most {MOST_CONSTANTS} are");
            self.report(Diagnostic::error(item.value.span(), message).help("give one of them its value as a number"));
            None
        } else {
            self.evaluate_constant(item)
        };
        self.close_constant();
        self.constants.borrow_mut().insert(id, known.clone());
        known
    }

    /// A type of which all is known, as the user would write it.
    pub(crate) fn show(&self, ty: &Ty) -> String {
        self.shown_with(ty, &|_| "_".to_owned())
    }

    /// A type with the names of structs and enums, which a type itself does not know; `open`: what stands for a variable.
    fn shown_with(&self, ty: &Ty, open: &dyn Fn(usize) -> String) -> String {
        let show = |ty: &Ty| self.shown_with(ty, open);
        // What is around it, written by the type itself.
        let around = |outer: Ty, inner: &Ty| outer.to_string().replace('!', &show(inner));
        match ty {
            Ty::Adt(id, _) => self.items.adts[id.0].name.clone(),
            Ty::Var(index) => open(*index),
            Ty::Global(element) => format!("Global<{}>", show(element)),
            Ty::Constant(element) => format!("Constant<{}>", show(element)),
            Ty::Texture(texel) => format!("Texture2d<{}>", show(texel)),
            Ty::Matrix(element) => format!("Matrix<{}>", show(element)),
            Ty::MatrixBatch(element) => format!("MatrixBatch<{}>", show(element)),
            Ty::Accumulator(sum, rows, columns) => around(Ty::Accumulator(Box::new(Ty::Never), *rows, *columns), sum),
            Ty::Rows(value, rows) => around(Ty::Rows(Box::new(Ty::Never), *rows), value),
            Ty::Slice(element) => format!("[{}]", show(element)),
            Ty::Array(element, len) => {
                let element = self.show(element);
                Ty::Array(Box::new(Ty::Never), *len).to_string().replace('!', &element)
            }
            Ty::Tuple(fields) => {
                let fields: Vec<String> = fields.iter().map(show).collect();
                format!("({}{})", fields.join(", "), if fields.len() == 1 { "," } else { "" })
            }
            Ty::Scalar(_) | Ty::Usize | Ty::Isize | Ty::Dim3 | Ty::Never => ty.to_string(),
        }
    }

    fn evaluate_constant(&self, item: &super::items::ConstItem<'p>) -> Option<(Ty, ConstValue)> {
        let mut scope = TypeScope { module: item.module, generics: HashMap::new(), self_ty: None };
        if let Some((_, self_ty)) = item.parent {
            scope.self_ty = Some(self.outer_type(&scope, self_ty));
        }
        let mut checker = Checker::new(self, scope);
        let ty = checker.written_type(item.ty);
        let expr = checker.expression(item.value);
        checker.expect(&expr.ty, &ty, expr.span);
        // A constant's elements are counted when it is evaluated, and what does not fit is found.
        checker.arrays.clear();
        checker.literal_operands.clear();
        checker.literals.clear();
        checker.finish();
        match super::constant::evaluate(&expr, &checker.infer, &ty) {
            Ok(value) => Some((checker.infer.exported(&ty), value)),
            Err(fault) => {
                self.report(fault.error_of_item());
                None
            }
        }
    }
}

/// Names of generic parameters, lifetimes left out: the impl's, then the function's.
pub(crate) fn generic_names(parent: Option<&syn::Generics>, own: Option<&syn::Generics>) -> Vec<String> {
    let params = parent.into_iter().chain(own).flat_map(|generics| &generics.params);
    params.filter_map(generic_name).map(ToString::to_string).collect()
}

impl<'c, 'p> Checker<'c, 'p> {
    pub(crate) fn new(context: &'c Context<'p>, scope: TypeScope) -> Checker<'c, 'p> {
        let scope = Rc::new(scope);
        Checker {
            context,
            home: scope.clone(),
            scope,
            infer: Infer::default(),
            locals: Vec::new(),
            names: vec![Names::default()],
            open: Vec::new(),
            scopes: 0,
            result: Ty::unit(),
            is_kernel: false,
            variables: HashMap::new(),
            is_refused: false,
            lossless: Vec::new(),
            demands: Vec::new(),
            literal_calls: Vec::new(),
            matches: Vec::new(),
            casts: Vec::new(),
            literal_operands: Vec::new(),
            conversions: Vec::new(),
            literals: Vec::new(),
            unfilled: BTreeMap::new(),
            accumulators: Vec::new(),
            arrays: Vec::new(),
            vector_accesses: Vec::new(),
            or_bindings: Vec::new(),
            annotations: HashMap::new(),
            rows: HashMap::new(),
        }
    }

    pub(super) fn report(&self, diagnostic: Diagnostic) {
        self.context.report(diagnostic);
    }

    /// Reports and gives an expression that fits anywhere, so that checking goes on.
    pub(super) fn error_expression(&mut self, diagnostic: Diagnostic) -> Expr {
        let span = diagnostic.span;
        self.report(diagnostic);
        self.anything(span)
    }

    /// What stands for an expression of which all has been said: a number that one may divide by.
    pub(super) fn anything(&mut self, span: Span) -> Expr {
        self.is_refused = true;
        Expr { kind: ExprKind::Int(1), ty: self.infer.fresh(Kind::Any), span }
    }

    /// The type that a path names.
    fn named_type(&mut self, path: &syn::Path) -> Ty {
        self.written_type(&syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: path.clone() }))
    }

    /// As [`Checker::error_expression`], about an expression of type `ty`. Where an error left the type open, nothing more is said.
    pub(super) fn error_about(&mut self, ty: &Ty, diagnostic: Diagnostic) -> Expr {
        if self.is_left_open(ty) {
            return self.anything(diagnostic.span);
        }
        self.error_expression(diagnostic)
    }

    /// Whether nothing is known of the type, and an error that was reported may be why.
    pub(super) fn is_left_open(&self, ty: &Ty) -> bool {
        let open =
            matches!(self.infer.resolve(ty), Ty::Var(index) if !matches!(self.infer.kind(&Ty::Var(index)), Some(Kind::Int | Kind::Float)));
        open && self.context.diagnostics.borrow().has_errors()
    }

    /// Reports a type mismatch unless the types can be made equal.
    pub(crate) fn expect(&mut self, found: &Ty, expected: &Ty, span: Span) {
        if !self.infer.unify(found, expected) {
            let help = self.cast_edit(found, expected, span);
            let error = Diagnostic::error(span, format!("expected {}, found {}", self.shown(expected), self.shown(found)));
            self.report(match help {
                // `rustc` would convert with `try_into`, which a kernel has not.
                Some(help) => error.help(help).and_by_rustc(),
                None => self.with_shape_edit(error, found, expected).by_rustc(),
            });
        }
    }

    /// A type as the user would write it.
    pub(crate) fn show(&self, ty: &Ty) -> String {
        self.context.shown_with(&self.infer.resolve(ty), &|index| match self.infer.kind(&Ty::Var(index)) {
            Some(Kind::Int) => "an integer".to_owned(),
            Some(Kind::Float) => "a float".to_owned(),
            _ => "_".to_owned(),
        })
    }

    pub(super) fn demand(&mut self, ty: &Ty, demand: Demand, span: Span) {
        self.demands.push((ty.clone(), demand, span));
    }

    pub(super) fn declare(&mut self, name: &str, ty: Ty, kind: LocalKind, mutable: bool, span: Span) -> LocalId {
        self.locals.push(LocalData { name: name.to_owned(), ty, kind, mutable, span });
        let id = LocalId(self.locals.len() - 1);
        if let Some(names) = self.names.last_mut() {
            names.names.insert(name.to_owned(), Name::Local(id));
        }
        id
    }

    pub(super) fn lookup_local(&self, name: &str) -> Option<LocalId> {
        match self.lookup_name(name)? {
            Name::Local(local) => Some(*local),
            _ => None,
        }
    }

    pub(super) fn in_scope<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        self.names.push(Names::default());
        let result = f(self);
        self.names.pop();
        result
    }

    pub(super) fn block(&mut self, statements: &[syn::Stmt]) -> (Block, Ty) {
        self.in_scope(|checker| checker.statements(statements))
    }

    /// Ends inference: literals get their defaults, demands are looked at.
    pub(crate) fn finish(&mut self) {
        self.settle_accumulators();
        self.infer.default_literals();
        for (ty, demand, span) in std::mem::take(&mut self.demands) {
            let ty = self.infer.resolve(&ty);
            let scalar = match &ty {
                Ty::Scalar(ty) => Some(*ty),
                Ty::Usize => Some(crate::ir::Type::U32),
                Ty::Isize => Some(crate::ir::Type::I32),
                _ => None,
            };
            let is_enum = matches!(&ty, Ty::Adt(id, _) if matches!(self.context.items.adts[id.0].kind, super::items::AdtKind::Enum(..)));
            if let Some(ty) = scalar.filter(|ty| ty.is_float8() && demand != Demand::Scalar) {
                let message = format!("a kernel only stores `{ty}` and converts it: it has no operators, and is not printed");
                self.report(Diagnostic::error(span, message).help("compute in another float: `x as f32`"));
                continue;
            }
            let (fits, wanted) = match demand {
                Demand::Number => (scalar.is_some_and(|t| t.is_int() || t.is_float()), "a number"),
                Demand::Integer => (scalar.is_some_and(crate::ir::Type::is_int), "an integer"),
                Demand::Bits => (scalar.is_some_and(|t| !t.is_float()), "an integer or a `bool`"),
                Demand::Equality => {
                    self.check_equality(&ty, span);
                    continue;
                }
                Demand::Order if scalar.is_none() && !matches!(ty, Ty::Never | Ty::Var(_)) => {
                    self.report(self.refuse_order(&ty, span));
                    continue;
                }
                Demand::Shown if is_enum => {
                    let message = format!("a kernel does not show the names of variants, and `{}` is an enum", self.show(&ty));
                    self.report(Diagnostic::error(span, message).help("show its number: `e as u32`"));
                    continue;
                }
                Demand::Shown if scalar.is_none() && !matches!(ty, Ty::Never | Ty::Var(_)) => {
                    let message = format!("a kernel shows scalars, and this is a `{}`", self.show(&ty));
                    self.report(Diagnostic::error(span, message).help("show its parts, each in braces of its own"));
                    continue;
                }
                // Those for which the standard library's ranges are an `ExactSizeIterator`.
                Demand::ExactLength { inclusive } => {
                    let is_exact = scalar.is_none_or(|t| !t.is_int() || t.bytes() <= if inclusive { 2 } else { 4 });
                    if !is_exact {
                        self.report(self.refuse_steps_backwards(&ty, inclusive, span));
                    }
                    continue;
                }
                Demand::Order | Demand::Shown => (scalar.is_some(), "a scalar"),
                Demand::Signed => (scalar.is_some_and(|t| t.is_signed_int() || t.is_float()), "a signed number"),
                Demand::Texel => (texture::component(&ty).is_some(), "a texel"),
                Demand::FloatTexel => (texture::component(&ty).is_some_and(crate::ir::Type::is_float), "a texel of floats"),
                Demand::Float => (scalar.is_some_and(crate::ir::Type::is_float), "a float"),
                Demand::Scalar => (scalar.is_some() || is_enum, "a scalar"),
            };
            if !fits && ty != Ty::Never && !matches!(ty, Ty::Var(_)) {
                let message = format!("expected {wanted}, found `{}`", self.show(&ty));
                let error = Diagnostic::error(span, message);
                self.report(match (ty, scalar.and_then(|ty| demand.way_out(ty))) {
                    (Ty::Dim3, _) => error.help("take one axis: `.x`, `.y` or `.z`").and_by_rustc(),
                    (_, Some(help)) => error.help(help).by_rustc(),
                    (_, None) => error.by_rustc(),
                });
            }
        }
        for (row, ty, span) in std::mem::take(&mut self.literal_calls) {
            self.settle_receiver(&ty, row, span);
        }
        for (place, ty, arms, span) in std::mem::take(&mut self.matches) {
            self.check_exhaustive(place, &ty, &arms, span);
        }
        self.check_casts();
        self.check_lossless();
        self.check_literal_operands();
        self.check_literals();
        self.refuse_conversions();
        self.check_vector_accesses();
        self.check_unfilled();
        self.check_sizes();
        for index in 0..self.locals.len() {
            let local = self.locals[index].clone();
            if self.infer.is_known(&local.ty) || self.context.diagnostics.borrow().has_errors() {
                continue;
            }
            let message = format!("the type of `{}` is not known", local.name);
            let error = Diagnostic::error(local.span, message).by_rustc();
            self.report(match self.infer.of_unknown_generics(&local.ty) {
                Some(id) => {
                    let adt = &self.context.items.adts[id.0];
                    let generics = generic_names(None, Some(adt.generics)).join(", ");
                    error.help(format!("write the generics of `{0}`: `{0}<{generics}>`, with what they stand for", adt.name))
                }
                None => error.help("write it: `let name: f32 = …`"),
            });
        }
    }
}
