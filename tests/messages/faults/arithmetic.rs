// ---- A division of integers by zero
// launch: grid = 1, n = 0
#[kernel(block = 64)]
fn shared_out(n: u32, y: &mut Global<u32>) {
    y[global_id().x] = 1000 / n;
}

// ---- A result that does not fit, where `SimOptions::overflow` asks for such
// launch: grid = 1, n = 200, overflow
#[kernel(block = 64)]
fn scaled(n: u32, y: &mut Global<u32>) {
    y[global_id().x] = n * 40_000_000;
}

// ---- A step of zero
// launch: grid = 1, n = 0
#[kernel(block = 64)]
fn counted(n: usize, y: &mut Global<u32>) {
    for i in (0..64).step_by(n) {
        y[i] = 1;
    }
}

// ---- A condition that `assert!` asks for and that does not hold
// launch: grid = 1, n = 40
#[kernel(block = 64)]
fn marked(n: usize, y: &mut Global<u32>) {
    let i = global_id().x;
    assert!(i < n, "thread {} of {}", i, n);
    y[i] = 1;
}

// ---- A `panic!`
// launch: grid = 1, n = 3
#[kernel(block = 64)]
fn chosen(n: u32, y: &mut Global<u32>) {
    y[global_id().x] = match n {
        0 => 1,
        1 => 10,
        _ => panic!("there is no such mode"),
    };
}
