// test ptx sm_90
//! Shared memory has no instruction for atomics of 64 bits, nor for sums of floats. `ptxas` makes a loop of them, of which it thinks that a warp leaves it together where address and operand are the
//! same for all lanes; of a loop that it is given it does not.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn shared(x: u64, y: &mut Global<u64>) {
    #[shared]
    let mut bits: [u64; 2];
    #[shared]
    let mut sum: [f32; 2];
    let t = thread_idx().x;
    if t < 2 {
        bits[t] = 0;
        sum[t] = 0.0;
    }
    sync_threads();
    bits.atomic_xor(1, x);
    sum.atomic_add(0, 1.5);
    sync_threads();
    y[t] = bits[1] + sum[0] as u64 + bits.atomic_exchange(0, 7);
}
