// test errors
use warpwright::prelude::*;

#[kernel(block = 64, cluster = 2, targets = [sm_90])]
pub fn not_reached(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut swizzled: [[f32; 32]; 32];
    let t = thread_idx().x;
    swizzled[t % 32][t / 32] = x[t];
    cluster_sync();
    y[t] = shared_of(&swizzled, 1)[t % 32][t / 32];
}
