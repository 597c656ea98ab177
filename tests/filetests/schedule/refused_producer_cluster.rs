// test errors
//! `producer` in a kernel whose blocks meet with all their threads.
#[kernel(block = 64, cluster = (2, 1))]
pub fn refused_producer_cluster(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut run, x, k * 64);
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    cluster_sync();
    y[global_id().x] = sum;
}
