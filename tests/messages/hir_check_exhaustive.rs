// ---- A `match` that leaves numbers out
#[kernel(block = 256)]
fn weights(x: &Global<u32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        0 => 0.25,
        1..=9 => 0.5,
    };
}

// ---- A `match` that leaves a variant out
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Mode { Keep, Negate, Clear }

#[kernel(block = 256)]
fn apply(mode: Mode, y: &mut Global<f32>) {
    let i = global_id().x;
    match mode {
        Mode::Negate => y[i] = -y[i],
        Mode::Clear => y[i] = 0.0,
    }
}

// ---- A `let` that fits some values only
#[kernel(block = 256)]
fn evens(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (0, half) = (x[i] % 2, x[i] / 2);
    y[i] = half;
}
