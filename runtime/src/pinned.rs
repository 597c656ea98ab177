//! Page-locked host memory, which a device copies to and from while the host goes on.

#![expect(unsafe_code, reason = "gives out slices of memory that a driver allocated")]

use crate::buffer::bytes_of;
use crate::device::Device;
use crate::driver::{Marker, Memory};
use crate::element::Element;
use crate::error::Result;
use crate::stream::{Stream, StreamCore};
use crate::validity::make_valid;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Elements in page-locked host memory. Made by [`Device::pinned`].
///
/// [`Buffer::write_async`](crate::Buffer::write_async) and [`Buffer::read_async`](crate::Buffer::read_async) put copies into a stream and return at once. The buffer knows which copies are
/// under way: its elements are reached through methods that wait for those that matter, and dropping it waits for all.
/// OpenCL has no portable way to page-locked memory; there it is ordinary memory, and the copies may be slower.
pub struct PinnedBuffer<T: Element> {
    device: Device,
    memory: Box<dyn Memory>,
    len: usize,
    copies: Mutex<Vec<Copying>>,
    element: PhantomData<T>,
}

/// A copy under way.
struct Copying {
    done: Box<dyn Marker>,
    /// Whether it writes the host's side.
    into_host: bool,
    /// Its stream, which tells what failed before, as long as somebody has it.
    stream: Weak<StreamCore>,
}

impl<T: Element> PinnedBuffer<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<PinnedBuffer<T>> {
        T::TYPE.check_zero()?;
        let memory = device.driver().allocate_host(bytes_of::<T>(len)?)?;
        Ok(PinnedBuffer { device: device.clone(), memory, len, copies: Mutex::default(), element: PhantomData })
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device it copies fastest with.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The elements, once the copies into them have run.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver) if the device failed.
    pub fn as_slice(&self) -> Result<&[T]> {
        let mut copies = self.lock();
        if copies.iter().any(|copy| copy.into_host) {
            wait_for(&mut copies, |copy| copy.into_host)?;
            // SAFETY: `len` elements are there; no copy writes them now, and none can start while the result is borrowed, since
            // that needs `&mut self`. `as_slice` alone gives out references that may exist now, and only if no copy was under way
            // when they were made, so none exist.
            unsafe { make_valid(&T::TYPE, self.address().cast(), self.len) };
        }
        drop(copies);
        // SAFETY: zeroed when allocated, which is a value of the type, then written by typed copies only; nobody writes while the result is borrowed, as above.
        Ok(unsafe { std::slice::from_raw_parts(self.address(), self.len) })
    }

    /// The elements, to be changed, once all copies from and to them have run.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver) if the device failed.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.as_slice()?;
        wait_for(&mut self.lock(), |_| true)?;
        // SAFETY: as in `as_slice`; no copy is under way, and none can start while `self` is borrowed.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address(), self.len) })
    }

    fn address(&self) -> *mut T {
        self.memory.handle() as *mut T
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Copying>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a copy that reads this memory into `stream`, after the copies that write it.
    pub(crate) fn copy_out(&self, stream: &Stream, copy: impl FnOnce(*const u8) -> Result<()>) -> Result<()> {
        self.enqueue(stream, false, |address| copy(address))
    }

    /// Puts a copy that writes this memory into `stream`, after all other copies.
    pub(crate) fn copy_in(&mut self, stream: &Stream, copy: impl FnOnce(*mut u8) -> Result<()>) -> Result<()> {
        self.enqueue(stream, true, copy)
    }

    fn enqueue(&self, stream: &Stream, into_host: bool, copy: impl FnOnce(*mut u8) -> Result<()>) -> Result<()> {
        stream.device().check_owner("the pinned buffer", &self.device)?;
        let queue = stream.core().queue();
        let mut copies = self.lock();
        // Copies that are over are forgotten, but for the last one into the host: `as_slice` still looks at what it brought.
        copies.retain(|earlier| !matches!(earlier.done.is_complete(), Ok(true)) || (earlier.into_host && !into_host));
        for earlier in copies.iter().filter(|earlier| into_host || earlier.into_host) {
            queue.wait(&*earlier.done)?;
        }
        let copied = copy(self.address().cast());
        match queue.record() {
            Ok(done) => copies.push(Copying { done, into_host, stream: Arc::downgrade(stream.core()) }),
            // No mark can be set: the copy must be over before anybody touches the memory.
            Err(error) => queue.synchronize().and(Err(error))?,
        }
        copied
    }
}

/// Waits for the copies that `matters` picks, and forgets them; not those that copied what is no result.
fn wait_for(copies: &mut Vec<Copying>, matters: impl Fn(&Copying) -> bool) -> Result<()> {
    for copy in copies.iter().filter(|copy| matters(copy)) {
        copy.done.synchronize()?;
        if let Some(stream) = copy.stream.upgrade().filter(|_| copy.into_host) {
            stream.check_failure()?;
        }
    }
    copies.retain(|copy| !matters(copy));
    Ok(())
}

impl<T: Element> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        for copy in self.lock().iter() {
            // A failure means the device is lost: then nothing copies any more either.
            let _ = copy.done.synchronize();
        }
    }
}

impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer<{}>({} for {})", T::TYPE, self.len, self.device)
    }
}
