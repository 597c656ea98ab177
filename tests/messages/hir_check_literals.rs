// ---- A literal beyond its type
#[kernel(block = 256)]
fn mask(y: &mut Global<u8>) {
    y[global_id().x] = 300 as u8;
}

// ---- The bits of a number with a sign
#[kernel(block = 256)]
fn mask(y: &mut Global<i32>) {
    y[global_id().x] = 0xFFFF_FFFF;
}

// ---- A float beyond its type
#[kernel(block = 256)]
fn far(y: &mut Global<f32>) {
    y[global_id().x] = 1e40;
}

// ---- A literal of a short float
#[kernel(block = 256)]
fn halves(x: &Global<f16>, y: &mut Global<f16>) {
    let i = global_id().x;
    y[i] = x[i] * 0.5;
}
