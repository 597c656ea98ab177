//! Values that `bytemuck` knows to be plain bytes as elements that have the same bytes, and back: vectors of other libraries, structs of programs that are no `#[device]` ones.
//!
//! Numbers, `half`'s and `float8`'s among them, and arrays and tuples of them are elements themselves and need none of this.

#![expect(unsafe_code, reason = "reads bytes into values that any bytes are")]

use crate::buffer::{Buffer, check_len, read_allocation};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use bytemuck::{AnyBitPattern, NoUninit};
use std::any::type_name;

// Said of each `impl`, too: docs.rs shows it where another crate hands the type on.
#[cfg(feature = "bytemuck")]
impl Device {
    /// A buffer of elements that have the bytes of these values: of vectors of 4 floats as `[f32; 4]`, of a struct as a `#[device]` struct of the same fields, of any of them as `u32`. One value is
    /// a whole number of elements, or the other way round. With the feature `bytemuck`.
    ///
    /// ```text
    /// let points = device.upload_as::<[f32; 4]>(&vectors)?; // of `glam::Vec4`
    /// ```
    ///
    /// # Errors
    /// [`Error::View`] if the sizes do not fit, or if some bytes are no such element, as of `bool` and enums; and as [`Device::upload`].
    pub fn upload_as<T: Element>(&self, values: &[impl NoUninit]) -> Result<Buffer<T>> {
        let (bytes, len) = bytes_for::<T, _>(values)?;
        Ok(Buffer::of_allocation(self.upload(bytes)?.into_allocation(), len))
    }
}

#[cfg(feature = "bytemuck")]
impl<T: Element> Buffer<T> {
    /// The elements, copied to the host, as values that have the same bytes, as [`Device::upload_as`] makes elements of values. Waits for the kernels that write them. With the feature `bytemuck`.
    ///
    /// # Errors
    /// [`Error::View`] if the sizes do not fit, or if an element has bytes that belong to no field, of which nothing is known; and as [`Buffer::download`].
    pub fn download_as<P: AnyBitPattern>(&self) -> Result<Vec<P>> {
        let refuse = |reason| Error::View { from: T::TYPE.to_string(), to: type_name::<P>().to_owned(), reason };
        if T::TYPE.has_padding() {
            return Err(refuse(format!(
                "`{}` has bytes that belong to no field, and nothing is known of them; give it fields in their place",
                T::TYPE
            )));
        }
        let len = count::<T, P>(self.len()).map_err(refuse)?;
        let bytes = len * size_of::<P>();
        let mut values: Vec<P> = Vec::new();
        if values.try_reserve_exact(len).is_err() {
            return Err(Error::OutOfMemory { device: "the host".into(), bytes: bytes as u64 });
        }
        read_allocation(self.allocation(), values.as_mut_ptr().cast(), bytes)?;
        // SAFETY: all bytes of so many values were read, from elements of which every byte is initialised; any are a value.
        unsafe { values.set_len(len) };
        Ok(values)
    }

    /// Replaces all elements by those that have the bytes of these values, as [`Device::upload_as`]. With the feature `bytemuck`.
    ///
    /// # Errors
    /// As [`Device::upload_as`] and [`Buffer::write`].
    pub fn write_as(&mut self, values: &[impl NoUninit]) -> Result<()> {
        let (bytes, len) = bytes_for::<T, _>(values)?;
        check_len(self.len(), len)?;
        self.allocation().write(bytes)
    }
}

/// The bytes of values, and how many elements have them.
fn bytes_for<T: Element, P: NoUninit>(values: &[P]) -> Result<(&[u8], usize)> {
    let refuse = |reason| Error::View { from: type_name::<P>().to_owned(), to: T::TYPE.to_string(), reason };
    if T::TYPE.has_invalid_values() {
        return Err(refuse(format!(
            "not all bytes are a `{}`, which is or holds a `bool` or an enum; upload values of that type",
            T::TYPE
        )));
    }
    let len = count::<P, T>(values.len()).map_err(refuse)?;
    Ok((bytemuck::cast_slice(values), len))
}

/// How many `U`s have the bytes of `len` values of `T`, which exist; else why none do. That three vectors of 16 bytes are four of 12 is nobody's intention.
fn count<T, U>(len: usize) -> Result<usize, String> {
    let (from, to) = (size_of::<T>(), size_of::<U>());
    if from == 0 || to == 0 {
        return Err("one of them has no bytes; choose elements that have some".to_owned());
    }
    if !from.is_multiple_of(to) && !to.is_multiple_of(from) {
        return Err(format!(
            "one has {from} bytes, the other {to}, and neither is a multiple of the other; choose elements whose size divides {from}"
        ));
    }
    let bytes = len * from;
    if bytes.is_multiple_of(to) {
        Ok(bytes / to)
    } else {
        Err(format!("its {bytes} bytes are not a multiple of {to}; make it {} bytes long", bytes.next_multiple_of(to)))
    }
}
