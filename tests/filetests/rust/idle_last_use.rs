//! Buffers that are read for nothing: the read is gone, and `last_use` with it, which says nothing of what is never read.
// test rust
use warpwright::prelude::*;

#[kernel]
pub fn idle_last_use(#[cache(last_use)] z: &Global<f32>, #[cache(last_use)] x: &Global<f32>, #[cache(last_use)] y: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.len() {
        let unused = match i % 3 == 0 {
            true => 0.0,
            false => z[i] / 2.0 + y[i],
        };
        y[i] = if true { x[i] } else { unused };
    }
}
