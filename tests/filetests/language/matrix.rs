// test rust
// test ptx sm_90
//! An element of a matrix: zero outside, dropped there; read and changed behind one condition.
#[device]
fn left_of(a: &Matrix<f32>, row: usize, column: usize) -> f32 {
    a[(row, column.wrapping_sub(1))]
}

#[kernel(block = (32, 4))]
pub fn shifted(a: &Matrix<f32>, c: &mut Matrix<f32>) {
    let at = global_id();
    c[(at.y, at.x)] += left_of(a, at.y, at.x);
    if at.x == 0 {
        c[(at.y, c.columns() - 1)] = (a.rows() * a.pitch()) as f32;
    }
}
