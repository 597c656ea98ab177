// ---- A run that does not begin at a multiple of 16 bytes
// launch: grid = 1, n = 3
#[kernel(block = 64)]
fn turned(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 128];
    load_run(&mut run, x, n);
    sync_threads();
    y[global_id().x] = run[127 - thread_idx().x];
}

// ---- A tensor copy of a matrix whose rows do not begin at multiples of 16 bytes
// launch: grid = 1, m.rows = 8, m.columns = 17, m.pitch = 17
#[kernel(block = 64, targets = [sm_90])]
fn summed(m: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for i in 0..m.rows() / 4 {
        load_tile(&mut tile, m, i * 4, 0);
        sync_threads();
        sum += tile[t / 16][t % 16];
        sync_threads();
    }
    y[t] = sum;
}
