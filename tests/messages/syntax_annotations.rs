// ---- `#[cfg]` inside a kernel
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        #[cfg(debug_assertions)]
        assert!(x[i] >= 0.0);
        y[i] = 2.0 * x[i];
    }
}

// ---- `#[shared]` on a loop
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[shared]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- A loop's annotation on an `if`
#[kernel(block = 256)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    #[unroll(4)]
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- The padding of a shared array as an attribute of its own
#[kernel(block = (16, 16))]
fn turn(x: &Global<f32>, y: &mut Global<f32>) {
    #[pad(1)]
    #[shared]
    let mut tile: [[f32; 16]; 16];
    let at = thread_idx();
    tile[at.y][at.x] = x[block_idx().x * 256 + at.y * 16 + at.x];
    sync_threads();
    y[block_idx().x * 256 + at.y * 16 + at.x] = tile[at.x][at.y];
}

// ---- A kernel's argument as an attribute of its own
#[kernel(block = 256)]
#[persistent]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- `#[__shared__]`
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[__shared__]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[255 - t];
}

// ---- A misspelt annotation
#[kernel(block = 256)]
fn sum(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let mut sum = 0.0;
    #[unrol(4)]
    for k in 0..16 {
        sum += x[k * y.len() + i];
    }
    y[i] = sum;
}

// ---- A kernel's annotation as an attribute of its own
#[kernel(block = 256)]
#[ilp(4)]
fn double(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

// ---- The arguments of `#[shared]` behind `=`
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared = "dynamic"]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[255 - t];
}

// ---- A misspelt argument of `#[shared]`
#[kernel(block = 256)]
fn reverse(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dinamic)]
    let mut tile: [f32; 256];
    let t = thread_idx().x;
    tile[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = tile[255 - t];
}
