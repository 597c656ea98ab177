//! Memory of the host, for devices that run there: the simulator, the host twin, OpenCL's staging.

#![expect(unsafe_code, reason = "allocates and copies plain bytes")]

use crate::driver::{Copied, Marker, Memory, Queue};
use crate::error::{Error, Result};
use crate::texture::Picture;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// What every allocation is aligned to: a cache line, and more than any element.
const ALIGN: usize = 64;

/// Zeroed bytes, aligned to 64.
pub(crate) struct HostMemory {
    address: NonNull<u8>,
    layout: Layout,
}

// SAFETY: plain bytes, owned; who reads and writes them is governed by the buffer that holds the memory.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(crate) fn new(bytes: usize) -> Result<HostMemory> {
        let out_of_memory = || Error::OutOfMemory { device: "the host".into(), bytes: bytes as u64 };
        let layout = Layout::from_size_align(bytes, ALIGN).map_err(|_| out_of_memory())?;
        if bytes == 0 {
            return Ok(HostMemory { address: NonNull::<Aligned>::dangling().cast(), layout });
        }
        // SAFETY: the layout's size is not zero.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(out_of_memory)?;
        Ok(HostMemory { address, layout })
    }

    /// Memory for a texture's texels, row by row.
    pub(crate) fn for_texture(picture: &Picture) -> Result<HostMemory> {
        let bytes = usize::try_from(picture.bytes());
        HostMemory::new(bytes.map_err(|_| Error::OutOfMemory { device: "the host".into(), bytes: picture.bytes() })?)
    }
}

/// Has the alignment of an allocation: the address of an empty one is a multiple of it too.
#[repr(align(64))]
struct Aligned;

impl Memory for HostMemory {
    fn handle(&self) -> u64 {
        self.address.as_ptr() as u64
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.address.as_ptr(), self.layout) };
        }
    }
}

/// The queue of a device that does its work within the call.
pub(crate) struct HostQueue;

impl Queue for HostQueue {
    fn handle(&self) -> u64 {
        0
    }

    unsafe fn write(&self, to: &dyn Memory, from: *const u8, bytes: usize, _wait: bool) -> Result<()> {
        // SAFETY: the caller's promise; a handle of host memory is its address. Both sides are different allocations.
        unsafe { std::ptr::copy_nonoverlapping(from, to.handle() as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn read(&self, from: &dyn Memory, to: *mut u8, bytes: usize, _wait: bool) -> Result<()> {
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(from.handle() as *const u8, to, bytes) };
        Ok(())
    }

    unsafe fn zero(&self, to: &dyn Memory, bytes: usize) -> Result<()> {
        // SAFETY: as in `write`.
        unsafe { std::ptr::write_bytes(to.handle() as *mut u8, 0, bytes) };
        Ok(())
    }

    unsafe fn copy(&self, to: &dyn Memory, from: &dyn Memory, what: Copied) -> Result<()> {
        let (to, from) = (to.handle() as *mut u8, from.handle() as *const u8);
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(from.add(what.from), to.add(what.to), what.bytes) };
        Ok(())
    }

    fn order_after(&self, _other: &dyn Queue) -> Result<()> {
        Ok(())
    }

    fn record(&self) -> Result<Box<dyn Marker>> {
        Ok(Box::new(HostMarker(Instant::now())))
    }

    fn wait(&self, _marker: &dyn Marker) -> Result<()> {
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}

/// A place in such a queue: a time.
struct HostMarker(Instant);

impl Marker for HostMarker {
    fn handle(&self) -> u64 {
        0
    }

    fn is_complete(&self) -> Result<bool> {
        Ok(true)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn since(&self, start: &dyn Marker) -> Result<Duration> {
        let start = start.host_time().unwrap_or(self.0);
        Ok(self.0.saturating_duration_since(start))
    }

    fn host_time(&self) -> Option<Instant> {
        Some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_memory_is_aligned_and_huge_memory_is_an_error() {
        assert_eq!(HostMemory::new(0).unwrap().handle() % 64, 0);
        assert!(matches!(HostMemory::new(usize::MAX / 2), Err(Error::OutOfMemory { .. })));
    }
}
