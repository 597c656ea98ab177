// test ptx sm_90a
//! Sums of warpgroups that an `if` changes: on the side that changes nothing they stay where they are.
#[kernel(block = 128, tensor = true)]
pub fn masked(limit: usize, a: &Matrix<bf16>, y: &mut Matrix<f32>) {
    #[shared(swizzle = 32)]
    let mut x: [[bf16; 16]; 64];
    #[shared(swizzle = 32)]
    let mut z: [[bf16; 16]; 16];
    load_tile(&mut x, a, 0, 0);
    load_tile(&mut z, a, 64, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 16>::zero();
    multiply_add(&x, transposed(&z), &mut sums);
    let first = sums[0];
    if limit < 16 {
        #[unroll]
        for e in 0..sums.len() {
            if sums.position(e).1 >= limit {
                sums[e] = f32::NEG_INFINITY;
            }
        }
    }
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        y[(row, column)] = sums[e] + first;
    }
}
