//! Runs the blocks of a launch: one after the other, or on several workers where that gives the same.
//!
//! Blocks that touch nothing in common may run in any order, and nearly all kernels are so. Several workers run them on trust, each with
//! its own shadow memory; afterwards the shadows are compared. If any two workers raced, or anything else went wrong, buffers are restored
//! and all blocks run again in order, so what a launch gives, faults and all, does not depend on the number of workers. Kernels
//! that print, or whose global atomics show the order they ran in (floating-point sums, exchanges, used results), run in order at once.

use super::Error;
use super::launch::BoundLaunch;
use super::tallies::Tallies;
use super::worker::Worker;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use warpwright_codegen::ir::Space;
use warpwright_codegen::target::limits::WARP;

/// Fewer warps than this are not worth starting threads for.
const MIN_WARPS: u64 = 128;

/// Chunks of consecutive blocks per worker: enough to even out their lengths.
const CHUNKS_PER_WORKER: u64 = 8;

/// Runs all blocks.
pub(super) fn run_blocks(launch: &BoundLaunch<'_>, output: &mut dyn Write) -> Result<Tallies, Error> {
    let workers = workers(launch);
    let parallel = if workers > 1 { run_parallel(launch, workers) } else { None };
    match parallel {
        Some(tallies) => Ok(tallies),
        None => run_in_order(launch, output),
    }
}

fn workers(launch: &BoundLaunch<'_>) -> u64 {
    let wanted = match launch.program.options.workers {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    };
    let warps = launch.blocks() * u64::from(launch.threads.div_ceil(WARP));
    if launch.program.is_order_free && warps >= MIN_WARPS { (wanted as u64).min(launch.blocks()) } else { 1 }
}

fn run_in_order(launch: &BoundLaunch<'_>, output: &mut dyn Write) -> Result<Tallies, Error> {
    let mut worker = Worker::new(launch);
    worker.run_all(|text| {
        let written = if text.is_empty() { Ok(()) } else { output.write_all(text.as_bytes()) };
        text.clear();
        written.map_err(|error| Error::Output { kernel: launch.program.kernel.name.clone(), reason: error.to_string() })
    })?;
    Ok(worker.machine.tallies)
}

/// Runs blocks on several workers; `None`, and buffers as before, if that cannot be trusted.
fn run_parallel(launch: &BoundLaunch<'_>, workers: u64) -> Option<Tallies> {
    let written: Vec<usize> = launch.program.objects_in(Space::Global).filter(|(_, o)| o.is_written).map(|(n, _)| n).collect();
    let before: Vec<Vec<u64>> = written.iter().map(|n| launch.views[*n].snapshot()).collect();
    let chunk = (launch.blocks() / (workers * CHUNKS_PER_WORKER)).max(1);
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let run = || {
        let mut worker = Worker::new(launch);
        while !failed.load(Relaxed) {
            let start = next.fetch_add(chunk, Relaxed);
            if start >= launch.blocks() {
                break;
            }
            let end = (start + chunk).min(launch.blocks());
            if (start..end).any(|block| worker.run_block(block).is_err()) {
                failed.store(true, Relaxed);
            }
        }
        worker.machine
    };
    let machines: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| std::thread::Builder::new().spawn_scoped(scope, run)).collect();
        threads.into_iter().filter_map(|thread| thread.ok()?.join().ok()).collect()
    });
    let races = |n: &usize| {
        let pairs = (0..machines.len()).flat_map(|a| (a + 1..machines.len()).map(move |b| (a, b)));
        pairs.into_iter().any(|(a, b)| machines[a].shadows[*n].races_with(&machines[b].shadows[*n]))
    };
    let mut tallies = Tallies::new(launch.program);
    machines.iter().for_each(|machine| tallies.add(&machine.tallies));
    if failed.load(Relaxed) || tallies.blocks != launch.blocks() || written.iter().any(races) {
        written.iter().zip(&before).for_each(|(n, copy)| launch.views[*n].restore(copy));
        return None;
    }
    Some(tallies)
}
