// test errors
//! Loops whose copies cannot run ahead: one for each rule.

#[kernel(block = 64)]
pub fn refused_pipeline(n: usize, x: &Global<u32>, y: &mut Global<u32>, z: &Global<f32>) {
    #[shared]
    let mut a: [u32; 64];
    #[shared]
    let mut b: [u32; 64];
    #[shared]
    let mut c: [u32; 64];
    #[shared]
    let mut d: [u32; 128];
    #[shared]
    let mut e: [u32; 64];
    #[shared]
    let mut f: [f32; 64];
    #[shared]
    let mut g: [[u32; 64]; 128];
    #[shared]
    let mut h: [u32; 64];
    let t = thread_idx().x;
    let mut sum = 0;
    // No barrier, and no closing one.
    #[pipeline(stages = 2)]
    for k in 0..n {
        a[t] = x[k * 64 + t];
        sum += a[t];
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        a[t] = x[k * 64 + t];
        sync_threads();
        sum += a[63 - t];
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        sum += x[k * 64 + t];
        sync_threads();
        sync_threads();
    }
    // Half of it is not written; it depends on data which; or it is written under a condition.
    #[pipeline(stages = 2)]
    for k in 0..n {
        d[t] = x[k * 64 + t];
        sync_threads();
        sum += d[127 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        b[x[t] as usize % 64] = x[k * 64 + t];
        sync_threads();
        sum += b[t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        if k * 64 + t < n {
            b[t] = x[k * 64 + t];
        }
        sync_threads();
        sum += b[63 - t];
        sync_threads();
    }
    // It is touched outside, or written behind the barrier.
    c[t] = 0;
    #[pipeline(stages = 2)]
    for k in 0..n {
        c[t] = x[k * 64 + t];
        sync_threads();
        sum += c[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        e[t] = x[k * 64 + t];
        sync_threads();
        e[t] += 1;
        sync_threads();
    }
    // Something else than a copy.
    #[pipeline(stages = 2)]
    for k in 0..n {
        e[t] = x[k * 64 + t] + 1;
        sync_threads();
        sum += e[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        e[t] = x[k * 64 + t];
        y[t] = k as u32;
        sync_threads();
        sum += e[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        let ahead = x[k];
        e[t] = x[k * 64 + t];
        sync_threads();
        sum += e[63 - t] + ahead;
        sync_threads();
    }
    let mut at = t;
    #[pipeline(stages = 2)]
    for k in 0..n {
        e[t] = x[at];
        sync_threads();
        sum += e[63 - t];
        at += k;
        sync_threads();
    }
    // What is read is written.
    #[pipeline(stages = 2)]
    for k in 0..n {
        h[t] = y[k * 64 + t];
        sync_threads();
        y[k * 64 + t + 64] = h[63 - t];
        sync_threads();
    }
    // Another block may have written what is read, and tells of it in the loop; of what nobody writes there is nothing to tell.
    #[pipeline(stages = 2)]
    for k in 0..n {
        h[t] = y[k * 64 + t];
        sync_threads();
        fence_device();
        sum += h[63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        h[t] = x[k * 64 + t];
        sync_threads();
        fence_device();
        sum += h[63 - t];
        sync_threads();
    }
    // Too large; left early; threads apart; both.
    #[pipeline(stages = 8)]
    for k in 0..n {
        for r in 0..128 {
            g[r][t] = x[(k * 128 + r) * 64 + t];
        }
        sync_threads();
        sum += g[t][63 - t];
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..n {
        f[t] = z[k * 64 + t];
        sync_threads();
        if f[0] > 1.0 {
            break;
        }
        sync_threads();
    }
    #[pipeline(stages = 2)]
    for k in 0..t {
        f[t] = z[k * 64 + t];
        sync_threads();
        sum += f[63 - t] as u32;
        sync_threads();
    }
    #[pipeline(stages = 2)]
    #[prefetch]
    for k in 0..n {
        f[t] = z[k * 64 + t];
        sync_threads();
        sum += f[63 - t] as u32;
        sync_threads();
    }
    // It is read, and then written.
    #[pipeline(stages = 2)]
    for k in 0..n {
        sum += f[63 - t] as u32;
        sync_threads();
        f[t] = z[k * 64 + t];
        sync_threads();
    }
    y[t] = sum;
}
