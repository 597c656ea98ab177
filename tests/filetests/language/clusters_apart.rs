// test ptx sm_80
// test ptx sm_90
// test opencl
//! Blocks of a cluster that leave each other alone: targets without clusters run them as any others.
use warpwright::prelude::*;

#[kernel(block = 64, cluster = (2, 1))]
pub fn scaled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i] * cluster_rank() as f32;
}
