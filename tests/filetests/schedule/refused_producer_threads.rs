// test errors
//! `producer` beside a block that leaves no room for its threads: no threads are left.
#[kernel(block = 1024)]
pub fn refused_producer_threads(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 1024];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 1024);
        sync_threads();
        sum += run[1023 - t];
        sync_threads();
    }
    y[t] = sum;
}
