//! Sorts.

use super::{Bench, benches, quick_benches, unit};
use warpwright_kernels::staples::sort::{self, SortKey};
use warpwright_kernels::staples::tuned::{SORT, TABLES};

#[track_caller]
fn check<K: SortKey + PartialEq + std::fmt::Debug>(b: &mut Bench, xs: &[K], order: impl Fn(&K, &K) -> std::cmp::Ordering) {
    let (x, mut y) = (b.upload(xs), b.zeros::<K>(xs.len()));
    let mut expected = xs.to_vec();
    expected.sort_by(&order);
    sort::keys(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
    // Bit for bit: NaNs, too.
    let found = y.download().expect("run");
    assert!(found.iter().zip(&expected).all(|(a, b)| order(a, b).is_eq()), "{} on {}", xs.len(), b.device);
    sort::keys_descending(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
    let found = y.download().expect("run");
    assert!(found.iter().rev().zip(&expected).all(|(a, b)| order(a, b).is_eq()), "descending, {} on {}", xs.len(), b.device);
}

#[test]
fn keys_of_four_bytes_are_sorted_at_every_length() {
    for mut b in benches() {
        for n in b.lengths() {
            let xs = b.values(n, |bits| bits as u32);
            check(&mut b, &xs, u32::cmp);
        }
        // Few values, all of them at an edge: one digit has nearly all.
        let xs = b.values(4500, |bits| [u32::MAX, 0, u32::MAX - 1][(bits >> 40) as usize % 3]);
        check(&mut b, &xs, u32::cmp);
        check(&mut b, &[u32::MAX; 2049], u32::cmp);
    }
}

#[test]
fn signed_keys_and_floats_are_in_their_total_order() {
    for mut b in quick_benches() {
        let xs = b.values(2500, |bits| bits as i32);
        check(&mut b, &xs, i32::cmp);
        let mut xs = b.values(2100, unit);
        let edges =
            [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MIN_POSITIVE, 1e-45, -1e-45, f32::MAX, f32::MIN];
        edges.iter().enumerate().for_each(|(i, x)| xs[i * 190 + 3] = *x);
        check(&mut b, &xs, f32::total_cmp);
        let wide: Vec<f64> = xs.iter().map(|x| f64::from(*x) / 3.0).collect();
        check(&mut b, &wide, f64::total_cmp);
    }
}

#[test]
fn values_go_with_their_keys_and_equal_keys_keep_their_order() {
    for mut b in benches() {
        for n in [0, 1, 33, 2048, 2049, 4100] {
            let keys = b.values(n, |bits| (bits >> 20) as u32 % 40 * 0x0101_0101);
            let values: Vec<u32> = (0..n as u32).collect();
            let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(values.iter().copied()).collect();
            let (k, v) = (b.upload(&keys), b.upload(&values));
            let (mut sorted, mut moved) = (b.zeros::<u32>(n), b.zeros::<u32>(n));
            sort::pairs(&b.stream, (&k, &v), (&mut sorted, &mut moved), &mut b.workspace).expect("right");
            expected.sort_by_key(|pair| pair.0);
            let found: Vec<(u32, u32)> = sorted.download().expect("run").into_iter().zip(moved.download().expect("run")).collect();
            assert_eq!(found, expected, "{n} on {}", b.device);
            sort::pairs_descending(&b.stream, (&k, &v), (&mut sorted, &mut moved), &mut b.workspace).expect("right");
            expected.sort_by_key(|pair| (std::cmp::Reverse(pair.0), pair.1));
            let found: Vec<(u32, u32)> = sorted.download().expect("run").into_iter().zip(moved.download().expect("run")).collect();
            assert_eq!(found, expected, "descending, {n} on {}", b.device);
        }
    }
    for mut b in quick_benches() {
        let keys = b.values(2100, |bits| bits as i64 >> (bits % 60));
        let values: Vec<f64> = (0..2100).map(f64::from).collect();
        let (k, v) = (b.upload(&keys), b.upload(&values));
        let (mut sorted, mut moved) = (b.zeros::<i64>(2100), b.zeros::<f64>(2100));
        sort::pairs(&b.stream, (&k, &v), (&mut sorted, &mut moved), &mut b.workspace).expect("right");
        let mut expected: Vec<(i64, f64)> = keys.into_iter().zip(values).collect();
        expected.sort_by_key(|pair| pair.0);
        assert_eq!(sorted.download().expect("run"), expected.iter().map(|pair| pair.0).collect::<Vec<_>>(), "{}", b.device);
        assert_eq!(moved.download().expect("run"), expected.iter().map(|pair| pair.1).collect::<Vec<_>>(), "{}", b.device);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for mut b in benches() {
        let (x, mut y, mut short) = (b.upload(&[3u32, 1]), b.upload(&[9u32, 9]), b.zeros::<u32>(1));
        let error = sort::keys(&b.stream, &x, &mut short, &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`sort::keys`: `sorted` has 1 elements, and 2 are needed; make it longer");
        let values = b.zeros::<f32>(1);
        let mut moved = b.zeros::<f32>(2);
        let error = sort::pairs(&b.stream, (&x, &values), (&mut y, &mut moved), &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`sort::pairs`: `values` has 1 elements, and 2 are needed; make it longer");
        b.workspace.freeze();
        let error = sort::keys(&b.stream, &x, &mut y, &mut b.workspace).expect_err("frozen");
        assert!(error.to_string().starts_with("`sort::keys` needs 8 bytes of workspace `elements`"), "{error}");
        assert_eq!(y.download().expect("unwritten"), [9, 9]);
    }
}

/// Every candidate of the table, whatever the length; one that the table does not have is not taken.
#[test]
fn every_candidate_sorts() {
    for mut b in quick_benches().into_iter().filter(|b| b.device.kind() != warpwright::DeviceKind::Host) {
        let xs = b.values(9001, |bits| (bits >> 11) as u32);
        let mut expected = xs.clone();
        expected.sort_unstable();
        let (x, mut y) = (b.upload(&xs), b.zeros::<u32>(9001));
        for candidate in (1..SORT.candidates.len()).chain([99]) {
            b.workspace.force(Some(candidate));
            sort::keys(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            assert!(y.download().expect("run") == expected, "candidate {candidate} on {}", b.device);
        }
    }
}

#[test]
fn a_device_without_rows_takes_the_first_ones() {
    for table in TABLES {
        assert_eq!(table.choice("another", 0), table.tuned[0].rows[0].candidate, "{}", table.name);
        for tuned in table.tuned {
            let last = tuned.rows.last().map(|row| row.candidate);
            assert_eq!(Some(table.choice(&format!("NVIDIA {}", tuned.device), usize::MAX)), last, "{}, {}", table.name, tuned.device);
        }
    }
}
