//! Histograms and transposes.

use super::benches;
use warpwright_kernels::staples::{histogram, transpose};

fn counts(values: impl Iterator<Item = usize>, bins: usize) -> Vec<u32> {
    let mut expected = vec![0; bins];
    values.filter(|v| *v < bins).for_each(|v| expected[v] += 1);
    expected
}

#[test]
fn every_value_is_counted_in_its_bin() {
    for mut b in benches() {
        for n in [0, 1, 33, 257, 4099, 12_345] {
            let bytes = b.values(n, |bits| (bits >> 33) as u8);
            // 256 bins and words, 256 and bytes, fewer bins than values.
            for (values, bins) in [(&bytes[..n / 4 * 4], 256), (&bytes[..], 256), (&bytes[..], 100)] {
                let (x, mut found) = (b.upload(values), b.upload(&vec![7u32; bins]));
                histogram::count_values(&b.stream, &x, &mut found, &mut b.workspace).expect("right");
                let expected = counts(values.iter().map(|v| usize::from(*v)), bins);
                assert_eq!(found.download().expect("run"), expected, "{n} bytes, {bins} bins on {}", b.device);
            }
            for bins in [1, 1000, 3000, 10_001, 65_535, 65_536, 70_000].into_iter().filter(|bins| n == 4099 || bins % 1000 == 0) {
                let values = b.values(n, |bits| (bits >> 40) as u32 % (bins + bins / 8 + 1));
                let (x, mut found) = (b.upload(&values), b.zeros::<u32>(bins as usize));
                histogram::count_values(&b.stream, &x, &mut found, &mut b.workspace).expect("right");
                let expected = counts(values.iter().map(|v| *v as usize), bins as usize);
                assert!(found.download().expect("run") == expected, "{n} values, {bins} bins on {}", b.device);
            }
        }
        // Counters of 16 bits overflow into the result.
        let values = vec![5u16; 80_000];
        let (x, mut found) = (b.upload(&values), b.zeros::<u32>(20_000));
        histogram::count_values(&b.stream, &x, &mut found, &mut b.workspace).expect("right");
        assert_eq!(found.download().expect("run")[4..7], [0, 80_000, 0], "{}", b.device);
    }
}

#[test]
fn rows_become_columns() {
    for mut b in benches() {
        for (height, width) in [(0, 5), (1, 1), (1, 700), (700, 1), (31, 33), (64, 64), (68, 132), (100, 60), (63, 4), (127, 65)] {
            let xs = b.values(height * width, |bits| bits as u32);
            let (x, mut y) = (b.upload(&xs), b.zeros::<u32>(height * width));
            transpose::transpose(&b.stream, (height, width), &x, &mut y).expect("right");
            let expected: Vec<u32> = (0..height * width).map(|i| xs[i % height * width + i / height]).collect();
            assert!(y.download().expect("run") == expected, "{height} × {width} on {}", b.device);
            let bytes: Vec<u8> = xs.iter().map(|x| *x as u8).collect();
            let (x, mut y) = (b.upload(&bytes), b.zeros::<u8>(height * width));
            transpose::transpose(&b.stream, (height, width), &x, &mut y).expect("right");
            let expected: Vec<u8> = expected.iter().map(|x| *x as u8).collect();
            assert!(y.download().expect("run") == expected, "{height} × {width} bytes on {}", b.device);
        }
        let (x, mut y) = (b.zeros::<f32>(12), b.zeros::<f32>(11));
        let error = transpose::transpose(&b.stream, (3, 4), &x, &mut y).expect_err("too short");
        assert_eq!(error.to_string(), "`transpose::transpose`: `out` has 11 elements, and 12 are needed; make it longer");
        let error = transpose::transpose(&b.stream, (usize::MAX, 4), &x, &mut y).expect_err("too long");
        assert!(error.to_string().contains("`height` is 18446744073709551615"), "{error}");
    }
}

#[test]
fn elements_are_copied_filled_and_added() {
    use warpwright_kernels::staples::map;
    for mut b in benches() {
        for n in b.lengths() {
            let (xs, ys) = (b.values(n, super::unit), b.values(n + 2, super::unit));
            let (x, mut y) = (b.upload(&xs), b.upload(&ys));
            map::axpy(&b.stream, 0.5, &x, &mut y).expect("right");
            let found = y.download().expect("run");
            let expected = |i: usize| f64::from(xs[i]) * 0.5 + f64::from(ys[i]);
            assert!((0..n).all(|i| (f64::from(found[i]) - expected(i)).abs() <= 2f64.powi(-22)), "{n} on {}", b.device);
            assert_eq!(found[n..], ys[n..], "{n} on {}", b.device);
            map::copy(&b.stream, &x, &mut y).expect("right");
            assert_eq!(y.download().expect("run"), [&xs[..], &ys[n..]].concat(), "{n} on {}", b.device);
            map::fill(&b.stream, 7.0, &mut y).expect("right");
            assert_eq!(y.download().expect("run"), vec![7.0; n + 2], "{n} on {}", b.device);
        }
        let (x, mut y) = (b.zeros::<f32>(3), b.zeros::<f32>(2));
        let error = map::copy(&b.stream, &x, &mut y).expect_err("too short");
        assert_eq!(error.to_string(), "`map::copy`: `y` has 2 elements, and 3 are needed; make it longer");
    }
}

#[test]
fn products_keep_to_their_bound() {
    use warpwright_kernels::staples::gemm;
    for mut b in benches() {
        // Of any extents; of tiles that blocks share, whole and at edges; twice in one workspace, whose flags are used again.
        let extents = [
            (0, 3, 2),
            (2, 3, 0),
            (1, 1, 1),
            (65, 70, 33),
            (128, 256, 48),
            (128, 128, 64),
            (128, 384, 16),
            (130, 132, 20),
            (1, 4, 4),
            (128, 256, 48),
        ];
        // By loads ahead of the work, and by copies, which OpenCL does not have.
        let candidates = if b.device.kind() == warpwright::DeviceKind::OpenCl { 1 } else { 2 };
        for ((m, n, k), candidate) in extents.into_iter().flat_map(|extent| (0..candidates).map(move |candidate| (extent, candidate))) {
            b.workspace.force(Some(candidate));
            let (xs, ys) = (b.values(m * k, super::unit), b.values(k * n, super::unit));
            let (x, y, mut z) = (b.upload(&xs), b.upload(&ys), b.upload(&vec![9.0f32; m * n]));
            gemm::gemm(&b.stream, (m, n, k), 2.0, &x, &y, &mut z, &mut b.workspace).expect("right");
            for (at, found) in z.download().expect("run").into_iter().enumerate() {
                let (i, j) = (at / n, at % n);
                let terms = (0..k).map(|l| f64::from(xs[i * k + l]) * f64::from(ys[l * n + j]));
                let (sum, magnitude) = terms.fold((0.0, 0.0), |(s, m), v: f64| (s + v, m + v.abs()));
                let bound = (2 * k + 1) as f64 * 2f64.powi(-24) * 2.0 * magnitude;
                assert!(
                    (f64::from(found) - 2.0 * sum).abs() <= bound,
                    "element {at} of {m} × {n} × {k}, candidate {candidate}, on {}: {found}, {}",
                    b.device,
                    2.0 * sum
                );
            }
        }
        b.workspace.force(None);
        for (m, n) in [(1, 0), (9, 1), (17, 36), (5, 1025)] {
            let (xs, ys) = (b.values(m * n, super::unit), b.values(n, super::unit));
            let (x, y, mut z) = (b.upload(&xs), b.upload(&ys), b.upload(&vec![9.0f32; m]));
            gemm::gemv(&b.stream, (m, n), &x, &y, &mut z).expect("right");
            for (i, found) in z.download().expect("run").into_iter().enumerate() {
                let sum: f64 = (0..n).map(|j| f64::from(xs[i * n + j]) * f64::from(ys[j])).sum();
                assert!(
                    (f64::from(found) - sum).abs() <= (2 * n + 1) as f64 * 2f64.powi(-24) * n as f64,
                    "row {i} of {m} × {n} on {}",
                    b.device
                );
            }
        }
        let (x, y, mut z) = (b.zeros::<f32>(6), b.zeros::<f32>(5), b.zeros::<f32>(4));
        let error = gemm::gemm(&b.stream, (2, 2, 3), 1.0, &x, &y, &mut z, &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`gemm::gemm`: `b` has 5 elements, and 6 are needed; make it longer");
    }
}
