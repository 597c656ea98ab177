// test errors
//! `store_tile` in the work of a `by = tma` loop is a tensor copy, too: what it cannot be, and what the loop may not do meanwhile. Without `by`, threads store.
#[kernel(block = 64)]
pub fn refused_tensor_stores(n: usize, a: &Matrix<f32>, c: &mut Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    #[shared(pad = 4)]
    let mut padded: [[f32; 16]; 8];
    #[shared(swizzle)]
    let mut moved: [[f32; 16]; 8];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        padded[t / 8][t % 8] = tile[t / 8][t % 8];
        sync_threads();
        store_tile(c, k * 8, 0, &padded);
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        moved[t / 8][t % 8] = tile[t / 8][t % 8];
        sync_threads();
        store_tile(c, k * 8, 0, &moved);
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        store_tile(c, k * 8, 0, &tile);
        c[(0, t)] = 1.0;
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        store_tile(c, k * 8, 0, &tile);
        sync_threads();
        fence_device();
        y.atomic_add(0, 1.0);
        sync_threads();
    }
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        load_tile(&mut tile, a, k * 8, 0);
        sync_threads();
        store_tile(c, k * 8, 0, &tile);
        y.atomic_add(0, 1.0);
        sync_threads();
    }
}
