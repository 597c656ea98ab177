// test rust
// test ptx sm_90
//! A tile is moved in vectors of 16 bytes where its rows begin at multiples of these and end at one or beyond the tile, and element by element elsewhere.
#[kernel(block = 128)]
pub fn copied(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 16];
    let (row, column) = (block_idx().y * 16, block_idx().x * 32);
    load_tile(&mut tile, a, row, column);
    sync_threads();
    store_tile(c, row, column, &tile);
}
