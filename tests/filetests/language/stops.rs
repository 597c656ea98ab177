// test opencl
// kernel stops
//! A thread that an assertion stops takes no part in what comes, and comes to the barriers all the same; where nobody waits it returns.

#[kernel(block = 64, bounds = trap)]
fn stops(limit: u32, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let t = thread_idx().x;
    let v = x[global_id().x];
    assert!(v < limit, "too large");
    tile[t] = v;
    sync_threads();
    if t % 4 == 1 {
        y[t] = tile[63 - t];
        assert!(y[t] > 0);
    }
}
