// test errors
//! What rows of sums are not asked for, and types that are others.
#[kernel(block = 128)]
pub fn asked_for_more(y: &mut Global<f32>) {
    let sums = Accumulator::<f32, 64, 64>::zero();
    let most: Rows<f32, 32> = sums.row_max();
    let least = sums.row_min();
    y[0] = most.sum() + sums.row_sum(1)[0];
    y[1] = Rows::<f32, 64>::splat(1)[0];
    y[2] = sums.row(0) + most.len(2);
}
