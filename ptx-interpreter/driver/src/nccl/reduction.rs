//! Elements taken together, in the order of ranks.

use half::{bf16, f16};

/// How (`ncclRedOp_t`).
const SUM: u8 = 0;
const PRODUCT: u8 = 1;
const MAX: u8 = 2;
const MIN: u8 = 3;
/// As NCCL computes it: floats are multiplied by the inverse of the number of ranks and added up, sums of integers divided (`ncclDevPreMulSum`, `ncclDevSumPostDiv`).
pub(super) const AVERAGE: u8 = 4;

/// Takes the elements of all ranks together.
pub(super) fn reduce_all(ty: u8, by: u8, mut all: Vec<Vec<u8>>) -> Vec<u8> {
    let ranks = all.len();
    if by == AVERAGE {
        all.iter_mut().for_each(|part| scale(ty, part, ranks, true));
    }
    let mut parts = all.into_iter();
    let mut together = parts.next().unwrap_or_default();
    parts.for_each(|part| reduce(ty, by, &mut together, &part));
    if by == AVERAGE {
        scale(ty, &mut together, ranks, false);
    }
    together
}

macro_rules! types {
    ($($number:literal $ty:ident $add:expr, $multiply:expr, $before:expr, $behind:expr;)*) => {
        /// Bytes of an element of a type (`ncclDataType_t`).
        pub(super) fn bytes(ty: u8) -> Option<usize> {
            match ty {
                $($number => Some(size_of::<$ty>()),)*
                _ => None,
            }
        }

        /// What an average does with elements before they are added up, and with the sums.
        fn scale(ty: u8, elements: &mut [u8], ranks: usize, is_before: bool) {
            match ty {
                $($number => {
                    let [before, behind]: [fn($ty, usize) -> $ty; 2] = [$before, $behind];
                    let scaled = if is_before { before } else { behind };
                    for element in elements.as_chunks_mut().0 {
                        *element = scaled($ty::from_le_bytes(*element), ranks).to_le_bytes();
                    }
                })*
                _ => {}
            }
        }

        /// Takes others' elements into the first's.
        fn reduce(ty: u8, by: u8, into: &mut [u8], others: &[u8]) {
            match ty {
                $($number => {
                    let (add, multiply): (fn($ty, $ty) -> $ty, fn($ty, $ty) -> $ty) = ($add, $multiply);
                    for (into, other) in into.as_chunks_mut().0.iter_mut().zip(others.as_chunks().0) {
                        let (a, b) = ($ty::from_le_bytes(*into), $ty::from_le_bytes(*other));
                        let reduced = match by {
                            SUM | AVERAGE => add(a, b),
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
    0 i8 i8::wrapping_add, i8::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as i8;
    1 u8 u8::wrapping_add, u8::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as u8;
    2 i32 i32::wrapping_add, i32::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as i32;
    3 u32 u32::wrapping_add, u32::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as u32;
    4 i64 i64::wrapping_add, i64::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as i64;
    5 u64 u64::wrapping_add, u64::wrapping_mul, |a, _| a, |a, ranks| (i128::from(a) / ranks as i128) as u64;
    6 f16 |a, b| a + b, |a, b| a * b, |a, ranks| a * f16::from_f64(1.0 / ranks as f64), |a, _| a;
    7 f32 |a, b| a + b, |a, b| a * b, |a, ranks| a * (1.0 / ranks as f64) as f32, |a, _| a;
    8 f64 |a, b| a + b, |a, b| a * b, |a, ranks| a * (1.0 / ranks as f64), |a, _| a;
    9 bf16 |a, b| a + b, |a, b| a * b, |a, ranks| a * bf16::from_f64(1.0 / ranks as f64), |a, _| a;
}
