// test ptx sm_90
// test rust sm_90
//! Barriers of a ring are made once, before the loop over blocks; the ring stands in a round where the one before has left it.
#[kernel(block = 64, persistent)]
pub fn summed(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 4)]
    for chunk in 0..runs {
        load_run(&mut run, x, (block_idx().x * runs + chunk) * 256);
        sync_threads();
        sum += run[255 - t];
        sync_threads();
    }
    y[block_idx().x * 64 + t] = sum;
}
