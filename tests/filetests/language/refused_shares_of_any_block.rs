// test errors
//! A sum that threads share needs to know how many they are.
#[kernel]
pub fn refused_shares_of_any_block(c: &mut Matrix<f32>) {
    let sums = Accumulator::<f32, 32, 32>::zero();
    let (row, column) = sums.position(0);
    c[(row, column)] = sums[0];
}
