//! Registers beyond a limit, and one or two over a step that would hold another block.
#![deny(deprecated)]

use warpwright::prelude::*;

#[kernel(block = 256, max_registers = 64)]
fn spills(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    let mut sums = [0.0f32; 80];
    for j in 0..n {
        #[unroll]
        for k in 0..80 {
            sums[k] = sums[k] * 0.5 + x[j * 80 + k];
        }
    }
    #[unroll]
    for k in 0..80 {
        y[global_id().x * 80 + k] = sums[k];
    }
}

#[kernel(block = 256, targets = [sm_90])]
fn cliff(next: &Global<u32>, y: &mut Global<f32>) {
    let mut state = [1.0f32; 56];
    let mut at = global_id().x as u32;
    for j in 0..1000 {
        at = next[at as usize];
        #[unroll]
        for n in 0..56 {
            state[n] = state[n] * at as f32 + n as f32;
        }
    }
    let mut sum = 0.0;
    #[unroll]
    for n in 0..56 {
        sum = sum * 2.0 + state[n];
    }
    y[global_id().x] = sum;
}

fn main() {}
