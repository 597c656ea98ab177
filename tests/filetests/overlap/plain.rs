// test ptx sm_90
// test ptx sm_80
// test opencl
// test rust
//! A sum: the index is computed while the kernel before still runs, and the next may begin once the loads stand. `ld` says no `nc`: the kernel before may write what is read.
//! Older targets and OpenCL have nothing of it.
use warpwright::prelude::*;

#[kernel(block = 64, overlap)]
pub fn added(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] += 2.0 * x[i];
}
