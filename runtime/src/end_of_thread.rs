//! What a thread waits for when it ends.

use crate::device::{Device, KnownDevice};
use crate::foreign::lend_in;
use std::cell::RefCell;

/// The devices in whose per-thread default streams a thread has lent: at the thread's end it waits for these. The driver (580.159, on an H200) never ends a thread whose default stream still runs a kernel on memory of
/// `cuMemAllocAsync`, which is what slices are; it begins with that behind what Rust does at a thread's end.
pub(crate) struct EndOfThread(RefCell<Vec<KnownDevice>>);

thread_local! {
    static END: EndOfThread = const { EndOfThread(RefCell::new(Vec::new())) };
}

impl EndOfThread {
    /// Has the calling thread wait for its default stream of a device, in the end.
    pub(crate) fn waits_for(device: &Device) {
        // A thread that lends while it ends is not helped.
        let _ = END.try_with(|end| {
            let mut devices = end.0.borrow_mut();
            devices.retain(|known| known.get().is_some());
            if !devices.iter().any(|known| known.is(device)) {
                devices.push(device.known());
            }
        });
    }
}

impl Drop for EndOfThread {
    fn drop(&mut self) {
        for device in self.0.borrow().iter().filter_map(KnownDevice::get) {
            let Ok(own) = device.per_thread_stream() else { continue };
            if let Some(notes) = own.core().notes() {
                let before = lend_in(notes.address());
                // Who waits for what ran there is told what went wrong.
                let _ = own.core().queue().synchronize();
                lend_in(before);
            }
        }
    }
}
