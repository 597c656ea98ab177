// test errors
//! Loops whose iterations `ilp` cannot interleave: what is carried round, what meets in memory, what control flow and barriers forbid.

#[kernel(block = 64)]
pub fn refused_ilp(n: usize, x: &Global<i32>, y: &mut Global<i32>) {
    #[shared]
    let mut tile: [i32; 64];
    let t = thread_idx().x;
    let mut state = 1;
    #[ilp(4)]
    for k in 0..n {
        state = state * 3 + x[k];
    }
    let mut sum = 0;
    #[ilp(2)]
    for k in 0..n {
        sum += x[k];
        y[t * 64 + k] = sum;
    }
    let mut previous = 0;
    #[ilp(2)]
    for k in 0..n {
        y[t * 64 + k] = x[k] - previous;
        previous = x[k];
    }
    let mut mixed = 0;
    #[ilp(2)]
    for k in 0..n {
        mixed += x[k];
        mixed ^= 1;
    }
    #[ilp(4)]
    for k in 0..n {
        y[k + 1] = y[k] + 1;
    }
    #[ilp(4)]
    for k in 0..n {
        y[x[k] as usize] = 1;
    }
    #[ilp(4)]
    for k in 0..n {
        y[t] += x[k];
    }
    #[ilp(2)]
    for k in 0..n {
        tile[t] = x[k];
        sync_threads();
        y[t * 64 + k] = tile[63 - t];
    }
    #[ilp(2)]
    for k in 0..n {
        if x[k] < 0 {
            break;
        }
        y[t * 64 + k] = 1;
    }
    'rows: for r in 0..n {
        #[ilp(2)]
        for k in 0..n {
            if x[r * n + k] < 0 {
                continue 'rows;
            }
            y[t * 64 + k] = 1;
        }
    }
    #[ilp(2)]
    for k in 0..n {
        if x[k] < 0 {
            return;
        }
        y[t * 64 + k] = 1;
    }
    // More than the best so far is asked for: what was the best before, how often there was a new one, and, for a NaN, which came last.
    let (mut best, mut second) = (0, 0);
    #[ilp(2)]
    for k in 0..n {
        if x[k] > best {
            second = best;
            best = x[k];
        }
    }
    let (mut top, mut count) = (0, 0);
    #[ilp(2)]
    for k in 0..n {
        if x[k] > top {
            top = x[k];
            count += 1;
        }
    }
    let mut high = 0;
    #[ilp(2)]
    for k in 0..n {
        if x[k] > high {
            high = x[k];
            y[t * 64 + k] = 1;
        }
    }
    let mut least = 9.0;
    #[ilp(2)]
    for k in 0..n {
        let v = x[k] as f32;
        if !(v >= least) {
            least = v;
        }
    }
    sum += second + best + high + top + count + least as i32;
    y[t] = state + sum + previous + mixed;
}
