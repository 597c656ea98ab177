// test ir after math

// In a loop, of an argument that the loop makes; `powi` and `sqrt` are not of the library.
#[kernel(block = 64)]
fn decay(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let mut sum = 0.0f32;
        for k in 0..4u32 {
            sum += (x[i] * k as f32).exp();
        }
        y[i] = sum.sqrt();
    }
}
