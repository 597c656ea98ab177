// test errors
//! Sums that become a factor are shared out by rows: the block is fixed, of whole warpgroups, with 64 rows for each.
#[kernel(block = 128)]
pub fn refused_rows_of_operands(n: usize) {
    #[shared]
    let mut y: [[bf16; 64]; 32];
    let mut low = Accumulator::<f32, 32, 32>::zero();
    let mut of_low = Accumulator::<f32, 32, 64>::zero();
    multiply_add(low.operand::<bf16>(), &y, &mut of_low);
}
