// test ptx sm_90
// test ptx sm_80
//! Copies of the engine: its barriers are made before the wait, and the first copy is asked for behind it. On sm_80 the same loop has `cp.async`, and nothing to wait for.
use warpwright::prelude::*;

#[kernel(block = 64, overlap)]
pub fn summed(runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 3)]
    for chunk in 0..runs {
        load_run(&mut run, x, chunk * 256);
        sync_threads();
        sum += run[255 - t];
        sync_threads();
    }
    y[t] = sum;
}
