// ---- One buffer to read and to write
#[device]
fn step(from: &Global<f32>, to: &mut Global<f32>) {
    to[global_id().x] = from[global_id().x];
}

#[kernel(block = 256)]
fn steps(y: &mut Global<f32>) {
    step(y, y);
}

// ---- A shared array that is only lent to be read
#[device]
fn clear(tile: &mut [f32; 256]) {
    tile[thread_idx().x] = 0.0;
}

#[kernel(block = 256)]
fn cleared(y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; 256];
    clear(&tile);
    y[global_id().x] = tile[thread_idx().x];
}
