//! Buffers of a launch, as the workers that run its blocks see them.
//!
//! A racy kernel on several workers must not be a data race of the simulator's own, so every access to a buffer that may be written is a relaxed atomic
//! one of the scalar's size: on the machines this runs on, a plain load or store. (A kernel that races with scalars of *different* sizes
//! over the same bytes is beyond what Rust defines; typed access paths cannot express it.)
#![expect(unsafe_code, reason = "shares the caller's buffers between workers as atomics")]

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A buffer's bytes, borrowed for the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    start: *mut u8,
    bytes: u64,
    is_writable: bool,
    lifetime: PhantomData<&'a mut [u8]>,
}

// SAFETY: the bytes are borrowed for 'a and, by the methods below, only accessed atomically while views of them are about.
unsafe impl Send for View<'_> {}
// SAFETY: as above.
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// Of no bytes.
    pub(super) fn empty() -> View<'a> {
        View::read_only(&[])
    }

    /// Of bytes that begin at a multiple of 8; of none if they do not.
    pub(super) fn new(bytes: &'a mut [u8]) -> View<'a> {
        let start = bytes.as_mut_ptr();
        let len = if start.cast::<u64>().is_aligned() { bytes.len() } else { 0 };
        View { start, bytes: len as u64, is_writable: true, lifetime: PhantomData }
    }

    /// Of bytes that begin at a multiple of 8, not to be written; of none if they do not.
    pub(super) fn read_only(bytes: &'a [u8]) -> View<'a> {
        let start = bytes.as_ptr().cast_mut();
        let len = if start.cast::<u64>().is_aligned() { bytes.len() } else { 0 };
        View { start, bytes: len as u64, is_writable: false, lifetime: PhantomData }
    }

    /// A copy of all bytes.
    pub(super) fn snapshot(&self) -> Vec<u64> {
        (0..self.bytes.div_ceil(8)).map(|n| self.read_up_to(n * 8)).collect()
    }

    /// Writes a copy back.
    pub(super) fn restore(&self, copy: &[u64]) {
        for (n, word) in (0..).zip(copy) {
            let offset = n * 8;
            match self.bytes - offset.min(self.bytes) {
                8.. => self.write(offset, 8, *word),
                rest => (0..rest).for_each(|byte| self.write(offset + byte, 1, u64::from(word.to_le_bytes()[byte as usize]))),
            }
        }
    }

    fn read_up_to(&self, offset: u64) -> u64 {
        match self.bytes - offset.min(self.bytes) {
            8.. => self.read(offset, 8),
            rest => (0..rest).map(|byte| self.read(offset + byte, 1) << (8 * byte)).sum(),
        }
    }

    /// Where a scalar is, if it is inside and aligned.
    #[inline(always)]
    fn place(&self, offset: u64, size: u64) -> Option<*mut u8> {
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= self.bytes) && offset & (size - 1) == 0;
        // SAFETY: the offset is inside of the borrowed bytes.
        is_inside.then(|| unsafe { self.start.add(offset as usize) })
    }

    /// Reads a scalar of 1, 2, 4 or 8 bytes, zero-extended. 0 outside or misaligned: callers have checked.
    #[inline(always)]
    pub(super) fn read(&self, offset: u64, size: u32) -> u64 {
        let Some(place) = self.place(offset, u64::from(size)) else {
            return 0;
        };
        macro_rules! read {
            ($atomic:ty, $word:ty) => {
                // SAFETY: `place` is valid for `size` bytes and, as the start is a multiple of 8 and the offset one of `size`, aligned. Nobody else may access the bytes for 'a; all accesses through
                // views of bytes that may be written are atomic. Of others there is a shared borrow, which no reference to an atomic may be made of, and nobody writes them.
                u64::from(unsafe { if self.is_writable { <$atomic>::from_ptr(place.cast()).load(Relaxed) } else { place.cast::<$word>().read() } })
            };
        }
        match size {
            1 => read!(AtomicU8, u8),
            2 => read!(AtomicU16, u16),
            4 => read!(AtomicU32, u32),
            _ => read!(AtomicU64, u64),
        }
    }

    /// Writes a scalar of 1, 2, 4 or 8 bytes. Nothing outside or misaligned: callers have checked.
    #[inline(always)]
    pub(super) fn write(&self, offset: u64, size: u32, bits: u64) {
        let Some(place) = self.place(offset, u64::from(size)).filter(|_| self.is_writable) else {
            return;
        };
        // SAFETY: as in `read`; only bytes that may be written come here.
        unsafe {
            match size {
                1 => AtomicU8::from_ptr(place).store(bits as u8, Relaxed),
                2 => AtomicU16::from_ptr(place.cast()).store(bits as u16, Relaxed),
                4 => AtomicU32::from_ptr(place.cast()).store(bits as u32, Relaxed),
                _ => AtomicU64::from_ptr(place.cast()).store(bits, Relaxed),
            }
        }
    }

    /// Replaces a scalar of 1, 2, 4 or 8 bytes by `f` of it, at once; gives the old one.
    pub(super) fn update(&self, offset: u64, size: u32, f: impl Fn(u64) -> u64) -> u64 {
        let Some(place) = self.place(offset, u64::from(size)).filter(|_| self.is_writable) else {
            return 0;
        };
        macro_rules! update {
            ($atomic:ty, $word:ty) => {
                // SAFETY: as in `read`.
                unsafe { <$atomic>::from_ptr(place.cast()) }
                    .fetch_update(Relaxed, Relaxed, |old| Some(f(u64::from(old)) as $word))
                    .map_or_else(u64::from, u64::from)
            };
        }
        match size {
            1 => update!(AtomicU8, u8),
            2 => update!(AtomicU16, u16),
            4 => update!(AtomicU32, u32),
            _ => update!(AtomicU64, u64),
        }
    }
}

/// Words as bytes.
pub(super) fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    let len = size_of_val(words);
    // SAFETY: the same memory, borrowed for as long; bytes need no alignment, and every pattern of bits is a `u64`.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), len) }
}
