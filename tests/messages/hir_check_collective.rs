// ---- A copy of the block that does not say from where
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    load_run(&mut run, x);
    sync_threads();
    y[global_id().x] = run[255 - thread_idx().x];
}

// ---- A tile of a plain buffer
#[kernel(block = 256)]
fn first_tile(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 16];
    load_tile(&mut tile, x, 0, 0);
    sync_threads();
    let t = thread_idx().x;
    y[t] = tile[t % 16][t / 16];
}

// ---- A tile of a batch of matrices that does not say which matrix
#[kernel(block = 256)]
fn first_tile(a: &MatrixBatch<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 16];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let t = thread_idx().x;
    y[t] = tile[t % 16][t / 16];
}

// ---- A tile stored to a plain buffer
#[kernel(block = 256)]
fn squares(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 16];
    let t = thread_idx().x;
    tile[t / 16][t % 16] = (t * t) as f32;
    sync_threads();
    store_tile(y, 0, 0, &tile);
}

// ---- A copy of the block into an array whose length the launch gives
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic)]
    let mut run: [f32];
    load_run(&mut run, x, 0);
    sync_threads();
    y[global_id().x] = run[255 - thread_idx().x];
}

// ---- A tile copied into an array without rows
#[kernel(block = 256)]
fn first_tile(a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    y[global_id().x] = tile[255 - thread_idx().x];
}

// ---- A copy of the block that would have to convert
#[kernel(block = 256)]
fn reverse(x: &Global<bf16>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    load_run(&mut run, x, 0);
    sync_threads();
    y[global_id().x] = run[255 - thread_idx().x];
}
