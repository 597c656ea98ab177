//! Libraries that have the drivers' names, and nothing of theirs: links to the C library, in a child of this test.

use warpwright::prelude::*;

super::examples! {
    /// A CUDA driver without its functions
    fn no_cuda(device) {
        device.synchronize()?;
        Device::cuda(0).map(drop)
    }

    /// An OpenCL loader without its functions
    fn no_opencl(device) {
        device.synchronize()?;
        Device::opencl(0).map(drop)
    }
}
