// test lints
use warpwright::prelude::*;

const WINDOW: [f32; 128] = [0.5; 128];

#[kernel(block = 128)]
pub fn window(weights: &Constant<[f32; 128]>, y: &mut Global<f32>) {
    y[global_id().x] *= weights[thread_idx().x];
}

#[kernel(block = 128)]
pub fn own_table(y: &mut Global<f32>) {
    y[global_id().x] *= WINDOW[thread_idx().x];
}

// All threads alike.
#[kernel(block = 128)]
pub fn filter(weights: &Constant<[f32; 128]>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(8)]
    for k in 0..128 {
        sum += weights[k] * x[i + k];
    }
    y[i] = sum;
}

// All threads of a warp alike.
#[kernel(block = (32, 4))]
pub fn rows(weights: &Constant<[f32; 128]>, y: &mut Global<f32>) {
    y[global_id().y * 32 + thread_idx().x] *= weights[thread_idx().y];
}
