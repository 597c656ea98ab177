//! A device function of a file of its own.

use warpwright::prelude::*;

#[device]
pub(super) fn put(y: &mut Global<u32>, i: usize) {
    y[i] = 1;
}
pub(super) const PUTS: u32 = line!() - 2;
