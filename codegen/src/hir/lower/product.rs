//! Products and their sums. The sums of a thread are an array of its own; `schedule` says which of all sums they are.

use super::Lowerer;
use super::environment::Tree;
use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::hir::tree::{Expr, FactorForm, RowReduction};
use crate::hir::types::{Const, Ty};
use crate::intrinsics::{self, MULTIPLY_ADD, by_name, called};
use crate::ir::{BinaryOp, LeftFactor, ObjectKind, Op, ProductFactor, Scalar, Tensor, Type, Value, WARPGROUP, WARPGROUP_ROWS};
use crate::target::limits::THREAD_REGISTERS;
use proc_macro2::Span;

/// Threads that have sums of a row, each of two rows of every 64 · threads / 128: a thread has values of M · 4 / threads rows.
const ROWS_OF_WARPGROUP: i128 = 4;

/// Lanes that have the sums of a row: neighbours.
const LANES_OF_ROW: [i128; 2] = [1, 2];

/// Chains that a thread's sums of a row are joined in: each step waits for the one before it in its chain, and a multiprocessor with one warp that computes has nothing else to do meanwhile.
const CHAINS: usize = 4;

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
            Ty::Rows(value, rows) => {
                let rows = if let Const::Value(rows) = rows { rows } else { 0 };
                let own = rows.saturating_mul(ROWS_OF_WARPGROUP) / i128::from(self.threads().unwrap_or(1)).max(1);
                Ty::Array(value, Const::Value(own))
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
    pub(super) fn multiply_add(&mut self, [a, b]: &[(Box<Expr>, FactorForm); 2], sums: &Expr, span: Span) -> Tree {
        let is_transposed = |form: &FactorForm| matches!(form, FactorForm::Transposed);
        let a = match &a.1 {
            FactorForm::Operand(element) => self.sums_as_factor(&a.0, element, span),
            form => self.factor(&a.0, is_transposed(form)).map(LeftFactor::Tile),
        };
        let b = self.factor(&b.0, is_transposed(&b.1));
        let Some(place) = self.sides(sums).map(|_| self.place(sums)) else { return self.unit() };
        let (Some(a), Some(b)) = (a, b) else { return self.unit() };
        self.at_call(span, intrinsics::collective(MULTIPLY_ADD));
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

    /// `sums.operand::<U>()`.
    fn sums_as_factor(&mut self, sums: &Expr, element: &Ty, span: Span) -> Option<LeftFactor> {
        let shape = self.sides(sums)?;
        let element = self.frame().body.infer.resolve(element);
        let element = self.scalar(&element)?;
        if !self.are_by_rows("sums that become a factor", shape[0], span) {
            return None;
        }
        let place = self.place(sums);
        Some(LeftFactor::Sums { shape, element, values: self.sums_of(&place) })
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

    /// Whether so many rows can be shared out by rows; else it is said why not. All products of the kernel are, from now on.
    fn are_by_rows(&mut self, what: &str, rows: u64, span: Span) -> bool {
        self.kernel.options.sums_by_rows = true;
        let threads = self.threads().unwrap_or(0);
        let each = threads / WARPGROUP * WARPGROUP_ROWS;
        let refused = if threads == 0 {
            let message = format!("{what} are shared out among the threads of a block, and this kernel's block is not fixed");
            Some((message, "fix it: `#[kernel(block = 128)]`".to_owned()))
        } else if !threads.is_multiple_of(WARPGROUP) {
            let message = format!("{what} are shared out among whole groups of {WARPGROUP} threads, and a block has {threads}");
            Some((message, format!("write `block = {}`", threads.next_multiple_of(WARPGROUP))))
        } else if rows == 0 || !rows.is_multiple_of(each) {
            let message = format!("{rows} rows cannot be shared out among {threads} threads, {WARPGROUP_ROWS} to each {WARPGROUP} of them");
            Some((message, format!("take a multiple of {each} rows, or another `block`")))
        } else {
            None
        };
        let is_right = refused.is_none();
        if let Some((message, help)) = refused {
            self.report(Diagnostic::error(span, message).help(help));
        }
        is_right
    }

    /// `Rows::splat(value)`.
    pub(super) fn splat_rows(&mut self, value: &Expr, expr: &Expr) -> Tree {
        let Ty::Rows(_, Const::Value(rows)) = self.frame().body.infer.resolve(&expr.ty) else { return self.unit() };
        let value = self.value(value);
        if !self.are_by_rows("`Rows`", u64::try_from(rows).unwrap_or(0), expr.span) {
            return self.unit();
        }
        let Ty::Array(_, len) = self.resolve(&expr.ty) else { return self.unit() };
        let len = crate::hir::check::array_len(len).unwrap_or(0);
        Tree::Node((0..len).map(|_| Tree::Leaf(value)).collect())
    }

    /// `sums.row(element)`: which of the thread's rows it is. Its sums are in order of 64 rows, 8 columns, two rows that are 8 apart, and two neighbours.
    pub(super) fn row_of(&mut self, sums: &Expr, element: &Expr, span: Span) -> Tree {
        let element = self.value(element);
        let Some([rows, columns]) = self.sides(sums) else { return self.unit() };
        if !self.are_by_rows("`Rows`", rows, span) {
            return self.unit();
        }
        self.at(span);
        let mut b = self.builder();
        let ty = b.kernel.ty(element);
        let [of_strip, two] = [columns / 2, 2].map(|n| b.int(ty, i128::from(n)));
        let strip = b.binary(BinaryOp::Div, element, of_strip);
        let pair = b.binary(BinaryOp::Div, element, two);
        let half = b.binary(BinaryOp::Rem, pair, two);
        let first = b.binary(BinaryOp::Mul, strip, two);
        Tree::Leaf(b.binary(BinaryOp::Add, first, half))
    }

    /// `sums.row_max()`, `sums.row_sum()`: of a thread's sums, and of the four lanes that have the row.
    pub(super) fn reduce_rows(&mut self, reduction: RowReduction, sums: &Expr, span: Span) -> Tree {
        let Some([rows, columns]) = self.sides(sums) else { return self.unit() };
        if !self.are_by_rows("`Rows`", rows, span) {
            return self.unit();
        }
        let place = self.place(sums);
        let sums = self.sums_of(&place);
        let Some(shuffle) = by_name(called::SHUFFLE_XOR, None) else { return self.unit() };
        self.at_call(span, Some(shuffle));
        let first = self.kernel.insts.len();
        let op = if reduction == RowReduction::Max { BinaryOp::Max } else { BinaryOp::Add };
        let of_strip = columns as usize / 2;
        let mut b = self.builder();
        let mut found = Vec::new();
        for strip in sums.chunks(of_strip.max(1)) {
            for half in 0..2 {
                let own: Vec<Value> = strip.chunks(2).skip(half).step_by(2).flatten().copied().collect();
                let chains: Vec<Value> = (0..CHAINS)
                    .filter_map(|first| own.iter().skip(first).step_by(CHAINS).copied().reduce(|all, sum| b.binary(op, all, sum)))
                    .collect();
                let Some(mut all) = chains.into_iter().reduce(|all, chain| b.binary(op, all, chain)) else { continue };
                let ty = b.kernel.ty(all);
                for distance in LANES_OF_ROW {
                    let distance = b.int(Type::U32, distance);
                    let other = intrinsics::emit(&mut b, shuffle, ty, &[all, distance]);
                    if let [other] = other[..] {
                        all = b.binary(op, all, other);
                    }
                }
                found.push(all);
            }
        }
        self.block = b.block;
        self.note_meeting(first, reduction.name(), span);
        Tree::of(&found)
    }

    /// `sums.store(&mut tile)`.
    pub(super) fn store_sums(&mut self, sums: &Expr, (to, from): (&Expr, Option<&Expr>), span: Span) -> Tree {
        let Ty::Accumulator(of, ..) = self.frame().body.infer.resolve(&sums.ty) else { return self.unit() };
        let (Some(shape), Some(of)) = (self.sides(sums), self.scalar(&of)) else { return self.unit() };
        let place = self.place(sums);
        let from = from.map(|from| self.value(from));
        let Some(ProductFactor { array: to, .. }) = self.factor(to, false) else { return self.unit() };
        let factor = ProductFactor { array: to.clone(), is_transposed: false };
        let Some((_, width, element)) = factor.shape(&self.kernel) else { return self.unit() };
        if let Some(from) = from
            && !self.has_columns(shape, from, (width, element), span)
        {
            return self.unit();
        }
        self.at(span);
        let sums = self.sums_of(&place);
        let mut b = self.builder();
        let values: Vec<Value> = sums.into_iter().map(|sum| intrinsics::convert(&mut b, sum, element)).collect();
        b.push(Op::Tensor(Tensor::Store { shape, of, to, from, sums: values }), &[]);
        self.unit()
    }

    /// Whether sums have so many columns from `from` on, as far as that is known; else it is said.
    fn has_columns(&mut self, [rows, columns]: [u64; 2], from: Value, (width, element): (u64, Type), span: Span) -> bool {
        let known = self.kernel.constant(from).map(|from| from.bits);
        let has = known.unwrap_or(0).saturating_add(width) <= columns;
        if !has {
            let begin = known.map_or_else(String::new, |begin| format!(" from {begin} on"));
            let message = format!("`store_columns` writes {width} columns{begin}, and the sums have {columns}");
            let help = match columns.checked_sub(width) {
                Some(last) => format!("begin at {last} at most"),
                None => format!("declare the array with fewer: `#[shared] let mut tile: [[{element}; {columns}]; {rows}];`"),
            };
            self.report(Diagnostic::error(span, message).help(help));
        }
        has
    }
}
