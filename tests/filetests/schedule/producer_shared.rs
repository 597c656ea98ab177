// test ir engine
// test ptx sm_90a
//! `producer` in clusters: the tile that does not depend on the block's place along the cluster's axis is copied by all of its blocks together.
#[kernel(block = 64, cluster = (2, 1))]
pub fn producer_shared(rows: &Matrix<f32>, columns: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut of_all: [[f32; 8]; 8];
    #[shared]
    let mut own: [[f32; 8]; 8];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma, producer)]
    for k in 0..rows.columns().div_ceil(8) {
        load_tile(&mut of_all, rows, block_idx().y * 8, k * 8);
        load_tile(&mut own, columns, k * 8, block_idx().x * 8);
        sync_threads();
        sum += of_all[t / 8][t % 8] * own[t / 8][t % 8];
        sync_threads();
    }
    y[(block_idx().y * grid_dim().x + block_idx().x) * 64 + t] = sum;
}
