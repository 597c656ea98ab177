// test ir built
// test ir scheduled
// test warnings
// set N=4
//! Several elements per thread: loops over the body, annotated as the arguments say; and what `best_effort` lets pass.

#[kernel(block = 64, ilp = N, vectorize = 2, best_effort)]
pub fn elements<const N: usize>(a: f32, y: &mut Global<f32>) {
    let i = global_id().x;
    sync_threads();
    if i >= y.len() {
        return;
    }
    y[i] *= a;
}
