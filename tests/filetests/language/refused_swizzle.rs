// test errors
//! A swizzle over bytes parts rows into slabs, and its pattern repeats after eight rows. Near misses pass.
#[kernel(block = 64)]
pub fn refused_swizzle(y: &mut Global<f32>) {
    #[shared(swizzle = 128)]
    let mut narrow: [[f32; 16]; 8];
    #[shared(swizzle = 128)]
    let mut ragged: [[f32; 40]; 8];
    #[shared(swizzle = 64)]
    let mut odd: [[u8; 33]; 8];
    #[shared(swizzle = 128)]
    let mut few: [[f32; 32]; 12];
    #[shared(swizzle = 16)]
    let mut less: [[f32; 32]; 8];
    #[shared(swizzle = 96)]
    let mut between: [[f32; 32]; 8];
    #[shared(swizzle = 256)]
    let mut more: [[f32; 64]; 8];
    #[shared(swizzle = 128, pad = 4)]
    let mut both: [[f32; 32]; 8];
    #[shared(swizzle = 128)]
    let mut flat: [f32; 32];
    #[shared(dynamic, swizzle = 128)]
    let mut dynamic: [[f32; 32]];
    #[shared(swizzle = 32 * 2)]
    let mut fits: [[f32; 48]; 16];
    let t = thread_idx().x;
    let eight = fits[0].load::<8>(0);
    let four = fits[0].load::<4>(4);
    y[t] = narrow[0][0] + ragged[0][0] + odd[0][0] as f32 + few[0][0] + less[0][0] + between[0][0] + more[0][0];
    y[t] += both[0][0] + flat[0] + dynamic[0][0] + eight[0] + four[0];
}
