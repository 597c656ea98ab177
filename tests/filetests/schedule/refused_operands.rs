// test errors
//! Sums as a factor that cannot be shared out by rows, or of which tensor cores make none.
#[kernel(block = 128, tensor = true)]
pub fn refused_operands(a: &Matrix<i8>, b: &Matrix<bf16>) {
    #[shared(swizzle = 32)]
    let mut bytes: [[i8; 32]; 64];
    #[shared(swizzle = 32)]
    let mut square: [[i8; 32]; 32];
    #[shared(swizzle = 32)]
    let mut y: [[bf16; 32]; 8];
    load_tile(&mut bytes, a, 0, 0);
    load_tile(&mut square, a, 0, 0);
    load_tile(&mut y, b, 0, 0);
    sync_threads();
    let mut whole = Accumulator::<i32, 64, 32>::zero();
    multiply_add(&bytes, transposed(&square), &mut whole);
    let mut more = Accumulator::<i32, 64, 32>::zero();
    // Fragments lie otherwise.
    multiply_add(whole.operand::<i8>(), transposed(&square), &mut more);
    let mut narrow = Accumulator::<f32, 64, 8>::zero();
    let mut wide = Accumulator::<f32, 64, 32>::zero();
    // Too few columns.
    multiply_add(narrow.operand::<bf16>(), &y, &mut wide);
}
