//! Methods and operators of integers, of concrete types and through bounds.

use crate::bench::{Bench, cases, words};
use warpwright::Int;
use warpwright::prelude::*;

cases!(multiples, generic_shifts);

#[kernel(block = 32)]
fn rounded(x: &Global<u32>, y: &mut Global<u64>) {
    const ROUND: usize = 100usize.next_multiple_of(32).div_ceil(3).next_power_of_two();
    let i = global_id().x;
    let v = x[i] >> 3;
    let mut s = v.next_multiple_of(7) as u64;
    s = s * 3 + (v as u16 >> 1).next_multiple_of(256) as u64;
    s = s * 3 + (v as u8 >> 1).next_multiple_of(v as u8 % 5 + 1) as u64;
    s = s * 3 + (v as u64).next_multiple_of(1 << 33);
    s = s * 3 + i.next_multiple_of(ROUND) as u64;
    s = s * 3 + (v % 100).next_multiple_of(10).div_ceil(4) as u64;
    y[i] = s;
}

fn multiples(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(rounded, &words(96), 1).map(drop)
}

/// Operators of which the result is used at once, with counts of many types.
#[device]
fn mix<T: Int>(a: T, n: u32) -> T {
    let k = n as i32;
    let wide = n as usize;
    let small = n as u8;
    let mut s = (a << 2).min(T::MAX);
    s = ((a << k) ^ (s >> wide)).rotate_left(3).max(T::ONE);
    s = (s >> small).wrapping_add(a << n as i64);
    s = (a << (n % 3 + 1)).count_ones() as T ^ !(s >> 1).wrapping_mul(a + T::ONE);
    s = (s << T::ONE).max(a >> (a & T::ONE)).clamp(T::ZERO, T::MAX);
    s <<= 1;
    s >>= n;
    s <<= wide;
    let t = a - (s << 3);
    if (a << 1) > t && (t >> 1) != a {
        s = ((s << 1) | t).wrapping_sub(t * a);
    }
    let picked = [s, t, s << 2, t >> 2];
    picked[wide % 4].swap_bytes() + (1 << n) as T + (s / T::MAX.min(s | T::ONE))
}

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Bits<T: Int> {
    low: T,
}

#[device]
impl<T: Int> Bits<T> {
    fn above(&self, n: usize) -> u32 {
        (self.low >> n).leading_zeros()
    }
}

#[kernel(block = 32)]
fn shifted<T: Int>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    let b = Bits { low: x[i] };
    y[i] = mix(x[i], i as u32 % 7).wrapping_add(b.above(i % 8) as T);
}

fn generic_shifts(b: &mut Bench<'_>) -> warpwright::Result<()> {
    b.map(shifted::<u32>, &words(96), 1)?;
    b.map(shifted::<i32>, &words(96).into_iter().map(|w| w as i32).collect::<Vec<_>>(), 1)?;
    b.map(shifted::<u8>, &words(96).into_iter().map(|w| w as u8).collect::<Vec<_>>(), 1)?;
    b.map(shifted::<i64>, &words(96).into_iter().map(|w| (w as i64) << 20).collect::<Vec<_>>(), 1)?;
    b.map(shifted::<u16>, &words(96).into_iter().map(|w| w as u16).collect::<Vec<_>>(), 1).map(drop)
}
