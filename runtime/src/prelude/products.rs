//! Products of shared tiles, added to sums that are spread over the threads of a block.

use super::block::{block_max, block_sum, meet_at};
use super::cast::{CastSource, CastTarget, cast};
use super::cluster::cluster_rank;
use super::geometry::{block_dim, thread_idx};
use super::numeric::Num;
use super::{e4m3, e5m2};
use crate::element::Element;
use crate::twin::shared::Shared;
use half::{bf16, f16};
use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Index, IndexMut};

/// M × N sums, spread over the threads of the block: each owns as many. Which they are is left open; [`Accumulator::position`] says it of each.
///
/// All threads of the block come to what is done with them together. On a device the sums of a thread are registers: M · N / threads of them.
#[derive(Clone, Debug)]
pub struct Accumulator<T, const M: usize, const N: usize> {
    own: Vec<T>,
}

/// The threads of the block, and the number of this one.
fn threads() -> (usize, usize) {
    let (at, size) = (thread_idx(), block_dim());
    ((size.x * size.y * size.z).max(1), (at.z * size.y + at.y) * size.x + at.x)
}

impl<T: Element, const M: usize, const N: usize> Accumulator<T, M, N> {
    /// All sums zero.
    ///
    /// # Panics
    ///
    /// If they cannot be shared out evenly.
    #[track_caller]
    pub fn zero() -> Accumulator<T, M, N> {
        let (threads, _) = threads();
        assert!((M * N).is_multiple_of(threads), "{M} × {N} sums cannot be shared out evenly among {threads} threads");
        Accumulator { own: vec![crate::validity::zero(); M * N / threads] }
    }
}

impl<T, const M: usize, const N: usize> Accumulator<T, M, N> {
    /// How many of the sums are this thread's: M · N / threads.
    #[expect(clippy::len_without_is_empty, reason = "there are some, always")]
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Row and column of one of this thread's sums.
    pub fn position(&self, element: usize) -> (usize, usize) {
        let (threads, thread) = threads();
        let at = element * threads + thread;
        (at / N, at % N)
    }
}

impl<T: CastSource, const M: usize, const N: usize> Accumulator<T, M, N> {
    /// Writes each of this thread's sums to its place in a shared array, as `as` converts it. Others see it behind the next barrier.
    pub fn store<U: CastTarget>(&self, to: &mut [[U; N]; M]) {
        for (element, sum) in self.own.iter().enumerate() {
            let (row, column) = self.position(element);
            to[row][column] = cast(*sum);
        }
    }
}

impl<T: CastSource, const M: usize, const N: usize> Accumulator<T, M, N> {
    /// Writes W of the columns, `from` and those behind it, as [`Accumulator::store`] does: a shared array for all columns may be too large.
    pub fn store_columns<U: CastTarget, const W: usize>(&self, from: usize, to: &mut [[U; W]; M]) {
        for (element, sum) in self.own.iter().enumerate() {
            let (row, column) = self.position(element);
            if let Some(to) = column.checked_sub(from).and_then(|column| to[row].get_mut(column)) {
                *to = cast(*sum);
            }
        }
    }
}

/// A value for each row of M × N sums: what [`Accumulator::row_max`] and [`Accumulator::row_sum`] give, and what is computed of them.
///
/// A thread has those of the rows that it has sums of, as [`Accumulator::row`] numbers them. All kernels that use it share sums out by rows: four neighbouring lanes have a row.
#[derive(Clone, Debug)]
pub struct Rows<T, const M: usize> {
    of: Vec<T>,
}

impl<T: Copy, const M: usize> Rows<T, M> {
    /// The same value for all rows.
    pub fn splat(value: T) -> Rows<T, M> {
        Rows { of: vec![value; M] }
    }

    /// How many rows this thread has values of.
    #[expect(clippy::len_without_is_empty, reason = "there are some, always")]
    pub fn len(&self) -> usize {
        self.of.len()
    }
}

impl<T, const M: usize> Index<usize> for Rows<T, M> {
    type Output = T;

    #[track_caller]
    fn index(&self, row: usize) -> &T {
        &self.of[row]
    }
}

impl<T, const M: usize> IndexMut<usize> for Rows<T, M> {
    #[track_caller]
    fn index_mut(&mut self, row: usize) -> &mut T {
        &mut self.of[row]
    }
}

impl<T: RowScalar, const M: usize, const N: usize> Accumulator<T, M, N> {
    /// Which of the thread's rows ([`Rows`]) one of its sums is in.
    pub fn row(&self, element: usize) -> usize {
        self.position(element).0
    }

    /// The greatest sum of each row. All threads of the block come to it.
    #[track_caller]
    pub fn row_max(&self) -> Rows<T, M> {
        let mut of = self.own_rows(T::LEAST, T::max);
        for row in &mut of {
            *row = block_max(*row);
        }
        Rows { of }
    }

    /// The sum of each row's sums, in an order that is left open. All threads of the block come to it.
    #[track_caller]
    pub fn row_sum(&self) -> Rows<T, M> {
        let mut of = self.own_rows(T::ZERO, T::wrapping_sum);
        for row in &mut of {
            *row = block_sum(*row);
        }
        Rows { of }
    }

    /// Of each row this thread's sums, joined.
    fn own_rows(&self, none: T, join: fn(T, T) -> T) -> Vec<T> {
        let mut own = vec![none; M];
        for (element, sum) in self.own.iter().enumerate() {
            let row = self.position(element).0;
            own[row] = join(own[row], *sum);
        }
        own
    }
}

impl<T: CastSource, const M: usize, const N: usize> Accumulator<T, M, N> {
    /// These sums as the left factor of [`multiply_add`], each converted to an element as `as` does it: no shared array is between the two products. All threads of the block come to it.
    ///
    /// A kernel that uses it shares sums out by rows, as one with [`Rows`] does. Tensor cores take sums as elements of 16 bits.
    #[track_caller]
    pub fn operand<U: CastTarget + 'static>(&self) -> SumsOperand<U, M, N> {
        let own = self.own.iter().enumerate().map(|(element, sum)| {
            let (row, column) = self.position(element);
            (row * N + column, cast(*sum))
        });
        SumsOperand { all: gather(own.collect(), M * N) }
    }
}

thread_local! {
    /// What the threads of a block show each other, by the block's rank in its cluster: the threads of a cluster take turns on one thread of the host.
    static SHOWN: RefCell<HashMap<usize, Box<dyn Any>>> = RefCell::new(HashMap::new());
}

/// Of what all threads of the block bring by number, each number by one of them, all.
#[track_caller]
fn gather<U: Copy + 'static>(own: Vec<(usize, U)>, all: usize) -> Vec<U> {
    let rank = cluster_rank();
    SHOWN.with_borrow_mut(|shown| {
        let found = shown.entry(rank).or_insert_with(|| Box::new(Vec::<Option<U>>::new()));
        if found.downcast_ref::<Vec<Option<U>>>().is_none_or(|values| values.len() != all) {
            *found = Box::new(vec![None::<U>; all]);
        }
        if let Some(values) = found.downcast_mut::<Vec<Option<U>>>() {
            own.into_iter().for_each(|(number, value)| values[number] = Some(value));
        }
    });
    meet_at("operand");
    let found = SHOWN.with_borrow(|shown| {
        let values = shown.get(&rank).and_then(|values| values.downcast_ref::<Vec<Option<U>>>());
        values.map_or_else(Vec::new, |values| values.iter().copied().flatten().collect())
    });
    // Nobody shows others before all have seen these.
    meet_at("operand");
    found
}

/// Sums as the left factor of a product: what [`Accumulator::operand`] gives.
#[derive(Clone, Debug)]
pub struct SumsOperand<U, const M: usize, const K: usize> {
    all: Vec<U>,
}

impl<U: Copy, const M: usize, const K: usize> Factor<U, M, K> for SumsOperand<U, M, K> {
    #[inline]
    fn at(&self, row: usize, column: usize) -> U {
        self.all[row * K + column]
    }
}

impl<T, const M: usize, const N: usize> Index<usize> for Accumulator<T, M, N> {
    type Output = T;

    #[track_caller]
    fn index(&self, element: usize) -> &T {
        &self.own[element]
    }
}

impl<T, const M: usize, const N: usize> IndexMut<usize> for Accumulator<T, M, N> {
    #[track_caller]
    fn index_mut(&mut self, element: usize) -> &mut T {
        &mut self.own[element]
    }
}

/// A type of sums.
pub trait RowScalar: Num {
    /// Nothing is less.
    const LEAST: Self;
}

impl RowScalar for f32 {
    const LEAST: f32 = f32::NEG_INFINITY;
}

impl RowScalar for f64 {
    const LEAST: f64 = f64::NEG_INFINITY;
}

impl RowScalar for i32 {
    const LEAST: i32 = i32::MIN;
}

/// A factor of R × C: a shared array of rows, one whose rows are the columns, or sums.
pub trait Factor<S, const R: usize, const C: usize> {
    /// An element.
    fn at(&self, row: usize, column: usize) -> S;
}

impl<S: Copy, const R: usize, const C: usize> Factor<S, R, C> for &[[S; C]; R] {
    #[inline]
    fn at(&self, row: usize, column: usize) -> S {
        self[row][column]
    }
}

impl<S: Copy, const R: usize, const C: usize> Factor<S, R, C> for &Shared<[[S; C]; R]> {
    #[inline]
    fn at(&self, row: usize, column: usize) -> S {
        self[row][column]
    }
}

/// A factor whose rows are the columns of the array: what [`transposed`] gives.
#[derive(Clone, Copy, Debug)]
pub struct Transposed<'a, S, const R: usize, const C: usize>(&'a [[S; R]; C]);

impl<S: Copy, const R: usize, const C: usize> Factor<S, R, C> for Transposed<'_, S, R, C> {
    #[inline]
    fn at(&self, row: usize, column: usize) -> S {
        self.0[column][row]
    }
}

/// Of an array of C rows the R × C factor whose columns they are.
#[inline]
pub fn transposed<S: Copy, const R: usize, const C: usize>(array: &[[S; R]; C]) -> Transposed<'_, S, R, C> {
    Transposed(array)
}

/// What products of `S` are added in.
pub trait SumOf<S>: Copy {
    /// `self + a * b`.
    #[must_use]
    fn plus_product(self, a: S, b: S) -> Self;
}

macro_rules! sums {
    ($($sum:ty, $factor:ty: |$a:ident, $b:ident, $c:ident| $step:expr;)*) => {$(
        impl SumOf<$factor> for $sum {
            #[inline]
            fn plus_product(self, $a: $factor, $b: $factor) -> $sum {
                let $c = self;
                $step
            }
        }
    )*};
}

sums! {
    f32, e4m3: |a, b, c| a.to_f32().mul_add(b.to_f32(), c);
    f32, e5m2: |a, b, c| a.to_f32().mul_add(b.to_f32(), c);
    f32, bf16: |a, b, c| a.to_f32().mul_add(b.to_f32(), c);
    f32, f16: |a, b, c| a.to_f32().mul_add(b.to_f32(), c);
    f32, f32: |a, b, c| a.mul_add(b, c);
    f64, f64: |a, b, c| a.mul_add(b, c);
    i32, i8: |a, b, c| c.wrapping_add(i32::from(a) * i32::from(b));
    i32, u8: |a, b, c| c.wrapping_add(i32::from(a) * i32::from(b));
}

/// Adds the product of two factors, `a` of M × K and `b` of K × N, to sums: shared arrays (`&tile`, `transposed(&tile)`), and sums as `a` (`sums.operand::<bf16>()`). All threads of the block come to the same call.
///
/// Products are exact. The order in which they are added, and how the hardware rounds between, is left open: on tensor cores results differ in their last
/// bits from the host's, which adds in the order of K, each rounded once. `#[kernel(tensor = false)]` has that order on all devices.
pub fn multiply_add<T: SumOf<S>, S, const M: usize, const N: usize, const K: usize>(
    a: impl Factor<S, M, K>,
    b: impl Factor<S, K, N>,
    sums: &mut Accumulator<T, M, N>,
) {
    for element in 0..sums.own.len() {
        let (row, column) = sums.position(element);
        let sum = &mut sums.own[element];
        for k in 0..K {
            *sum = sum.plus_product(a.at(row, k), b.at(k, column));
        }
    }
}
