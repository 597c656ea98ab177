// test errors
//! Rows of which nothing says how many there are.
#[kernel(block = 128)]
pub fn unknown(y: &mut Global<f32>) {
    let rows = Rows::splat(1.0);
    y[0] = rows[0];
}
