//! Data-parallel training on several GPUs: each has a part of the samples, computes the gradient of its own, and all add theirs up before they take a step.
//! `cargo run --example data_parallel` runs it on all GPUs, by NCCL; without any, or without NCCL, on three simulators and on one, with the same kernels.

use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{Communicator, Error, Reduction, launch_together};

/// Features of a sample: eight for each lane of a warp.
pub const FEATURES: usize = 256;

/// Samples that a warp goes through.
const RUN: usize = 32;

/// Adds to `gradient` that of the samples of this launch: of half the sum of (x · w − y)², of which it adds twice to `loss`. A warp has a sample at a time.
#[kernel(block = 256)]
pub fn descended(
    count: usize,
    samples: &Global<f32>,
    targets: &Global<f32>,
    weights: &Global<f32>,
    gradient: &mut Global<f32>,
    loss: &mut Global<f32>,
) {
    #[shared]
    let mut sums: [f32; FEATURES];
    let (lane, thread) = (lane_id(), thread_idx().x);
    sums[thread] = 0.0;
    sync_threads();
    let first = (block_idx().x * 8 + thread / 32) * RUN;
    let mut own = [0.0f32; 8];
    let mut squares = 0.0f32;
    for n in first..first + RUN {
        if n < count {
            let mut x = [0.0f32; 8];
            let mut product = 0.0f32;
            for k in 0..8 {
                x[k] = samples[n * FEATURES + k * 32 + lane];
                product += x[k] * weights[k * 32 + lane];
            }
            let error = warp_sum(product) - targets[n];
            for k in 0..8 {
                own[k] += error * x[k];
            }
            squares += error * error;
        }
    }
    for k in 0..8 {
        sums.atomic_add(k * 32 + lane, own[k]);
    }
    sync_threads();
    gradient.atomic_add(thread, sums[thread]);
    if lane == 0 {
        loss.atomic_add(0, squares);
    }
}

/// A step against the gradient.
#[kernel(block = 256)]
pub fn stepped(rate: f32, gradient: &Global<f32>, weights: &mut Global<f32>) {
    let i = global_id().x;
    if i < weights.len() {
        weights[i] -= rate * gradient[i];
    }
}

/// What one device has.
pub struct Part {
    /// Samples one after the other.
    pub samples: Buffer<f32>,
    /// What is wanted of each.
    pub targets: Buffer<f32>,
    /// The same on all devices.
    pub weights: Buffer<f32>,
    /// Of this device's samples, then of all.
    pub gradient: Buffer<f32>,
    /// The sum of squared errors of this device's samples.
    pub loss: Buffer<f32>,
}

/// A number in −1..1 for each place, the same on all machines.
fn noise(seed: usize) -> f32 {
    let bits = (seed as u32).wrapping_mul(0x9E37_79B9) ^ 0x5bd1_e995;
    let bits = (bits ^ bits >> 15).wrapping_mul(0x2C1B_3C6D);
    (bits ^ bits >> 13) as i32 as f32 / 2f32.powi(31)
}

impl Part {
    /// `count` samples of those from `first` on, whose targets are their products with the weights that training is to find.
    pub fn new(device: &Device, first: usize, count: usize) -> Result<Part, Error> {
        let samples: Vec<f32> = (first * FEATURES..(first + count) * FEATURES).map(noise).collect();
        let target = |sample: &[f32]| sample.iter().zip(wanted()).map(|(x, w)| x * w).sum();
        let targets: Vec<f32> = samples.chunks(FEATURES).map(target).collect();
        let zeros = |len| device.zeros(len);
        let (samples, targets) = (device.upload(&samples)?, device.upload(&targets)?);
        Ok(Part { samples, targets, weights: zeros(FEATURES)?, gradient: zeros(FEATURES)?, loss: zeros(1)? })
    }
}

/// The weights that are to be found.
fn wanted() -> impl Iterator<Item = f32> {
    (0..FEATURES).map(|i| noise(i + 12_345_678))
}

/// A step of all devices: nobody waits for it here.
pub fn step(ranks: &[Communicator], parts: &mut [Part], rate: f32) -> Result<(), Error> {
    for (rank, part) in ranks.iter().zip(&mut *parts) {
        part.gradient.clear()?;
        part.loss.clear()?;
        let count = part.targets.len();
        let Part { samples, targets, weights, gradient, loss } = part;
        descended(count, samples, targets, weights, gradient, loss).grid(count.div_ceil(8 * RUN)).launch(rank.device())?;
    }
    launch_together(ranks.iter().zip(&mut *parts).map(|(rank, part)| rank.all_reduce(&mut part.gradient, Reduction::Sum)))?;
    for (rank, part) in ranks.iter().zip(parts) {
        stepped(rate, &part.gradient, &mut part.weights).cover(FEATURES).launch(rank.device())?;
    }
    Ok(())
}

#[allow(dead_code, reason = "others include this file")]
fn main() -> Result<(), Error> {
    let gpus = Device::gpus();
    if !gpus.is_empty() {
        match train(&gpus) {
            // NCCL is a library of its own, which the driver does not bring.
            Err(error @ Error::NoDriver { .. }) => println!("on simulators: {error}"),
            outcome => return outcome,
        }
    }
    train(&Device::simulators(3))?;
    train(&Device::simulators(1))
}

/// Trains on as many samples as the weights need, however many devices there are to share them.
#[allow(dead_code, reason = "others include this file")]
fn train(devices: &[Device]) -> Result<(), Error> {
    let count = 960_usize.div_ceil(devices.len());
    let ranks = Communicator::all(devices, Duration::from_secs(60))?;
    println!("{count} samples of {FEATURES} features on each of {} devices: {}", ranks.len(), devices[0]);
    let parts: Result<Vec<Part>, Error> = ranks.iter().map(|rank| Part::new(rank.device(), rank.rank() * count, count)).collect();
    let mut parts = parts?;
    let rate = 2.0 / (count * ranks.len()) as f32;
    let mut losses = Vec::new();
    for round in 0..24 {
        step(&ranks, &mut parts, rate)?;
        losses.push(parts.iter().map(|part| part.loss.download().map(|loss| loss[0])).sum::<Result<f32, Error>>()?);
        if round % 6 == 5 {
            println!("step {:2}: the squared errors sum to {:.4}", round + 1, losses[round]);
        }
    }
    // All ranks took the same steps, so they have the same bits.
    let weights = parts[0].weights.download()?;
    for part in &parts {
        assert!(part.weights.download()? == weights, "ranks went apart");
    }
    let worst = weights.iter().zip(wanted()).map(|(found, wanted)| (found - wanted).abs()).fold(0.0, f32::max);
    println!("all devices have the same weights, at most {worst:.4} from those that made the targets");
    assert!(losses[23] < 0.01 * losses[0] && worst < 0.2, "training finds no weights: {losses:?}, {worst}");
    Ok(())
}
