// test errors
//! `producer`, and threads that return before a barrier, which counts them. Where all of a block return together, nobody is missed.
#[kernel(block = 64)]
pub fn refused_producer_return(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    if block_idx().x > n {
        return;
    }
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    if t >= 32 {
        return;
    }
    let all = block_sum(sum);
    y[t] = all;
}
