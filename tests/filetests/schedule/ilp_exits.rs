// test rust
//! Accumulators of iterations that go several ways: an inner loop left early, a `continue` within two `if`s, a search whose further condition stands behind `&&`.
use warpwright::prelude::*;

#[kernel(block = 32)]
fn ilp_exits(n: usize, x: &Global<u32>, y: &mut Global<u32>) {
    let mut sum = 0;
    #[ilp(2)]
    for i in 0..n {
        for j in 0..9usize {
            if x[i + j] == 5 {
                break;
            }
            sum += x[i + j];
        }
    }
    let mut bits = 0;
    #[ilp(2)]
    for i in 0..n {
        let mut v = x[i];
        while v > 3 {
            bits ^= v;
            v /= 2;
        }
    }
    let mut some = 0;
    #[ilp(2)]
    for i in 0..n {
        if x[i] & 1 == 0 {
            some += 1;
        } else if x[i] & 2 == 0 {
            some -= x[i];
            continue;
        }
        some += 2;
    }
    let (mut best, mut at) = (0, 0);
    #[ilp(2)]
    for i in 0..n {
        if x[i] > best && x[i] % 3 != 0 {
            best = x[i];
            at = i;
        }
    }
    y[0] = sum + bits + some;
    y[1] = best;
    y[2] = at as u32;
}
