// test lints
use warpwright::prelude::*;

#[kernel(block = 128)]
pub fn histogram(x: &Global<u32>, counts: &mut Global<u32>) {
    #[shared]
    let mut bins: [u32; 16];
    let t = thread_idx().x;
    bins.atomic_add((x[global_id().x] % 16) as usize, 1);
    sync_threads();
    if t < 16 {
        counts.atomic_add(t, bins[t]);
    }
}

#[kernel(block = 128)]
pub fn mirrored(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    y[i] = tile[127 - t];
    tile[t] = x[i];
}

// The round before has.
#[kernel(block = 128)]
pub fn ahead(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 128];
    let (t, i) = (thread_idx().x, global_id().x);
    for k in 0..n {
        if k > 0 {
            y[i] += tile[127 - t];
        }
        sync_threads();
        tile[t] = x[k * 128 + t];
        sync_threads();
    }
}
