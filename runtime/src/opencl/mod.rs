//! OpenCL.
use crate::backend::Backend;
use crate::error::{Error, Result};

pub(crate) fn open(_index: usize) -> Result<Box<dyn Backend>> {
    Err(Error::NoDriver { backend: "OpenCL", reason: "stub".into(), help: "stub" })
}

pub(crate) fn count() -> usize {
    0
}
