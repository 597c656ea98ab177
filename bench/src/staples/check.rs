//! What results are held against: the host computes it from the formulas of the inputs.

use crate::Outcome;
use warpwright::{Buffer, Element};

/// The elements of a buffer.
pub(super) fn all<T: Element>(buffer: &Buffer<T>) -> Outcome<Vec<T>> {
    Ok(buffer.download()?)
}

/// An `Err` unless it holds.
pub(super) fn holds(is_right: bool, what: impl FnOnce() -> String) -> Outcome<()> {
    if is_right { Ok(()) } else { Err(what().into()) }
}

/// An `Err` unless two numbers are within a bound; what is not a number is within none.
pub(super) fn near(what: &str, found: f64, expected: f64, bound: f64) -> Outcome<()> {
    holds((found - expected).abs() <= bound, || format!("{what} is {found}, expected {expected} within {bound}"))
}

/// Places that are looked at: all of few, 4,096 of many.
pub(super) fn places(n: usize) -> impl Iterator<Item = usize> {
    let step = (n / 4096).max(1);
    (0..n).step_by(step).map(move |i| if step > 2 { (i + i / step % step).min(n - 1) } else { i })
}

/// A number that two lists of the same elements have in common, whatever their order.
pub(super) fn mixture(values: impl Iterator<Item = u32>) -> (u64, u64) {
    values.fold((0, 0), |(sum, mixed), v| {
        let m = (u64::from(v) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (sum.wrapping_add(u64::from(v)), mixed.wrapping_add(m ^ (m >> 29)))
    })
}
