// test rust
//! Loads first, out of their conditions; a load that needs another is of the second batch.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn batch_loads(n: usize, at: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let first = global_id().x * 64;
    #[batch_loads]
    for j in 0..n {
        let i = first + j;
        y[i] = x[at[i] as usize];
        if j > 2 {
            y[i + 1] = x[i] - 1.0;
        }
    }
}
