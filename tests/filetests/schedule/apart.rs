// test ir engine
// test ptx sm_90a
//! Two warpgroups share out the rows of sums, and each stores its own part of every strip: they meet apart, in barriers of 128 threads, and never wait for each other. No barrier stands at a round's end.
#[kernel(block = 256, persistent)]
pub fn apart(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<bf16>) {
    #[shared(swizzle = 128)]
    let mut left: [[bf16; 64]; 128];
    #[shared(swizzle = 128)]
    let mut right: [[bf16; 64]; 32];
    #[shared(swizzle = 32)]
    let mut strip: [[bf16; 16]; 128];
    let (row, column) = (block_idx().y * 128, block_idx().x * 32);
    let mut sums = Accumulator::<f32, 128, 32>::zero();
    #[pipeline(stages = 3, by = tma, producer)]
    for step in 0..a.columns().div_ceil(64) {
        load_tile(&mut left, a, row, step * 64);
        load_tile(&mut right, b, column, step * 64);
        sync_threads();
        multiply_add(&left, transposed(&right), &mut sums);
        sync_threads();
    }
    #[unroll]
    #[pipeline(stages = 2, by = tma)]
    for n in 0..2 {
        sums.store_columns(n * 16, &mut strip);
        sync_threads();
        store_tile(c, row, column + n * 16, &strip);
        sync_threads();
    }
}
