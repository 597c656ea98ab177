//! CUDA streams and events.

#![expect(unsafe_code, reason = "calls the CUDA driver")]

use super::api::{Code, DriverApi, code};
use super::sys::{self, Handle};
use super::texture::TextureMemory;
use super::{Context, Owned, fault_help, fault_meaning, is_fault};
use crate::driver::{Copied, DeviceDriver, Marker, Memory, Notes, Queue};
use crate::error::{Error, Result};
use crate::foreign::{PER_THREAD, per_thread_handle};
use std::any::Any;
use std::ffi::c_uint;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// `CU_STREAM_NON_BLOCKING`: no implicit order with the legacy default stream.
const NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const DISABLE_TIMING: c_uint = 2;

/// A stream, and what destroys it, unless it is others'.
struct KeptStream {
    context: Arc<Context>,
    handle: sys::CUstream,
    _owned: Option<Owned<sys::CUstream>>,
}

/// A stream.
pub(super) struct CudaQueue {
    stream: KeptStream,
    /// Recorded anew each time another stream must wait for this one: the wait takes the event as it is at the call, so nobody may record it in between. Made when the first one waits: most streams that
    /// others lend are gone before.
    fence: Mutex<Option<CudaEvent>>,
    notes: Arc<Notes>,
}

impl CudaQueue {
    pub(super) fn new(context: Arc<Context>) -> Result<CudaQueue> {
        context.bind()?;
        let mut stream = Handle::NULL;
        // SAFETY: writes one handle; the context is current.
        context.check(unsafe { context.driver.cuStreamCreate(&mut stream, NON_BLOCKING) }, "cuStreamCreate")?;
        let owned = Owned { context: Arc::clone(&context), handle: stream, free: DriverApi::cuStreamDestroy };
        Ok(CudaQueue::of(KeptStream { context, handle: stream, _owned: Some(owned) }))
    }

    /// A stream of others: used only while somebody keeps it.
    pub(super) fn of_others(context: Arc<Context>, handle: sys::CUstream) -> CudaQueue {
        CudaQueue::of(KeptStream { context, handle, _owned: None })
    }

    fn of(stream: KeptStream) -> CudaQueue {
        CudaQueue { stream, fence: Mutex::default(), notes: Arc::default() }
    }

    /// The stream as the driver knows it in the calling thread, to be told what is in it.
    fn seen_here(&self) -> sys::CUstream {
        match self.stream.handle.bits() {
            PER_THREAD => Handle::of(per_thread_handle(self.notes.address())),
            _ => self.stream.handle,
        }
    }

    /// The same, to put something into it.
    fn here(&self) -> sys::CUstream {
        match self.stream.handle.bits() {
            PER_THREAD => Handle::of(self.notes.per_thread_handle()),
            _ => self.stream.handle,
        }
    }

    /// Copies all texels of a texture, to or from it.
    fn copy_texture(&self, copy: &sys::CUDA_MEMCPY2D) -> Result<()> {
        self.stream.context.bind()?;
        // SAFETY: the callers in this file name both sides, each with as many bytes as the picture has; the context is current.
        let code = unsafe { self.stream.context.driver.cuMemcpy2DAsync(copy, self.here()) };
        self.stream.context.check(code, "cuMemcpy2DAsync")
    }

    /// Waits until all that is in it has run; gives the driver's code. The context is current.
    fn wait_until_done(&self) -> Code {
        if self.stream.handle.bits() == PER_THREAD {
            // What others put into the stream that stands for it comes before what is put here, not before who only waits.
            let event = CudaEvent::new(Arc::clone(&self.stream.context), DISABLE_TIMING);
            if let Ok(event) = event.and_then(|event| event.record(self.seen_here().bits()).map(|()| event)) {
                // SAFETY: the event is `event`'s.
                return unsafe { self.stream.context.driver.cuEventSynchronize(event.0.handle) };
            }
            // What has gone wrong before is told by that call, too.
        }
        // SAFETY: the stream is this object's; the context is current.
        unsafe { self.stream.context.driver.cuStreamSynchronize(self.stream.handle) }
    }

    fn wait_for(&self, event: u64) -> Result<()> {
        // SAFETY: an event of this context; the context is current.
        let code = unsafe { self.stream.context.driver.cuStreamWaitEvent(self.here(), Handle::of(event), 0) };
        self.stream.context.check(code, "cuStreamWaitEvent")
    }
}

impl Queue for CudaQueue {
    fn handle(&self) -> u64 {
        self.here().bits()
    }

    unsafe fn write(&self, to: &dyn Memory, from: *const u8, bytes: usize, wait: bool) -> Result<()> {
        if let Some(picture) = to.picture() {
            let mut copy = TextureMemory::copy_of(to.handle(), picture, true);
            (copy.srcMemoryType, copy.srcHost) = (sys::CU_MEMORYTYPE_HOST, from.cast());
            self.copy_texture(&copy)?;
        } else if bytes != 0 {
            self.stream.context.bind()?;
            // SAFETY: the caller's promise; the context is current.
            let code = unsafe { self.stream.context.driver.cuMemcpyHtoDAsync(to.handle(), from.cast(), bytes, self.here()) };
            self.stream.context.check(code, "cuMemcpyHtoDAsync")?;
        }
        if wait { self.synchronize() } else { Ok(()) }
    }

    unsafe fn read(&self, from: &dyn Memory, to: *mut u8, bytes: usize, wait: bool) -> Result<()> {
        if let Some(picture) = from.picture() {
            let mut copy = TextureMemory::copy_of(from.handle(), picture, false);
            (copy.dstMemoryType, copy.dstHost) = (sys::CU_MEMORYTYPE_HOST, to.cast());
            self.copy_texture(&copy)?;
        } else if bytes != 0 {
            self.stream.context.bind()?;
            // SAFETY: the caller's promise; the context is current.
            let code = unsafe { self.stream.context.driver.cuMemcpyDtoHAsync(to.cast(), from.handle(), bytes, self.here()) };
            self.stream.context.check(code, "cuMemcpyDtoHAsync")?;
        }
        if wait { self.synchronize() } else { Ok(()) }
    }

    unsafe fn zero(&self, to: &dyn Memory, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.stream.context.bind()?;
        // SAFETY: the caller's promise; the context is current.
        let code = unsafe { self.stream.context.driver.cuMemsetD8Async(to.handle(), 0, bytes, self.here()) };
        self.stream.context.check(code, "cuMemsetD8Async")
    }

    unsafe fn copy(&self, to: &dyn Memory, from: &dyn Memory, what: Copied) -> Result<()> {
        if let Some(picture) = to.picture() {
            let mut copy = TextureMemory::copy_of(to.handle(), picture, true);
            (copy.srcMemoryType, copy.srcDevice) = (sys::CU_MEMORYTYPE_DEVICE, from.handle());
            return self.copy_texture(&copy);
        }
        if what.bytes == 0 {
            return Ok(());
        }
        self.stream.context.bind()?;
        let (to, from) = (to.handle() + what.to as u64, from.handle() + what.from as u64);
        // SAFETY: the caller's promise; the context is current.
        let code = unsafe { self.stream.context.driver.cuMemcpyDtoDAsync(to, from, what.bytes, self.here()) };
        self.stream.context.check(code, "cuMemcpyDtoDAsync")
    }

    unsafe fn copy_from_peer(&self, to: &dyn Memory, from: &dyn Memory, peer: &dyn DeviceDriver, what: Copied) -> Result<()> {
        let Some(peer) = peer.context().filter(|_| what.bytes != 0) else { return Ok(()) };
        let context = &self.stream.context;
        context.bind()?;
        let (to, from) = (to.handle() + what.to as u64, from.handle() + what.from as u64);
        // SAFETY: the caller's promise: memory of these contexts.
        let code = unsafe { context.driver.cuMemcpyPeerAsync(to, context.context, from, Handle(peer), what.bytes, self.here()) };
        context.check(code, "cuMemcpyPeerAsync")
    }

    fn order_after(&self, other: &dyn Queue) -> Result<()> {
        let other: &dyn Any = other;
        let Some(other) = other.downcast_ref::<CudaQueue>() else {
            return Err(Error::internal(&self.stream.context.identity.name));
        };
        // The other's event: an event is recorded in streams of its own context, and waited for in any.
        other.stream.context.bind()?;
        let mut fence = other.fence.lock().unwrap_or_else(PoisonError::into_inner);
        let fence = match &mut *fence {
            Some(fence) => fence,
            none => none.insert(CudaEvent::new(Arc::clone(&other.stream.context), DISABLE_TIMING)?),
        };
        fence.record(other.seen_here().bits())?;
        self.stream.context.bind()?;
        self.wait_for(fence.handle())
    }

    fn record(&self) -> Result<Box<dyn Marker>> {
        let event = CudaEvent::new(Arc::clone(&self.stream.context), 0)?;
        event.record(self.seen_here().bits())?;
        Ok(Box::new(event))
    }

    fn mark(&self) -> Result<Box<dyn Marker>> {
        let event = CudaEvent::new(Arc::clone(&self.stream.context), DISABLE_TIMING)?;
        event.record(self.seen_here().bits())?;
        Ok(Box::new(event))
    }

    fn wait(&self, marker: &dyn Marker) -> Result<()> {
        self.stream.context.bind()?;
        self.wait_for(marker.handle())
    }

    fn notes(&self) -> Option<Arc<Notes>> {
        Some(Arc::clone(&self.notes))
    }

    fn synchronize(&self) -> Result<()> {
        self.stream.context.bind()?;
        let code = self.wait_until_done();
        // SAFETY: null, or what `StreamCore::note_launch` stored: a `&'static`.
        let last = unsafe { self.notes.last.load(Ordering::Relaxed).as_ref() };
        match last {
            Some(definition) if is_fault(code) => Err(Error::Fault {
                kernel: definition.name,
                device: self.stream.context.identity.named(),
                message: format!("{}, {}", self.stream.context.driver.name(code), fault_meaning(code)),
                place: format!(
                    " (the kernel named is the last of its stream; an earlier one may be at fault. The device's context is lost, \
                     and the program must start anew to use it){}",
                    fault_help(code)
                ),
            }),
            _ => self.stream.context.check(code, "cuStreamSynchronize"),
        }
    }
}

/// An event.
pub(super) struct CudaEvent(Owned<sys::CUevent>);

impl CudaEvent {
    /// A new event; the context is current afterwards.
    pub(super) fn new(context: Arc<Context>, flags: c_uint) -> Result<CudaEvent> {
        context.bind()?;
        let mut event = Handle::NULL;
        // SAFETY: writes one handle; the context is current.
        context.check(unsafe { context.driver.cuEventCreate(&mut event, flags) }, "cuEventCreate")?;
        Ok(CudaEvent(Owned { context, handle: event, free: DriverApi::cuEventDestroy }))
    }

    /// Marks the present end of a stream of this context, which is current.
    pub(super) fn record(&self, stream: u64) -> Result<()> {
        // SAFETY: both are this context's.
        let code = unsafe { self.0.context.driver.cuEventRecord(self.0.handle, Handle::of(stream)) };
        self.0.context.check(code, "cuEventRecord")
    }
}

impl Marker for CudaEvent {
    fn handle(&self) -> u64 {
        self.0.handle.bits()
    }

    fn is_complete(&self) -> Result<bool> {
        self.0.context.bind()?;
        // SAFETY: the event is this object's.
        match unsafe { self.0.context.driver.cuEventQuery(self.0.handle) } {
            code::NOT_READY => Ok(false),
            code => self.0.context.check(code, "cuEventQuery").map(|()| true),
        }
    }

    fn synchronize(&self) -> Result<()> {
        self.0.context.bind()?;
        // SAFETY: the event is this object's.
        self.0.context.check(unsafe { self.0.context.driver.cuEventSynchronize(self.0.handle) }, "cuEventSynchronize")
    }

    fn since(&self, start: &dyn Marker) -> Result<Duration> {
        self.0.context.bind()?;
        let mut milliseconds = 0f32;
        // SAFETY: both events are this context's; writes one number.
        let code = unsafe { self.0.context.driver.cuEventElapsedTime(&mut milliseconds, Handle::of(start.handle()), self.0.handle) };
        self.0.context.check(code, "cuEventElapsedTime")?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds).max(0.0) / 1000.0))
    }
}
