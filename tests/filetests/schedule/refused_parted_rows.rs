// test errors
//! Maxima of rows that some threads do not come to.
#[kernel(block = 128)]
pub fn parted(n: usize, y: &mut Global<f32>) {
    let sums = Accumulator::<f32, 64, 32>::zero();
    if thread_idx().x < n {
        let most = sums.row_max();
        y[thread_idx().x] = most[0];
    }
}
