// ---- A hint for the caches that does not say which
#[kernel(block = 256)]
fn double(#[cache] x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A misspelt hint for the caches
#[kernel(block = 256)]
fn double(#[cache(streamin)] x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- A hint for the caches of a device function's parameter
#[device]
fn at(#[cache(streaming)] x: &Global<f32>, i: usize) -> f32 {
    x[i]
}

#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * at(x, i);
    }
}

// ---- A hint for the caches of a number
#[kernel(block = 256)]
fn scale(#[cache(streaming)] a: f32, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * y[i];
    }
}

// ---- Two hints for the caches of one buffer
#[kernel(block = 256)]
fn double(#[cache(streaming)] #[cache(no_allocate)] x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}
