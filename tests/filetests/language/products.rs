// test ir built
// test rust
// test ptx sm_80
// test ptx sm_90a
// test opencl
//! A product of two tiles: one by one, by the tensor cores of a warp, by those of a warpgroup.
#[kernel(block = 128)]
pub fn products(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 32)]
    let mut x: [[bf16; 16]; 64];
    #[shared(swizzle = 32)]
    let mut y: [[bf16; 16]; 16];
    #[shared]
    let mut z: [[f32; 8]; 64];
    load_tile(&mut x, a, 0, 0);
    load_tile(&mut y, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 16>::zero();
    multiply_add(&x, transposed(&y), &mut sums);
    sums.store_columns(8, &mut z);
    sync_threads();
    store_tile(c, 0, 8, &z);
}
