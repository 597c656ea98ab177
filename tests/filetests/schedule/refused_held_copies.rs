// test errors
//! Copies of the block that an `if` or a loop holds: the copy engine makes each once in every iteration.
#[kernel(block = 64, targets = [sm_90])]
pub fn refused_held_copies(n: usize, a: &Matrix<f32>, x: &Global<f32>, c: &mut Global<f32>) {
    #[shared]
    let mut tile: [[f32; 16]; 8];
    #[shared]
    let mut run: [f32; 64];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = 2, by = tma)]
    for k in 0..n {
        if k % 2 == 0 {
            load_tile(&mut tile, a, k * 8, 0);
        } else {
            load_tile(&mut tile, a, 0, k * 16);
        }
        sync_threads();
        sum += tile[t % 8][t / 8];
        sync_threads();
    }
    #[pipeline(stages = 2, by = bulk)]
    for k in 0..n {
        for i in 0..2usize {
            load_run(&mut run, x, (k + i) * 64);
        }
        sync_threads();
        sum += run[63 - t];
        sync_threads();
    }
    c[t] = sum;
}
