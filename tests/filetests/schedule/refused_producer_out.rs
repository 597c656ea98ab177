// test errors
//! `producer` of a loop that brings nothing: it computes a tile, and only stores it behind the barrier.
#[kernel(block = 64)]
pub fn refused_producer_out(c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma, producer)]
    for k in 0..c.rows() / 8 {
        tile[t / 16][t % 16] = k as f32;
        tile[t / 16 + 4][t % 16] = t as f32;
        sync_threads();
        store_tile(c, k * 8, 0, &tile);
        sync_threads();
    }
}
