// test errors
//! `producer` beside a block that leaves no room for its threads: rows that 128 threads do not make.
#[kernel(block = (256, 2))]
pub fn refused_producer_rows(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 512];
    let t = thread_idx().x + 256 * thread_idx().y;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 512);
        sync_threads();
        sum += run[511 - t];
        sync_threads();
    }
    y[t] = sum;
}
