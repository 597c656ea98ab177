// ---- The level of a lint behind `=`
#[kernel(block = 256, allow = bank_conflict)]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A level without the name of a lint
#[kernel(block = 256, allow())]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A lint in quotes
#[kernel(block = 256, allow("bank_conflict"))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- One lint both allowed and denied
#[kernel(block = 256, allow(bank_conflict), deny(bank_conflict))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- One lint allowed twice
#[kernel(block = 256, allow(bank_conflict, bank_conflict))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- A misspelt lint
#[kernel(block = 256, allow(bank_conflicts))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}

// ---- All lints by one word
#[kernel(block = 256, allow(all))]
fn clear(y: &mut Global<f32>) {
    y[global_id().x] = 0.0;
}
