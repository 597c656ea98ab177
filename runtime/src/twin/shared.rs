//! Shared memory of the running block.
#![expect(unsafe_code, reason = "shared arrays are shared by the threads of a block, as on a device")]

use crate::element::{Element, ElementType};
use crate::validity::make_valid;
use std::any::TypeId;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::NonNull;

/// A shared array: one per block of threads, all of whom hold handles to it.
pub struct Shared<T: ?Sized> {
    /// Invariant: valid, aligned and initialised until the launch ends; only the launch's OS thread has handles to it.
    place: NonNull<T>,
    shared: PhantomData<*mut T>,
}

impl<T: ?Sized> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: by the invariant. References live for one expression of kernel code, on one OS thread.
        unsafe { self.place.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for Shared<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { self.place.as_mut() }
    }
}

impl<T: ?Sized> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::any::type_name::<T>())
    }
}

/// Which shared array of a kernel: its number in its item, its type, and the place in the source, since a kernel may call device
/// functions of other items that have shared arrays of the same number.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    Static(usize, TypeId, &'static Location<'static>),
    Dynamic,
}

/// One array's memory, kept from block to block.
struct Storage {
    key: Key,
    /// From `Box::into_raw`, by which handles stay valid as this moves. 16-byte units, so that every scalar is aligned.
    units: NonNull<[u128]>,
    /// The block whose content it has.
    block: u64,
}

impl Storage {
    fn new(key: Key, bytes: usize, block: u64) -> Storage {
        let units = Box::leak(vec![0; bytes.div_ceil(size_of::<u128>())].into_boxed_slice());
        Storage { key, units: NonNull::from(units), block }
    }

    fn clear(&mut self) {
        // SAFETY: ours from `new` to `drop`; handles of an earlier block are not used any more, and this block has none yet.
        unsafe { self.units.as_mut() }.fill(0);
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // SAFETY: made by `Box::leak` in `new`; the launch has ended, and its handles with it.
        drop(unsafe { Box::from_raw(self.units.as_ptr()) });
    }
}

/// All shared memory of a launch.
#[derive(Default)]
struct Memory {
    arrays: Vec<Storage>,
    dynamic_bytes: usize,
    /// Counts the launch's blocks.
    block: u64,
}

impl Memory {
    /// The array of this key: all zero when a block first asks for it.
    fn array(&mut self, key: Key, bytes: usize) -> NonNull<u8> {
        let found = self.arrays.iter().position(|storage| storage.key == key);
        let i = found.unwrap_or_else(|| {
            self.arrays.push(Storage::new(key, bytes, self.block));
            self.arrays.len() - 1
        });
        let storage = &mut self.arrays[i];
        if storage.block != self.block {
            storage.clear();
            storage.block = self.block;
        }
        storage.units.cast()
    }
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Puts back the shared memory of the launch around this one, if there is one.
pub(super) struct SharedMemoryGuard {
    before: Memory,
}

/// Starts a launch with this much dynamic shared memory.
pub(super) fn enter(dynamic_bytes: usize) -> SharedMemoryGuard {
    SharedMemoryGuard { before: MEMORY.replace(Memory { dynamic_bytes, ..Memory::default() }) }
}

impl Drop for SharedMemoryGuard {
    fn drop(&mut self) {
        MEMORY.set(std::mem::take(&mut self.before));
    }
}

/// The next block finds its shared memory zeroed.
pub(super) fn start_block() {
    MEMORY.with_borrow_mut(|memory| memory.block += 1);
}

/// `#[shared] let mut name: T;`: the running block's array of this number.
#[track_caller]
pub fn shared<T: Element>(slot: usize) -> Shared<T> {
    const { assert!(align_of::<T>() <= align_of::<u128>(), "shared arrays are aligned to 16 bytes") }
    let key = Key::Static(slot, TypeId::of::<T>(), Location::caller());
    let place: NonNull<T> = MEMORY.with_borrow_mut(|memory| memory.array(key, size_of::<T>())).cast();
    // The key holds the type, so the storage is as large as a `T`, and what is in it is one unless it is zeros that are none.
    if T::TYPE.enum_without_zero().is_some() {
        // SAFETY: one `T`, initialised; no reference to it is alive between two expressions of kernel code.
        unsafe { make_valid(&T::TYPE, place.as_ptr().cast(), 1) };
    }
    Shared { place, shared: PhantomData }
}

/// `#[shared(dynamic, pad = P)] let mut name: [T];`: all of the dynamic shared memory, as elements of `T`. The room behind rows is left out: it is
/// the end of the memory, which nobody reaches.
pub fn shared_dynamic<T: Element>(pad: usize) -> Shared<[T]> {
    const { assert!(align_of::<T>() <= align_of::<u128>(), "shared arrays are aligned to 16 bytes") }
    let (start, bytes) = MEMORY.with_borrow_mut(|memory| {
        let bytes = memory.dynamic_bytes;
        (memory.array(Key::Dynamic, bytes), bytes)
    });
    let len = bytes.checked_div(padded_size(&T::TYPE, pad)).unwrap_or(0);
    // Zeros, or what was written as elements of another type.
    // SAFETY: as many elements as there is room for, initialised; no reference to them is alive between two expressions of kernel code.
    unsafe { make_valid(&T::TYPE, start.as_ptr(), len) };
    Shared { place: NonNull::slice_from_raw_parts(start.cast(), len), shared: PhantomData }
}

/// The size of a type with room for `pad` more elements behind each row, its innermost arrays; of what is no array, its own. Never less than its own.
fn padded_size(ty: &ElementType, pad: usize) -> usize {
    match ty {
        ElementType::Array(row @ ElementType::Array(..), n) => padded_size(row, pad).saturating_mul(*n),
        ElementType::Array(element, n) => element.size().saturating_mul(n.saturating_add(pad)),
        ElementType::Scalar(_) | ElementType::Struct(_) | ElementType::Enum(_) | ElementType::Tuple(_) => ty.size(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_counted_behind_the_innermost_rows() {
        assert_eq!(padded_size(&<[f32; 32]>::TYPE, 1), 33 * 4);
        assert_eq!(padded_size(&<[[f64; 8]; 4]>::TYPE, 3), 4 * 11 * 8);
        assert_eq!(padded_size(&<[[u16; 2]; 3]>::TYPE, 0), 12);
        assert_eq!(padded_size(&u8::TYPE, 7), 1);
        assert_eq!(padded_size(&<(u32, [u32; 2])>::TYPE, 7), 12);
        assert_eq!(padded_size(&<[f32; 32]>::TYPE, usize::MAX), usize::MAX);
    }
}
