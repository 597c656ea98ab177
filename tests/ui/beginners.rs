//! What beginners write: each mistake is one error, which says the edit.

use warpwright::prelude::*;

#[kernel(block = 256)]
fn annotation(x: &Global<f32>, y: &mut Global<f32>) {
    let mut s = 0.0;
    #[unrol(4)]
    for k in 0..8 {
        s += x[k];
    }
    y[0] = s;
}

#[kernel(block = 256)]
fn length(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len {
        y[i] = x[i];
    }
}

#[kernel(block = 256)]
fn vector(x: &Global<f32>, y: &mut Global<f32>) {
    let mut v = Vec::new();
    v.push(x[0]);
    y[0] = v[0];
}

#[kernel(block = 256)]
fn std_function(y: &mut Global<f32>) {
    y[0] = std::cmp::max(1u32, 2u32) as f32;
}

#[kernel(block = 256)]
fn index_and_u32(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let k = 3u32;
    y[i + k] = x[i];
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let a = 2.0f64;
    y[0] = a * x[0];
}

#[kernel(block = 256)]
fn forgot_shared(x: &Global<f32>, y: &mut Global<f32>) {
    let t = thread_idx().x;
    let mut s: [f32; 256];
    s[t] = x[t];
    sync_threads();
    y[t] = s[255 - t];
}

#[kernel(block = 256)]
fn returns(x: &Global<f32>) -> f32 {
    x[0]
}

#[kernel(block = 256)]
fn closure(x: &Global<f32>, y: &mut Global<f32>) {
    let f = |a: f32| a * 2.0;
    y[0] = f(x[0]);
}

#[kernel(block = 256)]
fn walks_a_buffer(x: &Global<f32>, y: &mut Global<f32>) {
    let mut s = 0.0;
    for v in x {
        s += v;
    }
    y[0] = s;
}

#[kernel(block = 256)]
fn iterator(x: &Global<f32>, y: &mut Global<f32>) {
    y[0] = x.iter().sum();
}

#[kernel(block = 256)]
fn slice(x: &Global<f32>, y: &mut Global<f32>) {
    let s = &x[0..4];
    y[0] = s[0];
}

#[kernel(block = 256)]
fn reference(x: &Global<f32>, y: &mut Global<f32>) {
    let mut a = x[0];
    let r = &mut a;
    *r += 1.0;
    y[0] = a;
}

#[kernel(block = 256)]
fn option_of_get(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x.get(i).unwrap();
    y[i] = *v;
}

#[kernel(block = 256)]
fn format(x: &Global<f32>, y: &mut Global<f32>) {
    let s = format!("{}", x[0]);
    y[0] = 1.0;
}

#[kernel(block = 256)]
fn as_slice(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x.as_slice()[i];
}

#[kernel(block = 256)]
fn no_mut(x: &Global<f32>, y: &Global<f32>) {
    y[0] = x[0];
}

#[kernel(block = 256)]
fn slices(x: &[f32], y: &mut Global<f32>) {
    y[0] = x[0];
}

#[kernel(block = 256)]
fn signed_index(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let j = i as i32 - 1;
    y[i] = x[j];
}

#[kernel(block = 256)]
fn string(name: String, y: &mut Global<f32>) {
    y[0] = 1.0;
}

#[kernel(block = 256)]
fn option(x: &Global<f32>, y: &mut Global<f32>) {
    let v: Option<f32> = Some(x[0]);
    if let Some(z) = v {
        y[0] = z;
    }
}

#[kernel(blocks = 256)]
fn argument(y: &mut Global<f32>) {
    y[0] = 1.0;
}

#[kernel(block = 256)]
fn cuda_index(x: &Global<f32>, y: &mut Global<f32>) {
    let i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}

#[kernel(block = 256)]
fn cuda_barrier(y: &mut Global<f32>) {
    __syncthreads();
    y[0] = 1.0;
}

#[kernel(block = 256)]
fn mixed_literal(x: &Global<f32>, y: &mut Global<f32>) {
    y[0] = x[0] * 2;
}

#[kernel(block = 256)]
fn condition(x: &Global<f32>, y: &mut Global<f32>) {
    let n = 1;
    if n {
        y[0] = x[0];
    }
}

#[kernel(block = 256)]
fn by_value(x: Global<f32>, y: &mut Global<f32>) {
    y[0] = x[0];
}

#[kernel(block = 256)]
fn function_as_value(y: &mut Global<f32>) {
    let i = thread_idx.x;
    y[i] = 1.0;
}

#[kernel(block = 256)]
fn shared_without_type(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile = [0.0f32; 256];
    tile[thread_idx().x] = x[0];
    y[0] = tile[0];
}

#[kernel(block = 256)]
fn atomic(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    atomic_add(&mut y[i % 4], x[i] + 1.0);
}

#[kernel(block = (8, 8, 8, 8))]
fn dimensions(y: &mut Global<f32>) {
    y[0] = 1.0;
}

#[device]
pub enum Fields {
    A(f32),
    B,
}

#[kernel(block = 256)]
fn cast_of_a_bool(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].is_nan() as f32;
}

#[kernel(block = 32)]
fn warp_of_cuda(x: &Global<f32>, y: &mut Global<f32>) {
    let mut v: float = __ldg(&x[threadIdx.x]);
    v += __shfl_down_sync(0xffffffff, v, 16);
    if threadIdx.x == 0 {
        atomicAdd(&mut y[0], v);
    }
}

fn main() {}
