//! The arguments of a launch. A thread keeps the rooms of its launches, so once it has launched as much, it allocates nothing.

#![expect(unsafe_code, reason = "keeps by-value parameters as plain bytes")]

use crate::buffer::Allocation;
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::texture::Picture;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

/// Bytes, aligned for every scalar.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Chunk([MaybeUninit<u8>; 16]);

const EMPTY: Chunk = Chunk([MaybeUninit::new(0); 16]);

/// Half a chunk, as registers hold it.
pub(crate) type Word = MaybeUninit<u64>;

/// A value in the words of a chunk, zeros behind it; `None` if it is larger.
#[inline]
pub(crate) fn words_of<T: Element>(value: &T) -> Option<[Word; 2]> {
    let mut words = [Word::new(0); 2];
    if size_of::<T>() > size_of_val(&words) {
        return None;
    }
    // SAFETY: as many bytes fit; padding is copied as what it is, perhaps uninitialised.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(value).cast::<u8>(), words.as_mut_ptr().cast(), size_of::<T>()) };
    Some(words)
}

/// Arguments, and chunks of values, that a new room has place for.
const ROOM: usize = 16;

/// One argument.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a> {
    pub(crate) kind: ArgumentKind<'a>,
    /// Its type, or its elements', as the host has it.
    pub(crate) ty: &'static ElementType,
}

/// What an argument is.
// Laid out as it is written, so that the memory it names lies in the same place of all.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(crate) enum ArgumentKind<'a> {
    /// By value: the first of its chunks, and its size there.
    Value { chunk: usize, bytes: usize },
    /// A buffer.
    Global { writable: bool, allocation: &'a Allocation, len: usize },
    /// An array in constant memory.
    Constant { allocation: &'a Allocation },
    /// A texture.
    Texture { allocation: &'a Allocation, picture: &'a Picture },
}

impl<'a> Argument<'a> {
    /// Whether it is passed by value.
    pub(crate) fn is_value(&self) -> bool {
        matches!(self.kind, ArgumentKind::Value { .. })
    }

    /// The memory it names.
    pub(crate) fn allocation(&self) -> Option<&'a Allocation> {
        match self.kind {
            ArgumentKind::Value { .. } => None,
            ArgumentKind::Global { allocation, .. } | ArgumentKind::Constant { allocation } | ArgumentKind::Texture { allocation, .. } => {
                Some(allocation)
            }
        }
    }

    /// The memory it names, how many elements a buffer has, and whether the kernel may write it.
    #[inline]
    pub(crate) fn memory(&self) -> Option<(&'a Allocation, usize, bool)> {
        match self.kind {
            ArgumentKind::Value { .. } => None,
            ArgumentKind::Global { allocation, len, writable } => Some((allocation, len, writable)),
            ArgumentKind::Constant { allocation } | ArgumentKind::Texture { allocation, .. } => Some((allocation, 0, false)),
        }
    }

    /// The memory it names, if the kernel may write it.
    pub(crate) fn writable(&self) -> Option<&'a Allocation> {
        match self.kind {
            ArgumentKind::Global { allocation, writable: true, .. } => Some(allocation),
            _ => None,
        }
    }

    /// Its size: of the value, or of the memory it names.
    pub(crate) fn bytes(&self) -> usize {
        match self.kind {
            ArgumentKind::Value { bytes, .. } => bytes,
            ArgumentKind::Global { len, .. } => len * self.ty.size(),
            ArgumentKind::Constant { .. } => self.ty.size(),
            // It has been allocated.
            ArgumentKind::Texture { picture, .. } => picture.bytes() as usize,
        }
    }
}

/// All arguments of a launch, in the order of the kernel's parameters.
#[doc(hidden)]
#[derive(Clone)]
pub struct Arguments<'a> {
    room: Room,
    borrowed: PhantomData<&'a Allocation>,
}

/// Where arguments are kept. A launch is passed from hand to hand, so it lies on the heap; and it is one of those that are kept for the next launch of the thread.
struct Room(ManuallyDrop<Box<Kept>>);

/// What arguments are made of, whatever they borrow.
#[derive(Clone)]
#[repr(align(64))]
struct Kept {
    list: Vec<Argument<'static>>,
    /// The values, each in chunks of its own.
    chunks: Vec<Chunk>,
}

/// Most rooms that a thread keeps beside the one used last.
const ROOMS: usize = 7;

thread_local! {
    /// The room used last, if it is free.
    static LAST: Cell<Option<Box<Kept>>> = const { Cell::new(None) };
    /// Others that are free.
    static FREE: [Cell<Option<Box<Kept>>>; ROOMS] = const { [const { Cell::new(None) }; ROOMS] };
}

impl Room {
    #[inline]
    fn new() -> Room {
        // At a thread's end there are none.
        let free = LAST.try_with(Cell::take).ok().flatten();
        Room(ManuallyDrop::new(free.unwrap_or_else(Room::other)))
    }

    /// Another than the one used last.
    #[cold]
    #[inline(never)]
    fn other() -> Box<Kept> {
        let free = FREE.try_with(|free| free.iter().find_map(Cell::take)).ok().flatten();
        free.unwrap_or_else(|| Box::new(Kept { list: Vec::with_capacity(ROOM), chunks: Vec::with_capacity(ROOM) }))
    }

    /// Keeps one beside the one used last, if there is a place.
    #[cold]
    #[inline(never)]
    fn keep_other(kept: Box<Kept>) {
        let _ = FREE.try_with(|free| {
            let mut kept = Some(kept);
            for place in free {
                kept = place.replace(kept);
                if kept.is_none() {
                    break;
                }
            }
        });
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: not used again.
        let mut kept = unsafe { ManuallyDrop::take(&mut self.0) };
        kept.list.clear();
        kept.chunks.clear();
        let mut kept = Some(kept);
        if let Ok(Some(displaced)) = LAST.try_with(|last| last.replace(kept.take())) {
            Room::keep_other(displaced);
        }
    }
}

impl Clone for Room {
    fn clone(&self) -> Room {
        let mut room = Room::new();
        room.0.as_mut().clone_from(&self.0);
        room
    }
}

impl<'a> Arguments<'a> {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "the macro's code calls this")]
    pub fn new() -> Arguments<'a> {
        Arguments { room: Room::new(), borrowed: PhantomData }
    }

    /// The values of others, with other arguments.
    fn with_values(chunks: &[Chunk]) -> Arguments<'a> {
        let mut arguments = Arguments::new();
        arguments.room.0.chunks.extend_from_slice(chunks);
        arguments
    }

    pub(crate) fn push(&mut self, argument: Argument<'a>) {
        // SAFETY: it is only given out as what it is here, and is gone when the room is another's.
        let argument = unsafe { std::mem::transmute::<Argument<'a>, Argument<'static>>(argument) };
        self.room.0.list.push(argument);
    }

    /// Adds an argument, if that needs no larger room; gives whether so.
    #[inline(always)]
    pub(crate) fn push_within(&mut self, argument: Argument<'a>) -> bool {
        let list = &self.room.0.list;
        let fits = list.len() < list.capacity();
        if fits {
            self.push(argument);
        }
        fits
    }

    /// The same of a value of so many bytes in the words of one chunk.
    #[inline(always)]
    pub(crate) fn push_words_within(&mut self, words: [Word; 2], bytes: usize, ty: &'static ElementType) -> bool {
        let Kept { list, chunks } = &mut **self.room.0;
        let (at, chunk) = (list.len(), chunks.len());
        let fits = at < list.capacity() && chunk < chunks.capacity();
        if fits {
            // SAFETY: there is a place for both, as was just seen; a chunk is as many bytes as two words, any of which may be uninitialised.
            unsafe {
                chunks.as_mut_ptr().add(chunk).write(std::mem::transmute::<[Word; 2], Chunk>(words));
                list.as_mut_ptr().add(at).write(Argument { kind: ArgumentKind::Value { chunk, bytes }, ty });
                chunks.set_len(chunk + 1);
                list.set_len(at + 1);
            }
        }
        fits
    }

    /// Makes room for one more, with a chunk.
    pub(crate) fn make_room(&mut self) {
        let Kept { list, chunks } = &mut **self.room.0;
        list.reserve(1);
        chunks.reserve(1);
    }

    pub(crate) fn push_value<T: Element>(&mut self, value: T) {
        let bytes = size_of::<T>();
        let to = self.push_room(&T::TYPE, bytes);
        // SAFETY: `to` has room for this many bytes; padding is copied as what it is, perhaps uninitialised.
        unsafe { std::ptr::copy_nonoverlapping((&raw const value).cast(), to, bytes) };
    }

    /// An argument of this type by value, of which `bytes` bytes are to be written where the result says; zeros until then.
    pub(crate) fn push_room(&mut self, ty: &'static ElementType, bytes: usize) -> *mut u8 {
        let kept = &mut **self.room.0;
        let chunk = kept.chunks.len();
        kept.chunks.resize(chunk + bytes.div_ceil(size_of::<Chunk>()).max(1), EMPTY);
        self.push(Argument { kind: ArgumentKind::Value { chunk, bytes }, ty });
        self.room.0.chunks[chunk..].as_mut_ptr().cast()
    }

    /// A value given as its bytes, laid out as the device has them.
    pub(crate) fn push_bytes(&mut self, ty: &'static ElementType, value: &[u8]) {
        let to = self.push_room(ty, value.len());
        // SAFETY: `to` has room for this many bytes.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), to, value.len()) };
    }

    /// The address of a value's bytes: aligned to 16, valid while nothing is pushed.
    pub(crate) fn value_address(&self, chunk: usize) -> *const u8 {
        self.parts().1.address(chunk)
    }

    pub(crate) fn len(&self) -> usize {
        self.room.0.list.len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Argument<'a>> {
        self.room.0.list.get(index)
    }

    /// All of them, and the chunks of the values.
    pub(crate) fn parts(&self) -> (&[Argument<'a>], Values<'_>) {
        (&self.room.0.list, Values(&self.room.0.chunks))
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Argument<'a>> {
        self.room.0.list.iter()
    }

    /// The same with other memory: `replace` gives what stands in for each buffer.
    pub(crate) fn with_memory<'b>(&self, mut replace: impl FnMut(usize) -> Option<&'b Allocation>) -> Arguments<'b>
    where
        'a: 'b,
    {
        let mut arguments = Arguments::with_values(&self.room.0.chunks);
        for (index, argument) in self.iter().enumerate() {
            let kind = match (argument.kind, replace(index)) {
                (ArgumentKind::Global { len, writable, .. }, Some(allocation)) => ArgumentKind::Global { allocation, len, writable },
                (ArgumentKind::Constant { .. }, Some(allocation)) => ArgumentKind::Constant { allocation },
                (ArgumentKind::Texture { picture, .. }, Some(allocation)) => ArgumentKind::Texture { allocation, picture },
                (ArgumentKind::Value { chunk, bytes }, _) => ArgumentKind::Value { chunk, bytes },
                // The caller has memory for every argument that names some.
                (_, None) => continue,
            };
            arguments.push(Argument { kind, ty: argument.ty });
        }
        arguments
    }
}

/// The values of arguments.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a>(&'a [Chunk]);

impl Values<'_> {
    /// The address of a value's bytes, as [`Arguments::value_address`] gives it.
    pub(crate) fn address(self, chunk: usize) -> *const u8 {
        self.0[chunk..].as_ptr().cast()
    }
}

/// The arguments of a launch without the memory they name, of which they know the numbers.
pub(crate) struct DetachedArguments {
    list: Vec<(DetachedKind, &'static ElementType)>,
    chunks: Vec<Chunk>,
}

enum DetachedKind {
    Value { chunk: usize, bytes: usize },
    Global { slot: usize, len: usize, writable: bool },
    Constant { slot: usize },
    Texture { slot: usize },
}

impl Arguments<'_> {
    /// The same with the numbers of what they name, which `slot_of` gives for the argument of an index.
    pub(crate) fn detach(&self, mut slot_of: impl FnMut(usize, &Allocation) -> Result<usize>) -> Result<DetachedArguments> {
        let list = self.iter().enumerate().map(|(index, argument)| {
            let kind = match argument.kind {
                ArgumentKind::Value { chunk, bytes } => DetachedKind::Value { chunk, bytes },
                ArgumentKind::Global { allocation, len, writable } => {
                    DetachedKind::Global { slot: slot_of(index, allocation)?, len, writable }
                }
                ArgumentKind::Constant { allocation } => DetachedKind::Constant { slot: slot_of(index, allocation)? },
                ArgumentKind::Texture { allocation, .. } => DetachedKind::Texture { slot: slot_of(index, allocation)? },
            };
            Ok((kind, argument.ty))
        });
        Ok(DetachedArguments { list: list.collect::<Result<_>>()?, chunks: self.room.0.chunks.clone() })
    }
}

impl DetachedArguments {
    /// The arguments with the memory of each number; of a texture, what it holds, too.
    pub(crate) fn attach<'b>(&self, memory: impl Fn(usize) -> (&'b Allocation, Option<&'b Picture>)) -> Arguments<'b> {
        let mut arguments = Arguments::with_values(&self.chunks);
        for (kind, ty) in &self.list {
            let kind = match *kind {
                DetachedKind::Value { chunk, bytes } => ArgumentKind::Value { chunk, bytes },
                DetachedKind::Global { slot, len, writable } => ArgumentKind::Global { allocation: memory(slot).0, len, writable },
                DetachedKind::Constant { slot } => ArgumentKind::Constant { allocation: memory(slot).0 },
                DetachedKind::Texture { slot } => match memory(slot) {
                    (allocation, Some(picture)) => ArgumentKind::Texture { allocation, picture },
                    // Who lends has seen to it that a texture stands in for a texture.
                    (_, None) => continue,
                },
            };
            arguments.push(Argument { kind, ty });
        }
        arguments
    }

    /// The numbers of what they name, and whether the kernel may write it.
    pub(crate) fn slots(&self, mut each: impl FnMut(usize, bool)) {
        for (kind, _) in &self.list {
            match *kind {
                DetachedKind::Value { .. } => {}
                DetachedKind::Global { slot, writable, .. } => each(slot, writable),
                DetachedKind::Constant { slot } | DetachedKind::Texture { slot } => each(slot, false),
            }
        }
    }
}

#[cfg(target_endian = "big")]
compile_error!("by-value parameters are handed to devices as the host holds them: little-endian hosts only");

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(arguments: &Arguments<'_>, index: usize) -> Vec<u8> {
        match arguments.get(index).map(|a| a.kind) {
            Some(ArgumentKind::Value { chunk, bytes }) => {
                let address = arguments.value_address(chunk);
                // SAFETY: values without padding, of this size.
                unsafe { std::slice::from_raw_parts(address, bytes) }.to_vec()
            }
            _ => panic!("argument {index} is no value"),
        }
    }

    #[test]
    fn values_keep_their_bytes() {
        let mut arguments = Arguments::new();
        for i in 0..20u32 {
            arguments = arguments.value([i; 5]);
        }
        arguments = arguments.value(2.5f64);
        assert_eq!(arguments.len(), 21);
        for i in 0..20u32 {
            let expected: Vec<u8> = [i; 5].iter().flat_map(|x| x.to_le_bytes()).collect();
            assert_eq!(bytes(&arguments, i as usize), expected);
        }
        assert_eq!(bytes(&arguments, 20), 2.5f64.to_le_bytes());
    }

    #[test]
    fn a_full_room_grows() {
        let device = crate::device::Device::simulator();
        let buffer = device.zeros::<u8>(3).unwrap();
        let mut arguments = Arguments::new();
        for i in 0..100u64 {
            arguments = arguments.value(i).global(&buffer).value((i as u8, true));
        }
        assert_eq!(arguments.len(), 300);
        for i in 0..100u64 {
            let at = 3 * i as usize;
            assert_eq!(bytes(&arguments, at), i.to_le_bytes());
            assert!(arguments.get(at + 1).and_then(Argument::memory).is_some_and(|(_, len, writes)| len == 3 && !writes));
            assert_eq!(bytes(&arguments, at + 2), [i as u8, 1]);
        }
    }

    #[test]
    fn a_large_value_is_whole() {
        let mut arguments = Arguments::new();
        arguments = arguments.value(1u8);
        arguments = arguments.value([7u64; 40]);
        arguments = arguments.value(3u16);
        assert_eq!(bytes(&arguments, 1), [7u64; 40].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        assert_eq!(bytes(&arguments, 2), [3, 0]);
        let copy = arguments.with_memory(|_| None);
        assert_eq!(bytes(&copy, 1), bytes(&arguments, 1));
    }
}
