// test ir built
// test rust
// test ptx sm_90
//! An element of a matrix of a batch: zero outside of it and of all of one that is not there.
#[device]
fn add_to(c: &mut Matrix<f32>, at: (usize, usize), value: f32) {
    c[at] += value;
}

#[kernel(block = 32)]
pub fn matrix_batch(a: &MatrixBatch<f32>, c: &mut MatrixBatch<f32>) {
    let (i, column) = (block_idx().x, thread_idx().x);
    add_to(&mut c[i], (0, column), a[i + 1][(0, column)]);
}
