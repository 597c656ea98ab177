//! What a block's threads copy together, `load_run`: against Rust, on the simulator, on the host twin and on what other devices there are, alone
//! and in pipelined loops; and what becomes of it in PTX.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use warpwright::prelude::*;
use warpwright_tests::devices::on_all;
use warpwright_tests::emitted::{kernel_of, ptx};

/// Numbers that are exact in every format used here.
fn number(i: usize) -> u8 {
    ((i * 7919 + 13) % 31) as u8 + 1
}

/// What a run of a buffer is: zero beyond its end.
fn run_of<T: Copy>(x: &[T], start: usize, count: usize, zero: T) -> Vec<T> {
    (start..start + count).map(|i| x.get(i).copied().unwrap_or(zero)).collect()
}

/// Each block copies a run of its own and writes it backwards, so that no thread reads what it moved.
#[kernel(block = (B, 2))]
fn backwards<const B: usize, const N: usize, T: Element>(x: &Global<T>, y: &mut Global<T>) {
    #[shared]
    let mut run: [T; N];
    let first = block_idx().x * N;
    load_run(&mut run, x, first);
    sync_threads();
    let t = thread_idx().y * B + thread_idx().x;
    for i in (t..N).step_by(2 * B) {
        y[first + i] = run[N - 1 - i];
    }
}

fn backwards_agrees<const B: usize, const N: usize, T: Element + PartialEq + std::fmt::Debug>(
    device: &Device,
    of: impl Fn(u8) -> T,
    zero: T,
) {
    for len in [0, 1, 3, N - 1, N, N + 1, N + 17, 2 * N - 3, 2 * N, 3 * N - 16] {
        let x: Vec<T> = (0..len).map(|i| of(number(i))).collect();
        let blocks = len.div_ceil(N) + 1;
        let mut y = device.upload(&vec![of(99); blocks * N]).unwrap();
        backwards::<B, N, T>(&device.upload(&x).unwrap(), &mut y).grid(blocks).launch(device).unwrap();
        let expected: Vec<T> = (0..blocks).flat_map(|b| run_of(&x, b * N, N, zero).into_iter().rev()).collect();
        assert_eq!(y.download().unwrap(), expected, "{B} threads, {N} of {len} elements of {} bytes", size_of::<T>());
    }
}

#[test]
fn runs_of_every_element_are_copied() {
    on_all("runs", |device| {
        backwards_agrees::<16, 256, f32>(device, f32::from, 0.0);
        backwards_agrees::<16, 1024, f32>(device, f32::from, 0.0);
        backwards_agrees::<16, 4096, f32>(device, f32::from, 0.0);
        backwards_agrees::<48, 1024, u8>(device, |n| n, 0);
        backwards_agrees::<32, 208, f64>(device, f64::from, 0.0);
        backwards_agrees::<32, 72, u16>(device, u16::from, 0);
        backwards_agrees::<8, 64, [f32; 4]>(device, |n| [f32::from(n), 1.0, 2.0, f32::from(n) + 0.5], [0.0; 4]);
        backwards_agrees::<8, 64, [u32; 3]>(device, |n| [u32::from(n), 1, 2], [0; 3]);
        backwards_agrees::<8, 64, [[f32; 2]; 3]>(device, |n| [[f32::from(n), 1.0], [2.0, 3.0], [4.0, f32::from(n)]], [[0.0; 2]; 3]);
        backwards_agrees::<8, 64, bool>(device, |n| n % 2 == 0, false);
    });
}

/// The PTX of a kernel of this file.
fn text(kernel: &str, generics: &[&str], target: &str) -> String {
    let source = kernel_of(include_str!("tiles.rs"), kernel);
    ptx(source, kernel, generics, target).unwrap_or_else(|error| panic!("{error}")).to_string()
}

/// Sums of a buffer in runs, each of which is copied ahead.
#[kernel(block = 64)]
fn summed<const S: usize, const N: usize>(first: usize, runs: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; N];
    let t = thread_idx().x;
    let mut sum = 0.0;
    #[pipeline(stages = S)]
    for chunk in first..runs {
        load_run(&mut run, x, chunk * N);
        sync_threads();
        for k in 0..N / 64 {
            sum += run[(t * 7 + k * 64 + 5) % N] * (chunk + 1) as f32;
        }
        sync_threads();
    }
    y[t] = sum;
}

fn summed_agrees<const S: usize, const N: usize>(device: &Device) {
    for runs in 0..=2 * S + 1 {
        for len in [(runs * N).saturating_sub(5), runs * N] {
            let x: Vec<f32> = (0..len).map(|i| f32::from(number(i))).collect();
            let mut y = device.zeros::<f32>(64).unwrap();
            summed::<S, N>(0, runs, &device.upload(&x).unwrap(), &mut y).grid(1).launch(device).unwrap();
            let of = |t: usize| {
                let chunk = |c: usize| {
                    let run = run_of(&x, c * N, N, 0.0);
                    (0..N / 64).map(|k| run[(t * 7 + k * 64 + 5) % N] * (c + 1) as f32).sum::<f32>()
                };
                (0..runs).map(chunk).sum::<f32>()
            };
            assert_eq!(y.download().unwrap(), (0..64).map(of).collect::<Vec<f32>>(), "{S} stages, {runs} runs, {len} elements");
        }
    }
}

#[test]
fn pipelined_runs_give_the_plain_sums() {
    on_all("summed", |device| {
        summed_agrees::<1, 256>(device);
        summed_agrees::<2, 256>(device);
        summed_agrees::<3, 1024>(device);
        summed_agrees::<4, 2048>(device);
    });
}

#[test]
fn a_pipelined_run_is_copied_sixteen_bytes_at_a_time() {
    let text = text("summed", &["3", "1024"], "sm_80");
    let count = |word: &str| text.matches(word).count();
    // Before the loop and in it, and one by one where a run goes over the end.
    assert_eq!(["cp.async.cg.shared.global", "cp.async.ca.shared.global", "st.shared", "bar.sync"].map(count), [8, 2, 0, 2], "{text}");
}

/// Each thread reads an element of the run with no barrier in between; of those, thread 0 reads one that it moved itself.
#[kernel(block = 64)]
fn too_early(from: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut run: [f32; 256];
    load_run(&mut run, x, from);
    let t = thread_idx().x;
    if t == 0 {
        y[t] = run[t];
    }
}

#[test]
fn a_run_that_is_read_before_a_barrier_is_a_race() {
    let device = Device::simulator();
    let x = device.upload(&vec![1.0f32; 512]).unwrap();
    let mut y = device.zeros::<f32>(64).unwrap();
    let error = too_early(0, &x, &mut y).grid(1).launch(&device).expect_err("nobody waits for the run").to_string();
    assert!(error.contains("race") && error.contains("`run`"), "{error}");
}

#[test]
fn a_run_begins_at_multiples_of_sixteen_bytes() {
    for device in [Device::simulator(), Device::host()] {
        let x = device.upload(&vec![1.0f32; 512]).unwrap();
        let mut y = device.zeros::<f32>(64).unwrap();
        let error = too_early(3, &x, &mut y).grid(1).launch(&device).expect_err("element 3 is at byte 12").to_string();
        assert!(error.contains("16"), "{error}");
    }
}
