//! Softmax and norms.

use super::{Bench, Short, benches, quick_benches, unit};
use warpwright::prelude::{bf16, f16};
use warpwright_kernels::staples::norm::{layer_norm, rms_norm};
use warpwright_kernels::staples::softmax::{RowElement, softmax};

/// Rows and columns: fewer than a vector, of all remainders, of each kernel's limit.
fn extents(b: &Bench) -> Vec<(usize, usize)> {
    let mut all = vec![(0, 3), (3, 0), (1, 1), (5, 3), (3, 32), (9, 128), (2, 136), (3, 500), (2, 1000), (1, 1025), (1, 4096)];
    match b.device.kind() {
        // PoCL takes seconds to compile a kernel: one of each.
        warpwright::DeviceKind::OpenCl => all = vec![(3, 32), (2, 1000), (1, 4096), (2, 65_536), (1, 70_001)],
        warpwright::DeviceKind::Simulator => {}
        _ => all.extend([(2, 8192), (1, 16_384), (1, 32_768), (2, 65_536), (1, 70_001)]),
    }
    all
}

fn close<T: Short>(what: &str, b: &Bench, found: &[T], expected: impl Fn(usize) -> f64, relative: f64, absolute: f64) {
    for (i, y) in found.iter().enumerate() {
        let expected = expected(i);
        let bound = (relative + T::ROUNDING) * expected.abs() + absolute;
        assert!(
            (y.wide() - expected).abs() <= bound,
            "{what}, element {i} of {} on {}: {}, {expected} within {bound}",
            found.len(),
            b.device,
            y.wide()
        );
    }
}

fn softmax_of<T: Short + RowElement>(b: &mut Bench) {
    for (rows, columns) in extents(b) {
        let xs: Vec<T> = b.values(rows * columns, |bits| T::of(unit(bits) * 8.0));
        let (x, mut y) = (b.upload(&xs), b.zeros::<T>(rows * columns));
        softmax(&b.stream, (rows, columns), &x, &mut y).expect("right");
        let sums: Vec<(f64, f64)> = xs
            .chunks(columns.max(1))
            .map(|row| {
                let most = row.iter().map(|x| x.wide()).fold(f64::NEG_INFINITY, f64::max);
                (most, row.iter().map(|x| (x.wide() - most).exp()).sum())
            })
            .collect();
        let expected = |i: usize| (xs[i].wide() - sums[i / columns].0).exp() / sums[i / columns].1;
        // |x - max| ≤ 16, so |e| ≤ 24: (9/4 · 24 + 4) · 2⁻²⁴ · ln 2 + 2⁻²² for an exponential, of two factors above and of three in the sum; the sum of at most 256 a
        // thread; results below 2⁻¹⁴ are subnormal `f16`.
        let of_factors = |n: f64| (54.0 + 4.0 * n) * 0.7 + 5.0 * n;
        let bound = (of_factors(2.0) + of_factors(3.0) + columns as f64 / 256.0 + 14.0) * 2f64.powi(-24);
        close(&format!("softmax of {rows} × {columns}"), b, &y.download().expect("run"), expected, bound, 2f64.powi(-25));
    }
}

#[test]
fn softmax_keeps_to_its_bound() {
    for mut b in benches() {
        softmax_of::<f32>(&mut b);
        softmax_of::<bf16>(&mut b);
    }
    quick_benches().iter_mut().for_each(softmax_of::<f16>);
}

/// Rows of the largest numbers, as masks make them: only differences count.
#[test]
fn softmax_of_huge_numbers_is_right() {
    let rows: [([f32; 4], [f32; 4]); 6] = [
        ([1e10; 4], [0.25; 4]),
        ([f32::MIN; 4], [0.25; 4]),
        ([f32::MAX, 0.0, 0.0, f32::MIN], [1.0, 0.0, 0.0, 0.0]),
        ([-1e12, f32::MIN, -1e12, f32::MIN], [0.5, 0.0, 0.5, 0.0]),
        ([3.1e9, 3.1e9, 0.0, 1.0], [0.5, 0.5, 0.0, 0.0]),
        ([2e8, 2e8 - 16.0, 0.0, 0.0], [1.0 - 1.1253517e-7, 1.1253516e-7, 0.0, 0.0]),
    ];
    for b in benches() {
        // A row a warp, a row a block, and element by element.
        for repeats in [1, 128, 129, 4096] {
            for (row, expected) in rows {
                let columns = 4 * repeats + usize::from(repeats == 129);
                let xs: Vec<f32> = (0..columns).map(|i| row[i % 4]).collect();
                let (x, mut y) = (b.upload(&xs), b.zeros::<f32>(columns));
                softmax(&b.stream, (1, columns), &x, &mut y).expect("right");
                let most = xs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = xs.iter().map(|x| (f64::from(*x) - f64::from(most)).exp()).sum();
                for (i, y) in y.download().expect("run").into_iter().enumerate() {
                    let right = (f64::from(xs[i]) - f64::from(most)).exp() / sum;
                    assert!((f64::from(y) - right).abs() <= 1e-5 * right + 1e-30, "{row:?} × {repeats} on {}: {y}, {right}", b.device);
                    assert!(repeats > 1 || (f64::from(y) - f64::from(expected[i])).abs() < 1e-9 + 1e-5 * f64::from(expected[i]));
                }
            }
        }
    }
}

#[test]
fn softmax_of_nan_and_infinities_is_as_documented() {
    for b in benches() {
        // A row a warp, element by element, a row a block; the last one partly in shared memory, which takes the simulator long.
        let has_long = b.device.kind() != warpwright::DeviceKind::Simulator;
        for columns in [4, 512, 513, 1024].into_iter().chain(has_long.then_some(65_536)) {
            let mut xs = vec![1.0f32; 4 * columns];
            xs[2] = f32::NAN;
            xs[columns + 1] = f32::INFINITY;
            xs[2 * columns..3 * columns].fill(f32::NEG_INFINITY);
            xs[3 * columns + 3] = f32::NEG_INFINITY;
            let (x, mut y) = (b.upload(&xs), b.zeros::<f32>(4 * columns));
            softmax(&b.stream, (4, columns), &x, &mut y).expect("right");
            let found = y.download().expect("run");
            assert!(found[..3 * columns].iter().all(|y| y.is_nan()), "{columns} on {}", b.device);
            assert_eq!(found[3 * columns + 3], 0.0);
            assert!((found[3 * columns] * (columns - 1) as f32 - 1.0).abs() < 1e-5);
        }
    }
}

fn norms_of<T: Short + RowElement>(b: &mut Bench) {
    for (rows, columns) in extents(b) {
        let xs: Vec<T> = b.values(rows * columns, |bits| T::of(unit(bits) + 0.25));
        let ws: Vec<T> = b.values(columns, |bits| T::of(unit(bits) + 1.5));
        let bs: Vec<T> = b.values(columns, |bits| T::of(unit(bits)));
        let (x, w, s, mut y) = (b.upload(&xs), b.upload(&ws), b.upload(&bs), b.zeros::<T>(rows * columns));
        rms_norm(&b.stream, (rows, columns), 1e-5, &x, &w, &mut y).expect("right");
        let n = columns.max(1) as f64;
        let moments: Vec<(f64, f64, f64)> = xs
            .chunks(columns.max(1))
            .map(|row| {
                let mean = row.iter().map(|x| x.wide()).sum::<f64>() / n;
                let (square, variance) = row.iter().map(|x| x.wide()).fold((0.0, 0.0), |(s, v), x| (s + x * x, v + (x - mean).powi(2)));
                (mean, square / n, variance / n)
            })
            .collect();
        let expected = |i: usize| xs[i].wide() / (moments[i / columns].1 + 1e-5).sqrt() * ws[i % columns].wide();
        let bound = (columns as f64 / 256.0 / 2.0 + 12.0) * 2f64.powi(-24);
        close(&format!("RMS norm of {rows} × {columns}"), b, &y.download().expect("run"), expected, bound, 2f64.powi(-25));
        layer_norm(&b.stream, (rows, columns), 1e-5, &x, (&w, &s), &mut y).expect("right");
        let expected = |i: usize| {
            let (mean, _, variance) = moments[i / columns];
            (xs[i].wide() - mean) / (variance + 1e-5).sqrt() * ws[i % columns].wide() + bs[i % columns].wide()
        };
        // Where the row is nearly constant the rounding of the mean counts most: it is divided by the deviation, at least 3 · 10⁻³.
        let deviation = moments.iter().map(|m| (m.2 + 1e-5).sqrt()).fold(1.0, f64::min);
        let absolute = 4.0 * (columns as f64 / 256.0 + 30.0) * 2f64.powi(-24) / deviation;
        close(&format!("layer norm of {rows} × {columns}"), b, &y.download().expect("run"), expected, bound, absolute);
    }
}

#[test]
fn norms_keep_to_their_bounds() {
    for mut b in benches() {
        norms_of::<bf16>(&mut b);
    }
    for mut b in quick_benches() {
        norms_of::<f32>(&mut b);
        norms_of::<f16>(&mut b);
    }
}

#[test]
fn too_short_a_buffer_is_refused() {
    for b in benches() {
        let (x, w, mut y) = (b.zeros::<f32>(12), b.zeros::<f32>(3), b.zeros::<f32>(12));
        let error = rms_norm(&b.stream, (3, 4), 1e-5, &x, &w, &mut y).expect_err("too short");
        assert_eq!(error.to_string(), "`norm::rms_norm`: `w` has 3 elements, and 4 are needed; make it longer");
        for epsilon in [f32::NAN, -1.0, f32::INFINITY] {
            let error = rms_norm(&b.stream, (3, 3), epsilon, &x, &w, &mut y).expect_err("no ε");
            let expected = format!("`norm::rms_norm`: `epsilon` is {epsilon}; give a number from 0 on, for example 1e-5");
            assert_eq!(error.to_string(), expected);
        }
        let error = softmax(&b.stream, (1 << 40, 1 << 40), &x, &mut y).expect_err("too long");
        assert!(error.to_string().starts_with("`softmax::softmax`: `rows` is 1099511627776"), "{error}");
    }
}
