//! Elements taken together, in the order of ranks.

use half::{bf16, f16};

/// How (`ncclRedOp_t`).
const SUM: u8 = 0;
const PRODUCT: u8 = 1;
const MAX: u8 = 2;
const MIN: u8 = 3;

macro_rules! types {
    ($($number:literal $ty:ident $add:expr, $multiply:expr;)*) => {
        /// Bytes of an element of a type (`ncclDataType_t`).
        pub(super) fn bytes(ty: u8) -> Option<usize> {
            match ty {
                $($number => Some(size_of::<$ty>()),)*
                _ => None,
            }
        }

        /// Takes others' elements into the first's.
        pub(super) fn reduce(ty: u8, by: u8, into: &mut [u8], others: &[u8]) {
            match ty {
                $($number => {
                    let (add, multiply): (fn($ty, $ty) -> $ty, fn($ty, $ty) -> $ty) = ($add, $multiply);
                    for (into, other) in into.as_chunks_mut().0.iter_mut().zip(others.as_chunks().0) {
                        let (a, b) = ($ty::from_le_bytes(*into), $ty::from_le_bytes(*other));
                        let reduced = match by {
                            SUM => add(a, b),
                            PRODUCT => multiply(a, b),
                            MAX => if b > a { b } else { a },
                            MIN => if b < a { b } else { a },
                            _ => a,
                        };
                        *into = reduced.to_le_bytes();
                    }
                })*
                _ => {}
            }
        }
    };
}

types! {
    0 i8 i8::wrapping_add, i8::wrapping_mul;
    1 u8 u8::wrapping_add, u8::wrapping_mul;
    2 i32 i32::wrapping_add, i32::wrapping_mul;
    3 u32 u32::wrapping_add, u32::wrapping_mul;
    4 i64 i64::wrapping_add, i64::wrapping_mul;
    5 u64 u64::wrapping_add, u64::wrapping_mul;
    6 f16 |a, b| a + b, |a, b| a * b;
    7 f32 |a, b| a + b, |a, b| a * b;
    8 f64 |a, b| a + b, |a, b| a * b;
    9 bf16 |a, b| a + b, |a, b| a * b;
}
