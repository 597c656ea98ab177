// ---- A bracket that is never closed
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
}

// ---- A bracket too many
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (2.0 * x[i]));
}

// ---- A comment without an end
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 2.0 * x[i]; /* twice
}

// ---- Parentheses that nest too deep, as some generators write them
#[kernel(block = 256)]
fn one(y: &mut Global<f32>) {
    y[global_id().x] = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1.0))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))));
}
