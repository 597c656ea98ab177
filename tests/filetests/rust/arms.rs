//! An `if` that gives a value: what an arm loads stays in the arm, also where a `let` uses it, since elsewhere the index may be out of range.
// test rust
use warpwright::prelude::*;

#[kernel]
pub fn arms(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= x.len() {
        return;
    }
    let edge = i == 0 || i == x.len() - 1;
    y[i] = if edge {
        x[i]
    } else {
        let sides = x[i - 1] + x[i + 1];
        0.5 * x[i] + 0.25 * sides
    };
}
