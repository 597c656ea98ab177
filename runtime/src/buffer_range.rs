//! Parts of buffers, which collectives take as they take whole ones.

use crate::buffer::{Allocation, Buffer};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// Some elements of a buffer, one after the other, lent to be read. Made by [`Buffer::range`]; a `&Buffer` is one of all its elements.
#[derive(Clone, Copy)]
pub struct BufferRange<'b, T: Element> {
    part: Part<'b>,
    elements: PhantomData<&'b [T]>,
}

/// The same, lent to be written. Made by [`Buffer::range_mut`] and [`Buffer::split_at_mut`]; a `&mut Buffer` is one of all its elements.
pub struct BufferRangeMut<'b, T: Element> {
    part: Part<'b>,
    elements: PhantomData<&'b mut [T]>,
}

/// Where it is.
#[derive(Clone, Copy)]
struct Part<'b> {
    allocation: &'b Allocation,
    start: usize,
    len: usize,
}

impl<'b> Part<'b> {
    fn of<T: Element>(buffer: &'b Buffer<T>) -> Part<'b> {
        Part { allocation: buffer.allocation(), start: 0, len: buffer.len() }
    }

    /// A part of it, counted from its own first element.
    fn range(self, range: impl RangeBounds<usize>) -> Result<Part<'b>> {
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.len,
        };
        match end.checked_sub(start) {
            Some(len) if end <= self.len => Ok(Part { start: self.start + start, len, ..self }),
            _ => Err(Error::Range { start, end, len: self.len }),
        }
    }

    fn split_at(self, at: usize) -> Result<(Part<'b>, Part<'b>)> {
        Ok((self.range(..at)?, self.range(at..)?))
    }
}

impl<T: Element> Buffer<T> {
    /// Some of the elements, for a collective: `rank.send(buffer.range(..columns)?, above)`.
    ///
    /// # Errors
    /// [`Error::Range`] if the buffer does not have them.
    pub fn range(&self, range: impl RangeBounds<usize>) -> Result<BufferRange<'_, T>> {
        BufferRange::from(self).range(range)
    }

    /// The same to be written: `rank.all_reduce(buffer.range_mut(..100)?, Reduction::Sum)`.
    ///
    /// # Errors
    /// As [`Buffer::range`].
    pub fn range_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferRangeMut<'_, T>> {
        let part = Part::of(self).range(range)?;
        Ok(BufferRangeMut { part, elements: PhantomData })
    }

    /// The elements before this one, and the rest: to send from one part and receive into another.
    ///
    /// # Errors
    /// [`Error::Range`] if the buffer has fewer elements.
    pub fn split_at_mut(&mut self, at: usize) -> Result<(BufferRangeMut<'_, T>, BufferRangeMut<'_, T>)> {
        BufferRangeMut::from(self).split_at_mut(at)
    }
}

impl<'b, T: Element> BufferRange<'b, T> {
    /// Some of its elements, counted from its first.
    ///
    /// # Errors
    /// As [`Buffer::range`].
    pub fn range(self, range: impl RangeBounds<usize>) -> Result<BufferRange<'b, T>> {
        Ok(BufferRange { part: self.part.range(range)?, elements: PhantomData })
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.part.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.part.len == 0
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.part.allocation.device()
    }

    /// The memory, and at which of its bytes this begins.
    pub(crate) fn place(self) -> (&'b Allocation, usize) {
        (self.part.allocation, self.part.start * size_of::<T>())
    }
}

impl<'b, T: Element> BufferRangeMut<'b, T> {
    /// Some of its elements, to be read.
    ///
    /// # Errors
    /// As [`Buffer::range`].
    pub fn range(&self, range: impl RangeBounds<usize>) -> Result<BufferRange<'_, T>> {
        Ok(BufferRange { part: self.part.range(range)?, elements: PhantomData })
    }

    /// Some of its elements, to be written.
    ///
    /// # Errors
    /// As [`Buffer::range`].
    pub fn range_mut(&mut self, range: impl RangeBounds<usize>) -> Result<BufferRangeMut<'_, T>> {
        Ok(BufferRangeMut { part: self.part.range(range)?, elements: PhantomData })
    }

    /// The elements before this one, and the rest.
    ///
    /// # Errors
    /// As [`Buffer::split_at_mut`].
    pub fn split_at_mut(self, at: usize) -> Result<(BufferRangeMut<'b, T>, BufferRangeMut<'b, T>)> {
        let (before, rest) = self.part.split_at(at)?;
        Ok((BufferRangeMut { part: before, elements: PhantomData }, BufferRangeMut { part: rest, elements: PhantomData }))
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.part.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.part.len == 0
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        self.part.allocation.device()
    }

    /// The memory, and at which of its bytes this begins.
    pub(crate) fn place(self) -> (&'b Allocation, usize) {
        (self.part.allocation, self.part.start * size_of::<T>())
    }
}

impl<'b, T: Element> From<&'b Buffer<T>> for BufferRange<'b, T> {
    fn from(buffer: &'b Buffer<T>) -> BufferRange<'b, T> {
        BufferRange { part: Part::of(buffer), elements: PhantomData }
    }
}

impl<'b, T: Element> From<&'b mut Buffer<T>> for BufferRange<'b, T> {
    fn from(buffer: &'b mut Buffer<T>) -> BufferRange<'b, T> {
        BufferRange { part: Part::of(buffer), elements: PhantomData }
    }
}

impl<'b, T: Element> From<&'b mut Buffer<T>> for BufferRangeMut<'b, T> {
    fn from(buffer: &'b mut Buffer<T>) -> BufferRangeMut<'b, T> {
        BufferRangeMut { part: Part::of(buffer), elements: PhantomData }
    }
}

impl<'b, T: Element> From<BufferRangeMut<'b, T>> for BufferRange<'b, T> {
    fn from(range: BufferRangeMut<'b, T>) -> BufferRange<'b, T> {
        BufferRange { part: range.part, elements: PhantomData }
    }
}

/// `BufferRange<f32>(8..12 on Simulator (simulator))`.
fn write(f: &mut fmt::Formatter<'_>, name: &str, element: &dyn fmt::Display, part: &Part<'_>) -> fmt::Result {
    let Part { allocation, start, len } = part;
    write!(f, "{name}<{element}>({start}..{} on {})", start + len, allocation.device())
}

impl<T: Element> fmt::Debug for BufferRange<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, "BufferRange", &T::TYPE, &self.part)
    }
}

impl<T: Element> fmt::Debug for BufferRangeMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, "BufferRangeMut", &T::TYPE, &self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_their_own_first_element() {
        let mut buffer = Device::simulator().upload(&[0u32; 20]).unwrap();
        assert_eq!(format!("{:?}", buffer.range(3..=7).unwrap().range(2..).unwrap()), "BufferRange<u32>(5..8 on Simulator (simulator))");
        let (before, mut rest) = buffer.split_at_mut(12).unwrap();
        assert_eq!((before.len(), rest.len(), rest.range_mut(..3).unwrap().len()), (12, 8, 3));
        assert_eq!(rest.range_mut(1..3).unwrap().place().1, 13 * 4);
        assert!(rest.range(8..).unwrap().is_empty());
        for (range, wanted) in
            [(5..9, "elements 5 to 9"), (9..9, "elements 9 to 9"), (std::ops::Range { start: 4, end: 3 }, "elements 4 to 3")]
        {
            let error = rest.range(range).unwrap_err().to_string();
            assert_eq!(error, format!("{wanted} are no part of a buffer or range that has 8; give a range within 0..8"));
        }
    }
}
