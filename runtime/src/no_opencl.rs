//! What stands for `opencl` without the feature `opencl`: there is no device.

use crate::driver::DeviceDriver;
use crate::error::{Error, Result};

pub(crate) fn open(_index: usize) -> Result<Box<dyn DeviceDriver>> {
    Err(Error::NoDriver {
        api: "OpenCL",
        reason: "this program was built without the feature `opencl`".into(),
        help: "write `warpwright = { …, features = [\"opencl\"] }` in Cargo.toml, or use `Device::simulator()`",
    })
}

pub(crate) fn count() -> usize {
    0
}
