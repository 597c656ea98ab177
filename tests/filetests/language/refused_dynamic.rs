// test errors
//! Dynamic arrays without rows to keep apart, with rows that cannot be, and of a fixed length.
#[kernel(block = 64)]
pub fn refused_dynamic(y: &mut Global<f32>) {
    #[shared(dynamic, pad = 1)]
    let mut flat: [f32];
    #[shared(dynamic, swizzle)]
    let mut odd: [[f32; 24]];
    #[shared(dynamic, pad = 1, swizzle)]
    let mut both: [[f32; 32]];
    #[shared(dynamic, swizzle)]
    let mut pairs: [[(f32, f32); 8]];
    #[shared(dynamic, pad = 100)]
    let mut wide: [[[f32; 32]; 8]];
    #[shared(dynamic)]
    let mut fixed: [[f32; 32]; 8];
    #[shared(pad = 1)]
    let mut open: [[f32; 32]];
    #[shared(dynamic)]
    let mut inside: [[[f32]; 8]];
    y[0] = flat[0];
}
