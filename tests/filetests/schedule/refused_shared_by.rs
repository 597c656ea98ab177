// test errors
//! Loops that share an array share its slots, and so what fills them.
#[kernel(block = 64)]
pub fn refused_shared_by(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut one: [f32; 64];
    #[shared]
    let mut two: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3, by = registers)]
    for k in 0..n {
        one[t] = x[k * 64 + t];
        sync_threads();
        sum += one[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 3, by = cp_async)]
    for k in 0..n {
        one[t] = x[k * 64 + t];
        sync_threads();
        sum += one[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 3, by = bulk)]
    for k in 0..n {
        load_run(&mut two, x, k * 64);
        sync_threads();
        sum += two[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        two[t] = x[k * 64 + t];
        sync_threads();
        sum += two[63 - t];
        sync_threads();
    }
    y[t] = sum;
}
