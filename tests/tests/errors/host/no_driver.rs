//! What is said where there is no driver, as in another child of this test.

use warpwright::prelude::*;

super::examples! {
    /// No driver for NVIDIA's GPUs
    fn no_driver(device) {
        device.synchronize()?;
        Device::cuda(0).map(drop)
    }

    /// No loader of OpenCL drivers
    fn no_loader(device) {
        device.synchronize()?;
        Device::opencl(0).map(drop)
    }
}
