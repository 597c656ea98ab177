// ---- A requirement behind `=`
#[kernel(block = 256, require = 64)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A requirement without a clause
#[kernel(block = 256, require())]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- One quantity bounded twice
#[kernel(block = 256, require(registers <= 64, registers <= 32))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A bound below 0
#[kernel(block = 256, require(registers <= -1))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A quantity without a bound
#[kernel(block = 256, require(registers))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A quantity that is to be something other than a number
#[kernel(block = 256, require(bank_conflicts != 1))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- The bound before the quantity
#[kernel(block = 256, require(64 >= registers))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A misspelt quantity
#[kernel(block = 256, require(register <= 64))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A bound on the wrong side
#[kernel(block = 256, require(occupancy < 0.5))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}
