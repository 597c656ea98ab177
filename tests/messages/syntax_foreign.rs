// ---- Shared memory as CUDA C++ has it
#[kernel(block = 64)]
fn reversed(y: &mut Global<f32>) {
    __shared__ float tile[64];
    tile[thread_idx().x] = y[global_id().x];
}
// ---- Constant memory as CUDA C++ has it
#[kernel(block = 64)]
fn scale(y: &mut Global<f32>) {
    __constant__ float weights[4];
    y[global_id().x] *= weights[0];
}
// ---- A type of CUDA C++ that `rustc` does not find
// there is no type half
#[kernel(block = 64)]
fn scale(a: half, y: &mut Global<f32>) {
    y[global_id().x] *= a;
}
// ---- A function that `rustc` does not find
// there is no function sqrt
#[kernel(block = 64)]
fn roots(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = sqrt(y[i]);
}
