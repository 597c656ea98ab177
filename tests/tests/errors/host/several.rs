//! Several launches and devices: what is timed and spread.

use warpwright::prelude::*;
use warpwright::{Replicated, Sharded, launch_sharded};

#[kernel(block = 64)]
pub fn doubled(x: &Global<f32>, y: &mut Global<f32>) {
    let i = global_id().x;
    if i < y.len() {
        y[i] = 2.0 * x[i];
    }
}

super::examples! {
    /// No runs to time
    fn no_runs(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        device.time(0, |run| run.launch(doubled(&x, &mut y).cover(64))).map(drop)
    }

    /// A launch that the clock does not see
    fn unseen_launch(device) {
        let (x, mut y) = (device.zeros::<f32>(64)?, device.zeros::<f32>(64)?);
        device.time(3, |_| doubled(&x, &mut y).cover(64).launch(device)).map(drop)
    }

    /// A matrix over no device
    fn no_device(device) {
        device.synchronize()?;
        Sharded::scatter(&[], &[1.0f32; 8], 4, 0).map(drop)
    }

    /// Elements that are no whole rows
    fn no_whole_rows(device) {
        Sharded::scatter(std::slice::from_ref(device), &[1.0f32; 9], 4, 0).map(drop)
    }

    /// A halo that is wider than a device's rows
    fn wide_halo(device) {
        device.synchronize()?;
        Sharded::<f32>::zeros(&Device::simulators(3), 8, 4, 3).map(drop)
    }

    /// Matrices of one launch that are spread differently
    fn other_spread(device) {
        device.synchronize()?;
        let devices = Device::simulators(3);
        let (x, mut y) = (Sharded::<f32>::zeros(&devices, 9, 4, 0)?, Sharded::<f32>::zeros(&devices[..2], 9, 4, 0)?);
        launch_sharded((&x, &mut y), |_, (x, y)| Ok(doubled(x, y).cover(36)))
    }

    /// Matrices of one launch with different halos
    fn other_halo(device) {
        let devices = [device.clone()];
        let (x, mut y) = (Sharded::<f32>::zeros(&devices, 9, 4, 1)?, Sharded::<f32>::zeros(&devices, 9, 4, 0)?);
        launch_sharded((&x, &mut y), |_, (x, y)| Ok(doubled(x, y).cover(36)))
    }

    /// A table that other devices have
    fn other_table(device) {
        device.synchronize()?;
        let devices = Device::simulators(2);
        let (x, mut y) = (Replicated::<f32>::zeros(&devices[..1], 64)?, Sharded::<f32>::zeros(&devices, 8, 8, 0)?);
        launch_sharded((&x, &mut y), |_, (x, y)| Ok(doubled(x, y).cover(32)))
    }

    /// A launch on several devices without rows
    fn no_rows(device) {
        let devices = [device.clone()];
        let (x, mut y) = (Replicated::<f32>::zeros(&devices, 64)?, Replicated::<f32>::zeros(&devices, 64)?);
        launch_sharded((&x, &mut y), |_, (x, y)| Ok(doubled(x, y).cover(64)))
    }

    /// A launch on rows that were replaced by fewer
    fn short_rows(device) {
        let devices = [device.clone()];
        let (x, mut y) = (Sharded::<f32>::zeros(&devices, 9, 4, 0)?, Sharded::<f32>::zeros(&devices, 9, 4, 0)?);
        y.shards_mut()[0].buffer = device.zeros::<f32>(4)?;
        launch_sharded((&x, &mut y), |_, (x, y)| Ok(doubled(x, y).cover(36)))
    }

    /// A device's rows that were replaced by fewer
    fn rows_replaced(device) {
        let devices = [device.clone()];
        let mut x = Sharded::scatter(&devices, &[1.0f32; 8], 4, 0)?;
        x.shards_mut()[0].buffer = device.zeros::<f32>(4)?;
        x.gather().map(drop)
    }
}
