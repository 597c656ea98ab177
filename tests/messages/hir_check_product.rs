// ---- A transposed tile in a variable
#[kernel(block = 128)]
fn gemm(b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut right: [[bf16; 64]; 64];
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let turned = transposed(&right);
    c[(0, thread_idx().x)] = 1.0;
}
// ---- `multiply_add` without its sums
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[bf16; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    multiply_add(&tile, &tile);
    c[(0, thread_idx().x)] = 1.0;
}
// ---- A product that is added to an array
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[bf16; 64]; 64];
    #[shared]
    let mut sums: [[f32; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    multiply_add(&tile, &tile, &mut sums);
    c[(0, thread_idx().x)] = sums[0][0];
}
// ---- `operand` with two types
#[kernel(block = 128)]
fn chained(b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut right: [[bf16; 64]; 64];
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let first = Accumulator::<f32, 64, 64>::zero();
    let mut second = Accumulator::<f32, 64, 64>::zero();
    multiply_add(first.operand::<f32, bf16>(), &right, &mut second);
    c[(0, thread_idx().x)] = second[0];
}
// ---- `operand` with an argument
#[kernel(block = 128)]
fn chained(b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut right: [[bf16; 64]; 64];
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let first = Accumulator::<f32, 64, 64>::zero();
    let mut second = Accumulator::<f32, 64, 64>::zero();
    multiply_add(first.operand::<bf16>(0), &right, &mut second);
    c[(0, thread_idx().x)] = second[0];
}
// ---- A matrix as a factor of a product
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(a, b, &mut sums);
    c[(0, thread_idx().x)] = sums[0];
}
// ---- Tiles whose sides do not fit
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut left: [[bf16; 32]; 64];
    #[shared]
    let mut right: [[bf16; 32]; 64];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&left, &right, &mut sums);
    c[(0, thread_idx().x)] = sums[0];
}
// ---- Sums of another shape than the product
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[bf16; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 32>::zero();
    multiply_add(&tile, &tile, &mut sums);
    c[(0, thread_idx().x)] = sums[0];
}
// ---- A product of integers that there is none of
#[kernel(block = 128)]
fn gemm(a: &Matrix<u32>, c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[u32; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&tile, &tile, &mut sums);
    c[(0, thread_idx().x)] = sums[0];
}
// ---- Factors of different types
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, b: &Matrix<f16>, c: &mut Matrix<f32>) {
    #[shared]
    let mut left: [[bf16; 64]; 64];
    #[shared]
    let mut right: [[f16; 64]; 64];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 64>::zero();
    multiply_add(&left, &right, &mut sums);
    c[(0, thread_idx().x)] = sums[0];
}
// ---- Sums of a type that the product does not have
#[kernel(block = 128)]
fn gemm(a: &Matrix<bf16>, c: &mut Matrix<i32>) {
    #[shared]
    let mut tile: [[bf16; 64]; 64];
    load_tile(&mut tile, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<i32, 64, 64>::zero();
    multiply_add(&tile, &tile, &mut sums);
    c[(0, thread_idx().x)] = sums[0];
}
// ---- Sums as a factor of a product of another precision
#[kernel(block = 128)]
fn chained(b: &Matrix<f64>, c: &mut Matrix<f64>) {
    #[shared]
    let mut right: [[f64; 32]; 32];
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let first = Accumulator::<f32, 64, 32>::zero();
    let mut second = Accumulator::<f64, 64, 32>::zero();
    multiply_add(first.operand::<f64>(), &right, &mut second);
    c[(0, thread_idx().x)] = second[0];
}
// ---- `len` of the values of rows with an argument
#[kernel(block = 128)]
fn rows(y: &mut Global<f32>) {
    let most = Rows::<f32, 64>::splat(0.0);
    y[global_id().x] = most.len(0) as f32;
}
// ---- Sums as a factor in a variable
#[kernel(block = 128)]
fn chained(c: &mut Matrix<f32>) {
    let sums = Accumulator::<f32, 64, 64>::zero();
    let left = sums.operand::<bf16>();
    c[(0, thread_idx().x)] = sums[0];
}
// ---- `position` that does not say of which sum
#[kernel(block = 128)]
fn stored(c: &mut Matrix<f32>) {
    let sums = Accumulator::<f32, 64, 64>::zero();
    let (row, column) = sums.position();
    c[(row, column)] = sums[0];
}
// ---- Sums stored to a tile of another shape
#[kernel(block = 128)]
fn stored(c: &mut Matrix<f32>) {
    #[shared]
    let mut tile: [[f32; 32]; 64];
    let sums = Accumulator::<f32, 64, 64>::zero();
    sums.store(&mut tile);
    sync_threads();
    store_tile(c, 0, 0, &tile);
}
// ---- Columns of sums stored to a tile of fewer rows
#[kernel(block = 128)]
fn stored(c: &mut Matrix<f32>) {
    #[shared]
    let mut strip: [[f32; 16]; 32];
    let sums = Accumulator::<f32, 64, 64>::zero();
    sums.store_columns(0, &mut strip);
    sync_threads();
    store_tile(c, 0, 0, &strip);
}
// ---- Values of rows that do not say how many rows
#[kernel(block = 128)]
fn rows(y: &mut Global<f32>) {
    let most = Rows::splat(0.0);
    y[global_id().x] = most[0];
}
// ---- Sums that do not say of what
#[kernel(block = 128)]
fn sums(y: &mut Global<f32>) {
    let sums = Accumulator::zero();
    y[global_id().x] = sums[0];
}
// ---- Sums in half precision
#[kernel(block = 128)]
fn sums(y: &mut Global<f16>) {
    let sums = Accumulator::<f16, 64, 64>::zero();
    y[global_id().x] = sums[0];
}
