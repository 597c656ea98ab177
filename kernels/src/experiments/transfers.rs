//! Transfers and bandwidth, NVIDIA's OpenCL best practices guide 1.0, chapters 2 and 3.1: what a copy between host and device takes from ordinary (pageable) and from pinned
//! host memory, whether copies and kernels of two streams run at the same time, and the effective bandwidth of a kernel,
//!
//! > (bytes read + bytes written) / time
//!
//! by the device's events, beside the theoretical one. `cargo run --release -p warpwright-kernels --example transfers` prints the table.
//!
//! On the simulator and the host twin everything runs, and the figures say how fast this CPU is at playing a GPU: [`Measured::is_real`].

use std::fmt;
use std::time::{Duration, Instant};
use warpwright::prelude::*;
use warpwright::{Clock, Result};

/// Rounds of [`mix`] for an element: enough that a kernel takes about as long as a copy over a bus of some 50 GB/s.
pub const ROUNDS: usize = 64;

/// x ← `rounds` rounds of a generator, in place.
#[kernel(block = 256)]
pub fn mix(rounds: usize, x: &mut Global<u32>) {
    let i = global_id().x;
    if i < x.len() {
        let mut v = x[i];
        for _ in 0..rounds {
            v = v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        x[i] = v;
    }
}

/// y ← x: the kernel whose effective bandwidth is measured.
#[kernel(block = 256, ilp = 4, batch_loads, vectorize = 4)]
pub fn copied(x: &Global<u32>, y: &mut Global<u32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = x[i];
    }
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What was done.
    pub what: &'static str,
    /// Bytes that went over the bus or, of a kernel, were read and written.
    pub bytes: u64,
    /// The median time.
    pub time: Duration,
}

impl Row {
    /// Bytes per second.
    pub fn bandwidth(&self) -> f64 {
        self.bytes as f64 / self.time.as_secs_f64()
    }
}

/// What was measured on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The device's name.
    pub device: String,
    /// By which clock the kernel was timed.
    pub clock: Clock,
    /// Bytes per second that the device's memory can move by its clock and width; `None` where the driver tells neither.
    pub theoretical: Option<f64>,
    /// The measurements.
    pub rows: Vec<Row>,
}

impl Measured {
    /// Whether the figures are those of a GPU, or of an OpenCL device.
    pub fn is_real(&self) -> bool {
        self.clock != Clock::Host
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.device)?;
        if !self.is_real() {
            writeln!(f, "no GPU: everything runs, but the figures mean nothing")?;
        }
        for row in &self.rows {
            let (milliseconds, bandwidth) = (row.time.as_secs_f64() * 1e3, row.bandwidth() / 1e9);
            writeln!(f, "{:<52} {:>8.1} MB {milliseconds:>10.3} ms {bandwidth:>9.2} GB/s", row.what, row.bytes as f64 / 1e6)?;
        }
        match self.theoretical {
            Some(most) => writeln!(f, "{:<52} {:>8} {:>16.2} GB/s", "theoretical bandwidth of the device's memory", "", most / 1e9),
            None => writeln!(f, "the device does not tell its theoretical bandwidth"),
        }
    }
}

/// The middle one of the times of `runs` runs, after one that does not count.
fn median(runs: usize, mut run: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    run()?;
    let mut times = (0..runs.max(1)).map(|_| run()).collect::<Result<Vec<Duration>>>()?;
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// The host's time from a call until the device has nothing to do.
fn until_idle(device: &Device, work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    device.synchronize()?;
    let start = Instant::now();
    work()?;
    device.synchronize()?;
    Ok(start.elapsed())
}

/// A part of the data for the test of overlap: its host memory both ways, and its place on the device.
struct Chunk {
    up: PinnedBuffer<u32>,
    down: PinnedBuffer<u32>,
    data: Buffer<u32>,
}

/// Sends each chunk up, mixes it and brings it back, the chunks taking turns with the streams.
fn pass(chunks: &mut [Chunk], streams: &[Stream]) -> Result<()> {
    for (i, chunk) in chunks.iter_mut().enumerate() {
        let stream = &streams[i % streams.len()];
        chunk.data.write_async(&chunk.up, stream)?;
        mix(ROUNDS, &mut chunk.data).cover(chunk.up.len()).launch_on(stream)?;
        chunk.data.read_async(&mut chunk.down, stream)?;
    }
    Ok(())
}

/// Measures all of it with `n` numbers, `runs` times each. Every copy is checked: an `Err` or a panic where data do not come back as they should.
///
/// # Errors
/// Those of the device.
///
/// # Panics
/// If a copy or a kernel gave something wrong.
pub fn measure(device: &Device, n: usize, runs: usize) -> Result<Measured> {
    const CHUNKS: usize = 8;
    // A multiple of the chunks, and at least one number each.
    let n = n.max(CHUNKS).next_multiple_of(CHUNKS);
    let bytes = 4 * n as u64;
    let values: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let mut rows = Vec::new();
    let mut row = |what, bytes, time| rows.push(Row { what, bytes, time });

    let mut data = device.zeros::<u32>(n)?;
    let mut back = vec![0; n];
    row("to the device, pageable", bytes, median(runs, || until_idle(device, || data.write(&values)))?);
    row("from the device, pageable", bytes, median(runs, || until_idle(device, || data.read_into(&mut back)))?);
    assert_eq!(back, values, "what came back is not what went up");

    let stream = device.stream()?;
    let (mut up, mut down) = (device.pinned::<u32>(n)?, device.pinned::<u32>(n)?);
    up.as_mut_slice()?.copy_from_slice(&values);
    let to_device = median(runs, || {
        let start = stream.record()?;
        data.write_async(&up, &stream)?;
        stream.record()?.since(&start)
    })?;
    row("to the device, pinned", bytes, to_device);
    let from_device = median(runs, || {
        let start = stream.record()?;
        data.read_async(&mut down, &stream)?;
        stream.record()?.since(&start)
    })?;
    row("from the device, pinned", bytes, from_device);
    assert_eq!(down.as_slice()?, values, "what came back is not what went up");

    let timing = mix(ROUNDS, &mut data).cover(n).time(device, runs.max(1))?;
    row("a kernel that computes, read and written", 2 * bytes, timing.median);
    let mut out = device.zeros::<u32>(n)?;
    let timing = copied(&data, &mut out).cover(n).time(device, runs.max(1))?;
    row("a kernel that copies, read and written", 2 * bytes, timing.median);
    assert_eq!(out.download()?, data.download()?, "the kernel copies something else");

    let chunk = |values: &[u32]| {
        let (mut up, down) = (device.pinned::<u32>(values.len())?, device.pinned::<u32>(values.len())?);
        up.as_mut_slice()?.copy_from_slice(values);
        Ok(Chunk { up, down, data: device.zeros(values.len())? })
    };
    let mut chunks = values.chunks(n / CHUNKS).map(chunk).collect::<Result<Vec<Chunk>>>()?;
    let streams = [device.stream()?, device.stream()?];
    for (what, streams) in
        [("8 chunks up, mixed, down: one stream", &streams[..1]), ("8 chunks up, mixed, down: two streams, overlapping", &streams[..])]
    {
        row(what, 2 * bytes, median(runs, || until_idle(device, || pass(&mut chunks, streams)))?);
    }
    for (chunk, values) in chunks.iter().zip(values.chunks(n / CHUNKS)) {
        let expected = reference(ROUNDS, values);
        assert_eq!(chunk.down.as_slice()?, expected, "a chunk came back wrong");
    }
    Ok(Measured { device: device.name().to_owned(), clock: timing.clock, theoretical: device.properties().memory_bandwidth(), rows })
}

/// Reference of [`mix`].
pub fn reference(rounds: usize, x: &[u32]) -> Vec<u32> {
    let mixed = |x: &u32| (0..rounds).fold(*x, |v, _| (u64::from(v) * 1_664_525 + 1_013_904_223) as u32);
    x.iter().map(mixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_runs_without_a_gpu_and_says_so() {
        for device in [Device::simulator(), Device::host()] {
            let measured = measure(&device, 1_001, 2).expect("it runs");
            assert_eq!(measured.rows.len(), 8);
            // 1,001 numbers, made a multiple of eight.
            assert!(measured.rows.iter().all(|row| row.bytes == 4 * 1_008 || row.bytes == 2 * 4 * 1_008));
            assert!(!measured.is_real());
            assert!(measured.to_string().contains("the figures mean nothing"));
        }
    }

    #[test]
    fn effective_bandwidth_is_what_was_read_and_written_over_the_time() {
        let row = Row { what: "a copy", bytes: 2 * 1_000_000, time: Duration::from_micros(500) };
        assert_eq!(row.bandwidth(), 4e9);
    }
}
