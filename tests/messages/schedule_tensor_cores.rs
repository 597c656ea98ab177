// ---- A product that only some threads of the block come to
#[kernel(block = 128)]
fn products(a: &Matrix<bf16>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[bf16; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    if thread_idx().x < 64 {
        multiply_add(&tile, &tile, &mut sums);
    }
    y[global_id().x] = sums[0];
}
// ---- Tensor cores for a product that they round
#[kernel(block = 128, tensor = true)]
fn products(a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&tile, &tile, &mut sums);
    y[global_id().x] = sums[0];
}
// ---- Tensor cores for a product whose depth is no multiple of 16
#[kernel(block = 128, tensor = true)]
fn products(a: &Matrix<bf16>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [[bf16; 24]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&tile, transposed(&tile), &mut sums);
    y[global_id().x] = sums[0];
}
