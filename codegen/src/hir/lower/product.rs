//! Products and their sums. The sums of a thread are an array of its own; `schedule` says which of all sums they are.

use super::Lowerer;
use super::environment::Tree;
use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::hir::tree::Expr;
use crate::hir::types::{Const, Ty};
use crate::intrinsics::MULTIPLY_ADD;
use crate::ir::{Access, ObjectKind, Op, ProductFactor, Scalar, Tensor, Value};
use crate::target::limits::THREAD_REGISTERS;
use proc_macro2::Span;

impl Lowerer<'_, '_> {
    /// What a type is of which each thread has a share, and all others.
    pub(super) fn shared_out(&self, ty: Ty) -> Ty {
        match ty {
            Ty::Accumulator(sum, rows, columns) => {
                let all = match (rows, columns) {
                    (Const::Value(rows), Const::Value(columns)) => rows.saturating_mul(columns),
                    _ => 0,
                };
                let own = all / i128::from(self.threads().unwrap_or(1)).max(1);
                Ty::Array(sum, Const::Value(own))
            }
            Ty::Array(element, len) => Ty::Array(Box::new(self.shared_out(*element)), len),
            Ty::Tuple(fields) => Ty::Tuple(fields.into_iter().map(|field| self.shared_out(field)).collect()),
            other => other,
        }
    }

    /// The threads of a block, where they are known.
    fn threads(&self) -> Option<u64> {
        self.kernel.options.block.map(|block| block.iter().map(|side| u64::from(*side)).product())
    }

    /// The sides of an expression's sums, if they can be shared out evenly; else it is said why not.
    fn sides(&mut self, expr: &Expr) -> Option<[u64; 2]> {
        let Ty::Accumulator(sum, Const::Value(rows), Const::Value(columns)) = self.frame().body.infer.resolve(&expr.ty) else {
            return None;
        };
        let (rows, columns) = (u64::try_from(rows).ok()?, u64::try_from(columns).ok()?);
        let error = |message: String, help: String| Some(Diagnostic::error(expr.span, message).help(help));
        let all = rows.saturating_mul(columns);
        let width = self.scalar(&sum).map_or(1, |sum| u64::from(sum.bytes() / 4).max(1));
        let refused = match self.threads() {
            None => error(
                "an `Accumulator` is shared out among the threads of a block, and this kernel's block is not fixed".to_owned(),
                "fix it: `#[kernel(block = 256)]`".to_owned(),
            ),
            Some(threads) if all == 0 || !all.is_multiple_of(threads) => error(
                format!("{rows} × {columns} sums cannot be shared out evenly among {threads} threads"),
                format!("take sides whose product is a multiple of {threads}, or another `block`"),
            ),
            Some(threads) if all / threads * width > u64::from(THREAD_REGISTERS) => error(
                format!(
                    "{rows} × {columns} sums are {} registers of each of {threads} threads, and a thread has {THREAD_REGISTERS} at most",
                    all / threads * width
                ),
                "take a smaller tile, or more threads".to_owned(),
            ),
            Some(_) => None,
        };
        match refused {
            Some(refused) => {
                self.report(refused);
                None
            }
            None => Some([rows, columns]),
        }
    }

    /// `Accumulator::zero()`.
    pub(super) fn no_sums(&mut self, expr: &Expr) -> Tree {
        let Ty::Array(sum, len) = self.resolve(&expr.ty) else { return self.unit() };
        let (Some(_), Some(sum)) = (self.sides(expr), self.scalar(&sum)) else { return self.unit() };
        let zero = self.builder().constant(Scalar::new(sum, 0));
        let len = crate::hir::check::array_len(len).unwrap_or(0);
        Tree::Node((0..len).map(|_| Tree::Leaf(zero)).collect())
    }

    /// `multiply_add(&a, &b, &mut sums)`.
    pub(super) fn multiply_add(&mut self, [a, b]: &[(Box<Expr>, bool); 2], sums: &Expr, span: Span) -> Tree {
        let factors = [a, b].map(|(array, is_transposed)| self.factor(array, *is_transposed));
        let Some(place) = self.sides(sums).map(|_| self.place(sums)) else { return self.unit() };
        let [Some(a), Some(b)] = factors else { return self.unit() };
        self.at_call(span, crate::intrinsics::collective(MULTIPLY_ADD));
        let before = self.sums_of(&place);
        let types = self.types_of(&before);
        let first = self.kernel.insts.len();
        let inst = self.builder().push(Op::Tensor(Tensor::MultiplyAdd { a, b, sums: before }), &types);
        self.note_meeting(first, MULTIPLY_ADD, span);
        let after: Vec<Tree> = self.kernel.insts[inst].results.iter().map(|value| Tree::Leaf(*value)).collect();
        self.write(&place, Tree::Node(after));
        self.at(span);
        self.unit()
    }

    fn factor(&mut self, expr: &Expr, is_transposed: bool) -> Option<ProductFactor> {
        let access = match self.place(expr) {
            Place::Memory { access, .. } => Some(access),
            Place::Guarded { .. } | Place::Register { .. } | Place::Group { .. } => None,
        };
        let array = access.filter(|access| self.kernel.objects[access.object].kind == ObjectKind::Shared);
        if array.is_none() && !self.context.diagnostics.borrow().has_errors() {
            let message = format!("a factor of `{MULTIPLY_ADD}` lies in shared memory, where all threads of the block find it");
            self.report(
                Diagnostic::error(expr.span, message).help("copy it into an array of its own: `#[shared] let mut tile: [[f32; 32]; 64];`"),
            );
        }
        Some(ProductFactor { array: array?, is_transposed })
    }

    /// The sums that a place holds.
    fn sums_of(&mut self, place: &Place) -> Vec<Value> {
        let tree = self.read(place);
        self.materialized(tree).leaves()
    }

    /// `sums.position(element)`.
    pub(super) fn position(&mut self, sums: &Expr, element: &Expr, span: Span) -> Tree {
        let Ty::Accumulator(of, ..) = self.frame().body.infer.resolve(&sums.ty) else { return self.unit() };
        let element = self.value(element);
        let (Some(shape), Some(of)) = (self.sides(sums), self.scalar(&of)) else { return self.unit() };
        self.at(span);
        let index = self.kernel.index_type();
        let inst = self.builder().push(Op::Tensor(Tensor::Position { shape, of, element }), &[index; 2]);
        Tree::of(&self.kernel.insts[inst].results.clone())
    }

    /// `sums.store(&mut tile)`.
    pub(super) fn store_sums(&mut self, sums: &Expr, (to, from): (&Expr, Option<&Expr>), span: Span) -> Tree {
        let Ty::Accumulator(of, ..) = self.frame().body.infer.resolve(&sums.ty) else { return self.unit() };
        let (Some(shape), Some(of)) = (self.sides(sums), self.scalar(&of)) else { return self.unit() };
        let place = self.place(sums);
        let from = from.map(|from| self.value(from));
        let Some(ProductFactor { array: to, .. }) = self.factor(to, false) else { return self.unit() };
        let Some(element) = self.scalar_of_rows(&to) else { return self.unit() };
        self.at(span);
        let sums = self.sums_of(&place);
        let mut b = self.builder();
        let values: Vec<Value> = sums.into_iter().map(|sum| b.cast(sum, element)).collect();
        b.push(Op::Tensor(Tensor::Store { shape, of, to, from, sums: values }), &[]);
        self.unit()
    }

    /// The scalar type of an array of rows.
    fn scalar_of_rows(&self, array: &Access) -> Option<crate::ir::Type> {
        let factor = ProductFactor { array: array.clone(), is_transposed: false };
        factor.shape(&self.kernel).map(|(_, _, ty)| ty)
    }
}
