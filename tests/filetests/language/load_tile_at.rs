// test rust
//! An element of an array parameter is one for all threads, also where the array is indexed by each thread's own number.
use warpwright::prelude::*;

#[kernel(block = 128)]
pub fn placed(at: [u32; 2], a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    let t = thread_idx().x;
    load_tile(&mut tile, a, at[0] as usize, at[1] as usize);
    sync_threads();
    y[global_id().x] = tile[t / 32][t % 32] + at[t % 2] as f32;
}
