// test errors
//! Runs that not all threads of the block come to, or begin elsewhere in each.
#[kernel(block = 64)]
pub fn refused_load_run_apart(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    #[shared]
    let mut other: [f32; 64];
    let t = thread_idx().x;
    if t < 32 {
        load_run(&mut run, x, 0);
    }
    load_run(&mut other, x, t * 64);
    // The same in all threads of a block: no error.
    if block_idx().x > 0 {
        load_run(&mut run, x, block_idx().x * 64);
    }
    sync_threads();
    y[t] = run[63 - t] + other[63 - t];
}
