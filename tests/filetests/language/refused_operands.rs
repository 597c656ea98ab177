// test errors
//! Sums as a factor where they cannot be one.
#[kernel(block = 128)]
pub fn refused_operands(n: usize) {
    #[shared]
    let mut y: [[bf16; 64]; 32];
    #[shared]
    let mut doubles: [[f64; 64]; 32];
    let mut sums = Accumulator::<f32, 64, 32>::zero();
    let mut more = Accumulator::<f32, 64, 64>::zero();
    let mut whole = Accumulator::<f64, 64, 64>::zero();
    let mut tall = Accumulator::<f32, 32, 32>::zero();
    let mut of_tall = Accumulator::<f32, 32, 64>::zero();
    multiply_add(sums.operand::<bf16>(), transposed(&y), &mut more);
    multiply_add(&y, sums.operand::<bf16>(), &mut more);
    multiply_add(sums.operand::<f16>(), &y, &mut more);
    multiply_add(sums.operand::<bf16, f32>(), &y, &mut more);
    multiply_add(sums.operand::<bf16>(n), &y, &mut more);
    multiply_add(sums.operand::<f64>(), &doubles, &mut whole);
    multiply_add(y.operand::<bf16>(), &y, &mut more);
    let a = sums.operand::<bf16>();
}
