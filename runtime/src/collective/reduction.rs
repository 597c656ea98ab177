//! What elements are taken together, and how.

use crate::element::Element;
use half::{bf16, f16};
use std::ffi::c_int;

/// How the elements of all ranks are taken together. Sums and products of floats are taken in an order that is not specified: results of two runs may differ in their last bits, on one device they are the same on all
/// ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// a + b, wrapping for integers.
    Sum,
    /// a · b, wrapping for integers.
    Product,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The sum by the number of ranks: of floats each is multiplied by its inverse before, of integers the wrapped sum is divided, towards zero. NCCL has it from 2.10 on.
    Average,
}

impl Reduction {
    /// All of them, by `ncclRedOp_t`.
    const ALL: [Reduction; 5] = [Reduction::Sum, Reduction::Product, Reduction::Max, Reduction::Min, Reduction::Average];

    /// The one that has this number there.
    pub(super) fn from_nccl(number: u64) -> Option<Reduction> {
        Reduction::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// `ncclRedOp_t`.
    pub(super) fn of_nccl(self) -> c_int {
        Reduction::ALL.iter().position(|by| *by == self).unwrap_or(0) as c_int
    }
}

mod sealed {
    use super::DataType;

    /// What the ways of doing a collective know of a type.
    pub trait Typed {
        const DATA_TYPE: DataType;
    }
}

/// Elements that collectives work with: integers of 8, 32 and 64 bits, `f16`, `bf16`, `f32` and `f64`, as NCCL has them.
pub trait Reducible: Element + sealed::Typed {}

/// A type, and how its elements are taken together on a host.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct DataType {
    name: &'static str,
    nccl: c_int,
    bytes: usize,
    reduce: fn(Reduction, &mut [u8], &[u8]),
    /// What an average does with elements before they are added up, and with the sums: of so many ranks.
    average: [fn(&mut [u8], usize); 2],
}

impl PartialEq for DataType {
    fn eq(&self, other: &DataType) -> bool {
        self.nccl == other.nccl
    }
}

impl Eq for DataType {}

impl DataType {
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// `ncclDataType_t`.
    pub(super) fn of_nccl(&self) -> c_int {
        self.nccl
    }

    /// The type that has this number there.
    pub(super) fn from_nccl(number: u64) -> Option<DataType> {
        ALL.into_iter().find(|ty| u64::from(ty.nccl.unsigned_abs()) == number)
    }

    /// Bytes of an element.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the elements of all ranks together, in their order: each as its bytes, as many.
    pub(super) fn reduce_all(&self, by: Reduction, mut all: Vec<Vec<u8>>) -> Vec<u8> {
        let (ranks, [before, behind]) = (all.len(), self.average);
        if by == Reduction::Average {
            all.iter_mut().for_each(|part| before(part, ranks));
        }
        let mut parts = all.into_iter();
        let mut together = parts.next().unwrap_or_default();
        parts.for_each(|part| (self.reduce)(by, &mut together, &part));
        if by == Reduction::Average {
            behind(&mut together, ranks);
        }
        together
    }
}

/// Replaces each element by what a function makes of it and the number of ranks.
macro_rules! of_each {
    ($ty:ident, $made:expr) => {
        |elements, ranks| {
            let made: fn($ty, usize) -> $ty = $made;
            for element in elements.as_chunks_mut::<{ size_of::<$ty>() }>().0 {
                *element = made($ty::from_ne_bytes(*element), ranks).to_ne_bytes();
            }
        }
    };
}

macro_rules! types {
    ($($ty:ident $nccl:literal $add:expr, $multiply:expr, $before:expr, $behind:expr;)*) => {$(
        impl sealed::Typed for $ty {
            const DATA_TYPE: DataType = DataType {
                name: stringify!($ty),
                nccl: $nccl,
                bytes: size_of::<$ty>(),
                reduce: |by, into, others| {
                    const BYTES: usize = size_of::<$ty>();
                    let (add, multiply): (fn($ty, $ty) -> $ty, fn($ty, $ty) -> $ty) = ($add, $multiply);
                    for (into, other) in into.as_chunks_mut::<BYTES>().0.iter_mut().zip(others.as_chunks::<BYTES>().0) {
                        let (a, b) = ($ty::from_ne_bytes(*into), $ty::from_ne_bytes(*other));
                        let reduced = match by {
                            Reduction::Sum | Reduction::Average => add(a, b),
                            Reduction::Product => multiply(a, b),
                            Reduction::Min => a.min(b),
                            Reduction::Max => a.max(b),
                        };
                        *into = reduced.to_ne_bytes();
                    }
                },
                average: [of_each!($ty, $before), of_each!($ty, $behind)],
            };
        }

        impl Reducible for $ty {}
    )*

        /// All of them.
        const ALL: [DataType; 10] = [$(<$ty as sealed::Typed>::DATA_TYPE),*];
    };
}

types! {
    i8 0 i8::wrapping_add, i8::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as i8;
    u8 1 u8::wrapping_add, u8::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as u8;
    i32 2 i32::wrapping_add, i32::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as i32;
    u32 3 u32::wrapping_add, u32::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as u32;
    i64 4 i64::wrapping_add, i64::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as i64;
    u64 5 u64::wrapping_add, u64::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as u64;
    f16 6 |a, b| a + b, |a, b| a * b, |a, ranks| a * f16::from_f64(1.0 / ranks as f64), |a, _| a;
    f32 7 |a, b| a + b, |a, b| a * b, |a, ranks| a * (1.0 / ranks as f64) as f32, |a, _| a;
    f64 8 |a, b| a + b, |a, b| a * b, |a, ranks| a * (1.0 / ranks as f64), |a, _| a;
    bf16 9 |a, b| a + b, |a, b| a * b, |a, ranks| a * bf16::from_f64(1.0 / ranks as f64), |a, _| a;
}
