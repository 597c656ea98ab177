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

            /// The buffer that it lies in.
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

#[cfg(test)]
mod tests {
    use super::*;

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
