// test ptx sm_90a
//! Two products of warpgroups in a loop with a producer, and what is computed between them: the warpgroups take turns at the tensor cores.
#[kernel(block = 256, min_blocks = 1, tensor = true)]
pub fn turns(tiles: usize, a: &Matrix<bf16>, y: &mut Matrix<f32>) {
    #[shared(swizzle = 32)]
    let mut x: [[bf16; 16]; 128];
    #[shared(swizzle = 128)]
    let mut tile: [[bf16; 64]; 16];
    #[shared(swizzle = 32)]
    let mut square: [[bf16; 16]; 16];
    load_tile(&mut x, a, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 128, 64>::zero();
    #[pipeline(stages = 2, by = tma, producer)]
    for t in 0..tiles {
        load_tile(&mut tile, a, t * 16, 0);
        load_tile(&mut square, a, t * 16, 64);
        sync_threads();
        let mut scores = Accumulator::<f32, 128, 16>::zero();
        multiply_add(&x, transposed(&square), &mut scores);
        #[unroll]
        for e in 0..scores.len() {
            scores[e] = scores[e] * scores[e];
        }
        multiply_add(scores.operand::<bf16>(), &tile, &mut sums);
        sync_threads();
    }
    #[unroll]
    for e in 0..sums.len() {
        let (row, column) = sums.position(e);
        y[(row, column)] = sums[e];
    }
}
