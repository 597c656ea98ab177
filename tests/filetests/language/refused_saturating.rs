// test errors
//! Methods that std has and kernels do not: the help is the edit that gives the same.
#[kernel(block = 32)]
pub fn refused_saturating(x: &Global<i32>, y: &mut Global<i32>, z: &mut Global<f32>) {
    let i = global_id().x;
    y[i] = x[i].saturating_neg() + x[i].saturating_abs() + x[i].saturating_pow(2);
    z[i] = z[i].saturating_abs() + z[i].wrapping_mul(2.0 + z[0]);
}
