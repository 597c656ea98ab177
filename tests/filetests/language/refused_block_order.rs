// test errors
use warpwright::prelude::*;

#[kernel(block = 64)]
#[raster(rows = 8)]
pub fn refused(n: usize, y: &mut Global<f32>) {
    #[raster(rows = 8)]
    for i in 0..n {
        y[i] = 1.0;
    }
    #[persistent]
    #[overlap]
    let x = 1.0;
    y[global_id().x] = x;
}
