// test ptx sm_90
// test rust sm_90
//! The copy engine finds tiles of a batch of matrices by a map of three dimensions.
#[kernel(block = 32)]
pub fn engine_batch(a: &MatrixBatch<f32>, c: &mut MatrixBatch<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let i = block_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for step in 0..a.columns().div_ceil(16) {
        load_tile(&mut tile, &a[i], 0, step * 16);
        sync_threads();
        store_tile(&mut c[i + 1], 0, step * 16, &tile);
        sync_threads();
    }
}
