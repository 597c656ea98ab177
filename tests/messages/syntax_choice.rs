// ---- A condition for `math` without `else`
#[kernel(block = 256, math = if FAST { fast }, variants(FAST in [false, true]))]
fn roots<const FAST: bool>(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = y[i].sqrt();
}

// ---- A const generic for `math`, which is a word
#[kernel(block = 256, math = FAST, variants(FAST in [false, true]))]
fn roots<const FAST: bool>(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = y[i].sqrt();
}

// ---- `bounds` with a word that there is not
#[kernel(block = 256, bounds = checked)]
fn double(y: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = 2.0 * y[i];
}
