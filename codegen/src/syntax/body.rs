//! The bodies of device code: what of Rust's expressions, statements, types and patterns is not in the language.

mod foreign_names;
mod refused;

use super::annotations::{SharedAttribute, loop_annotations};
use super::attributes::literal_int;
use super::chains::{reference_edit, refused_chain, refused_let, walk_edit};
use super::closures::{Captured, closure_edit, type_of_let};
use super::free_paths::GEOMETRY;
use super::layout::written;
use super::operand::{idents, unparenthesized};
use super::scopes::{MatchesArguments, bindings, is_constant_pattern, macro_arguments};
use super::signature::{generic_name, is_group_type};
use super::std_functions::{macro_edit, std_function};
use super::subset::{Names, check_other_attribute, refuse};
use super::vocabulary::{MACROS, REFUSED_MACROS, SUM, missing};
use super::written::LoopKeyword;
use crate::diagnostic::Diagnostics;
use crate::intrinsics::MULTIPLY_ADD;
use crate::nearest::nearest;
use proc_macro2::Span;
use quote::ToTokens;
pub(crate) use refused::edit_of_expression;
use refused::{edit_of_static, inner_item, refused_expression, refused_type};
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// What a name of a body stands for, as far as references go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Local {
    /// A register.
    Value,
    /// Memory of the device: a shared array, a reference parameter.
    Memory,
}

/// Checks one function's body, or a type or expression on its own.
pub(super) struct BodyChecker<'c> {
    names: &'c Names,
    diagnostics: &'c mut Diagnostics,
    /// The last meaning of each name: scopes matter little for what references lead to.
    locals: HashMap<String, Local>,
    /// The types of variables, as far as they are written or easily seen.
    types: HashMap<String, String>,
    /// Type and const parameters, which may be called like a type of Rust.
    generics: Vec<String>,
    /// The names that Rust has and the device has not that were refused: each is one mistake, however often; and all enums with fields are.
    said: HashSet<&'static str>,
    /// Whether the path that is looked at is called.
    is_called: bool,
}

impl<'c> BodyChecker<'c> {
    pub(super) fn new(names: &'c Names, diagnostics: &'c mut Diagnostics) -> BodyChecker<'c> {
        BodyChecker {
            names,
            diagnostics,
            locals: HashMap::new(),
            types: HashMap::new(),
            generics: Vec::new(),
            said: HashSet::new(),
            is_called: false,
        }
    }

    /// A kernel's body: its signature has rules of its own.
    pub(super) fn check_body(mut self, sig: &syn::Signature, block: &syn::Block) {
        self.enter(sig);
        for input in &sig.inputs {
            if let syn::FnArg::Typed(typed) = input {
                self.check_foreign_types(typed.ty.to_token_stream());
            }
        }
        self.visit_block(block);
    }

    /// A device function: parameters and result are types like any other, but that parameters may be references.
    pub(super) fn check_signature_and_body(mut self, sig: &syn::Signature, block: &syn::Block) {
        self.enter(sig);
        for input in &sig.inputs {
            if let syn::FnArg::Typed(typed) = input {
                self.visit_pat(&typed.pat);
                match &*typed.ty {
                    syn::Type::Reference(reference) => match &*reference.elem {
                        syn::Type::Slice(slice) => self.visit_type(&slice.elem),
                        // Of the second `&` the signature's check has said it.
                        syn::Type::Reference(second) => self.visit_type(&second.elem),
                        elem => self.visit_type(elem),
                    },
                    ty => self.visit_type(ty),
                }
            }
        }
        if let syn::ReturnType::Type(_, ty) = &sig.output {
            self.visit_type(ty);
        }
        self.visit_block(block);
    }

    fn enter(&mut self, sig: &syn::Signature) {
        self.generics.extend(sig.generics.params.iter().filter_map(generic_name).map(ToString::to_string));
        for input in &sig.inputs {
            match input {
                syn::FnArg::Receiver(_) => self.bind("self", Local::Value),
                syn::FnArg::Typed(typed) => {
                    let is_group = matches!(&*typed.ty, syn::Type::Path(path) if is_group_type(path));
                    let is_memory = is_group || matches!(&*typed.ty, syn::Type::Reference(_));
                    let local = if is_memory { Local::Memory } else { Local::Value };
                    for ident in bindings(&typed.pat) {
                        self.bind(&ident.to_string(), local);
                        self.types.insert(ident.to_string(), written(&typed.ty));
                    }
                }
            }
        }
    }

    fn bind(&mut self, name: &str, local: Local) {
        self.locals.insert(name.to_owned(), local);
    }

    fn bind_pattern(&mut self, pat: &syn::Pat, local: Local) {
        for ident in bindings(pat) {
            self.bind(&ident.to_string(), local);
        }
    }

    /// Adds a finding.
    pub(super) fn report(&mut self, finding: crate::diagnostic::Diagnostic) {
        self.diagnostics.push(finding);
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics.push(refuse(span, message, help));
    }

    /// A name that Rust has and the device has not, unless the unit means something of its own.
    fn check_path(&mut self, path: &syn::Path) {
        for segment in &path.segments {
            let name = segment.ident.to_string();
            if self.names.defined.contains(&name) || self.generics.contains(&name) || self.locals.contains_key(&name) {
                continue;
            }
            if let Some(missing) = missing(&name) {
                if self.said.insert(if missing.is_sum() { SUM } else { missing.name }) {
                    self.refuse(segment.ident.span(), format!("`{name}` {}", missing.why), missing.instead);
                }
                return;
            }
        }
        if let Some(ident) = path.get_ident() {
            self.check_foreign(ident);
        }
    }

    /// What the zero of an array's or buffer's elements is.
    fn zero(&self, array: &syn::Expr) -> &'static str {
        let ty = root_of(array).and_then(|ident| self.types.get(&ident.to_string()));
        let is_int = ty.is_some_and(|ty| ty.contains(['i', 'u']) && !ty.contains("f32") && !ty.contains("f64") && !ty.contains("f16"));
        if is_int { "0" } else { "0.0" }
    }

    /// `let p = e` as a condition, before this block.
    fn check_let(&mut self, condition: &syn::ExprLet, body: Option<&syn::Block>) {
        match refused_let(condition, body) {
            Some(error) => {
                self.said.insert(SUM);
                self.report(error);
            }
            None => visit::visit_expr_let(self, condition),
        }
        self.bind_pattern(&condition.pat, Local::Value);
    }

    /// What closures are refused with.
    fn refuse_closure(&mut self, closure: &syn::ExprClosure, name: Option<&syn::Ident>) {
        let captured = |name: &str| {
            let local = self.locals.get(name)?;
            Some(Captured { ty: self.types.get(name).cloned(), is_value: *local == Local::Value })
        };
        let help = closure_edit(closure, name, &captured);
        self.refuse(closure.inputs_begin.span(), "closures are not in the kernel language", help);
    }

    /// `let v = x.get(i).unwrap();`. Whether it is that.
    fn check_bound_chain(&mut self, chain: &syn::Expr, name: &syn::Ident) -> bool {
        let error = refused_chain(chain, Some(name), &|array| self.zero(array));
        error.map(|error| self.report(error)).is_some()
    }

    /// `let r = &mut a;`, `let s = &x[0..4];`. Whether it is that.
    fn check_bound_reference(&mut self, local: &syn::Local) -> bool {
        let (syn::Pat::Ident(pat), Some(init)) = (&local.pat, &local.init) else { return false };
        let syn::Expr::Reference(reference) = &*init.expr else { return false };
        if root_of(&reference.expr).is_none() {
            return false;
        }
        let is_slice = is_slice(&reference.expr);
        let what = if is_slice { "slices" } else { "references to locals" };
        self.refuse(reference.and_token.span(), format!("{what} are not in the kernel language"), reference_edit(&pat.ident, reference));
        true
    }

    /// `blockIdx.x * blockDim.x + threadIdx.x`, which has a name of its own here. Whether it is that.
    fn check_global_id(&mut self, sum: &syn::ExprBinary) -> bool {
        let axis = |name: &str, expr: &syn::Expr| {
            let syn::Expr::Field(syn::ExprField { base, member: syn::Member::Named(axis), .. }) = unparenthesized(expr) else {
                return None;
            };
            matches!(&**base, syn::Expr::Path(path) if path.path.is_ident(name)).then(|| axis.to_string())
        };
        let block = |product: &syn::Expr| {
            let syn::Expr::Binary(syn::ExprBinary { left, op: syn::BinOp::Mul(_), right, .. }) = unparenthesized(product) else {
                return None;
            };
            let [a, b] = [(left, right), (right, left)].map(|(index, size)| Some((axis("blockIdx", index)?, axis("blockDim", size)?)));
            a.or(b).filter(|(index, size)| index == size).map(|(axis, _)| axis)
        };
        let is_sum = matches!(sum.op, syn::BinOp::Add(_));
        let both = [(&sum.left, &sum.right), (&sum.right, &sum.left)];
        let found = both.iter().find_map(|(product, thread)| block(product).filter(|of| axis("threadIdx", thread).as_ref() == Some(of)));
        let Some(axis) = found.filter(|_| is_sum && !self.is_own("blockIdx")) else { return false };
        self.refuse(sum.span(), "`blockIdx`, `blockDim` and `threadIdx` are names of CUDA C++", format!("write `global_id().{axis}`"));
        true
    }

    /// The length of an array: `rustc` takes a generic there, and no arithmetic with one.
    fn check_length(&mut self, length: &syn::Expr) {
        let inner = match length {
            syn::Expr::Block(block) => match &block.block.stmts[..] {
                [syn::Stmt::Expr(inner, None)] => inner,
                _ => length,
            },
            other => other,
        };
        let named = if matches!(inner, syn::Expr::Path(_)) { None } else { self.generic_of(inner.to_token_stream()) };
        if let Some(generic) = named {
            let message = format!("`rustc` takes no arithmetic with a generic, here `{generic}`, as the length of an array");
            let help = "make the length a generic of its own, `const LEN: usize`; or, of a shared array, leave it to the launch: `#[shared(dynamic)]`";
            self.refuse(length.span(), message, help);
        }
    }

    /// The first generic that is named in an expression.
    fn generic_of(&self, tokens: proc_macro2::TokenStream) -> Option<String> {
        tokens.into_iter().find_map(|token| match token {
            proc_macro2::TokenTree::Ident(ident) => Some(ident.to_string()).filter(|name| self.generics.contains(name)),
            proc_macro2::TokenTree::Group(group) => self.generic_of(group.stream()),
            _ => None,
        })
    }

    /// A function of the unit that is not marked is the host's.
    fn check_callee(&mut self, path: &syn::Path) {
        let Some(ident) = path.get_ident() else { return };
        let name = ident.to_string();
        if self.names.unmarked.contains(&name) && !self.locals.contains_key(&name) {
            self.refuse(ident.span(), format!("`{name}` is not marked for the device"), format!("write `#[device]` before `fn {name}`"));
        }
    }

    /// `println("{}", a)`, a macro without its `!`. Whether it is that.
    fn check_macro_call(&mut self, path: &syn::Path, call: &syn::ExprCall) -> bool {
        let Some(name) = path.get_ident() else { return false };
        let text = name.to_string();
        if self.is_own(&text) || self.names.unmarked.contains(&text) {
            return false;
        }
        let Some(edit) = macro_edit(&text, call) else { return false };
        self.refuse(name.span(), format!("`{text}` is a macro"), edit);
        true
    }

    /// `&x`, `&mut x`, as an argument of a call.
    fn check_reference_argument(&mut self, reference: &syn::ExprReference) {
        let root = root_of(&reference.expr);
        match root.map(|ident| (ident, self.locals.get(&ident.to_string()))) {
            // Memory of the device; or a constant of the unit, which the front end looks at.
            Some((_, Some(Local::Memory) | None)) => {}
            Some((ident, Some(Local::Value))) => {
                let text = written(&reference.expr);
                let help = if reference.mutability.is_some() {
                    format!("pass `{text}` by value, and return the new one")
                } else {
                    format!("pass `{text}` by value")
                };
                self.refuse(
                    reference.and_token.span(),
                    format!("`{ident}` is a local, and the kernel language has no references to locals"),
                    help,
                );
            }
            None => self.refuse(reference.and_token.span(), "this refers to a value of no place", "pass it by value"),
        }
        self.visit_expr(&reference.expr);
    }

    fn check_arguments<'a>(&mut self, arguments: impl Iterator<Item = &'a syn::Expr>) {
        for argument in arguments {
            match argument {
                syn::Expr::Reference(reference) => self.check_reference_argument(reference),
                other => self.visit_expr(other),
            }
        }
    }

    fn check_loop_attributes(&mut self, attrs: &[syn::Attribute], keyword: LoopKeyword) {
        let annotations = loop_annotations(attrs, keyword, self.diagnostics);
        annotations.arguments().for_each(|argument| BodyChecker::visit_expr(self, argument));
    }

    /// What a `for` walks: a range with both ends, perhaps `.rev()` and `.step_by(k)`. Whether it is one.
    fn check_walk(&mut self, expr: &syn::Expr) -> bool {
        match expr {
            syn::Expr::Paren(paren) => self.check_walk(&paren.expr),
            syn::Expr::Group(group) => self.check_walk(&group.expr),
            syn::Expr::Range(range) => {
                let ends = [&range.start, &range.end];
                ends.into_iter().flatten().for_each(|end| self.visit_expr(end));
                if range.end.is_none() || range.start.is_none() {
                    self.refuse(range.limits.span(), "this range is open", "write both ends, `for i in a..b`, or `loop` with a `break`");
                }
                true
            }
            syn::Expr::MethodCall(call) if call.method == "rev" || call.method == "step_by" => {
                call.args.iter().for_each(|argument| self.visit_expr(argument));
                if let Some(step) = call.args.first().and_then(literal_int).filter(|step| *step < 1) {
                    let help = match step {
                        0 => "step by 1 or more".to_owned(),
                        -1 => format!("write `{}.rev()`, the lower end first", written(&call.receiver)),
                        _ => format!("write `{}.rev().step_by({})`, the lower end first", written(&call.receiver), step.unsigned_abs()),
                    };
                    self.refuse(call.args.span(), format!("a range cannot have a step of {step}"), help);
                }
                self.check_walk(&call.receiver)
            }
            _ => false,
        }
    }

    /// The left side of an assignment, where `..` stands for what is left over.
    fn check_destination(&mut self, expr: &syn::Expr) {
        match expr {
            syn::Expr::Range(syn::ExprRange { start: None, end: None, .. }) => {}
            syn::Expr::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.check_destination(part)),
            syn::Expr::Array(array) => array.elems.iter().for_each(|part| self.check_destination(part)),
            syn::Expr::Paren(paren) => self.check_destination(&paren.expr),
            syn::Expr::Struct(literal) => {
                self.check_path(&literal.path);
                literal.fields.iter().for_each(|field| self.check_destination(&field.expr));
            }
            syn::Expr::Call(call) => call.args.iter().for_each(|part| self.check_destination(part)),
            other => self.visit_expr(other),
        }
    }

    fn check_macro(&mut self, mac: &syn::Macro) {
        let name = mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if let Some((_, instead)) = REFUSED_MACROS.iter().find(|(refused, _)| *refused == name) {
            let arguments = mac.tokens.to_token_stream();
            let help = match name.as_str() {
                "format" | "writeln" | "write" if !arguments.is_empty() => {
                    let arguments = written(&arguments);
                    // The first argument of `write!` is where to.
                    let text = arguments.find('"').map_or(arguments.as_str(), |at| &arguments[at..]);
                    format!("print it, `println!({text})`: device code has no strings")
                }
                "dbg" if !arguments.is_empty() => format!("print it: `println!(\"{{}}\", {})`", written(&arguments)),
                "vec" if !arguments.is_empty() => format!("write `[{}]`: an array, whose length is a constant", written(&arguments)),
                _ => (*instead).to_owned(),
            };
            self.refuse(mac.path.span(), format!("the macro `{name}!` is not in the kernel language"), help);
            return;
        }
        if !MACROS.contains(&name.as_str()) {
            let help = match nearest(&name, MACROS.iter().copied()) {
                Some(near) => format!("write `{near}!`"),
                None => {
                    "there are `assert!`, `debug_assert!`, `print!` and `println!`; call a `#[device]` function for the rest".to_owned()
                }
            };
            self.refuse(mac.path.span(), format!("the macro `{name}!` is not in the kernel language"), help);
            return;
        }
        if let Some(matches) = MatchesArguments::of(mac) {
            BodyChecker::visit_expr(self, &matches.value);
            BodyChecker::visit_pat(self, &matches.pattern);
            self.bind_pattern(&matches.pattern, Local::Value);
            matches.guard.iter().for_each(|guard| BodyChecker::visit_expr(self, guard));
            return;
        }
        let mut arguments = macro_arguments(mac);
        // The format string is the one place for a string.
        if let Some(at) = arguments.iter().position(is_string) {
            arguments.remove(at);
        }
        for argument in &arguments {
            match argument {
                // `name = value`.
                syn::Expr::Assign(assign) => BodyChecker::visit_expr(self, &assign.right),
                other => BodyChecker::visit_expr(self, other),
            }
        }
    }
}

/// `x[a..b]`.
fn is_slice(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Index(index) if matches!(&*index.index, syn::Expr::Range(_)))
}

fn is_string(expr: &syn::Expr) -> bool {
    matches!(expr, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(_), .. }))
}

/// The variable that a place is part of.
fn root_of(expr: &syn::Expr) -> Option<&syn::Ident> {
    match expr {
        syn::Expr::Path(path) => path.path.get_ident(),
        syn::Expr::Field(field) => root_of(&field.base),
        syn::Expr::Index(index) => root_of(&index.expr),
        syn::Expr::Paren(paren) => root_of(&paren.expr),
        syn::Expr::Group(group) => root_of(&group.expr),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => root_of(expr),
        _ => None,
    }
}

impl<'a> Visit<'a> for BodyChecker<'_> {
    /// What is left when loops and `let`s have taken theirs.
    fn visit_attribute(&mut self, attr: &'a syn::Attribute) {
        check_other_attribute(attr, self.diagnostics);
    }

    fn visit_local(&mut self, local: &'a syn::Local) {
        let before = self.diagnostics.iter().len();
        let shared = SharedAttribute::find(&local.attrs, self.diagnostics);
        let is_shared = shared.is_some();
        shared.iter().flat_map(|shared| shared.annotations.arguments()).for_each(|argument| BodyChecker::visit_expr(self, argument));
        let is_refused = self.diagnostics.iter().len() > before;
        match &local.pat {
            syn::Pat::Type(typed) => {
                self.visit_pat(&typed.pat);
                match &*typed.ty {
                    // `#[shared(dynamic)] let mut buf: [f32]`. Where the annotation is misspelt, that is what is wrong.
                    syn::Type::Slice(slice) if is_shared || is_refused => self.visit_type(&slice.elem),
                    ty => self.visit_type(ty),
                }
            }
            pat => self.visit_pat(pat),
        }
        if let Some(init) = &local.init {
            match (&*init.expr, &local.pat) {
                (syn::Expr::Closure(closure), syn::Pat::Ident(pat)) => self.refuse_closure(closure, Some(&pat.ident)),
                (chain, syn::Pat::Ident(pat)) if !matches!(chain, syn::Expr::Unary(_)) && self.check_bound_chain(chain, &pat.ident) => {}
                _ if self.check_bound_reference(local) => {}
                (init, _) => self.visit_expr(init),
            }
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
        }
        self.bind_pattern(&local.pat, if is_shared { Local::Memory } else { Local::Value });
        let (ident, ty) = match (&local.pat, &local.init) {
            (syn::Pat::Type(typed), _) => (bindings(&typed.pat).into_iter().next(), Some(written(&typed.ty))),
            (syn::Pat::Ident(pat), Some(init)) => {
                let is_index = idents(init.expr.to_token_stream()).iter().any(|ident| GEOMETRY.contains(&ident.as_str()) || ident == "len");
                let seen = || type_of_let(&init.expr, &|name| self.types.get(name).cloned());
                (Some(&pat.ident), if is_index { Some("usize".to_owned()) } else { seen() })
            }
            _ => (None, None),
        };
        if let (Some(ident), Some(ty)) = (ident, ty) {
            self.types.insert(ident.to_string(), ty);
        }
    }

    fn visit_expr_for_loop(&mut self, expr: &'a syn::ExprForLoop) {
        self.check_loop_attributes(&expr.attrs, LoopKeyword::For);
        self.visit_pat(&expr.pat);
        if !self.check_walk(&expr.expr) {
            self.refuse(expr.expr.span(), "a `for` in device code walks a range", walk_edit(expr));
        }
        self.bind_pattern(&expr.pat, Local::Value);
        self.visit_block(&expr.body);
    }

    fn visit_expr_while(&mut self, expr: &'a syn::ExprWhile) {
        self.check_loop_attributes(&expr.attrs, LoopKeyword::While);
        self.visit_expr(&expr.cond);
        self.visit_block(&expr.body);
    }

    fn visit_expr_loop(&mut self, expr: &'a syn::ExprLoop) {
        self.check_loop_attributes(&expr.attrs, LoopKeyword::Loop);
        self.visit_block(&expr.body);
    }

    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        match &*expr.cond {
            syn::Expr::Let(condition) => self.check_let(condition, Some(&expr.then_branch)),
            condition => self.visit_expr(condition),
        }
        self.visit_block(&expr.then_branch);
        if let Some((_, otherwise)) = &expr.else_branch {
            self.visit_expr(otherwise);
        }
    }

    fn visit_expr_let(&mut self, expr: &'a syn::ExprLet) {
        self.check_let(expr, None);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        self.bind_pattern(&arm.pat, Local::Value);
        visit::visit_arm(self, arm);
    }

    fn visit_expr(&mut self, expr: &'a syn::Expr) {
        if let Some((span, message, help)) = refused_expression(expr) {
            self.refuse(span, message, help);
        }
        if let Some(error) = refused_chain(expr, None, &|array| self.zero(array)) {
            self.report(error);
            return;
        }
        match expr {
            syn::Expr::Binary(sum) if self.check_global_id(sum) => return,
            syn::Expr::Field(field) if self.check_foreign_field(field) => return,
            syn::Expr::Closure(closure) => self.refuse_closure(closure, None),
            _ => {}
        }
        // What stands in a closure or a future is not looked at: it goes with it.
        if !matches!(expr, syn::Expr::Closure(_) | syn::Expr::Async(_)) {
            visit::visit_expr(self, expr);
        }
    }

    fn visit_expr_reference(&mut self, reference: &'a syn::ExprReference) {
        reference.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        if !is_slice(&reference.expr) {
            let message = "references to locals are not in the kernel language";
            let help =
                format!("write `{}`: values are copied, and only calls of device functions take `&buffer`", written(&reference.expr));
            self.refuse(reference.and_token.span(), message, help);
        }
        self.visit_expr(&reference.expr);
    }

    fn visit_expr_assign(&mut self, assign: &'a syn::ExprAssign) {
        self.visit_expr(&assign.right);
        self.check_destination(&assign.left);
    }

    fn visit_expr_index(&mut self, index: &'a syn::ExprIndex) {
        index.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&index.expr);
        match &*index.index {
            syn::Expr::Range(range) => {
                self.refuse(
                    range.limits.span(),
                    "slices are not in the kernel language",
                    "pass the array and two indices, or loop over `a..b`",
                );
            }
            other => self.visit_expr(other),
        }
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        call.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        if let syn::Expr::Path(path) = &*call.func {
            self.check_callee(&path.path);
            if self.check_macro_call(&path.path, call) {
                return;
            }
            if let Some(name) = path.path.get_ident()
                && (self.check_atomic(name, call) || self.check_foreign_call(name, call))
            {
                return;
            }
            if path.path.segments.first().is_some_and(|first| !self.is_own(&first.ident.to_string()))
                && let Some(edit) = std_function(&path.path, call)
            {
                let span = path.path.segments.last().map_or_else(|| path.path.span(), |last| last.ident.span());
                self.refuse(span, format!("the function `{}` is not in the kernel language", written(&path.path)), edit);
                return;
            }
        }
        self.is_called = true;
        self.visit_expr(&call.func);
        self.is_called = false;
        // The sums are the one local that is taken by reference.
        if matches!(&*call.func, syn::Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == MULTIPLY_ADD))
            && let Some(syn::Expr::Reference(sums)) = call.args.last()
        {
            self.check_arguments(call.args.iter().rev().skip(1).rev());
            self.visit_expr(&sums.expr);
            return;
        }
        self.check_arguments(call.args.iter());
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        call.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&call.receiver);
        if let Some(turbofish) = &call.turbofish {
            self.visit_angle_bracketed_generic_arguments(turbofish);
        }
        self.check_arguments(call.args.iter());
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.check_path(path);
        visit::visit_path(self, path);
    }

    fn visit_expr_repeat(&mut self, repeat: &'a syn::ExprRepeat) {
        self.check_length(&repeat.len);
        visit::visit_expr_repeat(self, repeat);
    }

    fn visit_type_array(&mut self, array: &'a syn::TypeArray) {
        self.check_length(&array.len);
        visit::visit_type_array(self, array);
    }

    fn visit_type(&mut self, ty: &'a syn::Type) {
        match refused_type(ty) {
            Some((message, help)) => self.refuse(ty.span(), message, help),
            None => visit::visit_type(self, ty),
        }
    }

    fn visit_lit(&mut self, lit: &'a syn::Lit) {
        match lit {
            syn::Lit::Str(_) | syn::Lit::ByteStr(_) | syn::Lit::CStr(_) => {
                let help = "only `print!`, `println!` and `assert!` take a text; an array of `u8` holds bytes";
                self.refuse(lit.span(), "strings are not in the kernel language", help);
            }
            syn::Lit::Char(_) => self.refuse(lit.span(), "`char` is not a type of the kernel language", "write a `u8`: `b'a'`"),
            _ => {}
        }
    }

    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.check_macro(mac);
    }

    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        if let Some(by_ref) = &pat.by_ref {
            self.refuse(by_ref.span(), "`ref` is not in the kernel language", "remove it: values are copied");
        }
        if is_constant_pattern(pat) {
            self.check_path(&pat.ident.clone().into());
        }
        visit::visit_pat_ident(self, pat);
    }

    fn visit_pat_reference(&mut self, pat: &'a syn::PatReference) {
        self.refuse(pat.and_token.span(), "references to locals are not in the kernel language", "remove `&`: values are copied");
        self.visit_pat(&pat.pat);
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        if let syn::Item::Const(item) = item {
            self.visit_type(&item.ty);
            self.visit_expr(&item.expr);
        } else if !matches!(item, syn::Item::Use(_)) {
            let (span, what) = inner_item(item);
            let (span, what, help) = match edit_of_static(item) {
                Some((word, edit)) => (word, "`static`s", edit),
                None => (span, what, "move it out of the function".to_owned()),
            };
            self.refuse(span, format!("{what} within a body are not in the kernel language"), help);
        }
    }
}
