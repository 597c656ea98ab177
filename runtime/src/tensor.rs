//! What a matrix must be for tensor copies (`by = tma`): asked before the launch, on every device whose kernels make them, so that what is an error on one is
//! one on the others.

use crate::error::{Error, Result};
use warpwright_codegen::ir::MatrixParameters;

/// What rows begin at multiples of, and the matrix itself, bytes (CUDA Driver API, `cuTensorMapEncodeTiled`).
const ALIGN: u64 = 16;

/// What rows and columns are less than: coordinates are signed 32-bit numbers, and the last multiples of 16 bytes among them are outside of every matrix.
const MOST: u64 = (1 << 31) - 16;

/// What the bytes from row to row are less than (CUDA Driver API, `cuTensorMapEncodeTiled`).
const MOST_STRIDE: u64 = 1 << 40;

/// A matrix in a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    /// Where it begins, bytes; of the simulator's, which begin with a buffer, 0.
    pub(crate) address: u64,
    pub(crate) rows: u64,
    pub(crate) columns: u64,
    /// Elements from row to row.
    pub(crate) pitch: u64,
    /// If it is the first of several.
    pub(crate) batch: Option<Batch>,
}

/// Several matrices of the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Batch {
    pub(crate) count: u64,
    /// Elements from one to the next.
    pub(crate) stride: u64,
}

impl Matrix {
    /// What a launch passes as these parameters. `number`: what it passes as one.
    pub(crate) fn of(parameters: MatrixParameters, address: u64, number: impl Fn(usize) -> Result<u64>) -> Result<Matrix> {
        let MatrixParameters { rows, columns, pitch, batch, .. } = parameters;
        let batch = match batch {
            Some([count, stride]) => {
                let (count, stride) = (number(count)?, number(stride)?);
                // Of one alone the stride says nothing.
                Some(Batch { count, stride: if count > 1 { stride } else { 0 } })
            }
            None => None,
        };
        Ok(Matrix { address, rows: number(rows)?, columns: number(columns)?, pitch: number(pitch)?, batch })
    }

    /// Whether there is something to copy.
    pub(crate) fn has_elements(&self) -> bool {
        self.rows > 0 && self.columns > 0 && self.batch.is_none_or(|batch| batch.count > 0)
    }

    /// The same with one element, at an address: what tensor copies are told of one that has none.
    pub(crate) fn of_one_element(self, address: u64, element: u64) -> Matrix {
        let batch = self.batch.map(|_| Batch { count: 1, stride: 0 });
        Matrix { address, rows: 1, columns: 1, pitch: ALIGN / element.max(1), batch }
    }

    /// Whether tensor copies can be made of it. `name`: the kernel's and the matrix's, for messages; `element`: bytes of an element.
    ///
    /// Tensor stores (`is_stored`) write whole pieces of 16 bytes: where a row ends within one, an H200 wrote zeros to the rest of it, which may be part of somebody's matrix.
    ///
    /// # Errors
    /// What is wrong, with its figure.
    pub(crate) fn check(&self, (kernel, name): (&'static str, &str), element: u64, is_stored: bool) -> Result<()> {
        // Every buffer begins there, and every matrix where its buffer does.
        if !self.address.is_multiple_of(ALIGN) {
            return Err(Error::internal(name));
        }
        let bytes = self.pitch.saturating_mul(element);
        let row = self.columns.saturating_mul(element);
        let count = self.batch.map_or(0, |batch| batch.count);
        let stride = self.batch.map_or(0, |batch| batch.stride);
        let to_next = stride.saturating_mul(element);
        let most = self.rows.max(self.columns);
        let reason = if bytes >= MOST_STRIDE {
            format!(
                "the matrix `{name}` has a pitch of {bytes} bytes, and tensor copies (`by = tma`) take less than {MOST_STRIDE}; \
                 help: give it a smaller one, or leave `by = tma` out"
            )
        } else if !bytes.is_multiple_of(ALIGN) {
            format!(
                "the matrix `{name}` has a pitch of {} elements, {bytes} bytes, and tensor copies (`by = tma`) need a multiple of {ALIGN}; \
                 help: give it a pitch that is one, `.pitch({})`, or leave `by = tma` out",
                self.pitch,
                bytes.next_multiple_of(ALIGN) / element.max(1)
            )
        } else if to_next >= MOST_STRIDE {
            format!(
                "the matrices `{name}` are {to_next} bytes apart, and tensor copies (`by = tma`) take less than {MOST_STRIDE}; \
                 help: give them a smaller stride, or leave `by = tma` out"
            )
        } else if !to_next.is_multiple_of(ALIGN) {
            format!(
                "the matrices `{name}` are {stride} elements apart, {to_next} bytes, and tensor copies (`by = tma`) need a multiple of {ALIGN}; \
                 help: give them a stride that is one, {}, or leave `by = tma` out",
                to_next.next_multiple_of(ALIGN) / element.max(1)
            )
        } else if is_stored && !row.is_multiple_of(ALIGN) {
            format!(
                "the matrix `{name}` has rows of {} elements, {row} bytes, and tensor stores (`store_tile` with `by = tma`) write whole pieces of {ALIGN}, also beyond \
                 the end of a row; help: store to a matrix of {} columns, or leave `by = tma` out",
                self.columns,
                row.next_multiple_of(ALIGN) / element.max(1)
            )
        } else if count >= MOST {
            format!(
                "`{name}` is a batch of {count} matrices, and tensor copies (`by = tma`) count to {}; help: leave `by = tma` out",
                MOST - 1
            )
        } else if most >= MOST {
            format!(
                "the matrix `{name}` has {most} rows or columns, and tensor copies (`by = tma`) count to {}; help: leave `by = tma` out",
                MOST - 1
            )
        } else {
            return Ok(());
        };
        Err(Error::Argument { kernel, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, MOST, MOST_STRIDE, Matrix};

    const GOOD: Matrix = Matrix { address: 0x7f00_0000_0100, rows: 1000, columns: 60, pitch: 64, batch: None };

    /// What is said of a matrix of elements of so many bytes.
    fn said(matrix: Matrix, element: u64) -> String {
        matrix.check(("scaled", "a"), element, false).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[track_caller]
    fn refused(matrix: Matrix, element: u64, parts: &[&str]) {
        let found = said(matrix, element);
        for part in parts.iter().chain(&["`a`", "help: ", "`scaled`"]) {
            assert!(found.contains(part), "`{part}` is not in `{found}`");
        }
    }

    #[test]
    fn pitches_are_multiples_of_sixteen_bytes() {
        refused(Matrix { pitch: 65, ..GOOD }, 4, &["a pitch of 65 elements, 260 bytes", "a multiple of 16", "`.pitch(68)`"]);
        refused(Matrix { pitch: 8, ..GOOD }, 1, &["a pitch of 8 elements, 8 bytes", "`.pitch(16)`"]);
        assert_eq!(said(Matrix { pitch: 68, ..GOOD }, 4), "");
        assert_eq!(said(Matrix { pitch: 65, ..GOOD }, 16), "");
    }

    #[test]
    fn rows_that_are_stored_are_whole_pieces() {
        let said = |columns: u64, is_stored: bool| {
            Matrix { columns, ..GOOD }.check(("scaled", "a"), 4, is_stored).err().map(|error| error.to_string()).unwrap_or_default()
        };
        let found = said(59, true);
        for part in ["`a` has rows of 59 elements, 236 bytes", "whole pieces of 16", "a matrix of 60 columns", "`scaled`"] {
            assert!(found.contains(part), "{found}");
        }
        assert_eq!((said(60, true), said(59, false)), (String::new(), String::new()));
    }

    #[test]
    fn matrices_begin_at_multiples_of_sixteen_bytes() {
        let found = said(Matrix { address: GOOD.address + 4, ..GOOD }, 4);
        assert!(found.starts_with("`a`: it is not as it was checked to be (at `"), "{found}");
        assert_eq!(said(Matrix { address: GOOD.address + 16, ..GOOD }, 4), "");
    }

    #[test]
    fn rows_and_columns_are_counted_by_31_bits() {
        refused(Matrix { rows: MOST, ..GOOD }, 4, &["2147483632 rows or columns", "count to 2147483631"]);
        refused(Matrix { columns: MOST, pitch: MOST, ..GOOD }, 4, &["2147483632 rows or columns"]);
        assert_eq!(said(Matrix { rows: MOST - 1, ..GOOD }, 4), "");
        assert_eq!(said(Matrix { columns: MOST - 1, pitch: MOST, ..GOOD }, 4), "");
    }

    #[test]
    fn rows_are_less_than_a_tebibyte_apart() {
        let stride = |bytes: u64| Matrix { pitch: bytes / 4, ..GOOD };
        refused(stride(MOST_STRIDE), 4, &["a pitch of 1099511627776 bytes", "less than 1099511627776"]);
        // Bytes that no number has are too many, too.
        refused(Matrix { pitch: u64::MAX / 16 * 16, ..GOOD }, 8, &["bytes, and tensor copies"]);
        assert_eq!(said(stride(MOST_STRIDE - 16), 4), "");
    }

    #[test]
    fn matrices_of_a_batch_are_multiples_of_sixteen_bytes_apart() {
        let batch = |count: u64, stride: u64| Matrix { batch: Some(Batch { count, stride }), ..GOOD };
        refused(batch(3, 65), 4, &["are 65 elements apart, 260 bytes", "a multiple of 16", "a stride that is one, 68"]);
        refused(batch(3, MOST_STRIDE / 4), 4, &["are 1099511627776 bytes apart", "less than 1099511627776"]);
        refused(batch(MOST, 64), 4, &["a batch of 2147483632 matrices"]);
        // All the same one.
        assert_eq!((said(batch(3, 0), 4), said(batch(MOST - 1, 4), 4)), (String::new(), String::new()));
        assert!(batch(1, 0).has_elements() && !batch(0, 64).has_elements());
    }

    #[test]
    fn without_elements_there_is_nothing_to_copy() {
        let of_one = Matrix { rows: 0, batch: Some(Batch { count: 0, stride: 3 }), ..GOOD }.of_one_element(4096, 2);
        assert_eq!(of_one, Matrix { address: 4096, rows: 1, columns: 1, pitch: 8, batch: Some(Batch { count: 1, stride: 0 }) });
        assert!(GOOD.has_elements() && !Matrix { rows: 0, ..GOOD }.has_elements() && !Matrix { columns: 0, ..GOOD }.has_elements());
    }
}
