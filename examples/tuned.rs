//! A kernel whose parameters come from a file that `warpwright tune` wrote on this device. Where there is no such file, or it does not hold, the program says why and takes others.
//! Without an argument it shows these cases: it times the variants itself, and writes a file as `warpwright tune` does.
//!
//! `cargo run --release --example tuned [scale.tuned.toml]`; the file comes of `warpwright tune examples/tuned.rs::scale --cover 16777216 --args a=2`

use std::error::Error;
use std::path::Path;
use warpwright::prelude::*;
use warpwright::{Result, Tuned, tuned};

/// y ← a·x. The threads of a block and the elements of a thread are parameters with a few values to choose from.
#[kernel(block = B, ilp = ILP, variants(B in [128, 256], ILP in [1, 4]))]
fn scale<const B: usize, const ILP: usize>(a: f32, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = a * x[i];
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let device = Device::best();
    let n = 100_000;
    let x = device.upload(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let mut y = device.zeros(n)?;
    if let Some(path) = std::env::args().nth(1) {
        return Ok(run(path.as_ref(), &device, &x, &mut y)?);
    }
    let path = std::env::temp_dir().join(format!("scale-{}.tuned.toml", std::process::id()));
    println!("without a file:");
    run(&path, &device, &x, &mut y)?;
    println!("with a file of this device:");
    let file = measure(&device, &x, &mut y)?;
    std::fs::write(&path, &file)?;
    run(&path, &device, &x, &mut y)?;
    println!("with a file of another device:");
    std::fs::write(&path, file.replace(&device.to_string(), "NVIDIA GTX 1 (sm_50)"))?;
    run(&path, &device, &x, &mut y)?;
    Ok(std::fs::remove_file(&path)?)
}

/// Runs the best variant of the file, or else one that is good on most devices, and checks the result.
fn run(path: &Path, device: &Device, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
    let variants = scale_variants();
    let best = Tuned::load(path, device).and_then(|tuned| {
        let best = variants.tuned(&tuned)?;
        // Whether the kernel is still the one that was timed.
        tuned.check(&best.kernel()(2.0, x, y))?;
        Ok(best)
    });
    y.clear()?;
    match best {
        Ok(best) => {
            println!("    tuned: {best}");
            best.kernel()(2.0, x, y).cover(x.len()).launch(device)?;
        }
        Err(reason) => {
            println!("    not tuned, so B = 256, ILP = 1: {reason}");
            scale::<256, 1>(2.0, x, y).cover(x.len()).launch(device)?;
        }
    }
    assert!(y.download()?.iter().enumerate().all(|(i, y)| *y == 2.0 * i as f32), "y is not 2·x");
    Ok(())
}

/// Times all variants, and gives the text of a file that says which was the fastest. `warpwright tune` also ranks variants by prediction, and times a part of them.
fn measure(device: &Device, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<String> {
    let mut fastest = None;
    for variant in scale_variants() {
        let timing = variant.kernel()(2.0, x, y).cover(x.len()).time(device, 5)?;
        println!("    {variant}: {timing}");
        if fastest.as_ref().is_none_or(|(median, _)| timing.median < *median) {
            fastest = Some((timing.median, variant));
        }
    }
    let (_, best) = fastest.expect("four variants are declared");
    let target = "sm_90";
    let fingerprint = tuned::fingerprint(best.kernel()(2.0, x, y).inspect(target)?.ptx());
    let values: String = best.values().map(|(name, value)| format!("{name} = {value}\n")).collect();
    Ok(format!(
        "schema = 1\nkernel = \"scale\"\ndevice = \"{device}\"\ntarget = \"{target}\"\ncompiler = \"{}\"\nfingerprint = \"{fingerprint:016x}\"\n[best]\n{values}",
        tuned::COMPILER
    ))
}
