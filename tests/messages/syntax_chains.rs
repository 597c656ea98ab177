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

// ---- A sum of integers
#[kernel(block = 256)]
fn squares(n: u32, y: &mut Global<u32>) {
    let sum: u32 = (0..n).map(|v| v * v).sum();
    y[global_id().x] = sum;
}

// ---- A closure whose types are not written
#[kernel(block = 256)]
fn next(x: &Global<u32>, y: &mut Global<u32>) {
    let successor = |v| v + 1;
    let i = global_id().x;
    y[i] = successor(x[i]);
}

// ---- A closure that assigns to a variable
#[kernel(block = 256)]
fn count(x: &Global<u32>, y: &mut Global<u32>) {
    let mut found = 0;
    let mut find = |v: u32| found += v;
    let i = global_id().x;
    find(x[i]);
    y[i] = found;
}
