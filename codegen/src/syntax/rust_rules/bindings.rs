//! Names that a pattern or a list of parameters binds twice, alternatives that bind different names, and fields that are given twice.

use super::scope::Scope;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::syntax::scopes::bindings;
use crate::syntax::signature::is_marked;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Looks at the functions of an item, if they are the device's.
pub(super) fn check(item: &syn::Item, scope: &Scope<'_>, of_module: bool, diagnostics: &mut Diagnostics) {
    let mut walk = Walk { generics: Vec::new(), scope, diagnostics };
    match item {
        syn::Item::Fn(function) if of_module || is_marked(&function.attrs) => walk.function(&function.sig, &function.block),
        syn::Item::Impl(item) if of_module || is_marked(&item.attrs) => {
            for member in &item.items {
                if let syn::ImplItem::Fn(function) = member {
                    walk.function(&function.sig, &function.block);
                }
            }
        }
        _ => {}
    }
}

struct Walk<'w, 's> {
    /// The const generics of the function, whose names stand for their values in patterns, too.
    generics: Vec<String>,
    scope: &'w Scope<'s>,
    diagnostics: &'w mut Diagnostics,
}

impl Walk<'_, '_> {
    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let patterns = sig.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.pat),
            syn::FnArg::Receiver(_) => None,
        });
        self.bound_once(patterns.flat_map(once_each).collect(), &format!("the parameters of `{}`", sig.ident));
        self.generics = sig.generics.const_params().map(|param| param.ident.to_string()).collect();
        self.visit_signature(sig);
        self.visit_block(block);
    }

    fn bound_once(&mut self, names: Vec<&syn::Ident>, place: &str) {
        let mut known: HashMap<String, Span> = HashMap::new();
        for name in names {
            match known.get(&name.to_string()) {
                Some(first) => {
                    let error = Diagnostic::error(name.span(), format!("{place} have the name `{name}` twice")).label(*first, "first here");
                    self.diagnostics.push(error.help(format!("give this one another name, `{name}2`, or `_`")));
                }
                None => drop(known.insert(name.to_string(), name.span())),
            }
        }
    }

    fn pattern(&mut self, pattern: &syn::Pat) {
        self.bound_once(once_each(pattern), "the parts of this pattern");
        self.visit_pat(pattern);
    }

    fn given_once<'m>(&mut self, members: impl Iterator<Item = &'m syn::Member>) {
        let mut known: HashMap<String, Span> = HashMap::new();
        for member in members {
            let name = crate::syntax::written(member);
            match known.get(&name) {
                Some(first) => {
                    let error = Diagnostic::error(member.span(), format!("the field `{name}` is named twice")).label(*first, "first here");
                    self.diagnostics.push(error.help("remove one of the two, or write the field that was meant"));
                }
                None => drop(known.insert(name, member.span())),
            }
        }
    }
}

/// The names that a pattern binds: of alternatives, which bind the same names, those of the first.
fn once_each(pattern: &syn::Pat) -> Vec<&syn::Ident> {
    struct Names<'a>(Vec<&'a syn::Ident>);
    impl<'a> Visit<'a> for Names<'a> {
        fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
            if !crate::syntax::scopes::is_constant_pattern(pat) {
                self.0.push(&pat.ident);
            }
            visit::visit_pat_ident(self, pat);
        }
        fn visit_pat_or(&mut self, or: &'a syn::PatOr) {
            if let Some(first) = or.cases.first() {
                self.visit_pat(first);
            }
        }
        fn visit_expr(&mut self, _: &'a syn::Expr) {}
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

impl<'ast> Visit<'ast> for Walk<'_, '_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.bound_once(once_each(&local.pat), "the parts of this pattern");
        visit::visit_local(self, local);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.bound_once(once_each(&arm.pat), "the parts of this pattern");
        visit::visit_arm(self, arm);
    }

    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.pattern(&condition.pat);
        self.visit_expr(&condition.expr);
    }

    fn visit_expr_for_loop(&mut self, walk: &'ast syn::ExprForLoop) {
        self.bound_once(once_each(&walk.pat), "the parts of this pattern");
        visit::visit_expr_for_loop(self, walk);
    }

    fn visit_pat_or(&mut self, or: &'ast syn::PatOr) {
        let names: Vec<Vec<&syn::Ident>> = or.cases.iter().map(bindings).collect();
        let all: Vec<&syn::Ident> = names.iter().flatten().copied().collect();
        let mut said: Vec<String> = Vec::new();
        for name in all {
            let text = name.to_string();
            let lacks = or.cases.iter().zip(&names).find(|(_, bound)| !bound.contains(&name));
            if let Some((case, _)) = lacks.filter(|_| !said.contains(&text)) {
                let message = format!("one alternative of this pattern binds `{name}`, and another does not");
                let error = Diagnostic::error(name.span(), message).label(case.span(), "not bound here");
                self.diagnostics.push(error.help(format!("bind `{name}` in all of them, or write `_` for it")));
                said.push(text);
            }
        }
        visit::visit_pat_or(self, or);
    }

    fn visit_pat_tuple(&mut self, tuple: &'ast syn::PatTuple) {
        self.one_rest(&tuple.elems);
        visit::visit_pat_tuple(self, tuple);
    }

    fn visit_pat_tuple_struct(&mut self, tuple: &'ast syn::PatTupleStruct) {
        self.one_rest(&tuple.elems);
        visit::visit_pat_tuple_struct(self, tuple);
    }

    fn visit_pat_slice(&mut self, slice: &'ast syn::PatSlice) {
        self.one_rest(&slice.elems);
        visit::visit_pat_slice(self, slice);
    }

    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        self.given_once(pattern.fields.iter().map(|field| &field.member));
        self.all_named(pattern);
        visit::visit_pat_struct(self, pattern);
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        if let syn::Pat::Ident(name) = pattern
            && self.generics.iter().any(|generic| name.ident == generic)
        {
            let name = &name.ident;
            let error = Diagnostic::error(name.span(), format!("`{name}` is a const generic, which no pattern can name"));
            self.diagnostics.push(error.help(format!("give the variable another name, `{}`", name.to_string().to_lowercase())));
        }
        if let syn::Pat::Path(path) = pattern
            && path.path.segments.last().is_some_and(|last| last.ident == "NAN")
            && path.path.segments.iter().rev().nth(1).is_some_and(|of| ["f16", "bf16", "f32", "f64"].iter().any(|float| of.ident == float))
        {
            let error = Diagnostic::error(pattern.span(), "NaN is equal to nothing, itself included: this pattern fits no number");
            self.diagnostics.push(error.help("ask by a condition: `v if v.is_nan()`"));
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        self.given_once(literal.fields.iter().map(|field| &field.member));
        visit::visit_expr_struct(self, literal);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_)) {
            self.scope.check_compared(binary, self.diagnostics);
        }
        let is_let = |side: &syn::Expr| matches!(side, syn::Expr::Let(_));
        if matches!(binary.op, syn::BinOp::Or(_)) && (is_let(&binary.left) || is_let(&binary.right)) {
            let error =
                Diagnostic::error(binary.op.span(), "a `let` stands under `||`, and its names would have no value on the other side");
            self.diagnostics.push(error.help("ask by `matches!(…) ||`, or write an `if` for each"));
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            syn::Stmt::Item(item) => Some(item),
            _ => None,
        });
        super::names::check(&items.collect::<Vec<_>>(), self.diagnostics);
        visit::visit_block(self, block);
    }

    // What stands in a body is refused there.
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Walk<'_, '_> {
    /// A pattern of a struct names every field, or says `..`.
    fn all_named(&mut self, pattern: &syn::PatStruct) {
        // `Shape::Circle { r }` is a variant's, whatever struct has its name.
        let Some(name) = pattern.path.get_ident().map(ToString::to_string) else { return };
        let Some(fields) = self.scope.fields_of(&name).filter(|_| pattern.rest.is_none()) else { return };
        let named: Vec<String> = pattern.fields.iter().map(|field| crate::syntax::written(&field.member)).collect();
        let missing: Vec<String> = fields.iter().filter(|field| !named.contains(field)).map(|field| format!("`{field}`")).collect();
        if !missing.is_empty() {
            let message = format!("this pattern of `{name}` leaves out {}", missing.join(", "));
            self.diagnostics
                .push(Diagnostic::error(pattern.span(), message).help("write `..` at its end for the fields that it leaves out"));
        }
    }

    fn one_rest(&mut self, parts: &syn::punctuated::Punctuated<syn::Pat, syn::Token![,]>) {
        let is_rest = |pat: &&syn::Pat| match pat {
            syn::Pat::Rest(_) => true,
            syn::Pat::Ident(ident) => matches!(&ident.subpat, Some((_, inner)) if matches!(**inner, syn::Pat::Rest(_))),
            _ => false,
        };
        if let Some(second) = parts.iter().filter(is_rest).nth(1) {
            let error = Diagnostic::error(second.span(), "`..` stands twice in this pattern: which parts it leaves out is not known");
            self.diagnostics.push(error.help("keep one `..`, and write `_` for each part that the other leaves out"));
        }
    }
}
