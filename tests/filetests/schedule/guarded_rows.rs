// test rust
//! What a guard says of indices: under `i < n`, `n` is not 0, so `n + i` is no `i`; a row is not the next one where there are columns.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn guarded_rows(n: usize, w: usize, h: usize, tokens: &mut Global<i32>, m: &mut Global<f32>) {
    let i = global_id().x;
    #[batch_loads]
    for _ in 0..1 {
        if i < n {
            tokens[i] -= 1;
            tokens[n + i] += 1;
        }
    }
    if i < w {
        #[ilp(2)]
        for r in 0..h {
            m[r * w + i] *= 2.0;
        }
    }
}
