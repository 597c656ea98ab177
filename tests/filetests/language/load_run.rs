// test rust
// test ptx sm_90
//! A run is moved in vectors of 16 bytes where the buffer has all of it, and element by element, zeros beyond its end, elsewhere.
#[kernel(block = 64)]
pub fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 512];
    let first = block_idx().x * 512;
    load_run(&mut run, x, first);
    sync_threads();
    let t = thread_idx().x;
    for i in 0..8 {
        y[first + i * 64 + t] = run[511 - i * 64 - t];
    }
}
