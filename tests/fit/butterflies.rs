//! Fourier transforms and sorting networks in registers: everything is alive at once.

use warpwright::Num;
use warpwright::prelude::*;

/// One pass of a transform of `R` complex numbers.
#[kernel(block = 64, math = fast, variants(R in [2, 4, 8, 16]))]
pub fn fourier<const R: usize>(n: usize, re: &mut Global<f32>, im: &mut Global<f32>) {
    let i = global_id().x;
    let stride = n / R;
    let mut a = [0.0f32; R];
    let mut b = [0.0f32; R];
    #[unroll]
    for k in 0..R {
        a[k] = re[i + k * stride];
        b[k] = im[i + k * stride];
    }
    let mut half = R / 2;
    #[unroll]
    for level in 0..4 {
        if (R >> level) > 1 {
            half = R >> (level + 1);
            #[unroll]
            for k in 0..R / 2 {
                let low = k / half * 2 * half + k % half;
                let high = low + half;
                let angle = -3.14159265f32 * (k % half) as f32 / half as f32;
                let (c, s) = (angle.cos(), angle.sin());
                let (x, y) = (a[low] - a[high], b[low] - b[high]);
                a[low] += a[high];
                b[low] += b[high];
                a[high] = x * c - y * s;
                b[high] = x * s + y * c;
            }
        }
    }
    #[unroll]
    for k in 0..R {
        re[i + k * stride] = a[k];
        im[i + k * stride] = b[k];
    }
}

/// Sorts `N` numbers of each thread by comparing neighbours.
#[kernel(block = B, variants(N in [4, 8, 16, 32], B in [32, 256], T in [f32, i32, f64]))]
pub fn network<const N: usize, const B: usize, T: Num>(x: &mut Global<T>) {
    let i = global_id().x;
    let mut v = [T::ZERO; N];
    #[unroll]
    for k in 0..N {
        v[k] = x[i * N + k];
    }
    #[unroll]
    for round in 0..N {
        #[unroll]
        for k in 0..N / 2 {
            let at = 2 * k + round % 2;
            if at + 1 < N {
                let (low, high) = (v[at].min(v[at + 1]), v[at].max(v[at + 1]));
                v[at] = low;
                v[at + 1] = high;
            }
        }
    }
    #[unroll]
    for k in 0..N {
        x[i * N + k] = v[k];
    }
}
