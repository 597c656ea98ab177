//! Integers.

use super::*;

/// An integer.
#[expect(missing_docs, reason = "Rust's own methods, by their names")]
pub trait Int:
    Num
    + Eq
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + BitXorAssign
    + Shl<Output = Self>
    + Shl<u32, Output = Self>
    + Shl<i32, Output = Self>
    + Shl<usize, Output = Self>
    + Shr<Output = Self>
    + Shr<u32, Output = Self>
    + Shr<i32, Output = Self>
    + Shr<usize, Output = Self>
    + ShlAssign
    + ShlAssign<u32>
    + ShlAssign<i32>
    + ShlAssign<usize>
    + ShrAssign
    + ShrAssign<u32>
    + ShrAssign<i32>
    + ShrAssign<usize>
{
    /// Width in bits.
    const BITS: u32;

    /// The high half of the product, which is twice as wide as the factors.
    fn mul_hi(self, b: Self) -> Self;
    /// The product of the low 24 bits of both (sign-extended for signed types), its low bits. Where 24 bits hold the factors this is `a * b`.
    fn mul24(self, b: Self) -> Self;
    /// The distances of the bytes of `self` and `b` from each other, added to `sum`; wrapping. In a kernel for `u32`, which has four of them.
    fn sad4(self, b: Self, sum: Self) -> Self;

    fn count_ones(self) -> u32;
    fn count_zeros(self) -> u32;
    fn leading_zeros(self) -> u32;
    fn trailing_zeros(self) -> u32;
    fn leading_ones(self) -> u32;
    fn trailing_ones(self) -> u32;
    fn rotate_left(self, n: u32) -> Self;
    fn rotate_right(self, n: u32) -> Self;
    fn reverse_bits(self) -> Self;
    fn swap_bytes(self) -> Self;
    fn pow(self, exponent: u32) -> Self;
    fn isqrt(self) -> Self;
    fn ilog2(self) -> u32;
    fn div_euclid(self, b: Self) -> Self;
    fn rem_euclid(self, b: Self) -> Self;
    fn wrapping_add(self, b: Self) -> Self;
    fn wrapping_sub(self, b: Self) -> Self;
    fn wrapping_mul(self, b: Self) -> Self;
    fn wrapping_div(self, b: Self) -> Self;
    fn wrapping_rem(self, b: Self) -> Self;
    fn wrapping_neg(self) -> Self;
    fn wrapping_shl(self, count: u32) -> Self;
    fn wrapping_shr(self, count: u32) -> Self;
    fn wrapping_pow(self, exponent: u32) -> Self;
    fn saturating_add(self, b: Self) -> Self;
    fn saturating_sub(self, b: Self) -> Self;
    fn saturating_mul(self, b: Self) -> Self;
    fn saturating_pow(self, exponent: u32) -> Self;
}

/// The count of a shift as Rust looks at it: a `u32`, one that is too great if the count is.
fn shift_count<T: Int, C: Int>(count: C) -> u32 {
    let low: u32 = super::super::cast::cast(count);
    // Where overflow is not looked for, the low bits count.
    if super::super::cast::cast::<u32, C>(low) == count { low } else { low | T::BITS }
}

/// `a << count` in generic code, where the several bounds `Shl<…>` leave its type open.
#[inline]
#[track_caller]
pub fn shl<T: Int, C: Int>(a: T, count: C) -> T {
    a << shift_count::<T, C>(count)
}

/// `a >> count`, likewise.
#[inline]
#[track_caller]
pub fn shr<T: Int, C: Int>(a: T, count: C) -> T {
    a >> shift_count::<T, C>(count)
}

macro_rules! integers {
    ($($t:ident $wide:ident,)*) => {$(
        impl Int for $t {
            const BITS: u32 = $t::BITS;

            #[inline]
            fn mul_hi(self, b: $t) -> $t {
                ((self as $wide * b as $wide) >> $t::BITS) as $t
            }

            #[inline]
            fn mul24(self, b: $t) -> $t {
                const UNUSED: u32 = $t::BITS.saturating_sub(24);
                ((self << UNUSED) >> UNUSED).wrapping_mul((b << UNUSED) >> UNUSED)
            }

            #[inline]
            fn sad4(self, b: $t, sum: $t) -> $t {
                let distances = self.to_le_bytes().into_iter().zip(b.to_le_bytes()).map(|(x, y)| x.abs_diff(y));
                distances.fold(sum, |sum, d| sum.wrapping_add(super::super::cast::cast(d)))
            }

            inherent_methods! { $t:
                count_ones() -> u32;
                count_zeros() -> u32;
                leading_zeros() -> u32;
                trailing_zeros() -> u32;
                leading_ones() -> u32;
                trailing_ones() -> u32;
                rotate_left(n: u32) -> $t;
                rotate_right(n: u32) -> $t;
                reverse_bits() -> $t;
                swap_bytes() -> $t;
                pow(exponent: u32) -> $t;
                isqrt() -> $t;
                ilog2() -> u32;
                div_euclid(b: $t) -> $t;
                rem_euclid(b: $t) -> $t;
                wrapping_add(b: $t) -> $t;
                wrapping_sub(b: $t) -> $t;
                wrapping_mul(b: $t) -> $t;
                wrapping_div(b: $t) -> $t;
                wrapping_rem(b: $t) -> $t;
                wrapping_neg() -> $t;
                wrapping_shl(count: u32) -> $t;
                wrapping_shr(count: u32) -> $t;
                wrapping_pow(exponent: u32) -> $t;
                saturating_add(b: $t) -> $t;
                saturating_sub(b: $t) -> $t;
                saturating_mul(b: $t) -> $t;
                saturating_pow(exponent: u32) -> $t;
            }
        }
    )*};
}

integers! {
    i8 i16,
    i16 i32,
    i32 i64,
    i64 i128,
    isize i128,
    u8 u16,
    u16 u32,
    u32 u64,
    u64 u128,
    usize u128,
}
