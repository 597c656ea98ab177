//! Patterns: whether a value fits, and what it binds.

use super::Lowerer;
use super::environment::Tree;
use super::place::Place;
use crate::hir::check::array_len;
use crate::hir::tree::{LocalId, Pattern, PatternKind};
use crate::hir::types::Ty;
use crate::ir::{BinaryOp, CompareOp, Value};
use proc_macro2::Span;

impl Lowerer<'_, '_> {
    /// The patterns of parts of a value, each with the part's type and the part.
    fn parts_matched<'p>(&mut self, fields: &'p [(u32, Pattern)], ty: &Ty, value: &Tree) -> Vec<(&'p Pattern, Ty, Tree)> {
        let Tree::Node(children) = self.materialized(value.clone()) else { return Vec::new() };
        let types = match ty {
            Ty::Array(element, _) => vec![(**element).clone(); children.len()],
            _ => self.parts(ty).unwrap_or_default(),
        };
        let part = |(index, field): &'p (u32, Pattern)| {
            let index = *index as usize;
            if let (PatternKind::Rest(named), Ty::Array(_, len), Ty::Array(element, _)) = (&field.kind, &field.ty, ty) {
                let end = index + usize::try_from(array_len(*len)?).ok()?;
                return Some((&**named, Ty::Array(element.clone(), *len), Tree::Node(children.get(index..end)?.to_vec())));
            }
            Some((field, types.get(index)?.clone(), children.get(index)?.clone()))
        };
        fields.iter().filter_map(part).collect()
    }

    fn both(&mut self, a: Option<Value>, b: Option<Value>, op: BinaryOp) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.builder().binary(op, a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether a value fits a pattern: a `bool`, or `None` where every value does.
    pub(super) fn fits(&mut self, pattern: &Pattern, ty: &Ty, value: &Tree) -> Option<Value> {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Bind(_, None) => None,
            PatternKind::Bind(_, Some(inner)) | PatternKind::Rest(inner) => self.fits(inner, ty, value),
            PatternKind::Value(expected) => {
                let value = self.leaf(value);
                let expected = self.value(expected);
                Some(self.builder().compare(CompareOp::Eq, value, expected))
            }
            PatternKind::Range(start, end, closed) => {
                let value = self.leaf(value);
                let low = start.as_ref().map(|start| {
                    let start = self.value(start);
                    self.builder().compare(CompareOp::Ge, value, start)
                });
                let high = end.as_ref().map(|end| {
                    let end = self.value(end);
                    self.builder().compare(if *closed { CompareOp::Le } else { CompareOp::Lt }, value, end)
                });
                self.both(low, high, BinaryOp::And)
            }
            PatternKind::Fields(fields) => {
                let mut all = None;
                for (field, ty, part) in self.parts_matched(fields, ty, value) {
                    let one = self.fits(field, &ty, &part);
                    all = self.both(all, one, BinaryOp::And);
                }
                all
            }
            PatternKind::Or(alternatives) => {
                let mut any = None;
                for alternative in alternatives {
                    let one = self.fits(alternative, ty, value)?;
                    any = self.both(any, Some(one), BinaryOp::Or);
                }
                any
            }
        }
    }

    /// Binds the names of a pattern to (parts of) a value.
    pub(super) fn bind(&mut self, pattern: &Pattern, ty: &Ty, value: Tree) {
        match &pattern.kind {
            PatternKind::Bind(local, inner) => {
                let (name, span) = self.name_of(*local);
                let tree = self.bound(&name, ty, value.clone());
                self.declare_arrays(&tree, span);
                self.set_var(*local, tree);
                if let Some(inner) = inner {
                    self.bind(inner, ty, value);
                }
            }
            PatternKind::Fields(fields) => {
                for (field, ty, part) in self.parts_matched(fields, ty, &value) {
                    self.bind(field, &ty, part);
                }
            }
            PatternKind::Rest(named) => self.bind(named, ty, value),
            PatternKind::Or(alternatives) => self.bind_alternatives(alternatives, ty, &value),
            PatternKind::Wildcard | PatternKind::Value(_) | PatternKind::Range(..) => {}
        }
    }

    /// Every alternative binds the same names: the first that fits decides which parts.
    fn bind_alternatives(&mut self, alternatives: &[Pattern], ty: &Ty, value: &Tree) {
        let Some((last, rest)) = alternatives.split_last() else { return };
        if !binds(last) {
            return;
        }
        self.bind(last, ty, value.clone());
        self.rebind_alternatives(rest, ty, value);
    }

    /// The first that fits comes last.
    fn rebind_alternatives(&mut self, alternatives: &[Pattern], ty: &Ty, value: &Tree) {
        for alternative in alternatives.iter().rev() {
            match self.fits(alternative, ty, value) {
                Some(fits) => self.only_if(fits, |lowerer| lowerer.rebind(alternative, ty, value.clone())),
                None => self.rebind(alternative, ty, value.clone()),
            }
        }
    }

    /// Gives the names of a pattern, which have values already, those of (parts of) another one. They stay where they are: an array that one side of a
    /// condition declared would end with it.
    fn rebind(&mut self, pattern: &Pattern, ty: &Ty, value: Tree) {
        match &pattern.kind {
            PatternKind::Bind(local, inner) => {
                let place = Place::Register { var: self.var(*local), path: Vec::new(), ty: ty.clone() };
                self.write(&place, value.clone());
                if let Some(inner) = inner {
                    self.rebind(inner, ty, value);
                }
            }
            PatternKind::Fields(fields) => {
                for (field, ty, part) in self.parts_matched(fields, ty, &value) {
                    self.rebind(field, &ty, part);
                }
            }
            PatternKind::Rest(named) => self.rebind(named, ty, value),
            PatternKind::Or(alternatives) => self.rebind_alternatives(alternatives, ty, &value),
            PatternKind::Wildcard | PatternKind::Value(_) | PatternKind::Range(..) => {}
        }
    }

    /// A variable's name, and where it is declared.
    fn name_of(&self, local: LocalId) -> (String, Span) {
        let data = &self.frame().body.locals[local.0];
        (data.name.clone(), data.span)
    }

    /// `let x;`, `let (x, y);`
    pub(super) fn declare(&mut self, pattern: &Pattern) {
        if let PatternKind::Fields(fields) = &pattern.kind {
            fields.iter().for_each(|(_, field)| self.declare(field));
        }
        if let PatternKind::Rest(named) = &pattern.kind {
            self.declare(named);
        }
        if let PatternKind::Bind(local, _) = &pattern.kind {
            let ty = self.resolve(&pattern.ty);
            let (name, span) = self.name_of(*local);
            let tree = self.unset(&name, &ty);
            self.declare_arrays(&tree, span);
            self.set_var(*local, tree);
        }
    }
}

fn binds(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Bind(..) => true,
        PatternKind::Fields(fields) => fields.iter().any(|(_, field)| binds(field)),
        PatternKind::Rest(named) => binds(named),
        PatternKind::Or(alternatives) => alternatives.iter().any(binds),
        PatternKind::Wildcard | PatternKind::Value(_) | PatternKind::Range(..) => false,
    }
}
