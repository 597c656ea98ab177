// ---- A generic that the kernel does not have
// -D C=64
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- A type for a generic that is none
// -D T=3 +
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- A value for a generic that is none
// -D B=3 +
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- A number where `true` or `false` is taken
// -D FAST=1
#[kernel(block = 64)]
fn scale<const FAST: bool>(y: &mut Global<f32>) {
    y[global_id().x] *= if FAST { 2.0 } else { 3.0 };
}
// ---- A name where a number is taken
// -D B=many
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- A value for a constant from outside that is none
// constant 3 +
#[kernel(block = 64)]
fn scale(y: &mut Global<f32>) {
    y[global_id().x] *= 2.0;
}
// ---- A kernel that the file does not have
// kernel scaled
#[kernel(block = 64)]
fn scale(y: &mut Global<f32>) {
    y[global_id().x] *= 2.0;
}
// ---- An instance with too few generics
// instance 64
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- An instance with an array for a const generic
// instance [1, 2]; f32
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- An instance with a number that does not fit
// instance 300
#[kernel(block = 64)]
fn scale<const N: u8>(y: &mut Global<f32>) {
    y[global_id().x] *= N as f32;
}
// ---- An instance with a value for a type
// instance 64; 32
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- An instance with a type for a value
// instance f32; f32
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
// ---- An instance with what is no type
// instance 64; [f32
#[kernel(block = 64)]
fn scale<const B: usize, T: Float>(y: &mut Global<T>) {
    y[global_id().x] += T::ONE;
}
