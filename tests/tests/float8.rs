//! Floats of 8 bits, `e4m3` and `e5m2`: from every other float and back, on every device there is, against a table of the formats made here.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use std::hint::black_box;
use warpwright::prelude::*;
use warpwright::warp::shuffle_xor;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptx_interpreter::executed;
use warpwright_tests::sass::Judge;

#[kernel(block = 128)]
fn narrowed(x: &Global<f32>, to_e4m3: &mut Global<e4m3>, to_e5m2: &mut Global<e5m2>) {
    let i = global_id().x;
    if i < x.len() {
        to_e4m3[i] = x[i] as e4m3;
        to_e5m2[i] = e5m2::from_f32(x[i]);
    }
}

#[kernel(block = 128)]
fn narrowed_f64(x: &Global<f64>, to_e4m3: &mut Global<e4m3>, to_e5m2: &mut Global<e5m2>) {
    let i = global_id().x;
    if i < x.len() {
        to_e4m3[i] = x[i] as e4m3;
        to_e5m2[i] = e5m2::from_f64(x[i]);
    }
}

#[kernel(block = 128)]
fn narrowed_short(x: &Global<f16>, z: &Global<bf16>, to_e4m3: &mut Global<e4m3>, to_e5m2: &mut Global<e5m2>) {
    let i = global_id().x;
    if i < x.len() {
        to_e4m3[i] = x[i] as e4m3;
        to_e5m2[i] = z[i] as e5m2;
    }
}

/// Four elements a thread.
#[kernel(block = 128, vectorize = 4)]
fn widened(x: &Global<e4m3>, z: &Global<e5m2>, sum: &mut Global<f32>) {
    let i = global_id().x;
    if i < sum.len() {
        sum[i] = x[i] as f32 * 1024.0 + z[i] as f32;
    }
}

#[kernel(block = 32, allow(small_block))]
fn all_ways(x: &Global<e4m3>, halves: &mut Global<f16>, brains: &mut Global<bf16>, doubles: &mut Global<f64>, others: &mut Global<e5m2>) {
    let i = global_id().x;
    // Registers, a shared array, lanes and bits in between: nothing is lost.
    #[shared]
    let mut tile: [e4m3; 32];
    tile[thread_idx().x] = x[i];
    sync_threads();
    let kept = shuffle_xor(shuffle_xor(tile[thread_idx().x], 5), 5);
    let same = e4m3::from_bits(kept.to_bits());
    let chosen = if i.is_multiple_of(2) { same } else { black_box(same) };
    halves[i] = chosen as f16;
    brains[i] = chosen as bf16;
    doubles[i] = chosen.to_f64();
    others[i] = chosen as e5m2;
}

/// The numbers of a format, from 0 up, by number of bits behind the point, bias and how many there are.
fn numbers((digits, bias, count): (i32, i32, i32)) -> Vec<f64> {
    let of = |bits: i32| {
        let (exponent, rest) = (bits >> digits, f64::from(bits & ((1 << digits) - 1)) / f64::from(1 << digits));
        if exponent == 0 { rest * 2f64.powi(1 - bias) } else { (1.0 + rest) * 2f64.powi(exponent - bias) }
    };
    (0..count).map(of).collect()
}

/// OCP 8-bit floating point specification, revision 1.0.
const E4M3: (i32, i32, i32) = (3, 7, 127);
const E5M2: (i32, i32, i32) = (2, 15, 124);

/// The bits of the nearest number, of two the even one; NaN is 0x7f here.
fn nearest(all: &[f64], x: f64) -> u8 {
    if x.is_nan() {
        return 0x7f;
    }
    let size = x.abs();
    let above = all.partition_point(|number| *number < size).min(all.len() - 1);
    let below = above.saturating_sub(1);
    let (to_below, to_above) = (size - all[below], all[above] - size);
    let is_below = to_below < to_above || to_below == to_above && below % 2 == 0;
    let bits = if is_below && above != below && size < all[above] { below } else { above };
    bits as u8 | if x.is_sign_negative() { 128 } else { 0 }
}

/// Of NaN whatever payload.
fn bits_of(values: impl Iterator<Item = (u8, bool)>) -> Vec<u8> {
    values.map(|(bits, is_nan)| if is_nan { 0x7f } else { bits }).collect()
}

fn e4m3s(values: Vec<e4m3>) -> Vec<u8> {
    bits_of(values.into_iter().map(|v| (v.to_bits(), v.to_bits() & 127 == 127)))
}

fn e5m2s(values: Vec<e5m2>) -> Vec<u8> {
    bits_of(values.into_iter().map(|v| (v.to_bits(), v.to_bits() & 127 > 124)))
}

/// All numbers of the formats, what lies halfway, that by the least bit moved, the greatest, infinities, NaN, and any bits.
fn inputs() -> Vec<f64> {
    let mut inputs = vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 1e-300, -1e-40];
    for format in [E4M3, E5M2] {
        let all = numbers(format);
        inputs.extend(all.iter().flat_map(|x| [*x, -x]));
        for pair in all.windows(2) {
            let middle = (pair[0] + pair[1]) / 2.0;
            let single = middle as f32;
            inputs.extend([
                middle,
                -middle,
                f64::from(single.next_up()),
                f64::from(single.next_down()),
                middle.next_up(),
                -middle.next_down(),
            ]);
        }
        inputs.extend([1.01, 1.04, 1.07, 1.5].map(|more| all[all.len() - 1] * more));
    }
    let random = |i: u32| f32::from_bits(i.wrapping_mul(0x9e37_79b9).rotate_left(7).wrapping_mul(0x85eb_ca6b));
    inputs.extend((0..20_000).map(|i| f64::from(random(i))));
    // Exponents that the formats have.
    inputs.extend((0..20_000).map(|i| f64::from(f32::from_bits(random(i).to_bits() & 0x807f_ffff | (105 + i % 42) << 23))));
    inputs
}

#[test]
fn floats_become_the_nearest_of_8_bits() {
    let inputs = inputs();
    let (small, large) = (numbers(E4M3), numbers(E5M2));
    let expected = |of: &dyn Fn(f64) -> f64, all: &[f64]| inputs.iter().map(|x| nearest(all, of(*x))).collect::<Vec<u8>>();
    let n = inputs.len();
    on_all("floats of 8 bits", |device| {
        let (mut y, mut z) = (device.zeros::<e4m3>(n).unwrap(), device.zeros::<e5m2>(n).unwrap());
        let singles: Vec<f32> = inputs.iter().map(|x| *x as f32).collect();
        narrowed(&device.upload(&singles).unwrap(), &mut y, &mut z).cover(n).launch(device).unwrap();
        let single = |x: f64| f64::from(x as f32);
        assert!(e4m3s(y.download().unwrap()) == expected(&single, &small), "f32 as e4m3 on {device:?}");
        assert!(e5m2s(z.download().unwrap()) == expected(&single, &large), "f32 as e5m2 on {device:?}");
        narrowed_f64(&device.upload(&inputs).unwrap(), &mut y, &mut z).cover(n).launch(device).unwrap();
        assert!(e4m3s(y.download().unwrap()) == expected(&|x| x, &small), "f64 as e4m3 on {device:?}");
        assert!(e5m2s(z.download().unwrap()) == expected(&|x| x, &large), "f64 as e5m2 on {device:?}");
        let halves: Vec<f16> = inputs.iter().map(|x| f16::from_f64(*x)).collect();
        let brains: Vec<bf16> = inputs.iter().map(|x| bf16::from_f64(*x)).collect();
        narrowed_short(&device.upload(&halves).unwrap(), &device.upload(&brains).unwrap(), &mut y, &mut z).cover(n).launch(device).unwrap();
        assert!(e4m3s(y.download().unwrap()) == expected(&|x| f16::from_f64(x).to_f64(), &small), "f16 as e4m3 on {device:?}");
        assert!(e5m2s(z.download().unwrap()) == expected(&|x| bf16::from_f64(x).to_f64(), &large), "bf16 as e5m2 on {device:?}");
    });
}

/// What these bits are: a number, an infinity or NaN.
fn value(format: (i32, i32, i32), bits: u8) -> f64 {
    let size = usize::from(bits & 127);
    let all = numbers(format);
    let value = all.get(size).copied().unwrap_or(if size == 124 { f64::INFINITY } else { f64::NAN });
    if bits > 127 { -value } else { value }
}

/// NaNs are alike, and zeros differ.
fn shown(values: impl Iterator<Item = f64>) -> Vec<String> {
    values.map(|value| if value.is_nan() { "NaN".to_owned() } else { format!("{value:e}") }).collect()
}

#[test]
fn floats_of_8_bits_are_widened_exactly() {
    let every: Vec<u8> = (0..=255).collect();
    let x: Vec<e4m3> = every.iter().map(|bits| e4m3::from_bits(*bits)).collect();
    let pairs: Vec<(u8, u8)> = every.iter().flat_map(|a| every.iter().map(move |b| (*a, *b))).collect();
    on_all("floats of 8 bits, widened", |device| {
        let n = pairs.len() - 3;
        let a: Vec<e4m3> = pairs[..n].iter().map(|(a, _)| e4m3::from_bits(*a)).collect();
        let b: Vec<e5m2> = pairs[..n].iter().map(|(_, b)| e5m2::from_bits(*b)).collect();
        let mut sum = device.zeros::<f32>(n).unwrap();
        widened(&device.upload(&a).unwrap(), &device.upload(&b).unwrap(), &mut sum).cover(n).launch(device).unwrap();
        let expected = pairs[..n].iter().map(|(a, b)| f64::from(value(E4M3, *a) as f32 * 1024.0 + value(E5M2, *b) as f32));
        assert_eq!(shown(sum.download().unwrap().into_iter().map(f64::from)), shown(expected), "as f32 on {device:?}");
        let (mut halves, mut brains) = (device.zeros::<f16>(256).unwrap(), device.zeros::<bf16>(256).unwrap());
        let (mut doubles, mut others) = (device.zeros::<f64>(256).unwrap(), device.zeros::<e5m2>(256).unwrap());
        all_ways(&device.upload(&x).unwrap(), &mut halves, &mut brains, &mut doubles, &mut others).grid(8).launch(device).unwrap();
        let expected = shown(every.iter().map(|bits| value(E4M3, *bits)));
        assert_eq!(shown(halves.download().unwrap().into_iter().map(f16::to_f64)), expected, "as f16 on {device:?}");
        assert_eq!(shown(brains.download().unwrap().into_iter().map(bf16::to_f64)), expected, "as bf16 on {device:?}");
        assert_eq!(shown(doubles.download().unwrap().into_iter()), expected, "as f64 on {device:?}");
        let all = numbers(E5M2);
        let expected: Vec<u8> = every.iter().map(|bits| nearest(&all, value(E4M3, *bits))).collect();
        assert_eq!(e5m2s(others.download().unwrap()), expected, "as e5m2 on {device:?}");
    });
}

fn text(kernel: &str, target: &str) -> String {
    let source = kernel_of(include_str!("float8.rs"), kernel);
    ptx(source, kernel, &[], target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn targets_convert_by_what_they_have() {
    let judge = Judge::found_or_skip("targets_convert_by_what_they_have");
    for (target, capability, is_native) in
        [("sm_75", 75, false), ("sm_80", 80, false), ("sm_89", 89, true), ("sm_90a", 90, true), ("sm_120", 120, true)]
    {
        for (kernel, words) in [
            ("narrowed", &["cvt.rn.satfinite.e4m3x2.f32", "cvt.rn.satfinite.e5m2x2.f32"][..]),
            ("narrowed_f64", &["cvt.rn.satfinite.e4m3x2.f32"]),
            ("narrowed_short", &["cvt.rn.satfinite.e5m2x2.f32"]),
            ("widened", &["cvt.rn.f16x2.e4m3x2"]),
            ("all_ways", &["cvt.rn.f16x2.e4m3x2"]),
        ] {
            let text = text(kernel, target);
            assert!(words.iter().all(|word| text.contains(word) == is_native), "{kernel} on {target}: {text}");
            if let Some(judge) = &judge {
                judge.sass(&text, capability).unwrap_or_else(|error| panic!("{kernel} on {target}: {error}"));
            }
        }
    }
}

/// Of 64 × 128 by 16 × 128, given by its rows.
#[kernel(block = 128)]
fn products(a: &Matrix<e4m3>, b: &Matrix<e4m3>, c: &mut Matrix<f32>) {
    #[shared(swizzle = 128)]
    let mut left: [[e4m3; 128]; 64];
    #[shared(swizzle = 128)]
    let mut right: [[e4m3; 128]; 16];
    load_tile(&mut left, a, 0, 0);
    load_tile(&mut right, b, 0, 0);
    sync_threads();
    let mut sums = Accumulator::<f32, 64, 16>::zero();
    multiply_add(&left, transposed(&right), &mut sums);
    #[unroll]
    for e in 0..sums.len() {
        c[sums.position(e)] = sums[e];
    }
}

/// How many bits behind the point of the largest that they add tensor cores keep: results of products are within a bound that is made of it.
#[test]
fn sums_of_products_keep_13_bits() {
    on_all("bits of sums", |device| {
        // Row p of `a` has 2^p and a 1, in one instruction and in two that follow each other: columns 0 and 1 of the result.
        let power = |p: usize| (2f32.powi(p.min(8) as i32), 2f32.powi(p.saturating_sub(8) as i32));
        let (mut a, mut b) = (vec![e4m3::from_f32(0.0); 64 * 128], vec![e4m3::from_f32(0.0); 16 * 128]);
        // Of a row, k = 0 and 9 … 16 have the powers of two below and from 2^8 on.
        for p in 0..17 {
            let (low, high) = power(p);
            let at = if p > 8 { p } else { 0 };
            a[p * 128 + at] = e4m3::from_f32(low);
            let ones = [20, 100];
            ones.iter().for_each(|k| a[p * 128 + k] = e4m3::from_f32(1.0));
            for (column, one) in ones.into_iter().enumerate() {
                b[column * 128 + at] = e4m3::from_f32(high);
                b[column * 128 + one] = e4m3::from_f32(1.0);
            }
        }
        let (x, y) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
        let mut z = device.zeros::<f32>(64 * 16).unwrap();
        let (left, right) = (device.matrix(&x, 64, 128).unwrap(), device.matrix(&y, 16, 128).unwrap());
        products(left, right, device.matrix_mut(&mut z, 64, 16).unwrap()).grid(1).launch(device).unwrap();
        let sums = z.download().unwrap();
        for column in 0..2 {
            let kept = (0..17).take_while(|p| sums[p * 16 + column] == 2f32.powi(*p as i32) + 1.0).count();
            println!("column {column}: 2^{} + 1 is exact on {}", kept - 1, device.name());
            assert!(kept > 13, "{:?} on {device:?}", (0..17).map(|p| sums[p * 16 + column]).collect::<Vec<_>>());
        }
    });
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed(
        "float8",
        &["floats_become_the_nearest_of_8_bits", "floats_of_8_bits_are_widened_exactly", "sums_of_products_keep_13_bits"],
        "9.0",
    );
}
