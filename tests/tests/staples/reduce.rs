//! Sums, products, least and greatest, bits.

use super::{benches, quick_benches, unit};
use warpwright::prelude::{bf16, f16};
use warpwright_kernels::staples::{Error, reduce};

#[test]
fn integers_are_exact_at_every_length() {
    for mut b in quick_benches() {
        for n in b.lengths() {
            let xs = b.values(n, |bits| bits as i8);
            let (x, mut out) = (b.upload(&xs), b.zeros::<i32>(1));
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            assert_eq!(out.download().expect("run")[0], xs.iter().map(|x| i32::from(*x)).sum::<i32>(), "{n} on {}", b.device);

            let xs = b.values(n, |bits| bits);
            let (x, mut out) = (b.upload(&xs), b.zeros::<u64>(1));
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            assert_eq!(out.download().expect("run")[0], xs.iter().fold(0u64, |a, b| a.wrapping_add(*b)), "{n} on {}", b.device);
            reduce::bit_xor(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            assert_eq!(out.download().expect("run")[0], xs.iter().fold(0, |a, b| a ^ b), "{n} on {}", b.device);

            let xs = b.values(n, |bits| (bits >> 9) as i32);
            let (x, mut out) = (b.upload(&xs), b.zeros::<i32>(1));
            let least = reduce::min(&b.stream, &x, &mut out, &mut b.workspace);
            match xs.iter().min() {
                Some(expected) => {
                    least.expect("right");
                    assert_eq!(out.download().expect("run")[0], *expected, "{n} on {}", b.device);
                    reduce::max(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
                    assert_eq!(out.download().expect("run")[0], xs.iter().copied().max().expect("some"), "{n} on {}", b.device);
                }
                None => assert_eq!(
                    least.expect_err("nothing").to_string(),
                    "`reduce::min`: `x` is empty, and nothing in it is the result; give it an element"
                ),
            }
        }
    }
}

/// Chunks that run ahead: fewer than stages, more, and what is left of one; elements of every width.
#[test]
fn sums_by_copies_ahead_are_exact() {
    for mut b in quick_benches() {
        for candidate in [7, 8] {
            b.workspace.force(Some(candidate));
            for n in [0, 1, 2047, 2048, 2049, 4096, 10_000, 70_001] {
                let xs = b.values(n, |bits| bits as u8);
                let (x, mut out) = (b.upload(&xs), b.zeros::<u32>(1));
                reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
                assert_eq!(out.download().expect("run")[0], xs.iter().map(|x| u32::from(*x)).sum::<u32>(), "{n} on {}", b.device);
                let xs = b.values(n, |bits| bits);
                let (x, mut out) = (b.upload(&xs), b.zeros::<u64>(1));
                reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
                assert_eq!(out.download().expect("run")[0], xs.iter().fold(0u64, |a, b| a.wrapping_add(*b)), "{n} on {}", b.device);
            }
        }
    }
}

#[test]
fn sums_of_floats_keep_to_the_bound_and_to_their_bits() {
    for mut b in benches() {
        for n in b.lengths() {
            b.workspace.force(None);
            let xs = b.values(n, unit);
            let (x, mut out) = (b.upload(&xs), b.zeros::<f32>(1));
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            let first = out.download().expect("run")[0];
            let exact: f64 = xs.iter().map(|x| f64::from(*x)).sum();
            let magnitude: f64 = xs.iter().map(|x| f64::from(x.abs())).sum();
            let bound = reduce::depth::<f32>(&b.device, n) as f64 * 2f64.powi(-24) * magnitude;
            assert!((f64::from(first) - exact).abs() <= bound, "{n} on {}: {first}, {exact} within {bound}", b.device);
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            assert_eq!(out.download().expect("run")[0].to_bits(), first.to_bits(), "{n} on {}: the same bits again", b.device);
        }
    }
}

#[test]
fn short_floats_are_summed_in_single_and_doubles_in_double() {
    for mut b in quick_benches() {
        for n in [0, 1, 257, 3001] {
            let xs: Vec<f16> = b.values(n, |bits| f16::from_f32(unit(bits)));
            let (x, mut out) = (b.upload(&xs), b.zeros::<f32>(1));
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            let exact: f64 = xs.iter().map(|x| x.to_f64()).sum();
            let bound = reduce::depth::<f16>(&b.device, n) as f64 * 2f64.powi(-24) * n as f64;
            assert!((f64::from(out.download().expect("run")[0]) - exact).abs() <= bound, "{n} on {}", b.device);

            // Powers of two: exact in every order.
            let xs: Vec<bf16> = b.values(n, |bits| bf16::from_f32(f32::from((bits % 3) as u8) - 1.0));
            let x = b.upload(&xs);
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            assert_eq!(out.download().expect("run")[0], xs.iter().map(|x| x.to_f32()).sum::<f32>(), "{n} on {}", b.device);

            let xs: Vec<f64> = b.values(n, |bits| f64::from(unit(bits)) / 3.0);
            let (x, mut out) = (b.upload(&xs), b.zeros::<f64>(1));
            reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            let bound = reduce::depth::<f64>(&b.device, n) as f64 * 2f64.powi(-52) * n as f64;
            assert!((out.download().expect("run")[0] - xs.iter().sum::<f64>()).abs() <= bound, "{n} on {}", b.device);
        }
    }
}

#[test]
fn nan_does_not_count_and_infinity_does() {
    for mut b in benches() {
        let mut out = b.zeros::<f32>(1);
        let mut least = |b: &mut super::Bench, xs: &[f32]| {
            let x = b.upload(xs);
            reduce::min(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            let least = out.download().expect("run")[0];
            reduce::max(&b.stream, &x, &mut out, &mut b.workspace).expect("right");
            (least, out.download().expect("run")[0])
        };
        assert_eq!(least(&mut b, &[f32::NAN, 3.0, f32::NAN, -2.0, f32::NAN]), (-2.0, 3.0), "{}", b.device);
        assert_eq!(least(&mut b, &[f32::INFINITY, f32::NEG_INFINITY, 1.0]), (f32::NEG_INFINITY, f32::INFINITY), "{}", b.device);
        assert_eq!(least(&mut b, &[f32::INFINITY; 300]), (f32::INFINITY, f32::INFINITY), "{}", b.device);
        let (a, c) = least(&mut b, &[f32::NAN; 70]);
        assert!(a.is_nan() && c.is_nan(), "{}", b.device);
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    for mut b in benches() {
        let x = b.upload(&[1.0f32, 2.0]);
        let mut none = b.zeros::<f32>(0);
        let error = reduce::sum(&b.stream, &x, &mut none, &mut b.workspace).expect_err("no room");
        assert_eq!(error.to_string(), "`reduce::sum`: `out` has 0 elements, and 1 are needed; make it longer");
        let mut out = b.upload(&[7.0f32]);
        b.workspace.freeze();
        let error = reduce::sum(&b.stream, &x, &mut out, &mut b.workspace).expect_err("frozen");
        assert_eq!(
            error.to_string(),
            "`reduce::sum` needs 4 bytes of workspace `elements`, which has 0 and is frozen; call the function once before `freeze`, or leave it out"
        );
        assert_eq!(out.download().expect("unwritten"), [7.0]);
        let (here, other) = (b.device.clone(), warpwright::Device::all().into_iter().find(|device| *device != b.device).expect("two"));
        let foreign = other.upload(&[1.0f32]).expect("memory");
        let error = reduce::sum(&b.stream, &foreign, &mut out, &mut b.workspace).expect_err("of another device");
        let expected = format!("`reduce::sum`: `x` lies on {other}, and the stream is of {here}; make it on that device");
        assert_eq!(error.to_string(), expected);
        assert!(matches!(error, Error::OtherDevice { .. }));
    }
}
