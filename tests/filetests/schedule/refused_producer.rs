// test errors
//! `producer`, which promises threads of their own for copies: what they cannot find out, and what the block must leave them. Beside each, what they can.
#[kernel(block = 64)]
pub fn refused_producer(n: usize, starts: &Global<u32>, x: &Global<f32>, w: &mut Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut a: [f32; 64];
    #[shared]
    let mut b: [f32; 64];
    #[shared]
    let mut d: [f32; 64];
    #[shared]
    let mut e: [f32; 64];
    #[shared]
    let mut f: [f32; 64];
    #[shared]
    let mut h: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    // Each thread copies an element.
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        a[t] = x[k * 64 + t];
        sync_threads();
        sum += a[63 - t];
        sync_threads();
    }
    // How many there are, all threads find out together.
    let most = block_max(t as u32) as usize;
    #[pipeline(stages = 2, producer)]
    for k in 0..most {
        load_run(&mut b, x, k * 64);
        sync_threads();
        sum += b[63 - t];
        sync_threads();
    }
    // One that nobody writes, and a condition of it.
    let whole = starts[block_idx().x] as usize;
    if whole > 3 {
        #[pipeline(stages = 2, producer)]
        for k in 3..whole {
            load_run(&mut d, x, k * 64);
            sync_threads();
            sum += d[63 - t];
            sync_threads();
        }
    }
    // Every thread copies.
    #[pipeline(stages = 2, by = cp_async, producer)]
    for k in 0..n {
        load_run(&mut e, x, k * 64);
        sync_threads();
        sum += e[63 - t];
        sync_threads();
    }
    // A buffer that the kernel writes.
    #[pipeline(stages = 2, producer)]
    for k in 0..n {
        load_run(&mut f, w, k * 64);
        sync_threads();
        sum += f[63 - t];
        sync_threads();
    }
    w[t] = sum;
    // Nothing is asked for.
    #[pipeline(stages = 3, producer = false)]
    for k in 0..n {
        h[t] = x[k * 64 + t];
        sync_threads();
        sum += h[63 - t];
        sync_threads();
    }
    y[t] = sum;
}
