//! Names of CUDA C++ and OpenCL C, each answered with what to write, arguments and all.

use warpwright::prelude::*;

#[kernel(block = 256)]
fn places(y: &mut Global<f32>) {
    let i = blockDim.x * blockIdx.x + threadIdx.x;
    let stride = blockDim.x * gridDim.y;
    let lane = threadIdx.x % warpSize;
    y[i] = (stride + lane) as f32;
}

#[kernel(block = 32)]
fn warps(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut v = __ldg(&x[i + 1]);
    v += __shfl_xor_sync(0xffffffffu32, v, 1, 32);
    printf("%d: %5.2f\n", i, v);
    let votes = __ballot_sync(0xffffffff, v > 0.0);
    __syncwarp(0xffffffff);
    y[i] = v * votes as f32;
}

#[kernel(block = 256)]
fn atomics(counts: &mut Global<u32>, sums: &mut Global<f32>) {
    let i = global_id().x;
    atomicAdd(counts, 1);
    atomicInc(&counts[i % 4], 100);
    atomic_max(counts, i, 2);
    let old = atomicCAS(&sums[0], 0.0, 1.0);
    sums[0].atomic_add(old);
    sums.fetch_add(1, old);
}

#[kernel(block = 256)]
fn functions(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = fmaf(x[i], 2.0, y[i]) + rsqrtf(x[i] + 1.0) + fmaxf(0.0, x[i]) + sqrt(x[i]) + __expf(x[i]);
    let pair = make_float2(x[i], 1.0);
    let least = -FLT_MAX;
}

#[device]
fn in_a_device_function(a: f32) -> f32 {
    cosf(a) + abs(a)
}

#[kernel(block = 256)]
fn types(n: int, x: &Global<float4>, y: &mut Global<float>) {
    let i = global_id().x as uint;
}

#[kernel(block = 256)]
fn attribute(x: &Global<f32>, y: &mut Global<f32>) {
    #[__shared__]
    let mut tile: [f32; 256];
    tile[thread_idx().x] = x[0];
}

fn main() {}
