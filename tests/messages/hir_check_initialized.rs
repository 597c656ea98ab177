// ---- A variable without a value
#[kernel(block = 256)]
fn sign(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let sign: f32;
    if x[i] > 0.0 {
        sign = 1.0;
    }
    y[i] = sign;
}

// ---- A variable that gets its value twice
#[kernel(block = 256)]
fn last(x: &Global<f32>, y: &mut Global<f32>) {
    let last: f32;
    last = x[0];
    last = x[1];
    y[global_id().x] = last;
}
