//! Copies and kernels at the same time: data goes to the device in chunks, is worked on and comes back, first through one stream and then through three.
//! The copies do not wait for the device, which takes pinned memory on the host. The program prints both times by the device's clock and checks both results.
//!
//! `cargo run --release --example overlap`

use std::time::Duration;
use warpwright::prelude::*;
use warpwright::{DeviceKind, Result};

const CHUNKS: usize = 8;
const FACTOR: u32 = 1_664_525;
const SUMMAND: u32 = 1_013_904_223;

/// x ← `rounds` steps of a random number generator
#[kernel(block = 256)]
fn mix(rounds: u32, x: &mut Global<u32>) {
    let i = global_id().x;
    if i < x.len() {
        let mut v = x[i];
        for _ in 0..rounds {
            v = v.wrapping_mul(FACTOR).wrapping_add(SUMMAND);
        }
        x[i] = v;
    }
}

/// A part of the data: on the host before and after, and on the device.
struct Chunk {
    input: PinnedBuffer<u32>,
    output: PinnedBuffer<u32>,
    on_device: Buffer<u32>,
}

/// Sends all chunks through the streams, one after another in turn, and gives the time by the device's clock.
fn through(streams: &[Stream], rounds: u32, chunks: &mut [Chunk]) -> Result<Duration> {
    let start = streams[0].record()?;
    for stream in &streams[1..] {
        stream.wait(&start)?;
    }
    for (i, chunk) in chunks.iter_mut().enumerate() {
        // Within a stream these three run in order. Those of another stream may run meanwhile.
        let stream = &streams[i % streams.len()];
        chunk.on_device.write_async(&chunk.input, stream)?;
        mix(rounds, &mut chunk.on_device).cover(chunk.input.len()).launch_on(stream)?;
        chunk.on_device.read_async(&mut chunk.output, stream)?;
    }
    for stream in &streams[1..] {
        streams[0].wait(&stream.record()?)?;
    }
    streams[0].record()?.since(&start)
}

fn main() -> Result<()> {
    let device = Device::best();
    // On a GPU a chunk's kernel takes about as long as one of its copies.
    let (n, rounds) = match device.kind() {
        DeviceKind::Cuda => (1 << 22, 1000),
        DeviceKind::OpenCl => (1 << 18, 100),
        _ => (1 << 11, 100),
    };
    let mut chunks = Vec::new();
    for c in 0..CHUNKS {
        let (mut input, output) = (device.pinned(n)?, device.pinned(n)?);
        for (x, i) in input.as_mut_slice()?.iter_mut().zip(0..) {
            *x = (c * n) as u32 + i;
        }
        chunks.push(Chunk { input, output, on_device: device.zeros(n)? });
    }
    // Many steps are one step with another factor and another summand.
    let (factor, summand) =
        (0..rounds).fold((1u32, 0u32), |(f, s), _| (f.wrapping_mul(FACTOR), s.wrapping_mul(FACTOR).wrapping_add(SUMMAND)));
    let streams = [device.stream()?, device.stream()?, device.stream()?];

    println!("{}: {CHUNKS} chunks of {n} numbers go there, are worked on and come back", device.name());
    for (words, streams) in [("one stream", &streams[..1]), ("three streams", &streams[..])] {
        through(streams, rounds, &mut chunks)?; // Compiles the kernel, and warms up.
        let mut times =
            [through(streams, rounds, &mut chunks)?, through(streams, rounds, &mut chunks)?, through(streams, rounds, &mut chunks)?];
        times.sort();
        println!("{words:>13}: {:.3} ms", times[1].as_secs_f64() * 1e3);
        for (c, chunk) in chunks.iter_mut().enumerate() {
            // Waits for the copies that are still under way.
            let output = chunk.output.as_mut_slice()?;
            for (found, i) in output.iter().zip(0..) {
                let expected = ((c * n) as u32 + i).wrapping_mul(factor).wrapping_add(summand);
                assert_eq!(*found, expected, "number {i} of chunk {c}");
            }
            output.fill(0);
        }
    }
    println!("both results are right");
    if matches!(device.kind(), DeviceKind::Simulator | DeviceKind::Host) {
        println!("without a GPU nothing runs at the same time: streams take turns, and the times are the host's");
    }
    Ok(())
}
