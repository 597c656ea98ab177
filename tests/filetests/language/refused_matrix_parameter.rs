// test errors
//! Matrices of what has no size.
#[kernel(block = 64)]
pub fn refused_matrix_parameter(a: &Matrix<Global<f32>>, b: &mut Matrix<[f32]>) {
    b[(0, 0)][0] = a[(0, 0)][0];
}
