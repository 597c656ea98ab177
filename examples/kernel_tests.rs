//! A kernel with its tests: its results on the simulator and as plain Rust on the CPU, a fault that the simulator finds, and what the compiler makes of it for a GPU, which needs none.
//! `.inspect(…)` comes with the feature `inspect`; a crate has it in its `[dev-dependencies]`.
//!
//! `cargo test --example kernel_tests` runs the tests, `cargo run --example kernel_tests` prints what `.inspect(…)` says.

use warpwright::prelude::*;

/// Threads of a block, and the longest window.
const BLOCK: usize = 128;
/// What a block reads: an element for each of its threads, and as many behind these.
const TILE: usize = 2 * BLOCK;

/// y[i] ← the greatest of x[i..i + window], a window of 1 to `BLOCK` elements
#[kernel(block = BLOCK)]
fn sliding_max(window: usize, x: &Global<f32>, y: &mut Global<f32>) {
    #[shared]
    let mut tile: [f32; TILE];
    let (t, i) = (thread_idx().x, global_id().x);
    // Beyond the end nothing is greater.
    tile[t] = if i < x.len() { x[i] } else { f32::NEG_INFINITY };
    tile[BLOCK + t] = if i + BLOCK < x.len() { x[i + BLOCK] } else { f32::NEG_INFINITY };
    sync_threads();
    if i < y.len() {
        let mut greatest = f32::NEG_INFINITY;
        for k in 0..window {
            greatest = greatest.max(tile[t + k]);
        }
        y[i] = greatest;
    }
}

fn main() -> warpwright::Result<()> {
    let device = Device::best();
    let x = device.upload(&[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])?;
    let mut y = device.zeros(8)?;
    println!("{}", sliding_max(3, &x, &mut y).inspect("sm_90")?);
    sliding_max(3, &x, &mut y).cover(8).launch(&device)?;
    println!("greatest of three: {:?}", y.download()?);
    assert_eq!(y.download()?, [4.0, 4.0, 5.0, 9.0, 9.0, 9.0, 6.0, 6.0]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel makes of the numbers on a device.
    fn on(device: &Device, window: usize, x: &[f32]) -> warpwright::Result<Vec<f32>> {
        let x = device.upload(x)?;
        let mut y = device.zeros(x.len())?;
        sliding_max(window, &x, &mut y).cover(x.len()).launch(device)?;
        y.download()
    }

    #[test]
    fn is_what_plain_rust_computes() -> warpwright::Result<()> {
        // Less than a block, a whole one, and a part of one behind others; windows up to the longest.
        for (n, window) in [(1, 1), (50, 7), (BLOCK, BLOCK), (3 * BLOCK + 5, 33)] {
            let x: Vec<f32> = (0..n).map(|i| (i * 7919 % 1009) as f32).collect();
            let greatest = |i: usize| x[i..n.min(i + window)].iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let expected: Vec<f32> = (0..n).map(greatest).collect();
            // The simulator also stops at races, at reads of shared memory that nobody has written and at indices out of range. `Device::host()` runs the
            // function as rustc compiles it, in a debugger if need be. With `Device::best()` in this list a GPU is tested, too, where there is one.
            for device in [Device::simulator(), Device::host()] {
                assert_eq!(on(&device, window, &x)?, expected, "{n} elements, a window of {window}, {device}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_window_that_is_too_long_is_an_error() {
        let error = on(&Device::simulator(), BLOCK + 2, &[1.0; BLOCK]).expect_err("the last thread reads beyond the tile");
        assert!(error.to_string().contains("`tile`"), "{error}");
    }

    #[test]
    fn memory_is_accessed_as_it_should_be() -> warpwright::Result<()> {
        let device = Device::simulator();
        let (x, mut y) = (device.zeros(1024)?, device.zeros(1024)?);
        let found = sliding_max(8, &x, &mut y).inspect("sm_90")?;
        // A warp's 32 numbers are 4 sectors of 32 bytes if they begin at one.
        assert_eq!(found.sectors_per_request().map(|sectors| sectors.most), Some(4), "{found}");
        assert_eq!(found.bank_conflicts().map(|passes| passes.most), Some(0), "{found}");
        assert_eq!((found.count("ld.global"), found.count("st.global"), found.count("bar")), (2, 1, 1), "{found}");
        assert_eq!(found.occupancy().map(|occupancy| occupancy.percent()), Some(100.0), "{found}");
        Ok(())
    }
}
