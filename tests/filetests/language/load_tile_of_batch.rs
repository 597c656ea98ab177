// test rust
// test ptx sm_90
//! Tiles of matrices of a batch.
#[kernel(block = 32)]
pub fn load_tile_of_batch(a: &MatrixBatch<f32>, c: &mut MatrixBatch<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let i = block_idx().x;
    load_tile(&mut tile, &a[i], 3, 4);
    sync_threads();
    store_tile(&mut c[i + 1], 5, 8, &tile);
}
