//! Shared memory of the running block.
#![expect(unsafe_code, reason = "shared arrays are shared by the threads of a block, as on a device")]

use super::context;
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
    /// Of the cluster whose block it is, the block's rank.
    rank: usize,
    /// The cluster whose content it has.
    cluster: u64,
}

impl Storage {
    fn new(key: Key, bytes: usize, (cluster, rank): (u64, usize)) -> Storage {
        let units = Box::leak(vec![0; bytes.div_ceil(size_of::<u128>())].into_boxed_slice());
        Storage { key, units: NonNull::from(units), rank, cluster }
    }

    /// How far an address is behind its start, if it is in it.
    fn offset_of(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.units.cast::<u8>().addr().get())?;
        (offset < self.units.len() * size_of::<u128>()).then_some(offset)
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
    /// Counts the launch's clusters: each is one block, unless the kernel says otherwise.
    cluster: u64,
    /// The running block within its cluster.
    rank: usize,
}

impl Memory {
    /// The running block's array of this key: all zero when a block first asks for it.
    fn array(&mut self, key: Key, bytes: usize) -> NonNull<u8> {
        self.array_of(key, bytes, self.rank)
    }

    /// The same of the cluster's block of a rank.
    fn array_of(&mut self, key: Key, bytes: usize, rank: usize) -> NonNull<u8> {
        let found = self.arrays.iter().position(|storage| storage.key == key && storage.rank == rank);
        let i = found.unwrap_or_else(|| {
            self.arrays.push(Storage::new(key, bytes, (self.cluster, rank)));
            self.arrays.len() - 1
        });
        let storage = &mut self.arrays[i];
        if storage.cluster != self.cluster {
            storage.clear();
            storage.cluster = self.cluster;
        }
        storage.units.cast()
    }

    /// The place in the array of the cluster's block of a rank that an address is in the running block's. `None`: it is in no shared array.
    fn peer(&mut self, address: usize, rank: usize) -> Option<NonNull<u8>> {
        let own = self.arrays.iter().find_map(|storage| Some((storage, storage.offset_of(address)?)));
        let (key, bytes, offset) = own.map(|(storage, offset)| (storage.key, storage.units.len() * size_of::<u128>(), offset))?;
        let start = self.array_of(key, bytes, rank);
        // SAFETY: both arrays are as long, and the place is in this one.
        Some(unsafe { start.add(offset) })
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

/// The next block, or the next cluster's blocks, find their shared memory zeroed.
pub(super) fn start_block() {
    MEMORY.with_borrow_mut(|memory| {
        memory.cluster += 1;
        memory.rank = 0;
    });
}

/// The next code run is of the cluster's block of this rank.
pub(super) fn set_rank(rank: usize) {
    MEMORY.with_borrow_mut(|memory| memory.rank = rank);
}

/// Where the block of this rank has what the running one has at a place; so many elements.
#[track_caller]
fn place_of_peer<T: Element>(own: NonNull<T>, count: usize, rank: usize) -> NonNull<T> {
    let cluster = context::extents().cluster;
    let blocks = cluster.x * cluster.y * cluster.z;
    assert!(rank < blocks, "rank {rank} of a cluster of {blocks} blocks");
    if rank == context::cluster_rank() {
        return own;
    }
    let found = MEMORY.with_borrow_mut(|memory| memory.peer(own.addr().get(), rank));
    let Some(place) = found else { panic!("`shared_of` reaches shared arrays of other blocks, and this is none") };
    if T::TYPE.enum_without_zero().is_some() {
        // SAFETY: the array is as long as the running block's, whose elements these are; no reference to them is alive.
        unsafe { make_valid(&T::TYPE, place.as_ptr(), count) };
    }
    place.cast()
}

/// An array as the cluster's block of a rank has it.
#[track_caller]
pub(crate) fn of_peer<T: Element, const N: usize>(own: &[T; N], rank: usize) -> &[T; N] {
    let place: NonNull<[T; N]> = place_of_peer(NonNull::from(own).cast::<T>(), N, rank).cast();
    // SAFETY: an array of the same type, valid until the launch ends; references live for one expression of kernel code, on one OS thread.
    unsafe { place.as_ref() }
}

/// The same, to be written.
#[track_caller]
pub(crate) fn of_peer_mut<T: Element, const N: usize>(own: &mut [T; N], rank: usize) -> &mut [T; N] {
    let mut place: NonNull<[T; N]> = place_of_peer(NonNull::from(own).cast::<T>(), N, rank).cast();
    // SAFETY: as in `of_peer`.
    unsafe { place.as_mut() }
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
