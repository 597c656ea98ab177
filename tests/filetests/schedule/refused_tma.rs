// test errors
//! `by = tma`, which promises tensor copies: what they cannot be.
#[kernel(block = 64)]
pub fn refused_tma(n: usize, a: &Matrix<f32>, h: &Matrix<u8>, v: &Matrix<[f32; 4]>, x: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut wide: [[f32; 512]; 8];
    #[shared]
    let mut narrow: [[u8; 24]; 16];
    #[shared]
    let mut few: [[f32; 4]; 7];
    #[shared(pad = 4)]
    let mut padded: [[f32; 16]; 8];
    #[shared]
    let mut vectors: [[[f32; 4]; 8]; 8];
    #[shared]
    let mut plain: [f32; 64];
    #[shared]
    let mut tall: [[f32; 4]; 257];
    #[shared]
    let mut fits: [[f32; 16]; 8];
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut wide, a, k * 8, 0);
        sync_threads();
        sum += wide[0][t];
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut narrow, h, k * 16, 0);
        sync_threads();
        sum += narrow[t % 16][0] as f32;
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut few, a, k * 7, 0);
        sync_threads();
        sum += few[t % 7][0];
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut padded, a, k * 8, 0);
        sync_threads();
        sum += padded[t % 8][0];
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut vectors, v, k * 8, 0);
        sync_threads();
        sum += vectors[t % 8][0][0];
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        plain[t] = x[k * 64 + t];
        sync_threads();
        sum += plain[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tall, a, k * 257, 0);
        sync_threads();
        sum += tall[t][0];
        sync_threads();
    }
    // Both are what it takes.
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut fits, a, k * 8, 3);
        load_run(&mut run, x, k * 64);
        sync_threads();
        sum += fits[t % 8][t / 8] + run[63 - t];
        sync_threads();
    }
    // And tiles are no runs.
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        load_tile(&mut fits, a, k * 8, 3);
        sync_threads();
        sum += fits[t % 8][t / 8];
        sync_threads();
    }
    c[t] = sum;
}
