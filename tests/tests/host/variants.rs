//! A kernel's declared variants as values.

use warpwright::Num;
use warpwright::prelude::*;
use warpwright::{Tuned, TunedError, Variants};

const LARGE: usize = 128;

#[kernel(
    block = B, ilp = ILP, batch_loads = BATCH, math = if BATCH { fast } else { precise },
    variants(B in [64, LARGE], ILP in [1, 4], BATCH in [false, true])
)]
fn copy<const B: usize, const ILP: usize, const BATCH: bool>(out: &mut Global<f64>, inp: &Global<f64>) {
    let i = global_id().x;
    if i < out.len() {
        out[i] = inp[i] + (B * 1000 + ILP * 10 + BATCH as usize) as f64;
    }
}

/// Types, integers of several kinds; what arguments fix (`T`, `N`), what is gone through (`A`, `M`, `K`, `B`).
#[kernel(
    block = B,
    variants(T in [f32, u32], A in [f32, f64], N in [2, 3], M in [-1, 0, 1], K in [7], B in [32, 64]),
    allow(small_block, constant_divergence, double_in_single)
)]
fn mixed<T: Num, A: Num, const N: usize, const M: i32, const K: u8, const B: u32>(scale: T, c: &Constant<[T; N]>, y: &mut Global<T>) {
    let i = global_id().x;
    if i < y.len() {
        let sum = c[i % N] as A + M as A + K as A;
        y[i] = sum as T * scale + y[i];
    }
}

#[kernel(variants(N in [1, 2]))]
fn asserts<const N: u32>(limit: u32) {
    assert!(limit < N * 10);
}

#[warpwright::module]
mod inner {
    use warpwright::prelude::*;

    #[kernel(block = 64, variants(N in [3, 5]))]
    pub fn times<const N: u32>(y: &mut Global<u32>) {
        let i = global_id().x;
        if i < y.len() {
            y[i] *= factor::<N>();
        }
    }

    #[device]
    fn factor<const N: u32>() -> u32 {
        N
    }
}

#[test]
fn every_variant_is_there_in_order_and_runs() {
    let variants = copy_variants();
    let words: Vec<String> = variants.iter().map(ToString::to_string).collect();
    assert_eq!(words.len(), 8);
    assert_eq!(words[..3], ["B = 64, ILP = 1, BATCH = false", "B = 64, ILP = 1, BATCH = true", "B = 64, ILP = 4, BATCH = false"]);
    assert_eq!(words[7], "B = 128, ILP = 4, BATCH = true");
    assert_eq!(format!("{:?}", variants[0]), "copy (B = 64, ILP = 1, BATCH = false)");
    for device in Device::all() {
        let inp = device.upload(&[0.5f64; 300]).unwrap();
        let mut out = device.zeros(300).unwrap();
        for variant in copy_variants() {
            variant.kernel()(&mut out, &inp).cover(300).launch(&device).unwrap();
            let [b, ilp] = ["B", "ILP"].map(|name| variant.int(name).unwrap());
            let expected = 0.5 + (b * 1000 + ilp * 10 + i128::from(variant.bool("BATCH").unwrap())) as f64;
            assert_eq!(out.download().unwrap(), [expected; 300], "{device}, {variant}");
        }
    }
}

#[test]
fn a_variant_is_the_instance_that_its_values_name() {
    let device = Device::simulator();
    let inp = device.upload(&[1.0f64; 8]).unwrap();
    let (mut a, mut b) = (device.zeros(8).unwrap(), device.zeros(8).unwrap());
    let variant = copy_variants().find("ILP = 4, BATCH = true, B = 128").unwrap();
    let (chosen, named) = (variant.kernel()(&mut a, &inp), copy::<128, 4, true>(&mut b, &inp));
    assert_eq!(chosen.ptx("sm_90").unwrap(), named.ptx("sm_90").unwrap());
    // Both are one instance: one compilation, and then none. What a launch allocates does not depend on how it was made.
    assert!(chosen.ptx("sm_90").unwrap().contains(".reqntid 128"));
    assert_eq!(chosen.definition().name, "copy");
    assert!(std::ptr::eq(chosen.definition(), named.definition()));
}

#[test]
fn variants_are_found_by_what_they_are() {
    let variants = copy_variants();
    let found = |values: &str| variants.find(values).map(|variant| variant.to_string());
    assert_eq!(found("B=128").as_deref(), Some("B = 128, ILP = 1, BATCH = false"));
    assert_eq!(found("BATCH = true, ILP = 4").as_deref(), Some("B = 64, ILP = 4, BATCH = true"));
    assert_eq!(found("").as_deref(), Some("B = 64, ILP = 1, BATCH = false"));
    for none in ["B = 65", "b = 64", "B", "B = 64, C = 1", "BATCH = 1", "64"] {
        assert_eq!(found(none), None, "{none}");
    }
    let first = &variants[0];
    assert_eq!((first.name(), first.int("B"), first.int("BATCH"), first.bool("B"), first.ty("B")), ("copy", Some(64), None, None, None));
    assert_eq!(first.values().collect::<Vec<_>>(), [("B", "64".into()), ("ILP", "1".into()), ("BATCH", "false".into())]);
}

/// The values of `A`, `M` and `B` of each variant.
fn gone_through<F: Copy>(variants: &Variants<F>) -> Vec<(String, i128, i128)> {
    variants.iter().map(|variant| (variant.ty("A").unwrap(), variant.int("M").unwrap(), variant.int("B").unwrap())).collect()
}

#[test]
fn arguments_fix_what_their_types_name() {
    let all: Vec<_> = ["f32", "f64"].iter().flat_map(|a| [-1, 0, 1].map(|m| [32, 64].map(|b| ((*a).to_owned(), m, b)))).flatten().collect();
    for device in Device::all() {
        let constant = device.constant([10u32, 20, 30]).unwrap();
        let variants = mixed_variants::<u32, 3>();
        assert_eq!(gone_through(&variants), all);
        for variant in &variants {
            let mut y = device.upload(&[1u32; 40]).unwrap();
            variant.kernel()(2, &constant, &mut y).cover(40).launch(&device).unwrap();
            let expected = |i: usize| (10 * (i % 3 + 1) as i128 + variant.int("M").unwrap() + 7) as u32 * 2 + 1;
            assert_eq!(y.download().unwrap(), (0..40).map(expected).collect::<Vec<_>>(), "{device}, {variant}");
        }
    }
    let texts: Vec<String> = mixed_variants::<f32, 2>().iter().map(ToString::to_string).collect();
    assert_eq!((texts.len(), texts[1].as_str()), (12, "T = f32, A = f32, N = 2, M = -1, K = 7, B = 64"));
    // What is not declared has no variants: `f64` as `T`, 4 as `N`.
    assert!(mixed_variants::<f64, 2>().is_empty() && mixed_variants::<f32, 4>().is_empty());
}

#[test]
fn kernels_without_buffers_and_in_modules_have_them_too() {
    let device = Device::simulator();
    let results: Vec<bool> =
        asserts_variants().iter().map(|variant| variant.kernel()(15).block(32).grid(1).launch(&device).is_ok()).collect();
    assert_eq!(results, [false, true]);
    let mut y = device.upload(&[1u32; 10]).unwrap();
    for variant in inner::times_variants() {
        variant.kernel()(&mut y).cover(10).launch(&device).unwrap();
    }
    assert_eq!(y.download().unwrap(), [15; 10]);
}

/// A result file, as `warpwright tune` writes it.
fn tuned(kernel: &str, best: &str) -> Tuned {
    let device = Device::simulator();
    let path = std::env::temp_dir().join(format!("warpwright-variants-{}-{kernel}-{}.toml", std::process::id(), best.len()));
    let text = format!(
        "schema = 1\nkernel = \"{kernel}\"\ndevice = \"{device}\"\ntarget = \"sm_90\"\ncompiler = \"{}\"\nfingerprint = \"0\"\n[best]\n{best}\n",
        warpwright::tuned::COMPILER
    );
    std::fs::write(&path, text).unwrap();
    let tuned = Tuned::load(&path, &device).unwrap();
    std::fs::remove_file(path).unwrap();
    tuned
}

#[test]
fn what_tune_found_best_is_one_of_them() {
    let best = copy_variants().tuned(&tuned("copy", "B = 128\nILP = 4\nBATCH = true")).unwrap();
    assert_eq!(best.to_string(), "B = 128, ILP = 4, BATCH = true");
    assert_eq!(inner::times_variants().tuned(&tuned("inner::times", "N = 5")).unwrap().int("N"), Some(5));
    let types = mixed_variants::<f32, 2>();
    assert_eq!(types.tuned(&tuned("mixed", "T = \"f32\"\nA = \"f64\"\nM = 0\nB = 64")).unwrap().ty("A").as_deref(), Some("f64"));
    let error = copy_variants().tuned(&tuned("copy", "B = 32\nILP = 4\nBATCH = true")).unwrap_err();
    let text = "the best variant of `copy` is B = 32, BATCH = true, ILP = 4, which is not among those of `copy`, which declares 8; declare it, or run `warpwright tune` again";
    assert_eq!(error.to_string(), text);
    let error = copy_variants().tuned(&tuned("times", "B = 64")).unwrap_err();
    assert!(matches!(&error, TunedError::NoVariant { kernel, kernels: "copy", declares: 8, .. } if kernel == "times"), "{error}");
}
