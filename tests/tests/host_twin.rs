//! Kernels through the macro on the host twin, against the simulator: bit for bit where `contract = false` promises it.

#![allow(deprecated, reason = "what lints find of speed is not what is tested here")]

use std::fmt::Debug;
use warpwright::Num;
use warpwright::prelude::*;
use warpwright::warp::{all, any, ballot, match_any, shuffle, shuffle_up, shuffle_xor};

/// Runs `launch` on both devices: results of the host twin and of the simulator, bit for bit the same.
#[track_caller]
fn agree<T: Element + PartialEq + Debug>(count: usize, run: impl Fn(&Device, &mut Buffer<T>) -> warpwright::Result<()>) -> Vec<T> {
    let results = [Device::host(), Device::simulator()].map(|device| {
        let mut y = device.zeros::<T>(count).unwrap();
        run(&device, &mut y).unwrap();
        y.download().unwrap()
    });
    let [host, simulator] = results;
    assert_eq!(host, simulator);
    host
}

/// Values whose sums depend on the order.
fn uneven(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 + 13) % 1009) as f32 * 0.37 - 100.0 / (i + 1) as f32).collect()
}

fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}

#[kernel(contract = false)]
fn reductions(x: &Global<f32>, y: &mut Global<u32>) {
    let i = global_id().x;
    let v = x[i];
    let s = warp_sum(v) * 3.0 + block_sum(v) + warp_min(v) - block_max(v);
    y[i] = s.to_bits() ^ sync_threads_count(v > 0.0);
}

#[test]
fn reductions_join_floats_in_one_order_whatever_the_block() {
    let x = uneven(960);
    for block in [1u32, 32, 40, 64, 96, 120, 320] {
        agree(x.len(), |device, y| reductions(&device.upload(&x)?, y).grid(960 / block).block(block).launch(device));
    }
}

#[kernel(block = (8, 6), contract = false)]
fn exchanges(x: &Global<f32>, y: &mut Global<u32>) {
    let t = thread_idx();
    let i = t.y * block_dim().x + t.x + block_idx().x * 48;
    let v = x[i];
    let lane = lane_id() as u32;
    let mut r = (warp_sum(v) - warp_max(v)).to_bits();
    r ^= ballot(v > 0.0).rotate_left(3) ^ match_any(lane / 5) ^ warp_id() as u32;
    if lane < 16 && warp_id() == 0 {
        r += 1;
    }
    r = r.wrapping_mul(5) ^ shuffle(r, 3) ^ (shuffle_up(r, 35) >> 1) ^ (shuffle_xor(lane, 1) << 4);
    r ^= if any(v > 300.0) { 64 } else { 0 };
    r ^= if all(v < 1e6) { 128 } else { 0 };
    y[i] = r;
}

#[test]
fn lanes_exchange_alike() {
    let x = uneven(96);
    agree(96, |device, y| exchanges(&device.upload(&x)?, y).grid(2).launch(device));
}

#[kernel(block = 64, contract = false)]
fn scan<T: Num>(x: &Global<T>, y: &mut Global<T>) {
    #[shared]
    let mut partial: [T; 64];
    let t = thread_idx().x;
    partial[t] = x[global_id().x];
    sync_threads();
    let mut distance = 1;
    while distance < 64 {
        let below = if t >= distance { partial[t - distance] } else { T::ZERO };
        sync_threads();
        partial[t] += below;
        sync_threads();
        distance *= 2;
    }
    y[global_id().x] += partial[t] * (2 as T) - partial[63 - t].min(partial[0]);
}

#[test]
fn a_generic_scan_agrees_for_every_kind_of_number() {
    let f: Vec<f32> = uneven(128);
    agree(128, |device, y| scan::<f32>(&device.upload(&f)?, y).cover(128).launch(device));
    let h: Vec<f16> = f.iter().map(|&x| f16::from_f32(x / 64.0)).collect();
    agree(128, |device, y| scan::<f16>(&device.upload(&h)?, y).cover(128).launch(device));
    let b: Vec<bf16> = f.iter().map(|&x| bf16::from_f32(x)).collect();
    agree(128, |device, y| scan::<bf16>(&device.upload(&b)?, y).cover(128).launch(device));
    let i: Vec<i64> = f.iter().map(|&x| x as i64).collect();
    agree(128, |device, y| scan::<i64>(&device.upload(&i)?, y).cover(128).launch(device));
    let d: Vec<f64> = f.iter().map(|&x| f64::from(x).sqrt().max(0.0)).collect();
    agree(128, |device, y| scan::<f64>(&device.upload(&d)?, y).cover(128).launch(device));
}

#[kernel(block = 32, contract = false)]
fn halves(x: &Global<f16>, y: &mut Global<f16>) {
    let i = global_id().x;
    let v = x[i];
    let wide = v as f32 * 1.5 + (i as f16) as f32;
    y[i] = wide as f16;
    y[i] += y[i] * x[(i + 1) % x.len()];
    y[i] = (y[i].abs().sqrt() + (2.5 as f16)).floor().mul_add(v, f16::ONE).max(v.signum());
    if v.is_nan() || (v as bf16) as f32 > 1e4 {
        y[i] = f16::from_bits(v.to_bits() ^ 0x8000);
    }
}

#[test]
fn short_floats_agree() {
    let x: Vec<f16> = uneven(64).iter().map(|&x| f16::from_f32(x * 40.0)).collect();
    agree(64, |device, y| halves(&device.upload(&x)?, y).cover(64).launch(device));
}

#[kernel(block = 32, contract = false)]
fn integers(x: &Global<u32>, y: &mut Global<u64>) {
    let i = global_id().x;
    let v = x[i];
    let s = v as i32;
    let mut r = v.mul_hi(0x9E37_79B9) as u64 + ((v.mul24(77) as u64) << 3);
    r ^= (s.wrapping_abs() as u64).wrapping_mul(v.count_ones() as u64 | 1);
    r = r.rotate_left(v.leading_zeros()).swap_bytes() ^ v.reverse_bits().saturating_add(7) as u64;
    r ^= (s as f32 / 3.0) as u8 as u64 ^ (s as f64 * 1e9) as i64 as u64;
    r = r.wrapping_add((s.rem_euclid(7) + (s / 3).min(5).clamp(-2, 4)) as u64);
    r ^= v.wrapping_shl(v % 40) as u64 ^ (v.isqrt().pow(2) as u64) << 20;
    y[i] = r;
}

#[test]
fn integers_agree() {
    let x: Vec<u32> = (0..128u32).map(|i| i.wrapping_mul(0x85EB_CA6B) ^ i << 28).collect();
    agree(128, |device, y| integers(&device.upload(&x)?, y).cover(128).launch(device));
}

#[kernel(block = 32, contract = false)]
fn vectors(c: &Constant<[f32; 4]>, x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x * 4;
    let mut v = x.load::<4>(i);
    for k in 0..4 {
        v[k] = v[k] * c[k] + c[3 - k].fract();
    }
    y.store::<4>(i, v);
}

#[test]
fn vectors_and_constants_agree() {
    let x = uneven(256);
    let y = agree(256, |device, y| vectors(&device.constant([0.5, -1.25, 3.0, 1e-3])?, &device.upload(&x)?, y).grid(2).launch(device));
    assert_eq!(bits(&y)[1], (x[1] * -1.25).to_bits(), "no fused multiply-add: fract of 3 is 0");
}

#[kernel(block = 128)]
fn histogram(x: &Global<u8>, y: &mut Global<u32>) {
    #[shared]
    let mut bins: [u32; 16];
    let t = thread_idx().x;
    if t < 16 {
        bins[t] = 0;
    }
    sync_threads();
    let i = global_id().x;
    if i < x.len() {
        bins.atomic_add((x[i] / 16) as usize, 1);
    }
    sync_threads();
    if t < 16 {
        y.atomic_add(t, bins[t]);
    }
}

#[test]
fn histograms_agree() {
    let x: Vec<u8> = (0..1000u32).map(|i| (i * i % 251) as u8).collect();
    let y = agree(16, |device, y| histogram(&device.upload(&x)?, y).cover(x.len()).launch(device));
    assert_eq!(y.iter().sum::<u32>(), 1000);
}

/// Heat along a rod: each round reads what the neighbours wrote in the one before.
#[device]
fn relax(rod: &mut [f32; 64], t: usize, rounds: u32) {
    for _ in 0..rounds {
        let (left, right) = (rod[(t + 63) % 64], rod[(t + 1) % 64]);
        sync_threads();
        rod[t] = rod[t] * 0.5 + (left + right) * 0.25;
        sync_threads();
    }
}

#[kernel(block = 64, contract = false)]
fn rods(x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut rod: [f32; 64];
    let t = thread_idx().x;
    rod[t] = x[global_id().x];
    sync_threads();
    relax(&mut rod, t, 20);
    y[global_id().x] = rod[t];
}

#[test]
fn functions_see_what_other_threads_write_to_shared_arrays() {
    let x = uneven(128);
    agree(128, |device, y| rods(&device.upload(&x)?, y).cover(128).launch(device));
}

#[kernel(block = 32)]
fn beyond(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    y[i] = x[i + 1];
}

#[kernel(block = 64, allow(divergent_branch, divergent_barrier))]
fn parting(y: &mut Global<u32>) {
    let t = thread_idx().x;
    if t.is_multiple_of(2) {
        sync_threads();
        y[t] = 1;
    } else {
        sync_threads();
        y[t] = 2;
    }
}

#[test]
fn faults_name_kernel_block_and_thread_and_leave_the_device_usable() {
    let device = Device::host();
    let (x, mut y) = (device.upload(&[1u32; 64]).unwrap(), device.zeros::<u32>(64).unwrap());
    let text = beyond(&x, &mut y).grid(2).launch(&device).unwrap_err().to_string();
    for part in ["`beyond`", "index 64 is out of bounds of a buffer of 64 elements", "host_twin.rs:", "block (1, 0, 0), thread (31, 0, 0)"]
    {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    let text = parting(&mut y).grid(1).launch(&device).unwrap_err().to_string();
    for part in ["`parting`", "divergent barrier: 32 of the block's 64 living threads", "thread (1, 0, 0)"] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    histograms_agree();
}
