// ---- An element that may not be there
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x.get(i).unwrap();
    }
}

// ---- `if let` about an element that may not be there
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if let Some(v) = x.get(i) {
        y[i] = 2.0 * v;
    }
}

// ---- A sum over an iterator
#[kernel(block = 256)]
fn sums(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = (0..16).map(|k| x[k * y.len() + i]).sum();
    }
}

// ---- A range that is asked whether it contains an index
#[kernel(block = 256)]
fn double(n: u32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if (1..n as usize).contains(&i) {
        y[i] = 2.0 * x[i];
    }
}
