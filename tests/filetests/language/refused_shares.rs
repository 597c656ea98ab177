// test errors
//! Sums that threads cannot share.
#[kernel(block = 128)]
pub fn refused_shares(c: &mut Matrix<f32>) {
    let odd = Accumulator::<f32, 32, 33>::zero();
    let large = Accumulator::<f32, 512, 512>::zero();
    let (row, column) = odd.position(0);
    c[(row, column)] = odd[0];
    let (row, column) = large.position(0);
    c[(row, column)] = large[0];
}
