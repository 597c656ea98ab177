// test errors
//! What a matrix is not: indexed by one number or by other integers, changed behind a `&`, taken for a buffer.
#[device]
fn first(a: &Matrix<f32>) -> f32 {
    a[(0, 0)]
}

#[kernel(block = 64)]
pub fn refused_matrix(a: &Matrix<f32>, quads: &mut Matrix<[u32; 4]>, x: &Global<f32>, c: &mut Matrix<f32>) {
    let t = thread_idx().x;
    c[t] = 1.0;
    c[0][t] = 1.0;
    c[(0, t as u32)] = 1.0;
    c[(0, t, 0)] = 1.0;
    c[(0, t)] = 1u32;
    a[(0, t)] = 1.0;
    a.rows() = 3;
    c[(0, a.rows)] = 1.0;
    c[(0, a.len())] = a.height();
    c[(0, a.rows(1))] = first(x);
}
