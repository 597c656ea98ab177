// test ir built
// set N=4
//! Annotations on loops and on the kernel, as they reach the IR.

#[kernel(block = 64, ilp = N, vectorize(2, assume_aligned), batch_loads(assume_disjoint))]
pub fn annotations<const N: usize>(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i >= y.len() {
        return;
    }
    let mut sum = 0.0;
    #[ilp(N, best_effort)]
    #[batch_loads]
    for k in 0..16 {
        sum += x[i * 16 + k];
    }
    #[unroll(1)]
    for k in 0..16 {
        sum = a * sum + x[k];
    }
    #[unroll(N - 1)]
    for k in 0..16 {
        sum = a * sum - x[k];
    }
    y[i] = sum;
}
