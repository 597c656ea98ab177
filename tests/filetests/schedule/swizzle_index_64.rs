// test ir scheduled
//! A swizzle over bytes where indices have 64 bits: the counts of its shifts have 32, as all have.
#[kernel(block = 32, index = 64)]
fn narrow(y: &mut Global<f64>) {
    #[shared(swizzle = 32)]
    let mut tile: [[f64; 4]; 8];
    let t = thread_idx().x;
    tile[t / 4][t % 4] = t as f64;
    sync_threads();
    y[t] = tile[t % 8][t / 8];
}
