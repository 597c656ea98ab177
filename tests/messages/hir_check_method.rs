// ---- A method that a buffer does not have
#[kernel(block = 256)]
fn copy(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < x.length() {
        y[i] = x[i];
    }
}
// ---- An atomic of an element instead of its buffer
#[kernel(block = 256)]
fn count(x: &Global<u32>, counts: &mut Global<u32>) {
    let i = global_id().x;
    counts[x[i] as usize].atomic_add(1);
}
// ---- A vector load that does not say where
#[kernel(block = 256)]
fn first(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let [a, b] = x.load::<2>();
    y[i] = a + b;
}
// ---- A vector load of an array that a thread holds in registers
#[kernel(block = 256)]
fn pairs(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let both = [x[i], -x[i]];
    let [a, b] = both.load::<2>(0);
    y[i] = a * b;
}
// ---- A vector load that does not say how many elements
#[kernel(block = 256)]
fn quads(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let v = x.load(4 * i);
    y[i] = v[0];
}
// ---- A vector load of a buffer of arrays
#[kernel(block = 256)]
fn points(x: &Global<[f32; 2]>, y: &mut Global<f32>) {
    let i = global_id().x;
    let [a, b] = x.load::<2>(2 * i);
    y[i] = a[0] + b[0];
}
// ---- A vector load of three elements
#[kernel(block = 256)]
fn points(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    let [a, b, c] = x.load::<3>(3 * i);
    y[i] = a + b + c;
}
// ---- A vector store of three elements, as what comes later shows
#[device]
fn filled<const N: usize>(v: f32) -> [f32; N] {
    [v; N]
}
#[kernel(block = 256)]
fn fill(y: &mut Global<f32>) {
    let i = global_id().x;
    let v = filled(1.0);
    y.store(3 * i, v);
    let [a, b, c]: [f32; 3] = v;
    y[3 * i] = a + b + c;
}

// ---- `into`
#[kernel(block = 256)]
fn widen(x: &Global<f32>, y: &mut Global<f64>) {
    y[global_id().x] = x[global_id().x].into();
}

// ---- Generics of a method that has none
#[kernel(block = 256)]
fn roots(x: &Global<f32>, y: &mut Global<f32>) {
    y[global_id().x] = x[global_id().x].sqrt::<f32>();
}

// ---- Sums that may be too large, of numbers without a sign and with one
#[kernel(block = 256)]
fn sums(x: &Global<u8>, y: &mut Global<i32>) {
    let i = global_id().x;
    let narrow = x[i].checked_add(3);
    let (sum, over) = y[i].overflowing_add(3);
}

// ---- A difference that may be too small, of numbers with a sign
#[kernel(block = 256)]
fn differences(x: &Global<i32>, y: &mut Global<i32>) {
    let i = global_id().x;
    let difference = y[i].checked_sub(x[i]);
}

// ---- A quotient that may not be there, of numbers with a sign
#[kernel(block = 256)]
fn quotients(x: &Global<i32>, y: &mut Global<i32>) {
    let i = global_id().x;
    let quotient = y[i].checked_div(x[i]);
}

// ---- A remainder that is never negative
#[kernel(block = 256)]
fn around(y: &mut Global<i32>) {
    let i = global_id().x;
    y[i] = y[i].wrapping_rem_euclid(3);
}

// ---- A sum with a carry
#[kernel(block = 256)]
fn sums(carry: bool, x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let (sum, carry) = y[i].carrying_add(x[i], carry);
}

// ---- A function of floats, of an integer
#[kernel(block = 256)]
fn waves(x: &Global<i32>, y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].sin();
}
