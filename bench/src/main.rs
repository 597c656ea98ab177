//! Times kernels against their twins in CUDA C++, alternately, in one process on one device: `warpwright-bench LIBTWINS.so [runs]`.
//!
//! Inputs are random, results are compared, times are device events'. A line of CSV per kernel and a table for people; the ratio is
//! theirs over ours, so 1 is equal and more is faster.
#![expect(unsafe_code, reason = "the twins are C functions of a shared library")]

use std::time::{Duration, Instant};
use warpwright::{Device, Result};
use warpwright_kernels::saxpy::saxpy;

type TwinSaxpy = unsafe extern "C" fn(f32, *const f32, *mut f32, u32) -> f32;

/// Elements: 2²⁸ floats, a gigabyte each, many times the cache.
const N: usize = 1 << 28;

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn run() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: warpwright-bench LIBTWINS.so [runs]")?;
    let runs: usize = arguments.next().map_or(Ok(30), |text| text.parse())?;
    let device = Device::cuda(0)?;
    // SAFETY: the library is the one built from bench/cuda, whose functions have the types declared here.
    let library = unsafe { libloading::Library::new(path)? };
    // SAFETY: as above.
    let twin: libloading::Symbol<'_, TwinSaxpy> = unsafe { library.get(b"twin_saxpy")? };
    println!("device: {} ({})", device.name(), device.target());
    saxpy_against_twin(&device, &twin, runs)?;
    launch_cost(&device)?;
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Uniform in −1 … 1, by a linear congruential generator (Knuth's MMIX constants): enough that no value repeats in a cache line.
fn random(n: usize, mut state: u64) -> Vec<f32> {
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn saxpy_against_twin(device: &Device, twin: &TwinSaxpy, runs: usize) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (xs, ys) = (random(N, 1), random(N, 2));
    let x = device.upload(&xs)?;
    let mut ours = device.upload(&ys)?;
    let theirs = device.upload(&ys)?;
    let (x_address, y_address) = (x.cuda_address().ok_or("no address")?, theirs.cuda_address().ok_or("no address")?);
    let a = 0.75f32;
    let call_twin = || {
        // SAFETY: both buffers have N elements and live until the function returns; it waits for its kernel.
        let ms = unsafe { twin(a, x_address as *const f32, y_address as *mut f32, N as u32) };
        if ms < 0.0 { Err(format!("CUDA error {}", -ms)) } else { Ok(f64::from(ms) / 1e3) }
    };
    // Once each: compiles, and gives the results to compare.
    saxpy(a, &x, &mut ours).cover(N).launch(device)?;
    device.synchronize()?;
    call_twin()?;
    let (mine, its) = (ours.download()?, theirs.download()?);
    let differing = mine.iter().zip(&its).filter(|(m, i)| m.to_bits() != i.to_bits()).count();
    let right = (0..N).step_by(4099).all(|i| mine[i] == a.mul_add(xs[i], ys[i]));
    println!("saxpy: {differing} of {N} results differ from the twin's; right against the host: {right}");
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        our_times.push(saxpy(a, &x, &mut ours).cover(N).time(device, 1)?.median.as_secs_f64());
        device.synchronize()?;
        their_times.push(call_twin()?);
    }
    let (our, their) = (median(our_times), median(their_times));
    let bandwidth = |seconds: f64| 12.0 * N as f64 / seconds / 1e9;
    println!("kernel,ours GB/s,twin GB/s,ratio");
    println!("saxpy,{:.0},{:.0},{:.4}", bandwidth(our), bandwidth(their), their / our);
    Ok(())
}

/// Host time of a repeated launch of a kernel with almost no work.
fn launch_cost(device: &Device) -> Result<()> {
    let x = device.upload(&[1.0f32; 32])?;
    let mut y = device.upload(&[1.0f32; 32])?;
    let mut best = Duration::MAX;
    let launches = 500;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..launches {
            saxpy(1.0, &x, &mut y).cover(32).launch(device)?;
        }
        best = best.min(start.elapsed() / launches);
        device.synchronize()?;
    }
    println!("host time of a repeated launch: {:.2} us (best of 20 rounds of {launches})", best.as_secs_f64() * 1e6);
    Ok(())
}
