// ---- `rows` of a matrix with an argument
#[kernel(block = 256)]
fn fill(a: &mut Matrix<f32>) {
    let i = global_id().x;
    if i < a.rows(0) {
        a[(0, i)] = 1.0;
    }
}
// ---- A matrix indexed by one number
#[kernel(block = 256)]
fn fill(a: &mut Matrix<f32>) {
    let i = global_id().x;
    a[i] = 1.0;
}
