// test rust
// test opencl
//! A dynamic array in three dimensions: the last two indices of each access are those of the swizzle.
#[kernel(block = 64)]
fn swizzle_dynamic(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(dynamic, swizzle)]
    let mut slabs: [[[f32; 16]; 8]];
    let t = thread_idx().x;
    for slab in 0..slabs.len() {
        #[unroll]
        for part in 0..2usize {
            slabs[slab][t / 16 + part * 4][t % 16] = x[slab * 128 + part * 64 + t];
        }
    }
    sync_threads();
    y[t] = slabs[t % slabs.len()][t % 8][t / 4];
}
