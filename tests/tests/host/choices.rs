//! Arguments of `#[kernel(…)]` that are words or widths, chosen by const generics.

use warpwright::prelude::*;

const WIDE: u32 = 64;

#[kernel(
    block = 64,
    math = if FAST { fast } else { precise },
    bounds = if LEVEL > 1 { trap } else { unchecked },
    index = INDEX,
    variants(FAST in [false, true], LEVEL in [1, 2], INDEX in [32, 64])
)]
fn chosen<const FAST: bool, const LEVEL: u8, const INDEX: u32>(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = y[i].sin();
    }
}

/// Constants of the file in both places, and a choice within a choice.
#[kernel(block = 64, index = WIDE, math = if WIDE == 32 { precise } else if N == 0 { fast } else { precise })]
fn nested<const N: usize>(y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = y[i].exp();
    }
}

fn ir(launch: Launch<'_>) -> String {
    launch.ir().unwrap()
}

#[test]
fn each_instance_has_what_its_generics_choose() {
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(4).unwrap();
    let plain = ir(chosen::<false, 1, 32>(&mut y));
    assert!(!plain.contains("math =") && !plain.contains("bounds =") && !plain.contains("index ="), "{plain}");
    let text = ir(chosen::<true, 1, 32>(&mut y));
    assert!(text.contains("math = fast") && !text.contains("bounds ="), "{text}");
    let text = ir(chosen::<false, 2, 32>(&mut y));
    assert!(text.contains("bounds = trap") && !text.contains("math ="), "{text}");
    let text = ir(chosen::<true, 9, 64>(&mut y));
    assert!(["math = fast", "bounds = trap", "index = 64"].iter().all(|part| text.contains(part)), "{text}");
    // What the device is handed differs as it should.
    let (precise, fast) = (chosen::<false, 1, 32>(&mut y).ptx("sm_90").unwrap(), chosen::<true, 1, 32>(&mut y).ptx("sm_90").unwrap());
    assert!(fast.contains("sin.approx") && !precise.contains("sin.approx"));
    assert!(ir(nested::<0>(&mut y)).contains("math = fast") && !ir(nested::<1>(&mut y)).contains("math = fast"));
    assert!(ir(nested::<1>(&mut y)).contains("index = 64"));
}

#[test]
fn all_of_them_run_everywhere() {
    for device in Device::all() {
        let xs: Vec<f32> = (0..100).map(|n| n as f32 / 50.0).collect();
        let run = |launch: fn(&mut Buffer<f32>) -> Launch<'_>| {
            let mut y = device.upload(&xs).unwrap();
            launch(&mut y).cover(100).launch(&device).unwrap();
            y.download().unwrap()
        };
        for result in [run(chosen::<false, 1, 32>), run(chosen::<true, 1, 32>), run(chosen::<true, 2, 64>), run(chosen::<false, 2, 64>)] {
            // The coarsest of the hardware's approximations is off by 2^-20.9 (docs of `native_sin`).
            assert!(result.iter().zip(&xs).all(|(found, x)| (found - x.sin()).abs() < 1e-6), "{device}");
        }
    }
}

#[test]
fn a_width_that_is_none_is_refused_at_its_place() {
    let device = Device::simulator();
    let mut y = device.zeros::<f32>(4).unwrap();
    let error = chosen::<false, 1, 16>(&mut y).cover(4).launch(&device).unwrap_err().to_string();
    assert!(error.contains("choices.rs:11:13: `index` is 32 or 64, not 16"), "{error}");
    assert!(error.contains("help: write `index = 64` for 64-bit indices"), "{error}");
}
