// test errors
//! Products of what does not fit: sides, elements, sums, and sums that cannot be shared out.
#[kernel(block = 128)]
pub fn refused_products(a: &Matrix<bf16>, w: &Matrix<u32>, n: usize) {
    #[shared]
    let mut x: [[bf16; 64]; 32];
    #[shared]
    let mut y: [[bf16; 64]; 32];
    #[shared]
    let mut z: [[f32; 32]; 64];
    #[shared]
    let mut words: [[u32; 32]; 32];
    #[shared]
    let mut run: [bf16; 64];
    #[shared]
    let mut small: [[f32; 16]; 16];
    let local = [[bf16::ONE; 32]; 64];
    let mut sums = Accumulator::<f32, 32, 32>::zero();
    let mut whole = Accumulator::<i32, 32, 32>::zero();
    let mut odd = Accumulator::<f32, 32, 33>::zero();
    let mut large = Accumulator::<f32, 512, 512>::zero();
    let mut halves = Accumulator::<bf16, 32, 32>::zero();
    let fixed = Accumulator::<f32, 32, 32>::zero();
    multiply_add(&x, &y, &mut sums);
    multiply_add(&x, &z, &mut sums);
    multiply_add(&words, &words, &mut sums);
    multiply_add(&run, transposed(&y), &mut sums);
    multiply_add(&x, transposed(&y), &mut whole);
    multiply_add(&x, transposed(&y), &mut small);
    multiply_add(&x, transposed(&y), &mut odd);
    multiply_add(&x, transposed(&y), &mut fixed);
    multiply_add(&x, transposed(&y));
    multiply_add();
    multiply_add(&mut sums);
    let t = transposed(&y);
    sums.store(&mut small);
    sums.position();
    sums.rows();
    let e = sums.len() + large.len() + halves.len();
}
