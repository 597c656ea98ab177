// test errors
//! Products that not all threads come to, or with other tiles; and `tensor = true` where tensor cores do not multiply.
#[kernel(block = 64, tensor = true)]
pub fn refused_products(n: usize, a: &Matrix<f32>, h: &Matrix<bf16>, d: &Matrix<f64>, b: &Matrix<i8>, c: &mut Matrix<f32>) {
    #[shared]
    let mut x: [[f32; 32]; 32];
    #[shared]
    let mut y: [[f64; 32]; 32];
    #[shared]
    let mut short: [[bf16; 24]; 32];
    #[shared]
    let mut bytes: [[i8; 32]; 32];
    #[shared]
    let mut padded: [[bf16; 32]; 32];
    #[shared(pad = 1)]
    let mut odd: [[bf16; 32]; 32];
    #[shared]
    let mut few: [[bf16; 32]; 8];
    #[shared]
    let mut several: [[[bf16; 32]; 32]; 2];
    let t = thread_idx().x;
    let mut sums = Accumulator::<f32, 32, 32>::zero();
    let mut doubles = Accumulator::<f64, 32, 32>::zero();
    let mut whole = Accumulator::<i32, 32, 32>::zero();
    let mut low = Accumulator::<f32, 8, 32>::zero();
    // Rounded.
    multiply_add(&x, &x, &mut sums);
    // No whole steps.
    multiply_add(&short, transposed(&short), &mut sums);
    // Rows across the sum.
    multiply_add(&bytes, &bytes, &mut whole);
    // Rows that begin anywhere.
    multiply_add(&odd, &odd, &mut sums);
    // Too few rows for a warp.
    multiply_add(&few, &padded, &mut low);
    // Threads part.
    if t < n {
        multiply_add(&padded, &padded, &mut sums);
    }
    multiply_add(&several[t % 2], &padded, &mut sums);
    // These are kept.
    multiply_add(&padded, &padded, &mut sums);
    multiply_add(&bytes, transposed(&bytes), &mut whole);
    multiply_add(&y, &y, &mut doubles);
}
