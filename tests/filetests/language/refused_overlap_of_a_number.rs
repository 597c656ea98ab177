// test errors
use warpwright::prelude::*;

#[kernel(block = 64, overlap = 1)]
pub fn refused(y: &mut Global<f32>) {
    #[overlap]
    let x = 1.0;
    y[global_id().x] = x;
}
