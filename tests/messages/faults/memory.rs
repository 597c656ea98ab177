// ---- An index beyond the end of a buffer
// launch: grid = 5
#[kernel(block = 64)]
fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i] * 2.0;
}

// ---- An index beyond a buffer in a device function, which says where it was called
// launch: grid = 1
#[kernel(block = 64)]
fn marked(y: &mut Global<u32>) {
    mark(y, thread_idx().x);
    mark(y, thread_idx().x + 256);
}

#[device]
fn mark(y: &mut Global<u32>, i: usize) {
    y[i] = 1;
}

// ---- An index less than zero
// launch: grid = 1
#[kernel(block = 64)]
fn shifted(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i - 1];
}

// ---- An index beyond a buffer behind a condition on another one
// launch: grid = 4
#[kernel(block = 64)]
fn spread(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let to = i * 2;
    if i < y.len() {
        y[to] = x[i];
    }
}

// ---- A vector that ends beyond a buffer
// launch: grid = 1
#[kernel(block = 64)]
fn summed(x: &Global<f32>, y: &mut Global<f32>) {
    let t = thread_idx().x;
    let v = x.load::<4>(t * 4 + 8);
    y[t] = v[0] + v[1] + v[2] + v[3];
}

// ---- An index beyond a row of an array in shared memory
// launch: grid = 1
#[kernel(block = 64)]
fn turned(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 8];
    let t = thread_idx().x;
    tile[t % 8][t / 8 * 8] = 1.0;
    sync_threads();
    y[t] = tile[t / 8][t % 8];
}

// ---- Shared memory that nobody has written
// launch: grid = 1
#[kernel(block = 64)]
fn turned(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 64];
    let t = thread_idx().x;
    if t < 32 {
        tile[t] = 1.0;
    }
    sync_threads();
    y[t] = tile[63 - t];
}
