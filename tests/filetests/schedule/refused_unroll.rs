// test errors
//! Loops that cannot be unrolled as asked.

#[kernel(block = 64)]
pub fn refused_unroll(n: usize, y: &mut Global<u32>) {
    let base = thread_idx().x * 64;
    #[unroll]
    for k in 0..n {
        y[base + k] = 1;
    }
    #[unroll(8)]
    for k in 0..5 {
        y[base + k] = 1;
    }
    #[unroll]
    for k in 0..100_000 {
        y[base + k % 64] = 1;
    }
}
