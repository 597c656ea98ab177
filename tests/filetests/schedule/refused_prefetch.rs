// test errors
//! Loads that cannot be issued an iteration ahead.

#[kernel(block = 64)]
pub fn refused_prefetch(n: usize, x: &Global<u32>, y: &mut Global<u32>, picture: &Texture2d<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let t = thread_idx().x;
    #[prefetch]
    for k in 0..n {
        y[t * 64 + k] = k as u32;
    }
    let mut sum = 0;
    #[prefetch]
    for k in 0..n {
        sum += x[x[t + k] as usize];
    }
    let mut at = t;
    #[prefetch]
    for k in 0..n {
        sum += x[at];
        at = at * 5 + k;
    }
    #[prefetch]
    for k in 0..n {
        y[t * 64 + k + 1] = y[t * 64 + k] + 1;
    }
    #[prefetch]
    for k in 0..n {
        tile[t] = y[t + k];
        sync_threads();
        y[t] = tile[63 - t];
        sync_threads();
    }
    #[prefetch]
    for k in 0..n {
        if x[t + k] == 0 {
            break;
        }
        sum += 1;
    }
    #[prefetch]
    for k in 0..n {
        for j in 0..n {
            sum += x[k * n + j];
        }
    }
    #[prefetch]
    for k in 0..n {
        sum += x[k];
        break;
    }
    #[prefetch]
    for k in 0..n {
        sum += picture.fetch(k as i32, 0);
        if sum > 9 {
            break;
        }
    }
    let width = x[0] as usize;
    #[prefetch]
    for k in 0..n {
        if width > 0 {
            sum += x[k / width];
        }
    }
    #[prefetch]
    for k in 0..n {
        sum += x[k % width];
    }
    // A divisor that is not 0.
    #[prefetch]
    for k in 0..n {
        sum += x[k % width.max(1)];
    }
    y[t] = sum;
}
