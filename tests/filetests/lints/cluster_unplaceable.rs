// test lints sm_90
use warpwright::prelude::*;

// One block a multiprocessor, clusters of four: some groups have two left over.
#[kernel(block = 256, cluster = (2, 2), persistent, targets = [sm_90], allow(low_occupancy))]
pub fn in_fours(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 40000];
    let t = thread_idx().x;
    own[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = own[255 - t];
}

// Three do not divide anything.
#[kernel(block = 1024, cluster = 3, targets = [sm_90], allow(low_occupancy))]
pub fn in_threes(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 32768];
    let t = thread_idx().x;
    own[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = own[1023 - t];
}

// Pairs are never parted.
#[kernel(block = 256, cluster = 2, persistent, targets = [sm_90], allow(low_occupancy))]
pub fn in_twos(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 40000];
    let t = thread_idx().x;
    own[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = own[255 - t];
}

// Two blocks on each of two multiprocessors are a cluster, too.
#[kernel(block = 256, cluster = 4, targets = [sm_90], allow(low_occupancy))]
pub fn in_small_blocks(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut own: [f32; 20000];
    let t = thread_idx().x;
    own[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = own[255 - t];
}
