//! Scans.

use super::{benches, quick_benches, unit};
use warpwright_kernels::staples::scan;

#[test]
fn integers_are_exact_at_every_length() {
    for mut b in benches() {
        for n in b.lengths() {
            let xs = b.values(n, |bits| bits as u32);
            let (x, mut y) = (b.upload(&xs), b.zeros::<u32>(n + 3));
            scan::inclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            let mut expected = sums(&xs);
            expected.extend([0; 3]);
            assert_eq!(y.download().expect("run"), expected, "{n} on {}", b.device);
            scan::exclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            expected = [vec![0], expected].concat()[..n].to_vec();
            assert_eq!(y.download().expect("run")[..n], expected, "exclusive, {n} on {}", b.device);
        }
    }
}

#[test]
fn sums_of_eight_bytes_beside_states_are_right() {
    for mut b in quick_benches() {
        for n in b.lengths() {
            let xs = b.values(n, |bits| bits as i64 >> 5);
            let (x, mut y) = (b.upload(&xs), b.zeros::<i64>(n));
            scan::inclusive_max(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            let expected: Vec<i64> = xs.iter().scan(i64::MIN, |most, x| Some(*(*most = (*most).max(*x), &*most).1)).collect();
            assert_eq!(y.download().expect("run"), expected, "greatest, {n} on {}", b.device);
            scan::exclusive_min(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            let expected: Vec<i64> = (0..n).map(|i| xs[..i].iter().copied().min().unwrap_or(i64::MAX)).take(300).collect();
            assert_eq!(y.download().expect("run")[..expected.len()], expected, "least, {n} on {}", b.device);
        }
    }
}

fn sums(xs: &[u32]) -> Vec<u32> {
    let mut sum = 0u32;
    let add = |x: &u32| {
        sum = sum.wrapping_add(*x);
        sum
    };
    xs.iter().map(add).collect()
}

#[test]
fn sums_of_floats_keep_to_the_bound() {
    for mut b in benches() {
        for n in b.lengths() {
            let xs = b.values(n, unit);
            let (x, mut y) = (b.upload(&xs), b.zeros::<f32>(n));
            scan::inclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            let found = y.download().expect("run");
            let unit = scan::depth::<f32>(&b.device, n) as f64 * 2f64.powi(-24);
            let (mut exact, mut magnitude) = (0.0, 0.0);
            for (i, (x, y)) in xs.iter().zip(&found).enumerate() {
                exact += f64::from(*x);
                magnitude += f64::from(x.abs());
                assert!((f64::from(*y) - exact).abs() <= unit * magnitude, "element {i} of {n} on {}: {y}, {exact}", b.device);
            }
        }
    }
}

#[test]
fn a_nan_stays_in_sums_and_does_not_count_in_the_least() {
    for mut b in benches() {
        let mut xs = b.values(2000, unit);
        xs[777] = f32::NAN;
        let (x, mut y) = (b.upload(&xs), b.zeros::<f32>(2000));
        scan::inclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
        let found = y.download().expect("run");
        assert!(found.iter().enumerate().all(|(i, y)| y.is_nan() == (i >= 777)), "{}", b.device);
        scan::inclusive_min(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
        let least = xs.iter().copied().fold(f32::NAN, f32::min);
        assert_eq!(y.download().expect("run")[1999], least, "{}", b.device);
    }
}

/// States of earlier runs, of other lengths, say nothing.
#[test]
fn a_workspace_serves_runs_of_all_lengths_and_grows_once_for_each() {
    for mut b in benches() {
        let mut growths = Vec::new();
        for n in [20_000, 300, 5_000, 20_000, 300, 20_000] {
            let xs = b.values(n, |bits| bits as u32);
            let (x, mut y) = (b.upload(&xs), b.zeros::<u32>(n));
            scan::inclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect("right");
            assert_eq!(y.download().expect("run"), sums(&xs), "{n} on {}", b.device);
            growths.push(b.workspace.growths());
        }
        assert!(growths.iter().all(|count| *count == growths[0]), "{growths:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for mut b in benches() {
        let (x, mut y) = (b.upload(&[1u32, 2, 3]), b.upload(&[9u32, 9]));
        let error = scan::inclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`scan::inclusive_sum`: `y` has 2 elements, and 3 are needed; make it longer");
        let mut y = b.upload(&[9u32, 9, 9]);
        b.workspace.freeze();
        let error = scan::exclusive_sum(&b.stream, &x, &mut y, &mut b.workspace).expect_err("frozen");
        assert!(error.to_string().starts_with("`scan::exclusive_sum` needs 8 bytes of workspace `states`, which has 0"), "{error}");
        assert_eq!(y.download().expect("unwritten"), [9, 9, 9]);
    }
}

/// `y[i]`: the fold of its run, with `x[i]` or without.
fn runs<T: Copy>(keys: &[u32], xs: &[T], first: T, exclusive: bool, fold: impl Fn(T, T) -> T) -> Vec<T> {
    let mut run = first;
    (0..xs.len())
        .map(|i| {
            let before = if i > 0 && keys[i] == keys[i - 1] { run } else { first };
            run = fold(before, xs[i]);
            if exclusive { before } else { run }
        })
        .collect()
}

#[test]
fn scans_by_key_begin_anew() {
    use warpwright_kernels::staples::by_key;
    for mut b in benches() {
        for n in b.lengths() {
            // Runs of all lengths: of one, and longer than a tile.
            for rarity in [2, 40, 100_000] {
                let mut key = 0;
                let keys =
                    b.values(n, |bits| bits % rarity == 0).into_iter().map(|ends| (key += u32::from(ends), key).1).collect::<Vec<u32>>();
                let xs = b.values(n, |bits| bits as u32);
                let (k, x, mut y) = (b.upload(&keys), b.upload(&xs), b.zeros::<u32>(n));
                by_key::inclusive_sum(&b.stream, &k, &x, &mut y, &mut b.workspace).expect("right");
                assert!(
                    y.download().expect("run") == runs(&keys, &xs, 0, false, u32::wrapping_add),
                    "{n}, one in {rarity} on {}",
                    b.device
                );
                by_key::exclusive_sum(&b.stream, &k, &x, &mut y, &mut b.workspace).expect("right");
                assert!(
                    y.download().expect("run") == runs(&keys, &xs, 0, true, u32::wrapping_add),
                    "exclusive, {n}, {rarity} on {}",
                    b.device
                );
            }
        }
    }
    for mut b in quick_benches() {
        let n = 5003;
        let keys: Vec<u32> = (0..n as u32).map(|i| i / 700).collect();
        let xs = b.values(n, |bits| bits as i64 >> 3);
        let (k, x, mut y) = (b.upload(&keys), b.upload(&xs), b.zeros::<i64>(n));
        by_key::inclusive_max(&b.stream, &k, &x, &mut y, &mut b.workspace).expect("right");
        assert!(y.download().expect("run") == runs(&keys, &xs, i64::MIN, false, i64::max), "{}", b.device);
        by_key::exclusive_min(&b.stream, &k, &x, &mut y, &mut b.workspace).expect("right");
        assert!(y.download().expect("run") == runs(&keys, &xs, i64::MAX, true, i64::min), "{}", b.device);
        let short = b.zeros::<u32>(n - 1);
        let error = by_key::inclusive_sum(&b.stream, &short, &x, &mut y, &mut b.workspace).expect_err("too short");
        assert_eq!(error.to_string(), "`by_key::inclusive_sum`: `keys` has 5002 elements, and 5003 are needed; make it longer");
    }
}

/// What runs from 2³¹ elements on, at lengths that can be looked at.
#[test]
fn kernels_with_a_long_index_compute_the_same() {
    use warpwright_kernels::staples::{by_key, reduce, scan};
    for mut b in quick_benches() {
        for n in [1, 5000, 11_000] {
            let xs = b.values(n, |bits| bits as u32);
            let (x, mut y, mut out) = (b.upload(&xs), b.zeros::<u32>(n), b.zeros::<u32>(1));
            let (mut states, mut beside, mut tickets) = (b.zeros::<u64>(64), b.zeros::<u32>(64), b.zeros::<u32>(1));
            let tiles = n.div_ceil(10_240);
            let launch = scan::scan_words::<u32, 0, 0, false, 4, 8, 10, 64>(0, 1, &x, &mut y, &mut states, &mut beside, &mut tickets);
            launch.grid(tiles).launch(&b.device).expect("right");
            assert!(y.download().expect("run") == sums(&xs), "{n} on {}", b.device);
            let before = tiles as u32;
            let launch = reduce::reduce_words::<u32, u32, 0, 0, 0, 4, 256, 4, 64>(before, &x, &mut beside, &mut tickets, &mut out);
            launch.grid(3).launch(&b.device).expect("right");
            assert_eq!(out.download().expect("run")[0], xs.iter().fold(0u32, |a, b| a.wrapping_add(*b)), "{n} on {}", b.device);
            let keys = b.upload(&vec![7u32; n]);
            let tiles = n.div_ceil(4096);
            let launch = by_key::scan_runs::<u32, 0, 0, 0, false, 4, 8, 4, 64>(
                before + 3,
                2,
                &keys,
                &x,
                &mut y,
                &mut states,
                &mut beside,
                &mut tickets,
            );
            launch.grid(tiles).launch(&b.device).expect("right");
            assert!(y.download().expect("run") == sums(&xs), "by key, {n} on {}", b.device);
        }
    }
}
