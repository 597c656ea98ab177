// test errors
//! `by = bulk`, which promises bulk copies: what they cannot be. Beside each, what they can.
#[kernel(block = 64)]
pub fn refused_bulk(n: usize, x: &Global<f32>, h: &Global<u16>, y: &mut Global<f32>) {
    #[shared]
    let mut a: [f32; 64];
    #[shared]
    let mut b: [f32; 64];
    #[shared]
    let mut c: [u16; 100];
    #[shared]
    let mut d: [u16; 104];
    #[shared]
    let mut e: [f32; 64];
    #[shared]
    let mut f: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    // Each thread copies an element.
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        a[t] = x[k * 64 + t];
        sync_threads();
        sum += a[63 - t];
        sync_threads();
    }
    // One of two arrays is copied so.
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut b, x, k * 64);
        e[t] = x[k * 64 + t];
        sync_threads();
        sum += b[63 - t] + e[63 - t];
        sync_threads();
    }
    // 200 bytes.
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut c, h, k * 104);
        sync_threads();
        sum += c[t] as f32;
        sync_threads();
    }
    // 208 bytes.
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut d, h, k * 104);
        sync_threads();
        sum += d[t] as f32;
        sync_threads();
    }
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_run(&mut f, x, k * 64);
        sync_threads();
        sum += f[63 - t];
        sync_threads();
    }
    y[t] = sum;
}
