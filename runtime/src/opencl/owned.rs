//! Objects of OpenCL, which are released when they are dropped.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::Release;
use crate::driver::Memory;
use std::ffi::c_void;

/// An object that is nobody else's, and what releases it. Commands that still use it keep it alive.
pub(super) struct Owned(pub(super) *mut c_void, pub(super) Release);

// SAFETY: objects may be used from any thread; of kernels, whose arguments must not be set by two at once, a mutex sees to that.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Memory for Owned {
    fn handle(&self) -> u64 {
        self.0 as u64
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: owned, and of the kind that this function releases.
        let _ = unsafe { (self.1)(self.0) };
    }
}
