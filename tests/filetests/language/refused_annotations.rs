// test errors
//! Annotations that mean nothing where they stand, or contradict each other.

#[kernel(block = 64)]
pub fn refused_annotations(n: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared(pad = 1)]
    let mut row: [f32; 32];
    #[shared(swizzle)]
    let mut odd: [[f32; 24]; 8];
    #[shared(pad = 1, swizzle)]
    let mut both: [[f32; 32]; 8];
    #[shared(pad = 100)]
    let mut wide: [[f32; 32]; 8];
    #[shared(dynamic, pad = 1)]
    let mut dynamic: [f32];
    let t = thread_idx().x;
    #[unroll(0)]
    for k in 0..n {
        y[k] = 1.0;
    }
    #[ilp(0)]
    for k in 0..n {
        y[k] = 1.0;
    }
    #[ilp(1000)]
    for k in 0..n {
        y[k] = 1.0;
    }
    #[vectorize(3)]
    for k in 0..n {
        y[k] = 1.0;
    }
    #[vectorize(32)]
    for k in 0..n {
        y[k] = 1.0;
    }
    #[ilp]
    for k in 0..n {
        y[k] = 1.0;
    }
    #[batch_loads(4)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[ilp(true)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[unroll(4, assume_disjoint)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[ilp(4, assume_aligned)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[ilp(4)]
    #[ilp(8)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[unroll(1)]
    #[ilp(4)]
    for k in 0..n {
        y[k] = x[k];
    }
    #[ilp(n)]
    for k in 0..n {
        y[k] = x[k];
    }
    let mut k = 0;
    #[ilp(4)]
    while k < n {
        k += 1;
    }
    #[prefetch]
    loop {
        break;
    }
    #[unrol]
    for k in 0..n {
        y[k] = x[k];
    }
    y[t] = 1.0;
}
