// test ir scheduled
//! Slots of a ring that have room behind their rows, so that each begins at a multiple of 16 bytes: the rows are swizzled all the same.
#[kernel(block = 32)]
fn narrow(x: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut tile: [[f32; 2]; 3];
    let t = thread_idx().x;
    #[pipeline(stages = 2)]
    for k in 0..x.rows() / 3 {
        load_tile(&mut tile, x, k * 3, 0);
        sync_threads();
        if t < 6 {
            y[t] += tile[t / 2][t % 2];
        }
        sync_threads();
    }
}
