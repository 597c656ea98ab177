// test lints
use warpwright::prelude::*;

// The sign alone is taken away: the mask is one less than what 64 bits with a sign hold no more.
#[kernel(block = 32, index = 64)]
pub fn without_sign(n: i64, y: &mut Global<i64>) {
    let i = global_id().x;
    let at = (i as i64 + n) & i64::MAX;
    y[at as usize % 64] = at;
}
