// test errors
//! Accesses that are no vectors: too wide, misaligned, strided, gathered, backwards, conditional, of structs.

#[kernel(block = 64)]
pub fn refused_vectorize(
    n: usize,
    m: usize,
    d: &Global<f64>,
    x: &Global<f32>,
    pairs: &Global<[f32; 2]>,
    index: &Global<u32>,
    y: &mut Global<f32>,
    e: &mut Global<f64>,
) {
    let base = thread_idx().x * 64;
    #[vectorize(4)]
    for k in 0..64 {
        e[base + k] = d[base + k];
    }
    #[vectorize(4)]
    for k in 1..65 {
        y[base + k] = 1.0;
    }
    #[vectorize(4)]
    for k in m..n {
        y[k] = 1.0;
    }
    #[vectorize(4)]
    for k in 0..64 {
        y[base + k] = x[base + k + 2];
    }
    #[vectorize(2)]
    for k in 0..32 {
        y[base + 2 * k] = 1.0;
    }
    #[vectorize(4)]
    for k in 0..64 {
        y[base + k] = x[index[base + k] as usize];
    }
    #[vectorize(4)]
    for k in (0..64).rev() {
        y[base + k] = 1.0;
    }
    #[vectorize(4)]
    for k in 0..64 {
        if x[base + k] > 0.0 {
            y[base + k] = 1.0;
        }
    }
    let mut scan = 0.0;
    #[vectorize(4)]
    for k in 0..64 {
        scan += x[base + k];
        y[base + k] = scan;
        scan += y[base + k];
    }
    #[vectorize(4)]
    for k in 0..64 {
        if scan < 1.0 {
            y[base + k] = scan;
        }
        scan += x[base + k];
    }
    #[vectorize(4)]
    for k in 0..64 {
        y[base + k] = pairs[base + k][1];
    }
    let mut sum = 0.0;
    #[vectorize(4)]
    for k in 0..64 {
        sum += (k as f32) * 2.0;
    }
    #[vectorize(4)]
    for k in 0..3 {
        y[base + k] = sum;
    }
}
