//! Structs of parameters and arrays are marked for the device.
// test rust
use warpwright::prelude::*;

#[device]
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct Point {
    pub at: [f32; 3],
    pub mass: f32,
}

#[kernel(block = 32)]
pub fn structs(points: &mut Global<Point>, by: Point) {
    #[shared]
    let mut tile: [Point; 32];
    let (t, i) = (thread_idx().x, global_id().x);
    tile[t] = points[i];
    sync_threads();
    points[i].at[1] = tile[31 - t].mass * by.mass;
}
