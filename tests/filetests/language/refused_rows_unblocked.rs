// test errors
//! Rows in a kernel whose block the launch says.
#[kernel]
pub fn unblocked(y: &mut Global<f32>) {
    let rows = Rows::<f32, 64>::splat(1.0);
    y[0] = rows[0];
}
