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
}

impl Reduction {
    /// All of them, by `ncclRedOp_t`.
    const ALL: [Reduction; 4] = [Reduction::Sum, Reduction::Product, Reduction::Max, Reduction::Min];

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

    /// Takes elements together with others: both as their bytes, as many.
    pub(super) fn reduce(&self, by: Reduction, into: &mut [u8], others: &[u8]) {
        (self.reduce)(by, into, others);
    }
}

macro_rules! types {
    ($($ty:ident $nccl:literal $add:expr, $multiply:expr;)*) => {$(
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
                            Reduction::Sum => add(a, b),
                            Reduction::Product => multiply(a, b),
                            Reduction::Min => a.min(b),
                            Reduction::Max => a.max(b),
                        };
                        *into = reduced.to_ne_bytes();
                    }
                },
            };
        }

        impl Reducible for $ty {}
    )*

        /// All of them.
        const ALL: [DataType; 10] = [$(<$ty as sealed::Typed>::DATA_TYPE),*];
    };
}

types! {
    i8 0 i8::wrapping_add, i8::wrapping_mul;
    u8 1 u8::wrapping_add, u8::wrapping_mul;
    i32 2 i32::wrapping_add, i32::wrapping_mul;
    u32 3 u32::wrapping_add, u32::wrapping_mul;
    i64 4 i64::wrapping_add, i64::wrapping_mul;
    u64 5 u64::wrapping_add, u64::wrapping_mul;
    f16 6 |a, b| a + b, |a, b| a * b;
    f32 7 |a, b| a + b, |a, b| a * b;
    f64 8 |a, b| a + b, |a, b| a * b;
    bf16 9 |a, b| a + b, |a, b| a * b;
}
