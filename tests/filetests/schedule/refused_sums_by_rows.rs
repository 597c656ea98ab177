// test errors
//! A kernel with `Rows` shares all its sums out by rows: others are refused.
#[kernel(block = 128)]
pub fn beside_others(a: &Matrix<bf16>, y: &mut Global<f32>) {
    #[shared]
    let mut x: [[bf16; 16]; 64];
    #[shared]
    let mut w: [[bf16; 16]; 8];
    load_tile(&mut x, a, 0, 0);
    load_tile(&mut w, a, 0, 0);
    sync_threads();
    let mut narrow = Accumulator::<f32, 64, 8>::zero();
    multiply_add(&x, transposed(&w), &mut narrow);
    let sums = Accumulator::<f32, 64, 64>::zero();
    let most = sums.row_max();
    y[thread_idx().x] = most[0] + narrow[0];
}
