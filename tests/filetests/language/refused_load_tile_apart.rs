// test errors
//! Tiles that not all threads of the block come to, or that lie elsewhere for each.
#[kernel(block = 64)]
pub fn refused_load_tile_apart(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 8]; 8];
    #[shared]
    let mut other: [[f32; 8]; 8];
    let t = thread_idx().x;
    if t < 32 {
        load_tile(&mut tile, a, 0, 0);
    }
    load_tile(&mut other, a, 0, t * 8);
    load_tile(&mut other, a, t, 0);
    // The same in all threads of a block: no error.
    if block_idx().x > 0 {
        load_tile(&mut tile, a, block_idx().x * 8, 8);
    }
    sync_threads();
    store_tile(c, t, 0, &tile);
    for n in 0..t {
        store_tile(c, n, 0, &other);
    }
}
