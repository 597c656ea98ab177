// test ir legal
// test opencl

// A constant is computed by the library, too: the same bits as at run time. OpenCL C has its own.
#[kernel(block = 64)]
fn known(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].ln() / 10.0f32.ln();
    }
}
