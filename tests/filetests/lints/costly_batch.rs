// test lints
use warpwright::prelude::*;

// "Thread- and instruction-level parallelism in CUDA Fortran": batches of doubles, twice as long as there.
#[kernel(block = 256, ilp = 16, batch_loads)]
pub fn copy(out: &mut Global<f64>, inp: &Global<f64>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// In some variants only, and at the argument that does it.
#[kernel(block = 256, ilp = N, batch_loads = B, variants(N in [4, 12, 16], B in [false, true]))]
pub fn triad<const N: usize, const B: bool>(out: &mut Global<f32>, a: &Global<f32>, b: &Global<f32>, c: &Global<f32>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = a[i] * b[i] + c[i];
    }
}

// A batch of as many as there is room for.
#[kernel(block = 256, ilp = 8, batch_loads)]
pub fn fits(out: &mut Global<f64>, inp: &Global<f64>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i];
    }
}

// What each element loads may be what another one stores for all that the assembler knows: without the batch the loads wait.
#[kernel(block = 256, ilp = 16, batch_loads)]
pub fn swap(x: &mut Global<f64>, y: &mut Global<f64>) {
    let i = global_id().x;
    if i < x.len() {
        let (a, b) = (x[i], y[i]);
        x[i] = b;
        y[i] = a;
    }
}
