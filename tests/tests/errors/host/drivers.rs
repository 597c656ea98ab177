//! What a driver says: the stand-in for NVIDIA's, which a child of this test has. After a fault its context is lost, and what comes then fails, too.

use super::launches::scaled;
use warpwright::prelude::*;

super::examples! {
    /// A device that there is not
    fn no_device(device) {
        device.synchronize()?;
        Device::cuda(7).map(drop)
    }

    /// More bytes than a GPU has
    fn out_of_memory(device) {
        device.synchronize()?;
        Device::cuda(0)?.zeros::<f64>(1 << 34).map(drop)
    }

    /// A kernel that a GPU stops
    fn fault(device) {
        device.synchronize()?;
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).grid(1 << 20).launch(&gpu)?;
        gpu.synchronize()
    }

    /// Anything after that
    fn after_a_fault(device) {
        device.synchronize()?;
        Device::cuda(0)?.zeros::<u32>(64).map(drop)
    }
}
