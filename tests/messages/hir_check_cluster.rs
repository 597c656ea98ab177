// ---- Another block's array without saying which block
// target sm_90
#[kernel(block = 256, cluster = 2)]
fn swap(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = shared_of(&tile)[t];
}

// ---- A dynamic shared array of another block
// target sm_90
#[kernel(block = 256, cluster = 2)]
fn swap(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut tile: [f32];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = shared_of(&tile, 1 - cluster_rank())[t];
}

// ---- Writing to another block's array that was taken to be read
// target sm_90
#[kernel(block = 256, cluster = 2)]
fn swap(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    cluster_sync();
    shared_of(&tile, 1 - cluster_rank())[t] = x[global_id().x];
    cluster_sync();
    y[global_id().x] = tile[t];
}
