// test ptx sm_90
//! A producer waits before its first copy. The others only store: they wait before that, when the work of the round is done. Both wait once more behind their rounds.
use warpwright::prelude::*;

#[kernel(block = 64, overlap, persistent)]
pub fn summed(x: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    let (t, row) = (thread_idx().x, block_idx().x * 8);
    let mut sum = 0.0;
    #[pipeline(stages = 3, by = tma, producer)]
    for k in 0..x.columns().div_ceil(16) {
        load_tile(&mut tile, x, row, k * 16);
        sync_threads();
        sum += tile[t % 8][t / 8];
        sync_threads();
    }
    y[global_id().x] = sum;
}
