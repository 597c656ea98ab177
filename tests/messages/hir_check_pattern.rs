// ---- A `const` block as a pattern
#[kernel(block = 256)]
fn sorted(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        const { 1 + 1 } => 1,
        _ => 0,
    };
}
// ---- `ref` in a pattern
#[kernel(block = 256)]
fn sums(x: &Global<[f32; 2]>, y: &mut Global<f32>) {
    let i = global_id().x;
    let [ref a, b] = x[i];
    y[i] = a + b;
}
// ---- A number matched like a pair
#[kernel(block = 256)]
fn origin(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        (0, 0) => 1,
        _ => 0,
    };
}
// ---- A pattern with fewer parts than the value
#[kernel(block = 256)]
fn origin(x: &Global<[u32; 3]>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        [0, 0] => 1,
        _ => 0,
    };
}
// ---- The rest of a tuple, named
#[kernel(block = 256)]
fn last(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (a, others @ ..) = (x[i], 1, 2);
    y[i] = a;
}
// ---- The rest of an array of any length
#[device]
fn zeros<const N: usize>() -> [u32; N] {
    [0; N]
}
#[kernel(block = 256)]
fn last(y: &mut Global<u32>) {
    let [a, others @ ..] = zeros();
    y[global_id().x] = a;
}
// ---- An enum matched as if it had fields
#[device]
#[derive(Clone, Copy)]
#[repr(u32)]
enum Phase { Solid = 0, Liquid = 1 }
#[kernel(block = 256)]
fn phases(x: &Global<Phase>, y: &mut Global<u32>) {
    let i = global_id().x;
    let Phase { .. } = x[i];
    y[i] = 1;
}
// ---- A field in a pattern that the struct does not have
#[device]
#[derive(Clone, Copy)]
#[repr(C)]
struct Body { kind: u32, mass: f32 }
#[kernel(block = 256)]
fn stars(bodies: &Global<Body>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = matches!(bodies[i], Body { sort: 3, .. }) as u32;
}

// ---- A range pattern with its ends exchanged
#[kernel(block = 256)]
fn grades(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = match x[i] {
        90..=80 => 2,
        50..80 => 1,
        _ => 0,
    };
}
