// test errors
use warpwright::prelude::*;

#[kernel(block = 64, cluster = (4, 4))]
pub fn too_many(y: &mut Global<f32>) {
    y[global_id().x] = 1.0;
}
