//! What the simulator knows of a kernel: counters, and a race that it finds.

use warpwright::prelude::*;

/// Transposes a matrix without shared memory: reads are coalesced, writes are not. The compiler says so, unless told that it is known.
#[kernel(block = (32, 8), allow(uncoalesced_access))]
fn transpose(n: usize, input: &Global<f32>, out: &mut Global<f32>) {
    let Dim3 { x, y, .. } = global_id();
    if x < n && y < n {
        out[x * n + y] = input[y * n + x];
    }
}

/// Forgets the barrier between writing and reading the tile, which the compiler finds, too.
#[kernel(block = 64, allow(missing_barrier))]
fn reverse(data: &mut Global<u32>) {
    #[shared]
    let mut tile: [u32; 64];
    let t = thread_idx().x;
    tile[t] = data[t];
    data[t] = tile[63 - t];
}

fn main() -> warpwright::Result<()> {
    let device = Device::simulator();
    let n = 64;
    let input = device.upload(&(0..n * n).map(|i| i as f32).collect::<Vec<_>>())?;
    let mut out = device.zeros::<f32>(n * n)?;
    println!("{}", transpose(n, &input, &mut out).cover((n, n)).simulate()?);
    let mut data = device.upload(&(0..64).collect::<Vec<u32>>())?;
    match reverse(&mut data).grid(1).simulate() {
        Ok(_) => println!("no fault found"),
        Err(fault) => println!("{fault}"),
    }
    Ok(())
}
