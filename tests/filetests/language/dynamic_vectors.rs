// test opencl
//! Dynamic shared memory that is accessed by vectors is passed as vectors: NVIDIA aligns the argument as what it points to.
#[kernel(block = 64)]
pub fn dynamic_vectors(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, pad = 4)]
    let mut tile: [[f32; 16]];
    let t = thread_idx().x;
    tile[t / 4].store::<4>(t % 4 * 4, x.load::<4>(t * 4));
    sync_threads();
    y.store::<4>(t * 4, tile[3 - t / 4].load::<4>(t % 4 * 4));
}
