// test errors
//! Dynamic shared memory has one array; neighbours of a swizzled row are not side by side, and rows with one element more are not aligned.
#[kernel(block = 64)]
pub fn refused_two_dynamic(y: &mut Global<f32>) {
    #[shared(dynamic, swizzle)]
    let mut lines: [[f32; 32]];
    #[shared(dynamic, pad = 1)]
    let mut rows: [[f32; 32]];
    let v = lines[0].load::<4>(0);
    let w = rows[1].load::<4>(0);
    y[0] = v[0] + w[0];
}
