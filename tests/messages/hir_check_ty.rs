// ---- A type alias of a function pointer
type Map = fn(f32) -> f32;
#[kernel(block = 256)]
fn mapped(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let f: Map;
    y[i] = x[i];
}
// ---- A type that the kernel does not know
#[kernel(block = 256)]
fn energy(bodies: &Global<Body>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = bodies[i].mass;
}
// ---- A misspelt type
#[kernel(block = 256)]
fn low(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = u32::from(x[i] as u15);
}
// ---- A vector type of CUDA
#[kernel(block = 256)]
fn sums(x: &Global<float4>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].x;
}
// ---- A type alias that stands for itself
type Real = Real;
#[kernel(block = 256)]
fn copy(x: &Global<Real>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
// ---- A generic struct with an argument too many
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Pair<T> { a: T, b: T }
#[kernel(block = 256)]
fn sums(x: &Global<Pair<f32, f32>>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].a + x[i].b;
}
// ---- A requirement whose bound is no number
#[kernel(block = 256, require(local_bytes == true))]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i];
}
