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
                histogram::count_values(&b.stream, &x, &mut found).expect("right");
                let expected = counts(values.iter().map(|v| usize::from(*v)), bins);
                assert_eq!(found.download().expect("run"), expected, "{n} bytes, {bins} bins on {}", b.device);
            }
            for bins in [1, 1000, 3000, 10_001, 65_535, 65_536, 70_000] {
                let values = b.values(n, |bits| (bits >> 40) as u32 % (bins + bins / 8 + 1));
                let (x, mut found) = (b.upload(&values), b.zeros::<u32>(bins as usize));
                histogram::count_values(&b.stream, &x, &mut found).expect("right");
                let expected = counts(values.iter().map(|v| *v as usize), bins as usize);
                assert!(found.download().expect("run") == expected, "{n} values, {bins} bins on {}", b.device);
            }
        }
        // Counters of 16 bits overflow into the result.
        let values = vec![5u16; 80_000];
        let (x, mut found) = (b.upload(&values), b.zeros::<u32>(20_000));
        histogram::count_values(&b.stream, &x, &mut found).expect("right");
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
