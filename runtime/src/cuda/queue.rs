//! CUDA streams and events.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::Context;
use super::api::code;
use super::sys;
use super::texture::TextureMemory;
use super::{fault_meaning, is_fault};
use crate::definition::KernelDefinition;
use crate::driver::{Marker, Memory, Queue};
use crate::error::{Error, Result};
use std::ffi::c_uint;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// `CU_STREAM_NON_BLOCKING`: no implicit order with the legacy default stream.
const NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;

/// A stream.
pub(super) struct CudaQueue {
    context: Arc<Context>,
    stream: sys::CUstream,
    /// Recorded anew each time another stream must wait for this one: the wait takes the event as it is at the call.
    fence: CudaEvent,
    /// The kernel launched last, to name one when the stream fails.
    last: AtomicPtr<KernelDefinition>,
}

// SAFETY: the driver's API is thread-safe.
unsafe impl Send for CudaQueue {}
// SAFETY: as above.
unsafe impl Sync for CudaQueue {}

impl CudaQueue {
    pub(super) fn new(context: Arc<Context>) -> Result<CudaQueue> {
        let fence = CudaEvent::new(Arc::clone(&context), DISABLE_TIMING)?;
        let mut stream = null_mut();
        // SAFETY: writes one handle; `CudaEvent::new` made the context current.
        context.check(unsafe { context.driver.cuStreamCreate(&mut stream, NON_BLOCKING) }, "cuStreamCreate")?;
        Ok(CudaQueue { context, stream, fence, last: AtomicPtr::new(null_mut()) })
    }

    /// Copies all texels of a texture, to or from it.
    fn copy_texture(&self, copy: &sys::CUDA_MEMCPY2D) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the callers in this file name both sides, each with as many bytes as the picture has; the context is current.
        let code = unsafe { self.context.driver.cuMemcpy2DAsync(copy, self.stream) };
        self.context.check(code, "cuMemcpy2DAsync")
    }

    fn wait_for(&self, event: u64) -> Result<()> {
        // SAFETY: an event of this context; the context is current.
        let code = unsafe { self.context.driver.cuStreamWaitEvent(self.stream, event as sys::CUevent, 0) };
        self.context.check(code, "cuStreamWaitEvent")
    }
}

impl Queue for CudaQueue {
    fn handle(&self) -> u64 {
        self.stream as u64
    }

    unsafe fn write(&self, to: &dyn Memory, from: *const u8, bytes: usize, wait: bool) -> Result<()> {
        if let Some(picture) = to.picture() {
            let mut copy = TextureMemory::copy_of(to.handle(), picture, true);
            (copy.srcMemoryType, copy.srcHost) = (sys::CU_MEMORYTYPE_HOST, from.cast());
            self.copy_texture(&copy)?;
        } else if bytes != 0 {
            self.context.bind()?;
            // SAFETY: the caller's promise; the context is current.
            let code = unsafe { self.context.driver.cuMemcpyHtoDAsync(to.handle(), from.cast(), bytes, self.stream) };
            self.context.check(code, "cuMemcpyHtoDAsync")?;
        }
        if wait { self.synchronize() } else { Ok(()) }
    }

    unsafe fn read(&self, from: &dyn Memory, to: *mut u8, bytes: usize, wait: bool) -> Result<()> {
        if let Some(picture) = from.picture() {
            let mut copy = TextureMemory::copy_of(from.handle(), picture, false);
            (copy.dstMemoryType, copy.dstHost) = (sys::CU_MEMORYTYPE_HOST, to.cast());
            self.copy_texture(&copy)?;
        } else if bytes != 0 {
            self.context.bind()?;
            // SAFETY: the caller's promise; the context is current.
            let code = unsafe { self.context.driver.cuMemcpyDtoHAsync(to.cast(), from.handle(), bytes, self.stream) };
            self.context.check(code, "cuMemcpyDtoHAsync")?;
        }
        if wait { self.synchronize() } else { Ok(()) }
    }

    unsafe fn zero(&self, to: &dyn Memory, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: the caller's promise; the context is current.
        let code = unsafe { self.context.driver.cuMemsetD8Async(to.handle(), 0, bytes, self.stream) };
        self.context.check(code, "cuMemsetD8Async")
    }

    unsafe fn copy(&self, to: &dyn Memory, from: &dyn Memory, bytes: usize) -> Result<()> {
        if let Some(picture) = to.picture() {
            let mut copy = TextureMemory::copy_of(to.handle(), picture, true);
            (copy.srcMemoryType, copy.srcDevice) = (sys::CU_MEMORYTYPE_DEVICE, from.handle());
            return self.copy_texture(&copy);
        }
        if bytes == 0 {
            return Ok(());
        }
        self.context.bind()?;
        // SAFETY: the caller's promise; the context is current.
        let code = unsafe { self.context.driver.cuMemcpyDtoDAsync(to.handle(), from.handle(), bytes, self.stream) };
        self.context.check(code, "cuMemcpyDtoDAsync")
    }

    fn order_after(&self, other: &dyn Queue) -> Result<()> {
        self.context.bind()?;
        self.fence.record(other.handle())?;
        self.wait_for(self.fence.handle())
    }

    fn record(&self) -> Result<Box<dyn Marker>> {
        let event = CudaEvent::new(Arc::clone(&self.context), 0)?;
        event.record(self.handle())?;
        Ok(Box::new(event))
    }

    fn wait(&self, marker: &dyn Marker) -> Result<()> {
        self.context.bind()?;
        self.wait_for(marker.handle())
    }

    fn note_launch(&self, definition: &'static KernelDefinition) {
        self.last.store(std::ptr::from_ref(definition).cast_mut(), Ordering::Relaxed);
    }

    fn synchronize(&self) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the stream is this object's; the context is current.
        let code = unsafe { self.context.driver.cuStreamSynchronize(self.stream) };
        // SAFETY: null, or what `note_launch` stored: a `&'static`.
        let last = unsafe { self.last.load(Ordering::Relaxed).as_ref() };
        match last {
            Some(definition) if is_fault(code) => Err(Error::Fault {
                kernel: definition.name,
                device: self.context.name.clone(),
                message: format!("{}, {}", self.context.driver.name(code), fault_meaning(code)),
                place: " (the kernel named is the last of its stream; an earlier one may be at fault: `.simulate()` tells where. \
                        The device's context is lost, and the program must start anew to use it)"
                    .into(),
            }),
            _ => self.context.check(code, "cuStreamSynchronize"),
        }
    }
}

impl Drop for CudaQueue {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: the stream is this object's. Work in it goes on; the driver frees it afterwards.
            let _ = unsafe { self.context.driver.cuStreamDestroy(self.stream) };
        }
    }
}

/// An event.
pub(super) struct CudaEvent {
    context: Arc<Context>,
    event: sys::CUevent,
}

// SAFETY: the driver's API is thread-safe.
unsafe impl Send for CudaEvent {}
// SAFETY: as above.
unsafe impl Sync for CudaEvent {}

impl CudaEvent {
    /// A new event; the context is current afterwards.
    pub(super) fn new(context: Arc<Context>, flags: c_uint) -> Result<CudaEvent> {
        context.bind()?;
        let mut event = null_mut();
        // SAFETY: writes one handle; the context is current.
        context.check(unsafe { context.driver.cuEventCreate(&mut event, flags) }, "cuEventCreate")?;
        Ok(CudaEvent { context, event })
    }

    /// Marks the present end of a stream of this context, which is current.
    pub(super) fn record(&self, stream: u64) -> Result<()> {
        // SAFETY: both are this context's.
        let code = unsafe { self.context.driver.cuEventRecord(self.event, stream as sys::CUstream) };
        self.context.check(code, "cuEventRecord")
    }
}

impl Marker for CudaEvent {
    fn handle(&self) -> u64 {
        self.event as u64
    }

    fn is_complete(&self) -> Result<bool> {
        self.context.bind()?;
        // SAFETY: the event is this object's.
        match unsafe { self.context.driver.cuEventQuery(self.event) } {
            code::NOT_READY => Ok(false),
            code => self.context.check(code, "cuEventQuery").map(|()| true),
        }
    }

    fn synchronize(&self) -> Result<()> {
        self.context.bind()?;
        // SAFETY: the event is this object's.
        self.context.check(unsafe { self.context.driver.cuEventSynchronize(self.event) }, "cuEventSynchronize")
    }

    fn since(&self, start: &dyn Marker) -> Result<Duration> {
        self.context.bind()?;
        let mut milliseconds = 0f32;
        // SAFETY: both events are this context's; writes one number.
        let code = unsafe { self.context.driver.cuEventElapsedTime(&mut milliseconds, start.handle() as sys::CUevent, self.event) };
        self.context.check(code, "cuEventElapsedTime")?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds).max(0.0) / 1000.0))
    }
}

impl Drop for CudaEvent {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: the event is this object's; the driver waits with freeing it until it has been passed.
            let _ = unsafe { self.context.driver.cuEventDestroy(self.event) };
        }
    }
}
