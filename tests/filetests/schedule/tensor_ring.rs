// test ir engine
// test ptx sm_90
// test rust sm_90
//! A tile that tensor copies bring: one thread asks, by a map of the matrix, which the launch makes of its parameters.
#[kernel(block = (16, 4))]
pub fn down(a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let (x, r) = (thread_idx().x, thread_idx().y);
    let column = block_idx().x * 16;
    let mut sum = 0.0;
    #[pipeline(stages = 4, by = tma)]
    for k in 0..a.rows().div_ceil(8) {
        load_tile(&mut tile, a, k * 8, column);
        sync_threads();
        sum += tile[r][x] + tile[r + 4][x];
        sync_threads();
    }
    y.atomic_add(column + x, sum);
}
