// test errors
//! Elements at known distances that meet some iterations later: among many, at the type's end, side by side in one access, in a row of an array.

#[kernel(block = 64)]
pub fn refused_rows(n: usize, first: u32, y: &mut Global<f32>, z: &mut Global<i32>) {
    let mut table = [[0; 8]; 8];
    let t = thread_idx().x;
    #[ilp(4)]
    for k in 0..n {
        y[4 * k] = 1.0;
        y[4 * k + 1] = 2.0;
        y[4 * k + 9] = 3.0;
    }
    #[ilp(3)]
    for k in 0..n {
        y[4 * k] = 1.0;
        y[4 * k + 12] = 2.0;
        y[4 * k + 8 * t] = 3.0;
    }
    #[ilp(2)]
    for k in 0..n {
        y.store::<4>(4 * k, [1.0; 4]);
        y[4 * k + 7] = y[4 * k + 8];
    }
    #[ilp(2)]
    for k in 1..8usize {
        table[k][3] = z[k];
        table[k - 1][3] += 1;
    }
    #[ilp(4)]
    for k in 0..n {
        z.atomic_add(k, 1);
        z[k + 3] = 2;
    }
    #[ilp(2)]
    for k in 0..n as u32 {
        z[(first + k * 0x8000_0000) as usize] = 1;
        z[(first + (k + 3) * 0x8000_0000) as usize] = 2;
    }
    z[t] = table[t % 8][3];
}
