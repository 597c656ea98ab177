// test ir engine
// test ptx sm_90
// test rust sm_90
//! Where `load_run` makes all copies of a pipelined loop, sm_90 has a form of its own: one thread asks the copy engine, whose bytes a barrier counts.
#[kernel(block = 64)]
pub fn summed(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for chunk in 0..runs {
        load_run(&mut run, x, chunk * 256);
        sync_threads();
        sum += run[255 - t];
        sync_threads();
    }
    y[t] = sum;
}
