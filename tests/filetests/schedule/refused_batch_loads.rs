// test errors
//! Loads that cannot be issued together.

#[kernel(block = 64)]
pub fn refused_batch_loads(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let t = thread_idx().x;
    let mut sum = 0;
    #[batch_loads]
    for k in 0..n {
        y[t * 64 + k] = k as u32;
    }
    #[batch_loads]
    for k in 0..n {
        y[x[t + k] as usize] = 1;
        y[t] += y[k];
    }
    #[batch_loads]
    for k in 0..n {
        tile[t] = x[t + k];
        sync_threads();
        sum += tile[63 - t] * y[k];
    }
    #[batch_loads]
    for k in 0..n {
        if x[t + k] == 0 {
            break;
        }
        y[t] += x[2 * k];
    }
    #[batch_loads]
    for k in 0..n {
        for j in 0..n {
            sum += x[k * n + j];
        }
    }
    #[batch_loads]
    for k in 0..n {
        if x[k] > 0 {
            let at = y.atomic_add(0, 1);
            sum += x[at as usize];
        }
    }
    let width = x[0] as usize;
    #[batch_loads]
    for k in 0..n {
        if width > 0 {
            sum += x[k / width];
        }
        if k > 3 {
            sum += x[(k as i32 % (n as i32 - 3)) as usize];
        }
    }
    // `k - 256` and the low bits of `k` are the same number here.
    #[batch_loads]
    for k in 256..512usize {
        y[k - 256] = x[k];
        sum += y[k as u8 as usize];
    }
    // Divisors that are not 0.
    #[batch_loads]
    for k in 0..n {
        if width > 0 {
            sum += x[k / width.max(1)] + x[k % 3] + x[k / grid_dim().x];
        }
    }
    y[t] = sum;
}
