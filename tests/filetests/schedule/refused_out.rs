// test errors
//! What loops cannot be that copy out, and stores that the copy engine does not make.
#[kernel(block = 64)]
pub fn refused_out(n: usize, a: &Matrix<f32>, c: &mut Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut half: [[f32; 16]; 8];
    #[shared]
    let mut sums: [[f32; 16]; 4];
    #[shared]
    let mut early: [[f32; 16]; 4];
    #[shared(pad = 4)]
    let mut padded: [[f32; 16]; 4];
    #[shared]
    let mut wide: [[f32; 12]; 8];
    #[shared]
    let mut read: [[f32; 16]; 4];
    #[shared]
    let mut told: [[f32; 16]; 4];
    #[shared]
    let mut bulk: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2)]
    for k in 0..n {
        half[t / 16][t % 16] = (k + t) as f32;
        sync_threads();
        store_tile(c, k * 8, 0, &half);
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        sums[t / 16][t % 16] += (k + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 0, &sums);
        sync_threads();
    }
    early[t / 16][t % 16] = 0.0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        early[t / 16][t % 16] = (k + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 0, &early);
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        padded[t / 16][t % 16] = (k + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 0, &padded);
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        read[t / 16][t % 16] = c[(k, t)] + 1.0;
        sync_threads();
        store_tile(c, k * 4, 0, &read);
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        told[t / 16][t % 16] = (k + t) as f32;
        fence_device();
        y.atomic_add(0, 1.0);
        sync_threads();
        store_tile(c, k * 4, 0, &told);
        sync_threads();
    }
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        bulk[t / 16][t % 16] = (k + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 0, &bulk);
        sync_threads();
    }
    // Computed of what is loaded, whole, and nowhere else: such a loop goes.
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        for part in 0..2usize {
            wide[(part * 64 + t) / 16][(part * 64 + t) % 12] = a[(k, t)] * 2.0;
        }
        if t < 32 {
            wide[t / 4][8 + t % 4] = a[(k, t)];
        }
        for part in 0..2usize {
            if t < 32 {
                wide[t / 4][part * 4 + t % 4] = a[(k, t)];
            }
        }
        sync_threads();
        store_tile(c, k * 8, 0, &wide);
        sync_threads();
    }
}
