//! A wave on several GPUs: the rows of the plate are spread over all of them, each step is one launch on each, and the rows at the borders go from GPU to GPU.
//! `cargo run --example wave` runs it on all GPUs; without any, on three simulators, with the same kernel.

use warpwright::prelude::*;
use warpwright::{Error, Sharded, launch_sharded};

/// The plate's next state, over the one before the last: a thread for each of `rows` rows, which begin behind `above` rows of the neighbour. The plate's edge, outside `from..to`, stays.
#[kernel(block = (64, 4))]
pub fn moved(rate: f32, columns: usize, above: usize, from: usize, to: usize, now: &Global<f32>, last: &mut Global<f32>) {
    let (x, y) = (global_id().x, global_id().y + above);
    if x > 0 && x + 1 < columns && y >= from && y < to {
        let at = y * columns + x;
        let here = now[at];
        let around = now[at - 1] + now[at + 1] + now[at - columns] + now[at + columns];
        last[at] = 2.0 * here - last[at] + rate * (around - 4.0 * here);
    }
}

/// The plate on some devices, as it is and as it was a step ago.
pub struct Plate {
    now: Sharded<f32>,
    last: Sharded<f32>,
}

impl Plate {
    /// At rest, with a bump in the middle.
    pub fn new(devices: &[Device], rows: usize, columns: usize) -> Result<Plate, Error> {
        let squared = |a: usize, b: usize| (a as f32 - b as f32 / 2.0).powi(2);
        let height = |i: usize| (-0.02 * (squared(i / columns, rows) + squared(i % columns, columns))).exp();
        let bump: Vec<f32> = (0..rows * columns).map(height).collect();
        let spread = || Sharded::scatter(devices, &bump, columns, 1);
        Ok(Plate { now: spread()?, last: spread()? })
    }

    /// A step further.
    pub fn step(&mut self) -> Result<(), Error> {
        let (rows, columns) = (self.now.rows(), self.now.columns());
        launch_sharded((&self.now, &mut self.last), |place, (now, last)| {
            // The first and the last row of the plate are its edge.
            let (first, end) = (place.above, place.above + place.rows.len());
            let from = first + usize::from(place.rows.start == 0);
            let to = end - usize::from(place.rows.end == rows);
            Ok(moved(0.2, columns, place.above, from, to, now, last).cover((columns, place.rows.len())))
        })?;
        self.last.exchange_halos()?;
        std::mem::swap(&mut self.now, &mut self.last);
        Ok(())
    }

    /// All of it, on the host.
    pub fn gather(&self) -> Result<Vec<f32>, Error> {
        self.now.gather()
    }
}

#[allow(dead_code, reason = "others include this file")]
fn main() -> Result<(), Error> {
    let (rows, columns, steps) = (96, 128, 60);
    let gpus = Device::gpus();
    let devices = if gpus.is_empty() { Device::simulators(3) } else { gpus };
    let run = |devices: &[Device]| {
        let mut plate = Plate::new(devices, rows, columns)?;
        (0..steps).try_for_each(|_| plate.step())?;
        plate.gather()
    };
    let (on_all, on_one) = (run(&devices)?, run(&devices[..1])?);
    println!("{rows} × {columns} points, {steps} steps, on {} devices: {}", devices.len(), devices[0]);
    let line = |value: f32| b" .:-=+*#%@"[((value.abs() * 60.0) as usize).min(9)] as char;
    for row in (0..rows).step_by(8) {
        println!("{}", (0..columns).step_by(2).map(|column| line(on_all[row * columns + column])).collect::<String>());
    }
    assert!(on_all == on_one, "the wave depends on how many devices it runs on");
    println!("on one device it has the same bits");
    Ok(())
}
