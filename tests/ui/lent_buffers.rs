//! What is lent for a time is not kept for longer: a collective holds its buffer until it is launched or dropped, and buffers of a launch on several devices are lent to its closure alone.
use warpwright::prelude::*;
use warpwright::{CollectiveLaunch, Communicator, Reduction, Sharded, launch_sharded};

#[kernel(block = 64)]
fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    y[thread_idx().x] = x[thread_idx().x] * 2.0;
}

fn outlived(rank: &Communicator) -> warpwright::Result<()> {
    let mut part = rank.device().zeros::<f32>(64)?;
    let sum = rank.all_reduce(&mut part, Reduction::Sum);
    drop(part);
    sum.launch()
}

fn read_before_it_runs(rank: &Communicator, part: &mut Buffer<f32>) -> warpwright::Result<Vec<f32>> {
    let sum = rank.all_reduce(&mut *part, Reduction::Sum);
    let early = part.download()?;
    sum.launch()?;
    Ok(early)
}

fn returned(rank: &Communicator) -> CollectiveLaunch<'_> {
    let mut part = rank.device().zeros::<f32>(64).unwrap();
    rank.all_reduce(&mut part, Reduction::Sum)
}

fn kept(x: &Sharded<f32>, y: &mut Sharded<f32>) -> warpwright::Result<()> {
    let mut kept = None;
    launch_sharded((x, y), |_, (x, y)| {
        kept = Some(x);
        Ok(doubled(x, y).grid(1))
    })
}

fn main() {}
