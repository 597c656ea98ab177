// test errors
//! `producer` beside a block that leaves no room for its threads: no whole warps.
#[kernel(block = 48)]
pub fn refused_producer_warps(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 48];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 48);
        sync_threads();
        sum += run[47 - t];
        sync_threads();
    }
    y[t] = sum;
}
