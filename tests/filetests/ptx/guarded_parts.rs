// test ptx sm_90
//! Registers of predicated loads that hold several elements, or a `bool` as a byte, begin with zero: `ptxas` takes two loads of one place for one, though they stand under different
//! predicates, if nothing has written what they are loaded into.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn conditional(n: &Global<u32>, flags: &Global<bool>, bytes: &Global<u8>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (first, second) = (n[i] & 1 == 1, n[i] & 2 == 2);
    let (mut a, mut b, mut c, mut d) = (false, false, 0, 0);
    if first {
        a = flags[0];
        c = bytes.load::<8>(0)[5];
    }
    if second {
        b = flags[0];
        d = bytes.load::<8>(0)[5];
    }
    y[i] = a as u32 + 2 * b as u32 + 256 * c as u32 + 65536 * d as u32;
}
