// test errors
//! Blocks that rows cannot be shared out among.
#[kernel(block = 96)]
pub fn of_an_odd_block(y: &mut Global<f32>) {
    let rows = Rows::<f32, 64>::splat(1.0);
    let sums = Accumulator::<f32, 96, 64>::zero();
    let most = sums.row_max();
    y[sums.row(0)] = rows[0] + most[0];
}
