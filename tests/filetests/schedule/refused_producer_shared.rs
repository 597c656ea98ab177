// test errors
//! Loops with `producer` that share an array: of unequal stages, and with one that has none. The last two are alike.
#[kernel(block = 64)]
pub fn refused_producer_shared(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut a: [f32; 64];
    #[shared]
    let mut b: [f32; 64];
    #[shared]
    let mut c: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut a, x, k * 64);
        sync_threads();
        sum += a[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 3, producer)]
    for k in 0..n {
        load_run(&mut a, x, k * 64);
        sync_threads();
        sum += a[t];
        sync_threads();
    }
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut b, x, k * 64);
        sync_threads();
        sum += b[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        b[t] = x[k * 64 + t];
        sync_threads();
        sum += b[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 4, producer)]
    for k in 0..n {
        load_run(&mut c, x, k * 64);
        sync_threads();
        sum += c[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 4, producer)]
    for k in 1..n {
        load_run(&mut c, x, k * 64);
        sync_threads();
        sum += c[t];
        sync_threads();
    }
    y[t] = sum;
}
