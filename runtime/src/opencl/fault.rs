//! Faults: OpenCL C cannot trap, so a kernel with assertions or checked bounds writes its first fault into a buffer, which is looked
//! at whenever the host waits.

#![expect(unsafe_code, reason = "calls the OpenCL API")]

use super::api::{OpenClApi, check};
use super::device::{Context, NONE};
use super::owned::Owned;
use super::sys::{self, cl_command_queue, cl_mem};
use crate::error::{Error, Result};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Words of a fault: message + 1 (0: none), line, linear global thread (low, high).
const WORDS: usize = 4;
const BYTES: usize = WORDS * 4;

/// What the words of a kernel's faults mean.
pub(super) struct FaultTexts {
    pub(super) kernel: &'static str,
    pub(super) file: &'static str,
    pub(super) messages: Vec<String>,
}

/// The fault buffers of a device: one for each kernel and queue. In a queue all is in order, so one serves all launches of a kernel
/// there, and keeps a fault until it has been told.
#[derive(Default)]
pub(super) struct Faults {
    slots: Mutex<Vec<Slot>>,
}

struct Slot {
    api: &'static OpenClApi,
    queue: u64,
    texts: Arc<FaultTexts>,
    memory: Owned,
    /// Whether a launch may have written it since it was last looked at.
    pending: bool,
}

impl Faults {
    fn lock(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The buffer for a launch of the kernel in the queue.
    pub(super) fn buffer(&self, context: &Context, queue: u64, texts: &Arc<FaultTexts>) -> Result<cl_mem> {
        let mut slots = self.lock();
        let known = slots.iter_mut().find(|slot| slot.queue == queue && Arc::ptr_eq(&slot.texts, texts));
        if let Some(slot) = known {
            slot.pending = true;
            return Ok(slot.memory.0);
        }
        let slot = Slot { api: context.api, queue, texts: Arc::clone(texts), memory: context.allocate(BYTES)?, pending: true };
        slot.write([0; WORDS])?;
        let memory = slot.memory.0;
        slots.push(slot);
        Ok(memory)
    }

    /// Looks at the faults of a queue, and waits for what may write them. The first one is the error.
    pub(super) fn check(&self, device: &str, queue: u64) -> Result<()> {
        for slot in self.lock().iter_mut().filter(|slot| slot.pending && slot.queue == queue) {
            let words = slot.read()?;
            slot.pending = false;
            if words[0] != 0 {
                slot.write([0; WORDS])?;
                return Err(slot.texts.error(device, words));
            }
        }
        Ok(())
    }

    /// The queue is going away.
    pub(super) fn forget(&self, queue: u64) {
        self.lock().retain(|slot| slot.queue != queue);
    }
}

impl Slot {
    fn write(&self, words: [u32; WORDS]) -> Result<()> {
        let (queue, memory) = (self.queue as cl_command_queue, self.memory.0);
        // SAFETY: both sides have this many bytes; the call returns when they are copied.
        let code =
            unsafe { self.api.clEnqueueWriteBuffer(queue, memory, sys::CL_TRUE, 0, BYTES, words.as_ptr().cast(), 0, NONE, null_mut()) };
        check(code, "clEnqueueWriteBuffer")
    }

    fn read(&self) -> Result<[u32; WORDS]> {
        let mut words = [0u32; WORDS];
        let (queue, memory) = (self.queue as cl_command_queue, self.memory.0);
        // SAFETY: as in `write`.
        let code =
            unsafe { self.api.clEnqueueReadBuffer(queue, memory, sys::CL_TRUE, 0, BYTES, words.as_mut_ptr().cast(), 0, NONE, null_mut()) };
        check(code, "clEnqueueReadBuffer")?;
        Ok(words)
    }
}

impl FaultTexts {
    fn error(&self, device: &str, [message, line, low, high]: [u32; WORDS]) -> Error {
        let text = usize::try_from(message).ok().and_then(|message| self.messages.get(message.wrapping_sub(1)));
        let thread = u64::from(high) << 32 | u64::from(low);
        Error::Fault {
            kernel: self.kernel,
            device: device.to_owned(),
            message: text.cloned().unwrap_or_else(|| {
                format!(
                    "fault number {message}, which the kernel does not have (`.simulate()` in place of `.launch(…)` tells what it does)"
                )
            }),
            place: format!(" at {}:{line}, thread {thread} of the grid", self.file),
        }
    }
}
