//! Parameters that a kernel cannot take.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn memory(_a: &[f32], _b: &mut [f64], _c: &mut Vec<f32>, _d: Vec<u32>, _e: *const f32, _f: &[f32; 16]) {}

#[kernel(block = 64)]
fn handles(_a: Global<f32>, _b: &mut Constant<[f32; 4]>, _c: &Global, _d: &mut Texture2d<f32>, _e: Texture2d<u8>) {}

#[kernel(block = 64)]
fn values(_a: &f32, _b: &mut u32, _c: &str, _d: String, _e: char, _f: Option<u32>, _g: u128) {}

#[kernel(block = 64)]
fn shapes(_a: impl Fn(f32) -> f32, _b: fn(f32) -> f32, _c: &dyn Send) {}

fn main() {}
