// test rust
//! An array of the thread that becomes values, declared before the swizzled one: that is the one whose columns are permuted.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn swizzle_behind_an_array(x: &Global<f32>, y: &mut Global<f32>) {
    let t = thread_idx().x;
    let mut own = [0.0; 4];
    #[shared]
    let mut plain: [[f32; 3]; 32];
    #[shared(swizzle)]
    let mut tile: [[f32; 32]; 32];
    #[unroll]
    for i in 0..4 {
        own[i] = x[t * 4 + i];
    }
    #[unroll]
    for i in 0..3 {
        plain[t][i] = own[i];
    }
    tile[t][t] = own[3];
    sync_threads();
    y[t] = tile[31 - t][31 - t] + plain[31 - t][2];
}
