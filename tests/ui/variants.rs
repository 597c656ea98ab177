//! Declared variants that do not fit the kernel's generics.

use warpwright::Float;
use warpwright::prelude::*;

#[kernel(block = 64, variants(BLOK in [1, 2]))]
fn misspelt<const BLOCK: usize>() {}

#[kernel(block = 64, variants(A in [1], F in [1]))]
fn kinds<const A: bool, const F: bool>() {}

#[kernel(block = 64, variants(A in [1, 2]))]
fn incomplete<const A: u32, T: Float>(_x: &Global<T>) {}

#[kernel(block = 64, variants(A in [], B = [1]))]
fn malformed<const A: u32, const B: u32>() {}

#[kernel(block = 64, variants)]
fn bare<const A: u32>() {}

#[kernel(block = 64, variants(A in [1], A in [2]))]
fn twice<const A: u32>() {}

fn main() {}
