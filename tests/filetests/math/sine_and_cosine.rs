// test ir after math

// Both of one argument: one reduction. The sine of another one: a second; the table of bits is there once.
#[kernel(block = 64)]
fn turn(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        let angle = x[i];
        y[i] = angle.cos() * 2.0 + angle.sin() + (angle * 3.0).sin();
    }
}
