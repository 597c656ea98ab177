//! Arrays of `ndarray` to buffers and back.
//!
//! A buffer has the elements of an array in its logical order, the last index fastest: `a[[r, c]]` of `n` columns is element `r * n + c`, however the array has them in memory.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use ndarray::{Array, ArrayRef, Dimension, IntoDimension};

// Said of each `impl`, too: docs.rs shows it where another crate hands the type on.
#[cfg(feature = "ndarray")]
impl Device {
    /// A buffer of the elements of an array of any dimension, or of a view of one, the last index fastest. What is in standard layout is uploaded from where it is; transposed arrays, columns
    /// and the like are made contiguous on the host before. With the feature `ndarray`.
    ///
    /// ```text
    /// let a = device.upload_array(&array)?; // of `Array2<f32>`
    /// let mut c = device.zeros::<f32>(array.len())?;
    /// scaled(device.matrix(&a, array.nrows(), array.ncols())?, &mut c).cover(array.len()).launch(&device)?;
    /// let result = c.download_array(array.raw_dim())?;
    /// ```
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn upload_array<T: Element, D: Dimension>(&self, array: &ArrayRef<T, D>) -> Result<Buffer<T>> {
        match array.as_slice() {
            Some(elements) => self.upload(elements),
            None => self.upload(&array.iter().copied().collect::<Vec<_>>()),
        }
    }
}

#[cfg(feature = "ndarray")]
impl<T: Element> Buffer<T> {
    /// The elements, copied to the host, as an array of this shape in standard layout: `(rows, columns)`, `[2, 3, 4]`, `array.raw_dim()`, or a slice for `ArrayD`. Waits for the kernels that
    /// write them. With the feature `ndarray`.
    ///
    /// # Errors
    /// [`Error::Array`] if such an array has another number of elements, and as [`Buffer::download`].
    pub fn download_array<S: IntoDimension>(&self, shape: S) -> Result<Array<T, S::Dim>> {
        let shape = shape.into_dimension();
        let elements = shape.slice().iter().try_fold(1, |product: usize, extent| product.checked_mul(*extent));
        let refuse = || {
            let elements =
                elements.map_or_else(|| "more elements than can be counted".to_owned(), |elements| format!("{elements} elements"));
            let len = self.len();
            Error::Array {
                reason: format!("an array of shape {:?} has {elements}, and the buffer has {len}; give a shape of {len}", shape.slice()),
            }
        };
        if elements != Some(self.len()) {
            return Err(refuse());
        }
        let elements = self.download()?;
        Array::from_shape_vec(shape.clone(), elements).map_err(|_| refuse())
    }
}
