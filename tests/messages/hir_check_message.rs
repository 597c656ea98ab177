// ---- No comma between the format string and its value
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!("{}" x[i]);
    y[i] = x[i];
}
// ---- `assert!` of nothing
#[kernel(block = 256)]
fn checked(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    assert!();
    y[i] = x[i];
}
// ---- A constant that a macro makes
const SEED: u32 = line!();
#[kernel(block = 256)]
fn fill(y: &mut Global<u32>) {
    y[global_id().x] = SEED;
}
// ---- `matches!` without a pattern
#[kernel(block = 256)]
fn small(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = matches!(x[i]) as u32;
}
// ---- `assert_eq!` of one value
#[kernel(block = 256)]
fn checked(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    assert_eq!(x[i]);
    y[i] = x[i];
}
// ---- A value printed without a format string
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!(x[i]);
    y[i] = x[i];
}
// ---- A width in a format string
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!("{:8.3}", x[i]);
    y[i] = x[i];
}
// ---- A brace of a format string that is not closed
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!("x = {", x[i]);
    y[i] = x[i];
}
// ---- More holes in a format string than values
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!("{}: {}", x[i]);
    y[i] = x[i];
}
// ---- An expression within a format string
#[kernel(block = 256)]
fn show(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    println!("{x[i]}");
    y[i] = x[i];
}

// ---- A value that is shown nowhere
#[kernel(block = 256)]
fn show(x: &Global<f32>) {
    println!("{}", x[0], x[1]);
}
