// test ir engine
//! `store_tile` in the work of a loop whose copies are the engine's: of the slot, which may be filled again once it is read, and of an array that the work writes,
//! which threads fence before the barrier. Both are written behind the next iteration's first barrier only: one wait an iteration is enough.
#[kernel(block = 64)]
pub fn through(a: &Matrix<f32>, b: &mut Matrix<f32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 4];
    #[shared]
    let mut twice: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..a.rows() / 4 {
        load_tile(&mut tile, a, k * 4, 0);
        sync_threads();
        store_tile(b, k * 4, 0, &tile);
        twice[t / 16][t % 16] = 2.0 * tile[t / 16][t % 16];
        sync_threads();
        store_tile(c, k * 4, 0, &twice);
        sync_threads();
    }
}
