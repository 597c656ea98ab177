// test rust
//! The load of a final `+=` is issued before a long loop that needs no load, but not before a check, nor before a store to what it may read.
use warpwright::prelude::*;

#[kernel(block = 32, batch_loads)]
fn batch_loads_of_an_end(
    m: usize,
    atoms: &Constant<[[f32; 2]; 256]>,
    x: &Global<u32>,
    energy: &mut Global<f32>,
    held: &mut Global<f32>,
    checked: &mut Global<f32>,
) {
    let i = global_id().x;
    held[2 * i] = 1.0;
    let mut sum = 0.0;
    for k in 0..m {
        sum += atoms[k][0] / (atoms[k][1] - i as f32);
    }
    energy[i + 7] += sum;
    held[2 * i + 1] *= sum;
    assert!(m < 256, "{m} atoms");
    checked[i] += sum;
}
