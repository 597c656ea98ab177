// test errors
//! Padding of what is not shared, and words of shared memory on a loop.

#[kernel(block = 64)]
pub fn refused_padding(n: usize, y: &mut Global<f32>) {
    #[pad(1)]
    let mut own: [[f32; 32]; 8] = [[0.0; 32]; 8];
    #[swizzle]
    let mut other: [[f32; 32]; 8] = [[0.0; 32]; 8];
    #[shared(pat = 1)]
    let mut wrong: [[f32; 32]; 8];
    #[shared(pad)]
    let mut nothing: [[f32; 32]; 8];
    #[shared]
    let mut given: [f32; 32] = [0.0; 32];
    #[pad(1)]
    for k in 0..n {
        y[k] = own[0][k];
    }
}
