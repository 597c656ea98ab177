//! Sums and products of `f16` and `bf16` where GPUs have instructions of them: the bits are those of `f32`, rounded, and `ptxas` makes two elements at a time.

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};
use warpwright_tests::ptx_interpreter::executed;
use warpwright_tests::sass::Judge;

#[kernel(block = 128, vectorize = 8)]
fn of_f16(x: &Global<f16>, z: &Global<f16>, y: &mut Global<f16>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = (x[i] * z[i] + x[i]) - z[i];
    }
}

#[kernel(block = 128, vectorize = 8)]
fn of_bf16(x: &Global<bf16>, z: &Global<bf16>, y: &mut Global<bf16>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = (x[i] + z[i]) - x[i] * z[i];
    }
}

/// Numbers of every exponent and sign, ties, the least and the greatest, infinities and a NaN: as bits.
fn bits(n: usize, salt: u32) -> Vec<u16> {
    let special = [
        0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0x3c01, 0x7f80, 0xff80, 0x7f7f,
        0x0080, 0x007f,
    ];
    let random = |i: usize| ((i as u32).wrapping_mul(0x9e37_79b9).wrapping_add(salt).wrapping_mul(0x85eb_ca6b) >> 13) as u16;
    // Every special number meets every other.
    let ours = |i: usize| if salt == 0 { i / special.len() } else { i };
    (0..n).map(|i| if i < special.len() * special.len() { special[ours(i) % special.len()] } else { random(i) }).collect()
}

/// As numbers: NaNs are alike, and zeros differ.
fn shown(values: impl Iterator<Item = f32>) -> Vec<String> {
    values.map(|value| if value.is_nan() { "NaN".to_owned() } else { format!("{value:e}") }).collect()
}

#[test]
fn results_are_those_of_f32_rounded() {
    let n = 40_003;
    let [x, z] = [0, 1].map(|salt| bits(n, salt));
    on_all("short floats", |device| {
        let (a, b) = (x.iter().map(|v| f16::from_bits(*v)).collect::<Vec<_>>(), z.iter().map(|v| f16::from_bits(*v)).collect::<Vec<_>>());
        let mut y = device.zeros::<f16>(n).unwrap();
        of_f16(&device.upload(&a).unwrap(), &device.upload(&b).unwrap(), &mut y).cover(n).launch(device).unwrap();
        let round = |v: f32| f16::from_f32(v).to_f32();
        let expected = a.iter().zip(&b).map(|(x, z)| {
            let (x, z) = (x.to_f32(), z.to_f32());
            round(round(round(x * z) + x) - z)
        });
        assert_eq!(shown(y.download().unwrap().into_iter().map(f16::to_f32)), shown(expected), "f16 on {device:?}");
        let (a, b) = (x.iter().map(|v| bf16::from_bits(*v)).collect::<Vec<_>>(), z.iter().map(|v| bf16::from_bits(*v)).collect::<Vec<_>>());
        let mut y = device.zeros::<bf16>(n).unwrap();
        of_bf16(&device.upload(&a).unwrap(), &device.upload(&b).unwrap(), &mut y).cover(n).launch(device).unwrap();
        let round = |v: f32| bf16::from_f32(v).to_f32();
        let expected = a.iter().zip(&b).map(|(x, z)| {
            let (x, z) = (x.to_f32(), z.to_f32());
            round(round(x + z) - round(x * z))
        });
        assert_eq!(shown(y.download().unwrap().into_iter().map(bf16::to_f32)), shown(expected), "bf16 on {device:?}");
    });
}

fn text(kernel: &str, target: &str) -> String {
    let source = kernel_of(include_str!("short_floats.rs"), kernel);
    ptx(source, kernel, &[], target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

#[test]
fn targets_have_what_they_have() {
    let count = |text: &str, word: &str| text.matches(word).count();
    for (target, native) in [("sm_50", [0, 0]), ("sm_53", [3, 0]), ("sm_80", [3, 0]), ("sm_90", [3, 3]), ("sm_120", [3, 3])] {
        let (halves, brains) = (text("of_f16", target), text("of_bf16", target));
        let found = [
            ["mul.rn.f16", "add.rn.f16", "sub.rn.f16"].map(|word| usize::from(count(&halves, word) > 0)).iter().sum::<usize>(),
            ["mul.rn.bf16", "add.rn.bf16", "sub.rn.bf16"].map(|word| usize::from(count(&brains, word) > 0)).iter().sum(),
        ];
        assert_eq!(found, native, "{target}");
    }
}

#[test]
fn the_assembler_makes_two_at_a_time() {
    let Some(judge) = Judge::found_or_skip("the_assembler_makes_two_at_a_time") else { return };
    let of = |kernel: &str, target: &str, capability: u16| {
        let sass = judge.sass(&text(kernel, target), capability).unwrap_or_else(|error| panic!("{error}"));
        // What computes on pairs, in three ways, constants among them; and what rounds `f32` to a pair.
        let pairs: usize = ["HADD2", "HMUL2", "HFMA2"].iter().map(|word| sass.matches(word).count()).sum();
        (pairs, sass.matches("F2FP").count())
    };
    // Three operations on eight elements are twelve on pairs; and on one element, in the form for the last threads.
    for (target, capability) in [("sm_80", 80), ("sm_90", 90)] {
        let (pairs, rounded) = of("of_f16", target, capability);
        assert!((12..=18).contains(&pairs) && rounded == 0, "{target}: {pairs}, {rounded}");
    }
    let (pairs, rounded) = of("of_bf16", "sm_90", 90);
    assert!((12..=18).contains(&pairs) && rounded == 0, "{pairs}, {rounded}");
}

/// The same once more, as PTX that is executed without a GPU.
#[test]
fn on_the_ptx_interpreter() {
    executed("short_floats", &["results_are_those_of_f32_rounded"], "8.0");
}
