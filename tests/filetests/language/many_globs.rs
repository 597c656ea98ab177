// test ir legal
//! Globs of crates that are not the program's are looked through once, however many there are: each could bring in the others' names.

use a::*;
use b::*;
use c::*;
use d::*;
use e::*;
use f::*;
use g::*;
use h::*;
use prelude::*;
use prelude::*;
use warpwright::prelude::*;

#[kernel(block = 256)]
fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}
