//! What names mean within a body: its variables, and what its blocks define (`const`) or import (`use`).

use super::super::items::{Def, Namespace};
use super::super::tree::LocalId;
use super::super::types::Ty;
use super::{Checker, TypeScope};
use crate::syntax::{ConstValue, Import, imports};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name of a body means.
#[derive(Clone)]
pub(super) enum Name {
    Local(LocalId),
    /// `const N: usize = 4;` in a block.
    Const(Rc<(Ty, ConstValue)>),
    /// `use a::b as name;` in a block.
    Path(Vec<String>),
}

/// The names of one block.
#[derive(Clone, Default)]
pub(super) struct Names {
    pub(super) names: HashMap<String, Name>,
    /// `use Shape::*;`.
    globs: Vec<Vec<String>>,
}

impl Checker<'_, '_> {
    /// What the innermost block that knows the name says. Types of other places (a callee's signature) see nothing of the body.
    pub(super) fn lookup_name(&self, name: &str) -> Option<&Name> {
        let is_home = Rc::ptr_eq(&self.scope, &self.home);
        is_home.then(|| self.names.iter().rev().find_map(|names| names.names.get(name))).flatten()
    }

    /// Runs `f` on an expression that is written in another scope, where this body's names mean nothing.
    pub(super) fn elsewhere<R>(&mut self, scope: TypeScope, f: impl FnOnce(&mut Self) -> R) -> R {
        let names = std::mem::replace(&mut self.names, vec![Names::default()]);
        let home = self.home.clone();
        let result = self.with_scope(scope, |checker| {
            checker.home = checker.scope.clone();
            f(checker)
        });
        self.home = home;
        self.names = names;
        result
    }

    /// A constant of the body.
    pub(super) fn lookup_constant(&self, name: &str) -> Option<Rc<(Ty, ConstValue)>> {
        match self.lookup_name(name)? {
            Name::Const(constant) => Some(constant.clone()),
            _ => None,
        }
    }

    /// The names of the body that are no variables: what constant expressions see.
    pub(super) fn constant_names(&self) -> Vec<Names> {
        if !Rc::ptr_eq(&self.scope, &self.home) {
            return vec![Names::default()];
        }
        let mut all = self.names.clone();
        for names in &mut all {
            names.names.retain(|_, name| !matches!(name, Name::Local(_)));
        }
        all
    }

    /// The variables of the body, of which constant expressions see nothing, and whether each is a number.
    pub(super) fn variable_names(&self) -> HashMap<String, bool> {
        if !Rc::ptr_eq(&self.scope, &self.home) {
            return HashMap::new();
        }
        let all = self.names.iter().flat_map(|names| &names.names);
        let own = all.filter_map(|(name, meaning)| match meaning {
            Name::Local(id) => Some((name.clone(), self.is_number_like(*id))),
            _ => None,
        });
        self.variables.clone().into_iter().chain(own).collect()
    }

    /// Whether a variable is no array or buffer.
    fn is_number_like(&self, id: LocalId) -> bool {
        matches!(self.infer.shallow(&self.locals[id.0].ty), Ty::Scalar(_) | Ty::Usize | Ty::Isize | Ty::Var(_))
    }

    /// What a path means in the current scope, the imports of the body's blocks included.
    pub(super) fn resolve(&self, path: &[String], namespace: Namespace) -> Option<Def> {
        let find = |path: &[String]| self.context.items.resolve(self.scope.module, path, namespace);
        if let Some((first, rest)) = path.split_first()
            && let Some(Name::Path(import)) = self.lookup_name(first)
            && let Some(def) = find(&[import, rest].concat())
        {
            return Some(def);
        }
        let own = || if Rc::ptr_eq(&self.scope, &self.home) { &self.names[..] } else { &[] };
        let globs = || own().iter().rev().flat_map(|names| &names.globs);
        find(path).or_else(|| globs().find_map(|glob| find(&[&glob[..], path].concat())))
    }

    /// Makes the items of a block known: they are, from its beginning.
    pub(super) fn declare_items(&mut self, statements: &[syn::Stmt]) {
        for statement in statements {
            let syn::Stmt::Item(syn::Item::Use(item)) = statement else { continue };
            let Some(names) = self.names.last_mut() else { continue };
            for import in imports(&item.tree) {
                match import {
                    Import::Name(name, path) => {
                        names.names.insert(name, Name::Path(path));
                    }
                    Import::Glob(path) => names.globs.push(path),
                }
            }
        }
        for statement in statements {
            if let syn::Stmt::Item(syn::Item::Const(item)) = statement {
                self.declare_constant(item);
            }
        }
    }

    /// A constant of a block. Like any item, it sees no generics.
    fn declare_constant(&mut self, item: &syn::ItemConst) {
        let scope = TypeScope { module: self.scope.module, generics: HashMap::new(), self_ty: None };
        let mut checker = Checker::new(self.context, scope);
        checker.names = self.constant_names();
        checker.variables = self.variable_names();
        let ty = checker.written_type(&item.ty);
        let expr = checker.expression(&item.expr);
        checker.expect(&expr.ty, &ty, expr.span);
        // What does not fit is found when it is evaluated.
        checker.literal_operands.clear();
        checker.literals.clear();
        checker.finish();
        let ty = checker.infer.resolve(&ty);
        match super::super::constant::evaluate(&expr, &checker.infer, &ty) {
            Ok(value) => {
                if let Some(names) = self.names.last_mut() {
                    names.names.insert(item.ident.to_string(), Name::Const(Rc::new((ty, value))));
                }
            }
            Err(fault) => self.report(fault.error_of_item()),
        }
    }
}
