// test ir built
// test rust
// test ptx sm_80
// test ptx sm_90a
// test opencl
//! Sums as the left factor of another product: exchanged between the lanes of a row, one by one, or as they are, by tensor cores.
#[kernel(block = 128)]
pub fn operands(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 32)]
    let mut x: [[bf16; 16]; 64];
    #[shared(swizzle = 32)]
    let mut y: [[bf16; 16]; 16];
    #[shared]
    let mut z: [[f32; 16]; 64];
    load_tile(&mut x, a, 0, 0);
    load_tile(&mut y, b, 0, 0);
    sync_threads();
    let mut first = Accumulator::<f32, 64, 16>::zero();
    multiply_add(&x, transposed(&y), &mut first);
    let mut second = Accumulator::<f32, 64, 16>::zero();
    multiply_add(first.operand::<bf16>(), transposed(&y), &mut second);
    second.store(&mut z);
    sync_threads();
    store_tile(c, 0, 0, &z);
}
