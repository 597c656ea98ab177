//! What is said where the driver is older than the kernels: the stand-in says that it is CUDA 11.4's, in another child of this test.

use super::launches::scaled;
use warpwright::prelude::*;

super::examples! {
    /// A driver that does not know the kernel's PTX
    fn old_driver(device) {
        device.synchronize()?;
        let gpu = Device::cuda(0)?;
        let (x, mut y) = (gpu.zeros::<f32>(64)?, gpu.zeros::<f32>(64)?);
        scaled(2.0, &x, &mut y).cover(64).launch(&gpu)
    }
}
