// test rust
//! Columns and values of a sparse row are loaded an iteration ahead; what needs a column stays where it is.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn prefetch_indirect(starts: &Global<u32>, columns: &Global<u32>, values: &Global<f32>, x: &Global<f32>, y: &mut Global<f32>) {
    let row = global_id().x;
    if row < y.len() {
        let mut sum = 0.0;
        #[prefetch]
        for k in starts[row]..starts[row + 1] {
            sum += values[k as usize] * x[columns[k as usize] as usize];
        }
        y[row] = sum;
    }
}
