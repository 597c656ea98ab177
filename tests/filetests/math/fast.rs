// test ir after math

// `math = fast` is the hardware's approximation in `f32`; `f64` has none, and is the library's.
#[kernel(block = 64, math = fast)]
fn both(x: &Global<f32>, y: &mut Global<f32>, z: &mut Global<f64>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i].exp();
        z[i] = (x[i] as f64).exp();
    }
}
