//! Matrices in buffers, as a launch passes them: what a `&Matrix<T>` of a kernel is on the host.

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::{Error, Result};
use std::fmt;

/// Where a matrix lies in its buffer, in elements: row `r` begins at element `r * pitch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    rows: usize,
    columns: usize,
    pitch: usize,
}

impl Extent {
    /// Of rows without room between them.
    fn new(rows: usize, columns: usize, len: usize) -> Result<Extent> {
        Extent { rows, columns, pitch: columns }.checked(len)
    }

    /// The same if a buffer of `len` elements has it. The last row needs no room behind it.
    fn checked(self, len: usize) -> Result<Extent> {
        let Extent { rows, columns, pitch } = self;
        if pitch < columns {
            let reason = format!(
                "a matrix of {columns} columns cannot have a pitch of {pitch} elements: rows would overlap; give `.pitch(n)` {columns} or more"
            );
            return Err(Error::Matrix { reason });
        }
        let Some(before) = rows.checked_sub(1) else { return Ok(self) };
        let needed = before.checked_mul(pitch).and_then(|before| before.checked_add(columns));
        if needed.is_some_and(|needed| needed <= len) {
            return Ok(self);
        }
        let needed = needed.map_or_else(|| "more elements than can be counted".to_owned(), |needed| format!("{needed} elements"));
        let reason = format!(
            "a matrix of {rows} rows and {columns} columns, {pitch} elements from row to row, needs {needed}, and its buffer has {len}; give \
             fewer rows, or make the buffer as long"
        );
        Err(Error::Matrix { reason })
    }
}

/// Where the matrices of a batch lie in their buffer: matrix `i` begins at element `i * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BatchExtent {
    of_one: Extent,
    count: usize,
    stride: usize,
}

impl BatchExtent {
    /// The same if a buffer of `len` elements, which has the first matrix, has all.
    fn checked(self, len: usize) -> Result<BatchExtent> {
        let BatchExtent { of_one: Extent { rows, columns, pitch }, count, stride } = self;
        // Of one alone the stride says nothing, and has not to be one that can be counted.
        if count == 1 {
            return Ok(BatchExtent { stride: 0, ..self });
        }
        let before = count.saturating_sub(1).checked_mul(stride);
        if before.is_some() && (count == 0 || rows == 0 || columns == 0) {
            return Ok(self);
        }
        let of_one = rows.saturating_sub(1) * pitch + columns;
        let needed = before.and_then(|before| before.checked_add(of_one));
        if needed.is_some_and(|needed| needed <= len) {
            return Ok(self);
        }
        let needed = needed.map_or_else(|| "more elements than can be counted".to_owned(), |needed| format!("{needed} elements"));
        let reason = format!(
            "{count} matrices of {rows} rows and {columns} columns, {pitch} elements from row to row and {stride} from matrix to matrix, need \
             {needed}, and their buffer has {len}; give fewer matrices, or make the buffer as long"
        );
        Err(Error::Matrix { reason })
    }

    /// The same if no element is part of two matrices: they lie one behind the other, or each row of one beside those of the others.
    fn apart(self) -> Result<BatchExtent> {
        let BatchExtent { of_one: Extent { rows, columns, pitch }, count, stride } = self;
        if count < 2 || rows == 0 || columns == 0 {
            return Ok(self);
        }
        let of_one = (rows - 1) * pitch + columns;
        let of_a_row = (count - 1).checked_mul(stride).and_then(|before| before.checked_add(columns));
        let are_beside = columns <= stride && of_a_row.is_some_and(|all| all <= pitch);
        if stride >= of_one || are_beside {
            return Ok(self);
        }
        let reason = format!(
            "matrices of {rows} rows and {columns} columns, {pitch} elements from row to row, overlap where one begins {stride} elements behind the \
             other, and a kernel writes them; give a stride of {of_one} or more"
        );
        Err(Error::Matrix { reason })
    }
}

/// What a matrix and a batch of them have alike.
macro_rules! in_buffer {
    ($($name:ident)*) => {$(
        impl<T: Element> $name<'_, T> {
            /// The buffer that holds the elements.
            pub fn buffer(&self) -> &Buffer<T> {
                self.buffer
            }
        }

        impl<T: Element> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("extent", &self.extent).field("elements", &self.buffer.len()).finish()
            }
        }
    )*};
}

in_buffer! { BufferMatrix BufferMatrixMut BufferMatrixBatch BufferMatrixBatchMut }

macro_rules! views {
    ($($name:ident, $buffer:ty;)*) => {$(
        impl<'a, T: Element> $name<'a, T> {
            pub(crate) fn new(buffer: $buffer, rows: usize, columns: usize) -> Result<Self> {
                // What is outside is zero.
                T::TYPE.check_zero()?;
                let extent = Extent::new(rows, columns, buffer.len())?;
                Ok($name { buffer, extent })
            }

            /// The buffer, and rows, columns and pitch.
            pub(crate) fn parts(self) -> ($buffer, [usize; 3]) {
                (self.buffer, [self.extent.rows, self.extent.columns, self.extent.pitch])
            }

            /// The same with `pitch` elements from the start of a row to the start of the next: at first as many as there are columns.
            ///
            /// # Errors
            /// [`Error::Matrix`] for a pitch below the number of columns, or if the last row would go over the end of the buffer.
            pub fn pitch(self, pitch: usize) -> Result<Self> {
                let extent = Extent { pitch, ..self.extent }.checked(self.buffer.len())?;
                Ok($name { extent, ..self })
            }

            /// Number of rows.
            pub fn rows(&self) -> usize {
                self.extent.rows
            }

            /// Number of columns: elements of a row.
            pub fn columns(&self) -> usize {
                self.extent.columns
            }

            /// Elements from the start of a row to the start of the next.
            pub fn row_pitch(&self) -> usize {
                self.extent.pitch
            }
        }
    )*};
}

/// A matrix in a buffer, row after row, for a `&Matrix<T>` parameter. [`Device::matrix`](crate::Device::matrix) makes one.
#[derive(Clone, Copy)]
pub struct BufferMatrix<'a, T: Element> {
    buffer: &'a Buffer<T>,
    extent: Extent,
}

/// A matrix in a buffer, row after row, for a `&mut Matrix<T>` parameter. [`Device::matrix_mut`](crate::Device::matrix_mut) makes one. A launch takes it for good:
/// [`reborrow`](BufferMatrixMut::reborrow) is for several.
pub struct BufferMatrixMut<'a, T: Element> {
    buffer: &'a mut Buffer<T>,
    extent: Extent,
}

views! {
    BufferMatrix, &'a Buffer<T>;
    BufferMatrixMut, &'a mut Buffer<T>;
}

impl<'a, T: Element> BufferMatrix<'a, T> {
    /// This matrix and others like it, `count` in all, `stride` elements from the start of one to the start of the next.
    ///
    /// So heads that lie beside each other, `[length][heads][size]`, are `device.matrix(&x, length, size)?.pitch(heads * size)?.batch(heads, size)?`. A stride of 0 makes all of them the same
    /// matrix.
    ///
    /// # Errors
    /// [`Error::Matrix`] if the last matrix would go over the end of the buffer. The buffer has the first one even where `count` is 0.
    pub fn batch(self, count: usize, stride: usize) -> Result<BufferMatrixBatch<'a, T>> {
        let extent = BatchExtent { of_one: self.extent, count, stride }.checked(self.buffer.len())?;
        Ok(BufferMatrixBatch { buffer: self.buffer, extent })
    }
}

impl<'a, T: Element> BufferMatrixMut<'a, T> {
    /// This matrix and others like it, `count` in all, `stride` elements from the start of one to the start of the next.
    ///
    /// # Errors
    /// [`Error::Matrix`] if the last matrix would go over the end of the buffer, or if matrices would have elements in common.
    pub fn batch(self, count: usize, stride: usize) -> Result<BufferMatrixBatchMut<'a, T>> {
        let extent = BatchExtent { of_one: self.extent, count, stride }.checked(self.buffer.len())?.apart()?;
        Ok(BufferMatrixBatchMut { buffer: self.buffer, extent })
    }
}

impl<T: Element> BufferMatrixMut<'_, T> {
    /// The buffer that it lies in.
    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        self.buffer
    }

    /// The same matrix for one launch, and for others after it.
    pub fn reborrow(&mut self) -> BufferMatrixMut<'_, T> {
        BufferMatrixMut { buffer: self.buffer, extent: self.extent }
    }
}

macro_rules! batches {
    ($($name:ident, $buffer:ty;)*) => {$(
        impl<'a, T: Element> $name<'a, T> {
            /// The buffer, and rows, columns, pitch, count and stride.
            pub(crate) fn parts(self) -> ($buffer, [usize; 5]) {
                let BatchExtent { of_one: Extent { rows, columns, pitch }, count, stride } = self.extent;
                (self.buffer, [rows, columns, pitch, count, stride])
            }

            /// Number of matrices.
            pub fn count(&self) -> usize {
                self.extent.count
            }

            /// Number of rows of each.
            pub fn rows(&self) -> usize {
                self.extent.of_one.rows
            }

            /// Number of columns of each: elements of a row.
            pub fn columns(&self) -> usize {
                self.extent.of_one.columns
            }

            /// Elements from the start of a row to the start of the next.
            pub fn row_pitch(&self) -> usize {
                self.extent.of_one.pitch
            }

            /// Elements from the start of a matrix to the start of the next.
            pub fn stride(&self) -> usize {
                self.extent.stride
            }
        }
    )*};
}

/// Matrices of the same shape in a buffer, for a `&MatrixBatch<T>` parameter. [`BufferMatrix::batch`] makes one.
#[derive(Clone, Copy)]
pub struct BufferMatrixBatch<'a, T: Element> {
    buffer: &'a Buffer<T>,
    extent: BatchExtent,
}

/// Matrices of the same shape in a buffer, for a `&mut MatrixBatch<T>` parameter. [`BufferMatrixMut::batch`] makes one. A launch takes it for good:
/// [`reborrow`](BufferMatrixBatchMut::reborrow) is for several.
pub struct BufferMatrixBatchMut<'a, T: Element> {
    buffer: &'a mut Buffer<T>,
    extent: BatchExtent,
}

batches! {
    BufferMatrixBatch, &'a Buffer<T>;
    BufferMatrixBatchMut, &'a mut Buffer<T>;
}

impl<T: Element> BufferMatrixBatchMut<'_, T> {
    /// The buffer that they lie in.
    pub fn buffer_mut(&mut self) -> &mut Buffer<T> {
        self.buffer
    }

    /// The same matrices for one launch, and for others after it.
    pub fn reborrow(&mut self) -> BufferMatrixBatchMut<'_, T> {
        BufferMatrixBatchMut { buffer: self.buffer, extent: self.extent }
    }
}

/// One matrix is a batch of one.
impl<'a, T: Element> From<BufferMatrix<'a, T>> for BufferMatrixBatch<'a, T> {
    fn from(BufferMatrix { buffer, extent }: BufferMatrix<'a, T>) -> Self {
        BufferMatrixBatch { buffer, extent: BatchExtent { of_one: extent, count: 1, stride: 0 } }
    }
}

/// One matrix is a batch of one.
impl<'a, T: Element> From<BufferMatrixMut<'a, T>> for BufferMatrixBatchMut<'a, T> {
    fn from(BufferMatrixMut { buffer, extent }: BufferMatrixMut<'a, T>) -> Self {
        BufferMatrixBatchMut { buffer, extent: BatchExtent { of_one: extent, count: 1, stride: 0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(count: usize, rows: usize, columns: usize, pitch: usize, stride: usize) -> BatchExtent {
        BatchExtent { of_one: Extent { rows, columns, pitch }, count, stride }
    }

    #[test]
    fn the_last_matrix_may_be_short() {
        for (extent, len) in [
            (batch(2, 3, 4, 4, 12), 24),
            (batch(2, 3, 4, 6, 20), 36),
            // Heads beside each other.
            (batch(3, 5, 4, 12, 4), 60),
            // All the same one.
            (batch(9, 3, 4, 4, 0), 12),
            (batch(0, 3, 4, 4, 12), 0),
            (batch(4, 0, 4, 4, 100), 0),
        ] {
            extent.checked(len).unwrap();
        }
    }

    #[test]
    fn batches_that_do_not_fit_are_refused_with_their_figures() {
        let said = batch(2, 3, 4, 6, 20).checked(35).unwrap_err().to_string();
        assert_eq!(
            said,
            "2 matrices of 3 rows and 4 columns, 6 elements from row to row and 20 from matrix to matrix, need 36 elements, and their buffer has 35; \
             give fewer matrices, or make the buffer as long"
        );
        assert!(batch(usize::MAX, 3, 4, 4, 12).checked(100).unwrap_err().to_string().contains("need more elements than can be counted"));
    }

    #[test]
    fn matrices_that_are_written_have_no_element_in_common() {
        for apart in [batch(2, 3, 4, 6, 16), batch(3, 5, 4, 12, 4), batch(1, 3, 4, 4, 0), batch(5, 0, 4, 4, 0)] {
            apart.apart().unwrap();
        }
        for overlap in [batch(2, 3, 4, 4, 0), batch(2, 3, 4, 6, 15), batch(3, 5, 4, 11, 4), batch(3, 5, 4, 12, 3)] {
            assert!(overlap.apart().unwrap_err().to_string().contains("and a kernel writes them; give a stride of "), "{overlap:?}");
        }
    }

    fn said(rows: usize, columns: usize, pitch: usize, len: usize) -> String {
        Extent { rows, columns, pitch }.checked(len).unwrap_err().to_string()
    }

    #[test]
    fn the_last_row_may_be_short() {
        for (rows, columns, pitch, len) in [(0, 0, 0, 0), (0, 9, 9, 0), (1, 7, 100, 7), (3, 5, 8, 21), (4, 0, 0, 0), (4, 0, 2, 6)] {
            Extent { rows, columns, pitch }.checked(len).unwrap();
        }
        assert_eq!(Extent::new(3, 4, 12).unwrap(), Extent { rows: 3, columns: 4, pitch: 4 });
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_figures() {
        let long = "a matrix of 3 rows and 5 columns, 8 elements from row to row, needs 21 elements, and its buffer has 20; give fewer rows, or \
                    make the buffer as long";
        assert_eq!(said(3, 5, 8, 20), long);
        let narrow = "a matrix of 5 columns cannot have a pitch of 4 elements: rows would overlap; give `.pitch(n)` 5 or more";
        assert_eq!(said(3, 5, 4, 100), narrow);
        assert!(said(usize::MAX, 2, usize::MAX, 100).contains("needs more elements than can be counted, and its buffer has 100"));
    }
}
