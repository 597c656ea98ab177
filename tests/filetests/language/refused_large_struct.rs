// test errors
//! A struct that holds a long array is no value of a thread: moved, each of its scalars would be a load and a store. Its parts are read where they are.

use warpwright::prelude::*;

#[device]
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sample {
    pub value: f32,
    pub flags: [u8; 4294967296],
}

#[kernel(block = 64)]
pub fn copied(x: &Global<Sample>, y: &mut Global<Sample>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}
