//! Buffers and constants, as a kernel sees them.
#![expect(unsafe_code, reason = "buffers are shared by the threads of a launch, as on a device")]

use super::atomics::{AtomicArithmetic, AtomicBits, AtomicScalar, ThreadScope};
use crate::element::Element;
use std::ops::{Deref, Index, IndexMut};
use std::sync::atomic::Ordering;

/// A buffer in a kernel: `&Global<T>` is read-only for the launch, `&mut Global<T>` is shared by all its threads.
///
/// `x[i]` is bounds-checked on the host and in the simulator; on devices an access beyond the end is undefined, or traps under
/// `bounds = trap`.
#[derive(Debug)]
pub struct Global<T> {
    /// First element. Invariant: valid for reads of `len` elements while the launch runs, and for writes if there is a `&mut` to this
    /// handle; only the launch's OS thread has handles to the buffer.
    start: *mut T,
    len: usize,
}

impl<T> Global<T> {
    /// A handle to `len` elements.
    ///
    /// # Safety
    /// `start` is aligned and valid for reads of `len` initialised elements as long as the handle is used, and for writes if the
    /// handle is ever borrowed mutably; nobody else accesses them meanwhile but by other handles on the same OS thread.
    pub(crate) unsafe fn from_raw(start: *mut T, len: usize) -> Global<T> {
        Global { start, len }
    }

    /// Another handle to the same elements, for the same thread.
    pub(super) fn again(&self) -> Global<T> {
        Global { start: self.start, len: self.len }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    #[track_caller]
    fn check(&self, i: usize, count: usize) {
        if i >= self.len || count > self.len - i {
            out_of_bounds(i, count, self.len);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn out_of_bounds(i: usize, count: usize, len: usize) -> ! {
    let guard = if count == 1 { "i < x.len()".to_owned() } else { format!("i + {count} <= x.len()") };
    let help = format!("help: guard it, `if {guard}` for index `i` of buffer `x`, or launch fewer threads");
    match count {
        1 => panic!("index {i} is out of bounds of a buffer of {len} elements; {help}"),
        _ => panic!("elements {i} to {} are out of bounds of a buffer of {len} elements; {help}", i.saturating_add(count - 1)),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn misaligned(i: usize, count: usize) -> ! {
    let below = i - i % count;
    panic!(
        "index {i} of a vector access is not a multiple of its {count} elements; help: begin at {below} or {}",
        below.saturating_add(count)
    )
}

impl<T> Index<usize> for Global<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, i: usize) -> &T {
        self.check(i, 1);
        // SAFETY: in bounds; valid by the invariant. References live for one expression of kernel code, on one OS thread.
        unsafe { &*self.start.add(i) }
    }
}

impl<T> IndexMut<usize> for Global<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, i: usize) -> &mut T {
        self.check(i, 1);
        // SAFETY: as in `index`; writable since the handle is borrowed mutably.
        unsafe { &mut *self.start.add(i) }
    }
}

impl<T: Element> Global<T> {
    /// `N` consecutive elements by one vector access. `i` counts elements and is a multiple of `N`.
    #[inline]
    #[track_caller]
    pub fn load<const N: usize>(&self, i: usize) -> [T; N] {
        self.check_vector::<N>(i);
        // SAFETY: in bounds; arrays have their elements' alignment.
        unsafe { self.start.add(i).cast::<[T; N]>().read() }
    }

    /// Writes `N` consecutive elements by one vector access. `i` counts elements and is a multiple of `N`.
    #[inline]
    #[track_caller]
    pub fn store<const N: usize>(&mut self, i: usize, v: [T; N]) {
        self.check_vector::<N>(i);
        // SAFETY: in bounds; writable since the handle is borrowed mutably.
        unsafe { self.start.add(i).cast::<[T; N]>().write(v) }
    }

    #[inline]
    #[track_caller]
    fn check_vector<const N: usize>(&self, i: usize) {
        const { assert!(N > 0, "a vector access has at least one element") }
        if !i.is_multiple_of(N) {
            misaligned(i, N);
        }
        self.check(i, N);
    }
}

macro_rules! atomics {
    ($($bound:ident: $($name:ident $ordered:ident $apply:ident $doc:literal,)*;)*) => {$(
        impl<T: $bound> Global<T> {$(
            #[doc = $doc]
            ///
            /// One atomic step, relaxed, for all threads of the device. Gives the old value.
            #[inline]
            #[track_caller]
            pub fn $name(&mut self, i: usize, v: T) -> T {
                let place = &mut self[i];
                std::mem::replace(place, place.$apply(v))
            }

            #[doc = $doc]
            ///
            /// One atomic step for the threads of `scope`, ordered as `order` says. Gives the old value.
            #[inline]
            #[track_caller]
            pub fn $ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T {
                let _ = (order, scope);
                self.$name(i, v)
            }
        )*}
    )*};
}

atomics! {
    AtomicArithmetic:
        atomic_add atomic_add_ordered after_add "Adds `v` to element `i`; integers wrap.",
        atomic_sub atomic_sub_ordered after_sub "Subtracts `v` from element `i`; integers wrap.",
        atomic_min atomic_min_ordered after_min "Makes element `i` the lesser of it and `v`.",
        atomic_max atomic_max_ordered after_max "Makes element `i` the greater of it and `v`.",
    ;
    AtomicBits:
        atomic_and atomic_and_ordered after_and "Bitwise and of element `i` and `v`.",
        atomic_or atomic_or_ordered after_or "Bitwise or of element `i` and `v`.",
        atomic_xor atomic_xor_ordered after_xor "Bitwise exclusive or of element `i` and `v`.",
    ;
}

impl<T: AtomicScalar> Global<T> {
    /// Element `i`, read in one atomic step: what another thread writes atomically is seen sooner or later, however often it is asked.
    ///
    /// `order` is `Relaxed`, `Acquire` or `SeqCst`.
    #[inline]
    #[track_caller]
    pub fn atomic_load(&mut self, i: usize, order: Ordering, scope: ThreadScope) -> T {
        let _ = (order, scope);
        self[i]
    }

    /// Writes element `i` in one atomic step. `order` is `Relaxed`, `Release` or `SeqCst`.
    #[inline]
    #[track_caller]
    pub fn atomic_store(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) {
        let _ = (order, scope);
        self[i] = v;
    }

    /// [`atomic_exchange`](Global::atomic_exchange) for the threads of `scope`, ordered as `order` says.
    #[inline]
    #[track_caller]
    pub fn atomic_exchange_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T {
        let _ = (order, scope);
        self.atomic_exchange(i, v)
    }

    /// [`atomic_cas`](Global::atomic_cas) for the threads of `scope`, ordered as `order` says.
    #[inline]
    #[track_caller]
    pub fn atomic_cas_ordered(&mut self, i: usize, old: T, new: T, order: Ordering, scope: ThreadScope) -> T {
        let _ = (order, scope);
        self.atomic_cas(i, old, new)
    }

    /// Replaces element `i` by `v`, in one atomic step, relaxed. Gives the old value.
    #[inline]
    #[track_caller]
    pub fn atomic_exchange(&mut self, i: usize, v: T) -> T {
        std::mem::replace(&mut self[i], v)
    }

    /// Replaces element `i` by `new` if it is `old`, bit for bit, in one atomic step, relaxed. Gives the value found: the exchange took
    /// place if that is `old`.
    #[inline]
    #[track_caller]
    pub fn atomic_cas(&mut self, i: usize, old: T, new: T) -> T {
        let place = &mut self[i];
        let found = *place;
        *place = found.after_cas(old, new);
        found
    }
}

/// Constant memory in a kernel: `&Constant<[T; N]>` reads like `&[T; N]`.
#[derive(Debug)]
#[repr(transparent)]
pub struct Constant<T>(T);

impl<T> Constant<T> {
    /// The same place as constant memory.
    pub(crate) fn from_ref(value: &T) -> &Constant<T> {
        // SAFETY: `Constant<T>` is a transparent wrapper of `T`.
        unsafe { &*std::ptr::from_ref(value).cast() }
    }
}

impl<T> Deref for Constant<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global<T: Element>(values: &mut [T]) -> Global<T> {
        // SAFETY: the tests use the handle only while `values` lives, and nothing else meanwhile.
        unsafe { Global::from_raw(values.as_mut_ptr(), values.len()) }
    }

    #[test]
    fn vectors_are_read_and_written_whole() {
        let mut values = [0u32, 1, 2, 3, 4, 5, 6, 7];
        let mut x = global(&mut values);
        let v = x.load::<4>(4);
        x.store::<2>(2, [v[3], v[0]]);
        assert_eq!(values, [0, 1, 7, 4, 4, 5, 6, 7]);
    }

    #[test]
    #[should_panic(expected = "index 2 of a vector access is not a multiple of its 4 elements")]
    fn a_misaligned_vector_is_refused() {
        global(&mut [0u8; 8]).load::<4>(2);
    }

    #[test]
    #[should_panic(expected = "elements 8 to 11 are out of bounds of a buffer of 10 elements")]
    fn a_vector_beyond_the_end_is_refused() {
        global(&mut [0u8; 10]).load::<4>(8);
    }

    #[test]
    #[should_panic(expected = "index 3 is out of bounds of a buffer of 3 elements")]
    fn an_index_beyond_the_end_is_refused() {
        global(&mut [0u8; 3])[3] = 1;
    }

    #[test]
    fn atomics_give_the_old_value() {
        let mut values = [5u32, 0xf0];
        let mut x = global(&mut values);
        assert_eq!(x.atomic_add(0, u32::MAX), 5);
        assert_eq!(x.atomic_sub(0, 5), 4);
        assert_eq!(x.atomic_min(0, 7), u32::MAX);
        assert_eq!(x.atomic_max(0, 9), 7);
        assert_eq!(x.atomic_cas(0, 8, 1), 9);
        assert_eq!(x.atomic_cas(0, 9, 1), 9);
        assert_eq!(x.atomic_exchange(0, 3), 1);
        assert_eq!(x.atomic_and(1, 0x3c), 0xf0);
        assert_eq!(x.atomic_or(1, 1), 0x30);
        assert_eq!(x.atomic_xor(1, 0xff), 0x31);
        assert_eq!(values, [3, 0xce]);
    }

    #[test]
    fn cas_on_floats_compares_bits() {
        let mut values = [f32::NAN, -0.0];
        let mut x = global(&mut values);
        assert!(x.atomic_cas(0, f32::NAN, 1.0).is_nan());
        assert_eq!(x.atomic_cas(1, 0.0, 1.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(values[0], 1.0);
        assert_eq!(values[1].to_bits(), (-0.0f32).to_bits());
    }
}
