//! Matrices in buffers, as a kernel sees them.

use super::global::Global;
use crate::element::Element;
use crate::validity::zero;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;

/// A matrix in a buffer, row after row: `&Matrix<T>` is read-only for the launch, `&mut Matrix<T>` is shared by all its threads.
///
/// `a[(row, column)]` is zero outside of the matrix; what is written there is dropped. Rows and columns count from 0.
#[derive(Debug)]
pub struct Matrix<T> {
    data: Global<T>,
    rows: usize,
    columns: usize,
    pitch: usize,
    /// The place of its first element in the buffer.
    first: usize,
    /// Whether there is anything inside.
    is_there: bool,
    /// What is read outside.
    zero: T,
    /// What is written outside goes here; nobody reads it, since whoever gets it gets it as zero.
    dropped: T,
}

impl<T: Element> Matrix<T> {
    /// A matrix of so many rows and columns, and elements from row to row.
    pub(crate) fn new(data: Global<T>, [rows, columns, pitch]: [usize; 3]) -> Matrix<T> {
        Matrix { data, rows, columns, pitch, first: 0, is_there: true, zero: zero(), dropped: zero() }
    }
}

impl<T> Matrix<T> {
    /// Number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: elements of a row.
    #[inline]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Elements from the start of a row to the start of the next in the buffer: at least as many as there are columns.
    #[inline]
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// The element's place in the buffer, if the matrix has it.
    #[inline]
    fn place(&self, (row, column): (usize, usize)) -> Option<usize> {
        (self.is_there && row < self.rows && column < self.columns).then(|| self.first + row * self.pitch + column)
    }
}

/// Matrices of the same shape in one buffer: matrix `i` begins at element `i * stride`. `&MatrixBatch<T>` is read-only for the launch, `&mut MatrixBatch<T>` is shared by all
/// its threads.
///
/// `a[i]` is a [`Matrix`]; all elements of one that is not there, `i >= a.count()`, are outside of it.
#[derive(Debug)]
pub struct MatrixBatch<T> {
    /// What each is made like: none of its own elements is there.
    missing: Matrix<T>,
    count: usize,
    stride: usize,
    /// Those that somebody asked for, by number. Each is a box, which stays where it is until all are dropped.
    made: RefCell<HashMap<usize, NonNull<Matrix<T>>>>,
}

impl<T: Element> MatrixBatch<T> {
    /// Matrices of so many rows and columns, elements from row to row, how many they are, and elements from matrix to matrix. `data`: the buffer.
    pub(crate) fn new(data: Global<T>, [rows, columns, pitch, count, stride]: [usize; 5]) -> MatrixBatch<T> {
        let missing = Matrix { is_there: false, ..Matrix::new(data, [rows, columns, pitch]) };
        MatrixBatch { missing, count, stride, made: RefCell::default() }
    }

    /// Where a matrix is.
    fn get(&self, at: usize) -> NonNull<Matrix<T>> {
        *self.made.borrow_mut().entry(at).or_insert_with(|| {
            let Matrix { rows, columns, pitch, .. } = self.missing;
            let one = Matrix { first: at.wrapping_mul(self.stride), ..Matrix::new(self.missing.data.again(), [rows, columns, pitch]) };
            NonNull::from(Box::leak(Box::new(one)))
        })
    }
}

impl<T> Drop for MatrixBatch<T> {
    #[expect(unsafe_code, reason = "frees boxes that others had references to")]
    fn drop(&mut self) {
        for (_, one) in self.made.get_mut().drain() {
            // SAFETY: a box that was leaked here, and whose references ended with the borrow of `self`.
            drop(unsafe { Box::from_raw(one.as_ptr()) });
        }
    }
}

impl<T> MatrixBatch<T> {
    /// Number of matrices.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of rows of each.
    #[inline]
    pub fn rows(&self) -> usize {
        self.missing.rows
    }

    /// Number of columns of each: elements of a row.
    #[inline]
    pub fn columns(&self) -> usize {
        self.missing.columns
    }

    /// Elements from the start of a row to the start of the next in the buffer: at least as many as there are columns.
    #[inline]
    pub fn pitch(&self) -> usize {
        self.missing.pitch
    }

    /// Elements from the start of a matrix to the start of the next in the buffer.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }
}

impl<T: Element> Index<usize> for MatrixBatch<T> {
    type Output = Matrix<T>;

    #[inline]
    #[expect(unsafe_code, reason = "lends a box that stays where it is")]
    fn index(&self, at: usize) -> &Matrix<T> {
        if at >= self.count {
            return &self.missing;
        }
        // SAFETY: the box lives as long as `self`; what is shared of `self` only reads it.
        unsafe { self.get(at).as_ref() }
    }
}

impl<T: Element> IndexMut<usize> for MatrixBatch<T> {
    #[inline]
    #[expect(unsafe_code, reason = "lends a box that stays where it is")]
    fn index_mut(&mut self, at: usize) -> &mut Matrix<T> {
        if at >= self.count {
            return &mut self.missing;
        }
        // SAFETY: the box lives as long as `self`, which nobody else has meanwhile.
        unsafe { self.get(at).as_mut() }
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, at: (usize, usize)) -> &T {
        match self.place(at) {
            Some(place) => &self.data[place],
            None => &self.zero,
        }
    }
}

impl<T: Copy> IndexMut<(usize, usize)> for Matrix<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, at: (usize, usize)) -> &mut T {
        match self.place(at) {
            Some(place) => &mut self.data[place],
            None => {
                self.dropped = self.zero;
                &mut self.dropped
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "makes handles by hand")]
    fn matrices_of_a_batch_begin_a_stride_apart() {
        let mut values: Vec<u32> = (0..20).collect();
        let (address, length) = (values.as_mut_ptr(), values.len());
        // SAFETY: the handle is used only while `values` lives, by this thread alone, and nothing else meanwhile.
        let mut a = MatrixBatch::new(unsafe { Global::from_raw(address, length) }, [2, 3, 4, 3, 6]);
        assert_eq!([a.count(), a.rows(), a.columns(), a.pitch(), a.stride()], [3, 2, 3, 4, 6]);
        assert_eq!([(0, 1, 2), (1, 0, 0), (2, 1, 1), (2, 2, 0), (3, 0, 0)].map(|(i, r, c)| a[i][(r, c)]), [6, 6, 17, 0, 0]);
        a[2][(1, 1)] += 100;
        a[3][(0, 0)] = 7;
        assert_eq!((a[3][(0, 0)], a[3].rows(), values[17]), (0, 2, 117));
    }

    #[test]
    #[expect(unsafe_code, reason = "makes a handle by hand")]
    fn outside_is_zero_and_what_is_written_there_is_dropped() {
        let mut values = [1u32, 2, 3, 90, 4, 5, 6];
        // SAFETY: the handle is used only while `values` lives, and nothing else meanwhile.
        let data = unsafe { Global::from_raw(values.as_mut_ptr(), values.len()) };
        let mut a = Matrix::new(data, [2, 3, 4]);
        assert_eq!([a.rows(), a.columns(), a.pitch()], [2, 3, 4]);
        assert_eq!([(0, 2), (1, 0), (0, 3), (2, 0), (usize::MAX, usize::MAX)].map(|at| a[at]), [3, 4, 0, 0, 0]);
        for at in [(0, 3), (2, 0), (usize::MAX, 1)] {
            a[at] = 7;
            a[at] += 1;
            let outside = &mut a[at];
            assert_eq!(*outside, 0);
            *outside = 9;
            assert_eq!(a[at], 0);
        }
        a[(1, 1)] += 10;
        assert_eq!(values, [1, 2, 3, 90, 4, 15, 6]);
    }
}
