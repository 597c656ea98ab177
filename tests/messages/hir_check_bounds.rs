// ---- A type parameter that is given a buffer
#[kernel(block = 256, variants(T in [f32, Global::<f32>]))]
fn copy<T: Element>(x: &Global<T>, y: &mut Global<T>) {
    let i = global_id().x;
    y[i] = x[i];
}

// ---- A condition cast to a float
#[kernel(block = 256)]
fn positive(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = (x[i] > 0.0) as f32;
}

// ---- A number cast to a condition
#[kernel(block = 256)]
fn keep(flags: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if flags[i] as bool {
        y[i] = x[i];
    }
}

// ---- A number cast to an enum
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Mode { Add, Multiply }

#[kernel(block = 256)]
fn modes(x: &Global<u32>, y: &mut Global<Mode>) {
    let i = global_id().x;
    y[i] = x[i] as Mode;
}

// ---- An enum cast to a float
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Gain { Half, Full }

#[kernel(block = 256)]
fn gains(x: &Global<Gain>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i] as f32;
}

// ---- An integer cast to a float of 8 bits
#[kernel(block = 256)]
fn quantize(x: &Global<i32>, y: &mut Global<e4m3>) {
    let i = global_id().x;
    y[i] = x[i] as e4m3;
}

// ---- A division by zero
#[kernel(block = 256)]
fn scale(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i] / 0;
}

// ---- A shift by as many bits as the number has
#[kernel(block = 256)]
fn high_half(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i] >> 32;
}

// ---- An array that no thread has memory for
#[kernel(block = 256)]
fn sort(x: &Global<f32>, y: &mut Global<f32>) {
    let mut all = [0.0f32; 1 << 20];
    let i = global_id().x;
    all[i] = x[i];
    y[i] = all[i / 2];
}

// ---- A division by a constant that is 0
const GROUPS: usize = 0;
#[kernel(block = 256)]
fn grouped(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i / GROUPS] = x[i];
}

// ---- A conversion `from` a type whose numbers are not all kept
#[kernel(block = 256)]
fn narrow(x: &Global<i32>, y: &mut Global<i16>) {
    let i = global_id().x;
    y[i] = i16::from(x[i] * 3);
}
