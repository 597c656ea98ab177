// test ir built
// test rust
// set T=f64
// set N=3
// set REVERSE=true
use warpwright::Float;
use warpwright::prelude::*;

#[kernel]
pub fn generic<T: Float, const N: usize, const REVERSE: bool>(out: &mut Global<T>, inp: &Global<T>) {
    let i = global_id().x;
    if i < out.len() {
        let mut sum = inp[i];
        for k in 1..N {
            sum += inp[if REVERSE { i - k } else { i + k }];
        }
        out[i] = sum;
    }
}
