// ---- Comparing structs that derive no `PartialEq`
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Point { x: f32, y: f32 }

#[kernel(block = 256)]
fn same(a: &Global<Point>, b: &Global<Point>, y: &mut Global<bool>) {
    let i = global_id().x;
    y[i] = a[i] == b[i];
}

// ---- Comparing whole buffers
#[kernel(block = 256)]
fn same(a: &Global<f32>, b: &Global<f32>, y: &mut Global<bool>) {
    y[global_id().x] = a == b;
}

// ---- Which of two tuples is less
#[kernel(block = 256)]
fn least(a: &Global<(u32, u32)>, b: &Global<(u32, u32)>, y: &mut Global<(u32, u32)>) {
    let i = global_id().x;
    y[i] = if a[i] < b[i] { a[i] } else { b[i] };
}

// ---- Which of two enums is less
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Level { Low, High }

#[kernel(block = 256)]
fn above(least: Level, x: &Global<Level>, y: &mut Global<bool>) {
    let i = global_id().x;
    y[i] = x[i] >= least;
}

// ---- Which of two structs is less
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Key { major: u32, minor: u32 }

#[kernel(block = 256)]
fn least(a: &Global<Key>, b: &Global<Key>, y: &mut Global<Key>) {
    let i = global_id().x;
    y[i] = if a[i] < b[i] { a[i] } else { b[i] };
}
