//! Places, dot products, sparse matrices.

use super::{benches, quick_benches, unit};
use warpwright::prelude::f16;
use warpwright_kernels::staples::spmv::{CompressedRows, spmv};
use warpwright_kernels::staples::{reduce, search};

#[test]
fn the_first_of_the_least_and_of_the_greatest_is_found() {
    for mut b in benches() {
        for n in b.lengths().into_iter().filter(|n| *n > 0) {
            let xs = b.values(n, |bits| (bits >> 20) as i32 % 300);
            let (x, mut place) = (b.upload(&xs), b.zeros::<u64>(1));
            search::argmin(&b.stream, &x, &mut place, &mut b.workspace).expect("right");
            let expected = (0..n).min_by_key(|i| xs[*i]).expect("some");
            assert_eq!(place.download().expect("run")[0] as usize, expected, "least of {n} on {}", b.device);
            search::argmax(&b.stream, &x, &mut place, &mut b.workspace).expect("right");
            let expected = (0..n).max_by_key(|i| (xs[*i], std::cmp::Reverse(*i))).expect("some");
            assert_eq!(place.download().expect("run")[0] as usize, expected, "greatest of {n} on {}", b.device);
        }
        let x = b.zeros::<i32>(0);
        let mut place = b.zeros::<u64>(1);
        let error = search::argmin(&b.stream, &x, &mut place, &mut b.workspace).expect_err("nothing");
        assert_eq!(error.to_string(), "`search::argmin`: `x` is empty, and nothing in it is the result; give it an element");
    }
}

#[test]
fn nan_is_found_only_where_there_is_nothing_else() {
    for mut b in quick_benches() {
        let mut place = b.zeros::<u64>(1);
        let mut at = |b: &mut super::Bench, xs: &[f64]| {
            let x = b.upload(xs);
            search::argmin(&b.stream, &x, &mut place, &mut b.workspace).expect("right");
            let least = place.download().expect("run")[0];
            search::argmax(&b.stream, &x, &mut place, &mut b.workspace).expect("right");
            (least, place.download().expect("run")[0])
        };
        assert_eq!(at(&mut b, &[f64::NAN, 3.0, f64::NAN, -2.0, 3.0, -2.0]), (3, 1), "{}", b.device);
        assert_eq!(at(&mut b, &[f64::NAN; 70]), (0, 0), "{}", b.device);
        assert_eq!(at(&mut b, &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]), (2, 1), "{}", b.device);
        assert_eq!(at(&mut b, &[0.0, -0.0, 0.0]), (0, 0), "{}", b.device);
    }
}

#[test]
fn dot_products_keep_to_their_bound() {
    for mut b in benches() {
        for n in b.lengths() {
            let (xs, ys) = (b.values(n, unit), b.values(n, unit));
            let (x, y, mut out) = (b.upload(&xs), b.upload(&ys), b.zeros::<f32>(1));
            search::dot(&b.stream, &x, &y, &mut out, &mut b.workspace).expect("right");
            let terms = xs.iter().zip(&ys).map(|(x, y)| f64::from(*x) * f64::from(*y));
            let (sum, magnitude) = terms.fold((0.0, 0.0), |(s, m), v: f64| (s + v, m + v.abs()));
            let bound = (reduce::depth::<f32>(&b.device, n) + 1) as f64 * 2f64.powi(-24) * magnitude;
            assert!((f64::from(out.download().expect("run")[0]) - sum).abs() <= bound, "{n} on {}", b.device);
        }
    }
    for mut b in quick_benches() {
        // Small integers: exact in every order.
        let xs = b.values(3001, |bits| f16::from_f32((bits % 5) as f32 - 2.0));
        let (x, mut out) = (b.upload(&xs), b.zeros::<f32>(1));
        search::dot(&b.stream, &x, &x, &mut out, &mut b.workspace).expect("right");
        assert_eq!(out.download().expect("run")[0], xs.iter().map(|x| x.to_f32() * x.to_f32()).sum::<f32>(), "{}", b.device);
        let xs = b.values(3001, |bits| bits as i64);
        let (x, mut out) = (b.upload(&xs), b.zeros::<i64>(1));
        search::dot(&b.stream, &x, &x, &mut out, &mut b.workspace).expect("right");
        assert_eq!(out.download().expect("run")[0], xs.iter().fold(0i64, |s, x| s.wrapping_add(x.wrapping_mul(*x))), "{}", b.device);
    }
}

#[test]
fn sparse_rows_of_any_length_are_multiplied() {
    for mut b in benches() {
        for (rows, most) in [(1, 3), (300, 4), (77, 9), (100, 30), (50, 200), (257, 1)] {
            let x_len = 400;
            let lengths = b.values(rows, |bits| (bits >> 30) as usize % (most + 1));
            let starts: Vec<u32> = std::iter::once(0).chain(lengths.iter().scan(0, |sum, n| (*sum += *n as u32, Some(*sum)).1)).collect();
            let total = starts[rows] as usize;
            let (columns, values) = (b.values(total, |bits| (bits >> 20) as u32 % x_len), b.values(total, unit));
            let xs = b.values(x_len as usize, unit);
            let (s, c, v, x) = (b.upload(&starts), b.upload(&columns), b.upload(&values), b.upload(&xs));
            let mut y = b.upload(&vec![9.0f32; rows]);
            spmv(&b.stream, CompressedRows { starts: &s, columns: &c, values: &v }, &x, &mut y).expect("right");
            for (row, found) in y.download().expect("run").into_iter().enumerate() {
                let of_row = starts[row] as usize..starts[row + 1] as usize;
                let bound = (of_row.len() + 6) as f64 * 2f64.powi(-23) * of_row.len() as f64;
                let expected: f64 = of_row.map(|k| f64::from(values[k]) * f64::from(xs[columns[k] as usize])).sum();
                assert!((f64::from(found) - expected).abs() <= bound, "row {row} of {rows} on {}: {found}, {expected}", b.device);
            }
        }
        let (s, c, v, x, mut y) = (b.upload(&[0u32, 1]), b.zeros::<u32>(0), b.zeros::<f32>(1), b.zeros::<f32>(1), b.zeros::<f32>(1));
        let matrix = CompressedRows { starts: &s, columns: &c, values: &v };
        let error = spmv(&b.stream, matrix, &x, &mut y).expect_err("too short");
        assert_eq!(error.to_string(), "`spmv::spmv`: `columns` has 0 elements, and 1 are needed; make it longer");
    }
}
