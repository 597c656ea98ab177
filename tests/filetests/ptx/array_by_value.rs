// test ptx sm_90
// test opencl
//! An array that is passed by value stays among the parameters, whatever indexes it: `ptxas` reads it from the constant bank. One that the kernel changes is a copy in local memory.
use warpwright::prelude::*;

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Filter {
    scale: f32,
    taps: [f32; 5],
}

#[kernel(block = 32)]
fn filtered(filter: Filter, mut counts: [u32; 3], x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let k = x[i] as usize % 5;
    counts[k % 3] += 1;
    y[i] = filter.scale * filter.taps[k] + filter.taps[0] + counts[i % 3] as f32;
}
