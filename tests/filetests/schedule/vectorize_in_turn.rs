// test rust
// What iterations hand on goes from element to element in order, between the vector loads and the vector stores.
use warpwright::prelude::*;

#[kernel(block = 64)]
pub fn in_turn(x: &Global<f32>, z: &Global<f32>, y: &mut Global<f32>, most: &mut Global<i32>, out: &mut Global<f32>) {
    let base = 64 * global_id().x;
    // Two sums in one variable.
    let mut s = 0.0;
    #[vectorize(2)]
    for k in 0..64 {
        s += x[base + k];
        s += z[base + k] * 2.0;
    }
    // A running sum.
    #[vectorize(4)]
    for k in 0..64 {
        s += x[base + k];
        y[base + k] = s;
    }
    // Under a condition of its own.
    let mut count = 0;
    #[vectorize(2)]
    for k in 0..64 {
        let v = x[base + k];
        if v > 0.0 {
            s += v;
            count += 1;
        }
    }
    // The element before: the load comes first all the same.
    let mut before = 0.0;
    #[vectorize(2)]
    for k in 0..64 {
        y[base + k] = before;
        before = x[base + k] - before * 0.5;
    }
    // In place.
    #[vectorize(4)]
    for k in 0..64 {
        count = count.max(most[base + k]);
        most[base + k] = count;
    }
    out[global_id().x] = s;
}
