// ---- A constant of a generic struct that does not say for which argument
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Row<const N: usize> { cells: [f32; N] }
#[device]
impl<const N: usize> Row<N> {
    const PITCH: usize = N + 1;
}
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x * Row::PITCH] = 1.0;
}
// ---- A function as a value
#[device]
fn twice(x: f32) -> f32 {
    2.0 * x
}
#[kernel(block = 256)]
fn mapped(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let all = [twice; 4];
    y[i] = twice(x[i]);
}
// ---- A constant of a generic struct that is computed from itself
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Row<const N: usize> { cells: [f32; N] }
#[device]
impl<const N: usize> Row<N> {
    const PITCH: usize = Self::PITCH + N;
}
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    y[global_id().x * Row::<8>::PITCH] = 1.0;
}
// ---- A constant that a type does not have
#[kernel(block = 256)]
fn worst(y: &mut Global<f32>) {
    y[global_id().x] = f32::MAXIMUM;
}
// ---- A constant of C
#[kernel(block = 256)]
fn worst(y: &mut Global<f32>) {
    y[global_id().x] = FLT_MAX;
}
// ---- A constant from another module
#[kernel(block = 256)]
fn scaled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = crate::physics::GRAVITY * x[i];
}
// ---- A variable that is not there
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < n {
        y[i] = x[i];
    }
}
// ---- A variable as the length of an array
#[kernel(block = 256)]
fn zeros(y: &mut Global<f32>) {
    let n = 3;
    let all = [0.0; n];
    y[global_id().x] = all[0];
}
// ---- A `static`
static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
#[kernel(block = 256)]
fn weighted(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = WEIGHTS[i % 3] * x[i];
}
// ---- A `static` that is written to
static mut COUNT: u32 = 0;
#[kernel(block = 256)]
fn count() {
    COUNT += 1;
}
