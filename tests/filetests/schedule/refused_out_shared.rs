// test errors
//! An array that one pipelined loop copies into, and another out of: what fills its slots would be two things.
#[kernel(block = 64)]
pub fn refused_out_shared(n: usize, a: &Matrix<f32>, c: &mut Matrix<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut both: [[f32; 16]; 4];
    let t = thread_idx().x;
    #[pipeline(stages = 2)]
    for k in 0..n {
        load_tile(&mut both, a, k * 4, 0);
        sync_threads();
        y.atomic_add(t, both[t / 16][t % 16]);
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        both[t / 16][t % 16] = (k + t) as f32;
        sync_threads();
        store_tile(c, k * 4, 0, &both);
        sync_threads();
    }
}
