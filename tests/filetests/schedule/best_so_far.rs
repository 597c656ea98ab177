// test rust
//! The best so far becomes four; copies are compared, and of equals the iteration that the plain loop keeps wins.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn best_so_far(n: usize, x: &Global<f32>, at: &mut Global<u32>, y: &mut Global<f32>) {
    let mut best = x[0];
    let mut first = 0usize;
    #[ilp(4)]
    for i in 0..n {
        if x[i] < best {
            best = x[i];
            first = i;
        }
    }
    let mut greatest = 0.0;
    #[ilp(2)]
    for i in 0..n {
        let v = x[i];
        if v > greatest {
            greatest = v;
        }
    }
    let mut last = (1.0f32, 7u32);
    #[ilp(2)]
    for i in 0..n {
        if i % 3 == 0 && last.0 >= x[i] {
            last = (x[i], i as u32 * 2);
        }
    }
    y[0] = best + greatest + last.0;
    at[0] = first as u32;
    at[1] = last.1;
}
