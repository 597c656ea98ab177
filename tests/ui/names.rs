//! Types and macros of Rust that the device has nothing for.

use warpwright::prelude::*;

#[kernel(block = 64)]
fn heap(y: &mut Global<f32>) {
    let _list: Vec<f32> = Vec::new();
    let _boxed = Box::new(1.0);
    let _text = String::from("x");
    let _listed = vec![1.0];
    let _shown = format!("{}", y[0]);
}

#[kernel(block = 64)]
fn sums(y: &mut Global<f32>) {
    let maybe: Option<f32> = Some(1.0);
    let wide = 1u32 as u128;
    let shape: &dyn Send = &1;
    let callee: fn(f32) -> f32;
    let pointer: *const f32;
    asert!(y[0] > 0.0);
    dbg!(y[0]);
}

fn main() {}
