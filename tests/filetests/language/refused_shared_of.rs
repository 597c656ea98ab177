// test errors
use warpwright::prelude::*;

#[kernel(block = 64, cluster = 2, targets = [sm_90])]
pub fn not_reached(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(swizzle)]
    let mut swizzled: [[f32; 32]; 32];
    #[shared]
    let mut plain: [f32; 64];
    let own = [0.0f32; 64];
    let t = thread_idx().x;
    swizzled[t % 32][t / 32] = 1.0;
    plain[t] = x[t];
    cluster_sync();
    y[t] = shared_of(&swizzled, 1)[t % 32][t / 32] + shared_of(&own, 1)[t] + shared_of(&plain)[t] + shared_of(x, 1)[t];
    shared_of(&plain, 1)[t] = 2.0;
}
