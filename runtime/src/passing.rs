//! How the code that `#[kernel]` generates passes a launch's arguments.

use crate::arguments::{Argument, ArgumentKind, Arguments, Word, words_of};
use crate::buffer::{Allocation, Buffer, ConstantBuffer};
use crate::element::{Element, ElementType};
use crate::matrix::{BufferMatrix, BufferMatrixBatch, BufferMatrixBatchMut, BufferMatrixMut};
use crate::texture::{Texel, Texture};

/// The host's side of a group of parameters: a struct whose fields are passed one by one.
#[doc(hidden)]
pub trait ParameterGroup<'a> {
    /// Passes them.
    fn push(self, arguments: Arguments<'a>) -> Arguments<'a>;
}

/// What the macro's code calls. What goes from hand to hand is one address; a whole [`Launch`](crate::Launch) would be copied by each.
#[doc(hidden)]
impl<'a> Arguments<'a> {
    pub fn value<T: Element>(mut self, value: T) -> Arguments<'a> {
        match words_of(&value) {
            Some(words) => self.words(words[0], words[1], size_of::<T>(), &T::TYPE),
            None => {
                self.push_value(value);
                self
            }
        }
    }

    pub fn global<T: Element>(self, buffer: &'a Buffer<T>) -> Arguments<'a> {
        self.buffer(buffer.allocation(), buffer.len(), false, &T::TYPE)
    }

    pub fn global_mut<T: Element>(self, buffer: &'a mut Buffer<T>) -> Arguments<'a> {
        self.buffer(buffer.allocation(), buffer.len(), true, &T::TYPE)
    }

    pub fn constant<A: Element>(mut self, constant: &'a ConstantBuffer<A>) -> Arguments<'a> {
        self.push(Argument { kind: ArgumentKind::Constant { allocation: constant.allocation() }, ty: &A::TYPE });
        self
    }

    pub fn texture<T: Texel>(mut self, texture: &'a Texture<T>) -> Arguments<'a> {
        let kind = ArgumentKind::Texture { allocation: texture.allocation(), picture: texture.picture() };
        self.push(Argument { kind, ty: &T::TYPE });
        self
    }

    pub fn matrix<T: Element>(self, matrix: BufferMatrix<'a, T>) -> Arguments<'a> {
        let (buffer, extent) = matrix.parts();
        self.global(buffer).values(extent)
    }

    pub fn matrix_mut<T: Element>(self, matrix: BufferMatrixMut<'a, T>) -> Arguments<'a> {
        let (buffer, extent) = matrix.parts();
        self.global_mut(buffer).values(extent)
    }

    pub fn matrix_batch<T: Element>(self, batch: BufferMatrixBatch<'a, T>) -> Arguments<'a> {
        let (buffer, extent) = batch.parts();
        self.global(buffer).values(extent)
    }

    pub fn matrix_batch_mut<T: Element>(self, batch: BufferMatrixBatchMut<'a, T>) -> Arguments<'a> {
        let (buffer, extent) = batch.parts();
        self.global_mut(buffer).values(extent)
    }

    fn values<const N: usize>(self, values: [usize; N]) -> Arguments<'a> {
        values.into_iter().fold(self, Arguments::value)
    }

    pub fn group(self, group: impl ParameterGroup<'a>) -> Arguments<'a> {
        group.push(self)
    }

    /// All of these in registers: an [`Argument`] would be written, and read again at once.
    #[inline(never)]
    fn buffer(mut self, allocation: &'a Allocation, len: usize, writable: bool, ty: &'static ElementType) -> Arguments<'a> {
        let argument = Argument { kind: ArgumentKind::Global { allocation, len, writable }, ty };
        if self.push_within(argument) { self } else { self.buffer_in_more(allocation, len, writable, ty) }
    }

    /// The same in a larger room. It takes the arguments along, so that there is nothing that whoever calls it has to keep meanwhile.
    #[cold]
    #[inline(never)]
    fn buffer_in_more(mut self, allocation: &'a Allocation, len: usize, writable: bool, ty: &'static ElementType) -> Arguments<'a> {
        self.make_room();
        self.buffer(allocation, len, writable, ty)
    }

    /// A value of so many bytes in two words.
    #[inline(never)]
    fn words(mut self, low: Word, high: Word, bytes: usize, ty: &'static ElementType) -> Arguments<'a> {
        if self.push_words_within([low, high], bytes, ty) { self } else { self.words_in_more(low, high, bytes, ty) }
    }

    #[cold]
    #[inline(never)]
    fn words_in_more(mut self, low: Word, high: Word, bytes: usize, ty: &'static ElementType) -> Arguments<'a> {
        self.make_room();
        self.words(low, high, bytes, ty)
    }
}
