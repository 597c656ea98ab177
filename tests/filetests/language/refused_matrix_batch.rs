// test errors
//! What a batch of matrices is not: a matrix, indexed by row and column, of other lengths; changed behind a `&`, held in a variable.
#[kernel(block = 32)]
pub fn refused_matrix_batch(a: &MatrixBatch<f32>, c: &mut MatrixBatch<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 32];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    c[(0, 0)] = 1.0;
    c[0] = a[0];
    c[0][1] = a[0][(0, 1)];
    a[0][(0, 0)] = 1.0;
    let n = a.len() + a.count;
    let k = a[0].count();
    let held = a[1];
    store_tile(c, 0, 0, &tile);
    c[1.0][(0, 0)] = 1.0;
    a.count() = 3;
}
