//! Selections.

use super::{Bench, benches, quick_benches, unit};
use warpwright_kernels::staples::select::{self, Predicate};

#[track_caller]
fn kept(b: &mut Bench, predicate: Predicate<u32>, xs: &[u32]) -> Vec<u32> {
    let (x, mut y, mut count) = (b.upload(xs), b.zeros::<u32>(xs.len()), b.zeros::<u32>(1));
    select::select(&b.stream, predicate, &x, &mut y, &mut count, &mut b.workspace).expect("right");
    y.download().expect("run")[..count.download().expect("run")[0] as usize].to_vec()
}

#[test]
fn what_satisfies_a_predicate_is_kept_in_order() {
    for mut b in benches() {
        for n in b.lengths() {
            let xs = b.values(n, |bits| (bits >> 13) as u32 % 100);
            let odd: Vec<u32> = xs.iter().copied().filter(|x| x % 2 == 1).collect();
            assert_eq!(kept(&mut b, Predicate::AnyBit(1), &xs), odd, "{n} on {}", b.device);
        }
    }
    for mut b in quick_benches() {
        let xs: Vec<u32> = (0..5000).map(|i| i % 7).collect();
        for (predicate, holds) in [
            (Predicate::Equal(3), (|x| x == 3) as fn(u32) -> bool),
            (Predicate::NotEqual(3), |x| x != 3),
            (Predicate::Less(3), |x| x < 3),
            (Predicate::AtMost(3), |x| x <= 3),
            (Predicate::Greater(3), |x| x > 3),
            (Predicate::AtLeast(0), |_| true),
            (Predicate::Greater(9), |_| false),
        ] {
            let expected: Vec<u32> = xs.iter().copied().filter(|x| holds(*x)).collect();
            assert_eq!(kept(&mut b, predicate, &xs), expected, "{predicate:?} on {}", b.device);
        }
    }
}

#[test]
fn flags_keep_elements_of_eight_bytes() {
    for mut b in quick_benches() {
        for n in [0, 1, 33, 2049, 7001] {
            let xs = b.values(n, |bits| f64::from(unit(bits)));
            let flags = b.values(n, |bits| (bits >> 60) as u8 / 9);
            let (x, f, mut y, mut count) = (b.upload(&xs), b.upload(&flags), b.zeros::<f64>(n), b.zeros::<u32>(1));
            select::flagged(&b.stream, &x, &f, &mut y, &mut count, &mut b.workspace).expect("right");
            let expected: Vec<f64> = xs.iter().zip(&flags).filter(|(_, f)| **f != 0).map(|(x, _)| *x).collect();
            assert_eq!(count.download().expect("run")[0] as usize, expected.len(), "{n} on {}", b.device);
            assert_eq!(y.download().expect("run")[..expected.len()], expected, "{n} on {}", b.device);
        }
    }
}

#[test]
fn the_first_of_each_run_is_kept() {
    for mut b in benches() {
        for n in b.lengths() {
            let mut xs = b.values(n, |bits| (bits >> 17) as i32 % 50);
            xs.iter_mut().enumerate().for_each(|(i, x)| *x = if i % 3 == 0 { 4 } else { *x / 10 });
            let (x, mut y, mut count) = (b.upload(&xs), b.zeros::<i32>(n), b.zeros::<u32>(1));
            select::unique(&b.stream, &x, &mut y, &mut count, &mut b.workspace).expect("right");
            xs.dedup();
            assert_eq!(count.download().expect("run")[0] as usize, xs.len(), "{n} on {}", b.device);
            assert_eq!(y.download().expect("run")[..xs.len()], xs, "{n} on {}", b.device);
        }
        // No NaN equals another; the zeros are equal.
        let x = b.upload(&[f32::NAN, f32::NAN, 0.0, -0.0, 0.0, 1.0, 1.0, f32::NAN]);
        let (mut y, mut count) = (b.zeros::<f32>(8), b.zeros::<u32>(1));
        select::unique(&b.stream, &x, &mut y, &mut count, &mut b.workspace).expect("right");
        assert_eq!(count.download().expect("run"), [5], "{}", b.device);
        assert_eq!(y.download().expect("run")[2..4], [0.0, 1.0]);
    }
}

#[test]
fn too_short_an_output_is_refused() {
    for mut b in benches() {
        let (x, mut y, mut count) = (b.upload(&[1u32, 2, 3]), b.zeros::<u32>(2), b.zeros::<u32>(1));
        let error = select::unique(&b.stream, &x, &mut y, &mut count, &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`select::unique`: `y` has 2 elements, and 3 are needed; make it longer");
        let (mut y, flags) = (b.zeros::<u32>(3), b.zeros::<u8>(1));
        let error = select::flagged(&b.stream, &x, &flags, &mut y, &mut count, &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`select::flagged`: `flags` has 1 elements, and 3 are needed; make it longer");
    }
}
