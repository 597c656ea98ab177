//! Reductions by operators of one's own.

use super::{benches, unit};

warpwright_kernels::reduction! {
    /// The greatest common divisor.
    fn divisor(a: u32, b: u32) -> u32 from 0 {
        let (mut m, mut n) = (a, b);
        while n != 0 {
            (m, n) = (n, m % n);
        }
        m
    }
}

warpwright_kernels::reduction! {
    /// The number of the greatest magnitude: of 1 and -1 the positive one.
    fn farthest(a: f32, b: f32) -> f32 from 0.0 {
        if a.abs() > b.abs() || (a.abs() == b.abs() && a > b) { a } else { b }
    }
}

#[test]
fn any_operator_reduces() {
    for mut b in benches() {
        for n in b.lengths() {
            let xs = b.values(n, |bits| (bits >> 50) as u32 * 30);
            let (x, mut out) = (b.upload(&xs), b.zeros::<u32>(1));
            divisor(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            let gcd = |mut m: u32, mut n: u32| {
                while n != 0 {
                    (m, n) = (n, m % n);
                }
                m
            };
            assert_eq!(out.download().expect("run")[0], xs.iter().copied().fold(0, gcd), "{n} on {}", b.device);
            let xs = b.values(n, unit);
            let (x, mut out) = (b.upload(&xs), b.zeros::<f32>(1));
            farthest(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            let expected = xs.iter().copied().fold(0.0, |a: f32, b| if b.abs() > a.abs() || (a.abs() == b.abs() && b > a) { b } else { a });
            assert_eq!(out.download().expect("run")[0], expected, "{n} on {}", b.device);
        }
        let (x, mut out) = (b.upload(&[1u32]), b.zeros::<u32>(0));
        let error = divisor(&b.stream, &x, &mut out, &mut b.workspace).expect_err("no room");
        assert_eq!(error.to_string(), "`divisor`: `out` has 0 elements, and 1 are needed; make it longer");
    }
}
