// ---- A float multiplied by an index
#[kernel(block = 256)]
fn ramp(step: f32, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = step * i;
}
// ---- An index of 32 bits
#[kernel(block = 256)]
fn gather(at: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[at[i]];
}
// ---- An integer as a condition, as in C
#[kernel(block = 256)]
fn keep(flags: &Global<u32>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if flags[i] {
        y[i] = x[i];
    }
}
// ---- A shared array without `#[shared]`
#[kernel(block = 256)]
fn reversed(x: &Global<f32>, y: &mut Global<f32>) {
    let t = thread_idx().x;
    let mut part: [f32; 256];
    part[t] = x[global_id().x];
    sync_threads();
    y[global_id().x] = part[255 - t];
}
// ---- All axes of a thread's place where one is wanted
#[kernel(block = 256)]
fn fill(n: u32, y: &mut Global<u32>) {
    let i: usize = global_id();
    let at: u32 = thread_idx();
    if global_id() < n {
        y[i] = at;
    }
}

// ---- An index from the end
#[kernel(block = 256)]
fn last(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = x[-1];
}

// ---- An assignment for a comparison
#[kernel(block = 256)]
fn replace(x: &Global<i32>, y: &mut Global<i32>) {
    let i = global_id().x;
    if x[i] = 7 {
        y[i] = 0;
    }
}
