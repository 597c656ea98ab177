// test rust
// test opencl
//! A swizzle over bytes: slabs of 64 bytes, in each of which bits 1 and 2 of the row permute the chunks. Collectives and vectors move whole chunks.
#[kernel(block = 32)]
fn swizzle_over_bytes(a: &Matrix<f32>, y: &mut Global<f32>) {
    #[shared(swizzle = 64)]
    let mut tile: [[f32; 32]; 8];
    #[shared(swizzle = 32)]
    let mut narrow: [[f64; 4]; 8];
    let t = thread_idx().x;
    load_tile(&mut tile, a, 0, 0);
    narrow[t / 4][t % 4] = t as f64;
    sync_threads();
    let four = tile[t / 4].load::<4>(t % 4 * 4);
    y[t] = four[0] + four[3] + tile[5][t] + narrow[t % 8][t / 8] as f32;
}
