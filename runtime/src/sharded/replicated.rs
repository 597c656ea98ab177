//! A buffer on each of several devices.

use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use std::fmt;

/// A buffer on each of several devices, beside the rows of a [`Sharded`](super::Sharded): a table that each needs whole, or what each finds out for itself and is taken together afterwards.
///
/// ```text
/// let curve = Replicated::upload(&devices, &table)?;
/// let mut counts = Replicated::<u32>::zeros(&devices, 256)?;
/// launch_sharded((&pixels, &curve, &mut counts), |place, (pixels, curve, counts)| Ok(counted(pixels, curve, counts).cover(pixels.len())))?;
/// ```
pub struct Replicated<T: Element> {
    buffers: Vec<Buffer<T>>,
}

impl<T: Element> Replicated<T> {
    /// These elements on every device.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn upload(devices: &[Device], elements: &[T]) -> Result<Replicated<T>> {
        Replicated::made(devices, |device| device.upload(elements))
    }

    /// `len` zeros on every device.
    ///
    /// # Errors
    /// As [`Device::zeros`].
    pub fn zeros(devices: &[Device], len: usize) -> Result<Replicated<T>> {
        Replicated::made(devices, |device| device.zeros(len))
    }

    fn made(devices: &[Device], make: impl Fn(&Device) -> Result<Buffer<T>>) -> Result<Replicated<T>> {
        Ok(Replicated { buffers: devices.iter().map(make).collect::<Result<_>>()? })
    }

    /// The buffers, in the order of the devices.
    pub fn buffers(&self) -> &[Buffer<T>] {
        &self.buffers
    }

    /// The same, to be changed: by a collective of all of them, say.
    pub fn buffers_mut(&mut self) -> &mut [Buffer<T>] {
        &mut self.buffers
    }

    /// What one device has.
    pub(super) fn buffer(&self, index: usize) -> &Buffer<T> {
        &self.buffers[index]
    }

    /// The same, to be changed.
    pub(super) fn buffer_mut(&mut self, index: usize) -> &mut Buffer<T> {
        &mut self.buffers[index]
    }
}

impl<T: Element> fmt::Debug for Replicated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replicated<{}>(on {} devices)", T::TYPE, self.buffers.len())
    }
}
