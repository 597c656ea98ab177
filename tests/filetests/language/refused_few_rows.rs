// test errors
//! Rows that are too few for a block.
#[kernel(block = 256)]
pub fn of_few_rows(y: &mut Global<f32>) {
    let sums = Accumulator::<f32, 64, 64>::zero();
    let most = sums.row_max();
    y[0] = most[0];
}
