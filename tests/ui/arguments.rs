//! Arguments of `#[kernel(…)]` that are unknown, misspelt, given twice, or of impossible value.

use warpwright::prelude::*;

#[kernel(blok = 256)]
fn misspelt() {}

#[kernel(threads = 256)]
fn unknown() {}

#[kernel(block = 64, index = 64, block = 128)]
fn twice() {}

#[kernel(index = 16, math = quick, bounds = on, contract = 1, min_blocks = 0, max_registers = 512)]
fn values() {}

#[kernel(targets = [sm_80, sm_8x, sm_80])]
fn targets() {}

#[kernel(block)]
fn no_value() {}

#[kernel(block = 64 index = 64)]
fn no_comma() {}

#[device(inline)]
fn no_arguments() {}

fn main() {}
