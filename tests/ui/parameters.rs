//! Parameters that a kernel cannot take.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn memory(a: &[f32], b: &mut [f64], c: &mut Vec<f32>, d: Vec<u32>, e: *const f32, f: &[f32; 16]) {}

#[kernel(block = 64)]
fn handles(a: Global<f32>, b: &mut Constant<[f32; 4]>, c: &Global, d: &Texture2d<f32>) {}

#[kernel(block = 64)]
fn values(a: &f32, b: &mut u32, c: &str, d: String, e: char, f: Option<u32>, g: u128) {}

#[kernel(block = 64)]
fn shapes(a: impl Fn(f32) -> f32, b: fn(f32) -> f32, c: &dyn Send) {}

fn main() {}
