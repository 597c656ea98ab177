// test rust
//! Elements at known distances that never meet in a group: between each other's, beyond the group, side by side, under conditions, and atomics, which may.

#[kernel(block = 64)]
pub fn rows(n: usize, w: usize, y: &mut Global<f32>, z: &mut Global<i32>) {
    let i = global_id().x;
    #[ilp(4)]
    for k in 0..n {
        y[4 * k + 1] = y[4 * k];
        y[4 * k + 3] = y[4 * k + 18];
    }
    #[ilp(2)]
    for k in 0..n {
        y.store::<4>(8 * k, [1.0; 4]);
        y[8 * k + 4] = y[8 * k + 5];
    }
    #[ilp(2)]
    for k in 0..n {
        if w < 4 {
            z[2 * k + i] = 1;
        } else {
            z[2 * k + 1 + i] = 2;
        }
    }
    #[ilp(4)]
    for k in 0..n {
        z.atomic_add(k, 1);
        z.atomic_add(k + 1, 1);
    }
}
