//! In-order command queues and their events.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{self, OpenClApi, check};
use super::device::{Context, NONE};
use super::owned::Owned;
use super::sys::{self, cl_bool, cl_command_queue, cl_event, cl_mem, cl_uint};
use crate::driver::{Copied, Marker, Memory, Queue};
use crate::error::{Error, Result};
use crate::texture::Picture;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

/// A queue. Profiling is on, so that events and kernels can be timed.
pub(super) struct OpenClQueue {
    context: Arc<Context>,
    queue: Owned,
}

impl OpenClQueue {
    pub(super) fn new(context: Arc<Context>) -> Result<OpenClQueue> {
        let mut code = 0;
        // SAFETY: the device is the context's.
        let queue = unsafe { context.api.clCreateCommandQueue(context.context, context.device, sys::CL_QUEUE_PROFILING_ENABLE, &mut code) };
        check(code, "clCreateCommandQueue")?;
        let queue = Owned(queue, context.api.clReleaseCommandQueue);
        Ok(OpenClQueue { context, queue })
    }

    fn barrier(&self, event: cl_event) -> Result<()> {
        // SAFETY: one event of this context.
        check(unsafe { self.context.api.clEnqueueBarrierWithWaitList(self.queue.0, 1, &event, null_mut()) }, "clEnqueueBarrierWithWaitList")
    }
}

/// All of a texture.
fn region(picture: &Picture) -> [usize; 3] {
    [picture.width as usize, picture.height as usize, 1]
}

/// The present end of a queue, flushed, so that another may wait for it.
fn mark(api: &'static OpenClApi, queue: cl_command_queue) -> Result<OpenClEvent> {
    let mut event = null_mut();
    // SAFETY: an empty wait list; writes one handle.
    check(unsafe { api.clEnqueueMarkerWithWaitList(queue, 0, NONE, &mut event) }, "clEnqueueMarkerWithWaitList")?;
    let event = OpenClEvent::new(api, event);
    // SAFETY: the queue is alive.
    check(unsafe { api.clFlush(queue) }, "clFlush")?;
    Ok(event)
}

impl Queue for OpenClQueue {
    fn handle(&self) -> u64 {
        self.queue.handle()
    }

    unsafe fn write(&self, to: &dyn Memory, from: *const u8, bytes: usize, wait: bool) -> Result<()> {
        let queue = self.queue.0;
        if bytes == 0 {
            return if wait { self.synchronize() } else { Ok(()) };
        }
        if let Some(picture) = to.picture() {
            let (image, wait, region) = (to.handle() as cl_mem, cl_bool::from(wait), region(picture));
            // SAFETY: the caller's promise; rows follow each other without gaps.
            let code = unsafe {
                self.context.api.clEnqueueWriteImage(
                    queue,
                    image,
                    wait,
                    [0; 3].as_ptr(),
                    region.as_ptr(),
                    0,
                    0,
                    from.cast(),
                    0,
                    NONE,
                    null_mut(),
                )
            };
            return check(code, "clEnqueueWriteImage");
        }
        let to = to.handle() as cl_mem;
        // SAFETY: the caller's promise.
        let code =
            unsafe { self.context.api.clEnqueueWriteBuffer(queue, to, cl_bool::from(wait), 0, bytes, from.cast(), 0, NONE, null_mut()) };
        check(code, "clEnqueueWriteBuffer")
    }

    unsafe fn read(&self, from: &dyn Memory, to: *mut u8, bytes: usize, wait: bool) -> Result<()> {
        let queue = self.queue.0;
        if bytes == 0 {
            return if wait { self.synchronize() } else { Ok(()) };
        }
        if let Some(picture) = from.picture() {
            let (image, wait, region) = (from.handle() as cl_mem, cl_bool::from(wait), region(picture));
            // SAFETY: as in `write`.
            let code = unsafe {
                self.context.api.clEnqueueReadImage(
                    queue,
                    image,
                    wait,
                    [0; 3].as_ptr(),
                    region.as_ptr(),
                    0,
                    0,
                    to.cast(),
                    0,
                    NONE,
                    null_mut(),
                )
            };
            return check(code, "clEnqueueReadImage");
        }
        let from = from.handle() as cl_mem;
        // SAFETY: the caller's promise.
        let code =
            unsafe { self.context.api.clEnqueueReadBuffer(queue, from, cl_bool::from(wait), 0, bytes, to.cast(), 0, NONE, null_mut()) };
        check(code, "clEnqueueReadBuffer")
    }

    unsafe fn zero(&self, to: &dyn Memory, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (to, pattern) = (to.handle() as cl_mem, 0u8);
        // SAFETY: the caller's promise; the pattern is copied before the call returns.
        let code = unsafe {
            self.context.api.clEnqueueFillBuffer(self.queue.0, to, (&raw const pattern).cast(), 1, 0, bytes, 0, NONE, null_mut())
        };
        check(code, "clEnqueueFillBuffer")
    }

    unsafe fn copy(&self, to: &dyn Memory, from: &dyn Memory, what: Copied) -> Result<()> {
        if what.bytes == 0 {
            return Ok(());
        }
        let (picture, to, from) = (to.picture(), to.handle() as cl_mem, from.handle() as cl_mem);
        if let Some(picture) = picture {
            let region = region(picture);
            // SAFETY: the caller's promise; rows follow each other without gaps.
            let code = unsafe {
                self.context.api.clEnqueueCopyBufferToImage(
                    self.queue.0,
                    from,
                    to,
                    0,
                    [0; 3].as_ptr(),
                    region.as_ptr(),
                    0,
                    NONE,
                    null_mut(),
                )
            };
            return check(code, "clEnqueueCopyBufferToImage");
        }
        let api = self.context.api;
        // SAFETY: the caller's promise.
        let code = unsafe { api.clEnqueueCopyBuffer(self.queue.0, from, to, what.from, what.to, what.bytes, 0, NONE, null_mut()) };
        check(code, "clEnqueueCopyBuffer")
    }

    fn order_after(&self, other: &dyn Queue) -> Result<()> {
        self.barrier(mark(self.context.api, other.handle() as cl_command_queue)?.event.0)
    }

    fn record(&self) -> Result<Box<dyn Marker>> {
        Ok(Box::new(mark(self.context.api, self.queue.0)?))
    }

    fn wait(&self, marker: &dyn Marker) -> Result<()> {
        self.barrier(marker.handle() as cl_event)
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: the queue is alive.
        check(unsafe { self.context.api.clFinish(self.queue.0) }, "clFinish")?;
        self.check_faults()
    }

    fn check_faults(&self) -> Result<()> {
        self.context.faults.check(&self.context.identity.name, self.handle())
    }
}

impl Drop for OpenClQueue {
    fn drop(&mut self) {
        self.context.faults.forget(self.handle());
    }
}

/// An event.
pub(super) struct OpenClEvent {
    api: &'static OpenClApi,
    event: Owned,
}

impl OpenClEvent {
    /// One that is nobody else's.
    pub(super) fn new(api: &'static OpenClApi, event: cl_event) -> OpenClEvent {
        OpenClEvent { api, event: Owned(event, api.clReleaseEvent) }
    }

    /// Nanoseconds of the device's clock at one of the event's times.
    pub(super) fn time(&self, what: cl_uint) -> Result<u64> {
        time_of(self.api, self.event.0, what)
    }
}

fn time_of(api: &OpenClApi, event: cl_event, what: cl_uint) -> Result<u64> {
    let mut time = 0u64;
    // SAFETY: writes 8 bytes.
    let code = unsafe { api.clGetEventProfilingInfo(event, what, size_of::<u64>(), (&raw mut time).cast(), null_mut()) };
    check(code, "clGetEventProfilingInfo")?;
    Ok(time)
}

impl Marker for OpenClEvent {
    fn handle(&self) -> u64 {
        self.event.handle()
    }

    fn is_complete(&self) -> Result<bool> {
        let what = sys::CL_EVENT_COMMAND_EXECUTION_STATUS;
        // SAFETY: writes at most the size it is given.
        let bytes =
            api::info("clGetEventInfo", |size, value, needed| unsafe { self.api.clGetEventInfo(self.event.0, what, size, value, needed) })?;
        let status = api::numbers(&bytes, 4).first().map_or(0, |bits| *bits as u32 as i32);
        // Below `CL_COMPLETE` (0) stands an error.
        if status < 0 {
            let context = "; `.synchronize()` behind each launch finds which".to_owned();
            return Err(Error::Driver { call: "a command before the event".to_owned(), code: api::name(status), context });
        }
        Ok(status == 0)
    }

    fn synchronize(&self) -> Result<()> {
        // SAFETY: one event.
        check(unsafe { self.api.clWaitForEvents(1, &self.event.0) }, "clWaitForEvents")
    }

    fn since(&self, start: &dyn Marker) -> Result<Duration> {
        let start = time_of(self.api, start.handle() as cl_event, sys::CL_PROFILING_COMMAND_END)?;
        Ok(Duration::from_nanos(self.time(sys::CL_PROFILING_COMMAND_END)?.saturating_sub(start)))
    }
}
