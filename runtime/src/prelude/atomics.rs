//! Which scalars have which atomics, and the atomics of shared arrays.
//!
//! The threads of a block take turns on one OS thread, so plain reads and writes between two switches are one atomic step.

use super::numeric::Scalar;
use std::sync::atomic::Ordering;
use warpwright_codegen::ir::eval::lane::{Bitwise, Number};

/// The threads for which an atomic is atomic and orders, as CUDA's `thread_scope_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadScope {
    /// Those of the block.
    Block,
    /// Those of the launch.
    Device,
    /// Those, the host's and other devices'.
    System,
}

/// A scalar of 4 or 8 bytes: what can be exchanged.
pub trait AtomicScalar: Scalar {
    /// The value after an exchange.
    #[inline]
    fn after_exchange(self, v: Self) -> Self {
        v
    }

    /// The value after a compare-and-exchange.
    #[inline]
    fn after_cas(self, old: Self, new: Self) -> Self {
        if self.to_word() == old.to_word() { new } else { self }
    }
}

/// A scalar with atomic arithmetic.
#[expect(missing_docs, reason = "the value after the operation that each is named after")]
pub trait AtomicArithmetic: Scalar {
    fn after_add(self, v: Self) -> Self;
    fn after_sub(self, v: Self) -> Self;
    fn after_min(self, v: Self) -> Self;
    fn after_max(self, v: Self) -> Self;
}

/// A scalar with atomic bit operations.
#[expect(missing_docs, reason = "the value after the operation that each is named after")]
pub trait AtomicBits: Scalar {
    fn after_and(self, v: Self) -> Self;
    fn after_or(self, v: Self) -> Self;
    fn after_xor(self, v: Self) -> Self;
}

/// `$t`'s operations are those of the core instructions on `$lane`, of the same width.
macro_rules! arithmetic {
    ($($t:ty as $lane:ty),*) => {$(
        impl AtomicArithmetic for $t {
            fn after_add(self, v: $t) -> $t { <$lane as Number>::add(self as $lane, v as $lane) as $t }
            fn after_sub(self, v: $t) -> $t { <$lane as Number>::sub(self as $lane, v as $lane) as $t }
            fn after_min(self, v: $t) -> $t { <$lane as Number>::min(self as $lane, v as $lane) as $t }
            fn after_max(self, v: $t) -> $t { <$lane as Number>::max(self as $lane, v as $lane) as $t }
        }
    )*};
}

macro_rules! bits {
    ($($t:ty as $lane:ty),*) => {$(
        impl AtomicBits for $t {
            fn after_and(self, v: $t) -> $t { <$lane as Bitwise>::and(self as $lane, v as $lane) as $t }
            fn after_or(self, v: $t) -> $t { <$lane as Bitwise>::or(self as $lane, v as $lane) as $t }
            fn after_xor(self, v: $t) -> $t { <$lane as Bitwise>::xor(self as $lane, v as $lane) as $t }
        }
    )*};
}

macro_rules! exchangeable {
    ($($t:ty)*) => { $(impl AtomicScalar for $t {})* };
}

arithmetic!(i32 as i32, u32 as u32, i64 as i64, u64 as u64, isize as i64, usize as u64, f32 as f32, f64 as f64);
bits!(i32 as i32, u32 as u32, i64 as i64, u64 as u64, isize as i64, usize as u64);
exchangeable!(i32 u32 i64 u64 isize usize f32 f64);

/// The atomics of [`Global`](super::Global) on shared arrays.
#[expect(missing_docs, reason = "as `Global`'s methods of these names")]
pub trait SharedAtomics<T> {
    fn atomic_add(&mut self, i: usize, v: T) -> T
    where
        T: AtomicArithmetic;
    fn atomic_sub(&mut self, i: usize, v: T) -> T
    where
        T: AtomicArithmetic;
    fn atomic_min(&mut self, i: usize, v: T) -> T
    where
        T: AtomicArithmetic;
    fn atomic_max(&mut self, i: usize, v: T) -> T
    where
        T: AtomicArithmetic;
    fn atomic_and(&mut self, i: usize, v: T) -> T
    where
        T: AtomicBits;
    fn atomic_or(&mut self, i: usize, v: T) -> T
    where
        T: AtomicBits;
    fn atomic_xor(&mut self, i: usize, v: T) -> T
    where
        T: AtomicBits;
    fn atomic_exchange(&mut self, i: usize, v: T) -> T
    where
        T: AtomicScalar;
    fn atomic_cas(&mut self, i: usize, old: T, new: T) -> T
    where
        T: AtomicScalar;
    fn atomic_add_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicArithmetic;
    fn atomic_sub_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicArithmetic;
    fn atomic_min_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicArithmetic;
    fn atomic_max_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicArithmetic;
    fn atomic_and_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicBits;
    fn atomic_or_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicBits;
    fn atomic_xor_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicBits;
    fn atomic_exchange_ordered(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicScalar;
    fn atomic_cas_ordered(&mut self, i: usize, old: T, new: T, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicScalar;
    fn atomic_load(&mut self, i: usize, order: Ordering, scope: ThreadScope) -> T
    where
        T: AtomicScalar;
    fn atomic_store(&mut self, i: usize, v: T, order: Ordering, scope: ThreadScope)
    where
        T: AtomicScalar;
}

macro_rules! shared {
    ($($name:ident $ordered:ident $bound:ident $apply:ident($($v:ident),*);)*) => {
        impl<T: Copy> SharedAtomics<T> for [T] {
            #[inline]
            #[track_caller]
            fn atomic_load(&mut self, i: usize, _: Ordering, _: ThreadScope) -> T
            where
                T: AtomicScalar,
            {
                self[i]
            }

            #[inline]
            #[track_caller]
            fn atomic_store(&mut self, i: usize, v: T, _: Ordering, _: ThreadScope)
            where
                T: AtomicScalar,
            {
                self[i] = v;
            }

            $(
            #[inline]
            #[track_caller]
            fn $ordered(&mut self, i: usize, $($v: T),*, _: Ordering, _: ThreadScope) -> T
            where
                T: $bound,
            {
                self.$name(i, $($v),*)
            }

            #[inline]
            #[track_caller]
            fn $name(&mut self, i: usize, $($v: T),*) -> T
            where
                T: $bound,
            {
                let place = &mut self[i];
                std::mem::replace(place, place.$apply($($v),*))
            }
        )*}
    };
}

shared! {
    atomic_add atomic_add_ordered AtomicArithmetic after_add(v);
    atomic_sub atomic_sub_ordered AtomicArithmetic after_sub(v);
    atomic_min atomic_min_ordered AtomicArithmetic after_min(v);
    atomic_max atomic_max_ordered AtomicArithmetic after_max(v);
    atomic_and atomic_and_ordered AtomicBits after_and(v);
    atomic_or atomic_or_ordered AtomicBits after_or(v);
    atomic_xor atomic_xor_ordered AtomicBits after_xor(v);
    atomic_exchange atomic_exchange_ordered AtomicScalar after_exchange(v);
    atomic_cas atomic_cas_ordered AtomicScalar after_cas(old, new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_arrays_of_any_depth_have_atomics() {
        let mut bins = [[0u32; 4]; 2];
        assert_eq!(bins[1].atomic_add(2, 3), 0);
        assert_eq!(bins[1].atomic_max(2, 7), 3);
        assert_eq!(bins[1].atomic_exchange(2, 1), 7);
        assert_eq!(bins[1].atomic_cas(2, 1, 9), 1);
        assert_eq!(bins, [[0; 4], [0, 0, 9, 0]]);
    }

    #[test]
    fn the_lesser_of_a_number_and_a_nan_is_the_number() {
        let mut values = [f32::NAN, 2.0];
        values.atomic_min(0, 1.0);
        values.atomic_max(1, f32::NAN);
        assert_eq!(values, [1.0, 2.0]);
    }
}
