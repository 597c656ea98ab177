//! What a launch on several devices lends of its matrices and buffers to each of them.

use super::{Replicated, ShardPlace, Sharded};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::Result;

/// What one argument has on the devices of a launch.
pub enum Parts<'p> {
    /// A matrix: its halo; the devices it is spread over, what each has of it, and how many elements the buffer there has.
    Rows(usize, Vec<(&'p Device, &'p ShardPlace, usize)>),
    /// A buffer on each of these devices.
    Whole(Vec<&'p Device>),
}

mod sealed {
    /// Nobody else lends.
    pub trait Sealed {}
}

/// What [`launch_sharded`](super::launch_sharded) lends to each device: of a [`Sharded`] the rows that the device has, of a [`Replicated`] the buffer there; `&` of either as `&Buffer`, `&mut` as `&mut Buffer`. One, or a
/// tuple of up to eight.
pub trait ShardedBuffers: sealed::Sealed {
    /// What one device has of them.
    type Buffers<'s>;
    #[doc(hidden)]
    type Lent;
    #[doc(hidden)]
    fn lend(self) -> Self::Lent;
    #[doc(hidden)]
    fn buffers<'s>(lent: &'s mut Self::Lent, index: usize) -> Self::Buffers<'s>;
    #[doc(hidden)]
    fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()>;
}

impl<T: Element> Sharded<T> {
    fn parts(&self) -> Parts<'_> {
        Parts::Rows(self.halo, self.shards.iter().map(|shard| (shard.buffer.device(), &shard.place, shard.buffer.len())).collect())
    }
}

impl<T: Element> Replicated<T> {
    fn parts(&self) -> Parts<'_> {
        Parts::Whole(self.buffers().iter().map(Buffer::device).collect())
    }
}

/// `&` and `&mut` of a type whose `buffer` and `buffer_mut` give what a device has.
macro_rules! lent {
    ($($ty:ident)*) => {$(
        impl<T: Element> sealed::Sealed for &$ty<T> {}

        impl<'a, T: Element> ShardedBuffers for &'a $ty<T> {
            type Buffers<'s> = &'s Buffer<T>;
            type Lent = &'a $ty<T>;

            fn lend(self) -> &'a $ty<T> {
                self
            }

            fn buffers<'s>(lent: &'s mut &'a $ty<T>, index: usize) -> &'s Buffer<T> {
                lent.buffer(index)
            }

            fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
                each(self.parts())
            }
        }

        impl<T: Element> sealed::Sealed for &mut $ty<T> {}

        impl<'a, T: Element> ShardedBuffers for &'a mut $ty<T> {
            type Buffers<'s> = &'s mut Buffer<T>;
            type Lent = &'a mut $ty<T>;

            fn lend(self) -> &'a mut $ty<T> {
                self
            }

            fn buffers<'s>(lent: &'s mut &'a mut $ty<T>, index: usize) -> &'s mut Buffer<T> {
                lent.buffer_mut(index)
            }

            fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
                each(self.parts())
            }
        }
    )*};
}

lent! { Sharded Replicated }

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: ShardedBuffers),*> sealed::Sealed for ($($name,)*) {}

        #[allow(non_snake_case, reason = "a variable for each type")]
        impl<$($name: ShardedBuffers),*> ShardedBuffers for ($($name,)*) {
            type Buffers<'s> = ($($name::Buffers<'s>,)*);
            type Lent = ($($name::Lent,)*);

            fn lend(self) -> Self::Lent {
                let ($($name,)*) = self;
                ($($name.lend(),)*)
            }

            fn buffers<'s>(lent: &'s mut Self::Lent, index: usize) -> Self::Buffers<'s> {
                let ($($name,)*) = lent;
                ($(<$name as ShardedBuffers>::buffers($name, index),)*)
            }

            fn visit(&self, each: &mut dyn FnMut(Parts<'_>) -> Result<()>) -> Result<()> {
                let ($($name,)*) = self;
                $($name.visit(each)?;)*
                Ok(())
            }
        }
    )*};
}

tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }
