// test lints
use warpwright::prelude::*;

const WINDOW: [f32; 128] = [0.5; 128];

#[kernel(block = 128)]
pub fn window(weights: &Constant<[f32; 128]>, y: &mut Global<f32>) {
    y[global_id().x] *= weights[thread_idx().x];
}

#[kernel(block = 128)]
pub fn own_table(y: &mut Global<f32>) {
    y[global_id().x] *= WINDOW[thread_idx().x];
}

// All threads alike.
#[kernel(block = 128)]
pub fn filter(weights: &Constant<[f32; 128]>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unroll(8)]
    for k in 0..128 {
        sum += weights[k] * x[i + k];
    }
    y[i] = sum;
}

// All threads of a warp alike.
#[kernel(block = (32, 4))]
pub fn rows(weights: &Constant<[f32; 128]>, y: &mut Global<f32>) {
    y[global_id().y * 32 + thread_idx().x] *= weights[thread_idx().y];
}

// Data says which element.
#[kernel(block = 128)]
pub fn by_data(edges: &Constant<[f32; 64]>, x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = edges[x[i] as usize];
    }
}

// A binary search, each lane its own.
#[kernel(block = 128)]
pub fn search(edges: &Constant<[f32; 64]>, x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (mut low, mut high) = (0usize, 64usize);
    while high > low + 1 {
        let middle = (low + high) / 2;
        if x[i] >= edges[middle] {
            low = middle;
        } else {
            high = middle;
        }
    }
    y[i] = low as u32;
}

// A search for each warp, and what lanes agree on: one address at a time.
#[kernel(block = 128)]
pub fn by_warp(edges: &Constant<[u32; 64]>, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let key = x[i / 32];
    let (mut low, mut high) = (0usize, 64usize);
    while high > low + 1 {
        let middle = (low + high) / 2;
        if key >= edges[middle] {
            low = middle;
        } else {
            high = middle;
        }
    }
    y[i] = edges[warp_max(x[i]) as usize] + edges[low];
}

// Four elements are no great spread.
#[kernel(block = 128)]
pub fn bases(weights: &Constant<[f32; 4]>, x: &Global<u8>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = weights[(x[i] % 4) as usize];
}

// The thread's number says which element, by arithmetic that is not followed.
#[kernel(block = 128)]
pub fn spread(weights: &Constant<[f32; 128]>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    for k in 0..16 {
        sum += weights[(i * 37 + k) % 128];
    }
    y[i] = sum;
}
