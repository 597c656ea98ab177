//! Matrices: a buffer, rows, columns and pitch, which are parameters of their own; their elements, which may be outside.

use super::Lowerer;
use super::environment::{Tree, Var};
use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::hir::tree::Expr;
use crate::hir::types::Ty;
use crate::ir::{Access, BatchIndex, BinaryOp, CompareOp, PitchedMatrix, Step, Value};
use proc_macro2::Span;

impl Lowerer<'_, '_> {
    /// `a[(row, column)]`, from the places of the matrix's parameters.
    pub(super) fn matrix_element(&mut self, parts: &[Place], position: &[Value], element: &Ty) -> Option<Place> {
        let matrix = self.matrix_of(parts)?;
        let &[row, column] = position else { return None };
        let mut b = self.builder();
        let [in_rows, in_columns] = [(row, matrix.rows), (column, matrix.columns)].map(|(at, all)| b.compare(CompareOp::Lt, at, all));
        let mut is_inside = b.binary(BinaryOp::And, in_rows, in_columns);
        // What is outside may wrap here, and is not accessed.
        let above = b.binary(BinaryOp::Mul, row, matrix.pitch);
        let mut at = b.binary(BinaryOp::Add, above, column);
        if let Some(BatchIndex { index, count, stride }) = matrix.batch {
            let is_there = b.compare(CompareOp::Lt, index, count);
            is_inside = b.binary(BinaryOp::And, is_inside, is_there);
            let before = b.binary(BinaryOp::Mul, index, stride);
            at = b.binary(BinaryOp::Add, before, at);
        }
        let access = Access { object: matrix.data, path: vec![Step::Index(at)] };
        Some(Place::Guarded { access, is_inside, ty: element.clone() })
    }

    /// The matrix that an expression names.
    pub(super) fn matrix(&mut self, expr: &Expr) -> Option<PitchedMatrix> {
        match self.place(expr) {
            Place::Group { parts, ty: Ty::Matrix(_) } => self.matrix_of(&parts),
            _ => None,
        }
    }

    fn matrix_of(&mut self, parts: &[Place]) -> Option<PitchedMatrix> {
        let (Place::Memory { access, .. }, values) = parts.split_first()? else { return None };
        let values: Vec<Value> = values
            .iter()
            .map(|part| {
                let tree = self.read(part);
                self.leaf(&tree)
            })
            .collect();
        let (&[rows, columns, pitch], batch) = values.split_first_chunk()?;
        let batch = match *batch {
            [count, stride, index] => Some(BatchIndex { index, count, stride }),
            _ => None,
        };
        Some(PitchedMatrix { data: access.object, rows, columns, pitch, batch })
    }

    /// `a[i]`, from the places of a batch's parameters: all of them, and the matrix's number.
    pub(super) fn matrix_of_batch(&mut self, mut parts: Vec<Place>, index: Value, element: Ty) -> Place {
        // The batch was refused.
        if !parts.is_empty() {
            self.vars.push(Var::Value(Tree::Leaf(index)));
            parts.push(Place::Register { var: self.vars.len() - 1, path: Vec::new(), ty: Ty::Usize });
        }
        Place::Group { parts, ty: Ty::Matrix(Box::new(element)) }
    }

    /// Does something only where a condition holds.
    pub(super) fn only_if(&mut self, condition: Value, then: impl FnOnce(&mut Self)) {
        let then = |lowerer: &mut Self| {
            then(lowerer);
            lowerer.unit()
        };
        let _: Tree = self.branch(condition, &Ty::unit(), then, |lowerer| lowerer.unit());
    }

    /// A place in memory that is there whatever the index; an element of a matrix is none.
    pub(super) fn plain_memory(&self, place: Place, what: &str, span: Span) -> Option<(Access, Ty)> {
        match place {
            Place::Memory { access, ty } => Some((access, ty)),
            Place::Guarded { access, .. } => {
                let name = &self.kernel.objects[access.object].name;
                let name = name.strip_suffix(".data").unwrap_or(name);
                let message = format!("an element of the matrix `{name}` may be outside of it: there are no {what} of a part of one");
                self.report(Diagnostic::error(span, message).help("read the element, change it, and write it; or take a `&mut Global<…>`"));
                None
            }
            Place::Register { .. } | Place::Group { .. } => None,
        }
    }
}
