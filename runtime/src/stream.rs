//! Streams: work in order, beside the work of other streams; and events, places in a stream.

use crate::buffer::Buffer;
use crate::definition::KernelDefinition;
use crate::device::Device;
use crate::driver::{Marker, Notes, Queue};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::foreign::{PER_THREAD, SharedKeep};
use crate::kept::Kept;
#[cfg(feature = "cudarc")]
use std::sync::atomic::fence;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// A queue and what the runtime knows of it. Kept alive by the memory it still works with.
// What launches look at comes first.
#[repr(C)]
pub(crate) struct StreamCore {
    /// The queue's, at hand for launches; of a thread's default stream, that this is one.
    handle: u64,
    /// The queue's, too.
    notes: Option<Arc<Notes>>,
    synchronous: bool,
    queue: Box<dyn Queue>,
    /// Who sees to it that the queue's handle is one: goes behind the queue.
    keeper: Keeper,
    /// What went wrong in it beside the driver's knowledge: its results are none until it has been told to who synchronises.
    failure: Mutex<Option<Error>>,
    /// Whether there is a failure to tell.
    has_failed: AtomicBool,
    /// Whether what is in it, or what it waits for, may have to be given up: a collective whose other ranks are lost. Once so, always so: what comes later costs the host a wait more.
    may_hang: AtomicBool,
}

/// Who keeps a queue's handle.
enum Keeper {
    /// The queue itself.
    Queue,
    /// The driver: default streams are always there.
    Driver,
    /// Others, who made it.
    Others(Kept),
}

impl StreamCore {
    pub(crate) fn new(queue: Box<dyn Queue>, synchronous: bool) -> StreamCore {
        StreamCore::kept_by(Keeper::Queue, queue.handle(), queue, synchronous)
    }

    /// Of a queue of others, and what keeps its handle; that of a default stream needs nothing.
    pub(crate) fn of_others(handle: u64, queue: Box<dyn Queue>, synchronous: bool, keep: Option<SharedKeep>) -> StreamCore {
        let keeper = keep.map_or(Keeper::Driver, |keep| Keeper::Others(Kept::by(keep)));
        StreamCore::kept_by(keeper, handle, queue, synchronous)
    }

    fn kept_by(keeper: Keeper, handle: u64, queue: Box<dyn Queue>, synchronous: bool) -> StreamCore {
        let (notes, has_failed, may_hang) = (queue.notes(), AtomicBool::new(false), AtomicBool::new(false));
        StreamCore { handle, notes, queue, synchronous, failure: Mutex::default(), has_failed, keeper, may_hang }
    }

    /// Says that a call of the calling thread, which has let go of the handle, borrows what keeps it. Gives whether it may: somebody else may have made another core of the handle since.
    #[cfg(feature = "cudarc")]
    #[inline]
    pub(crate) fn borrow_again(&self) -> bool {
        match &self.keeper {
            Keeper::Others(kept) => kept.borrow_again(),
            Keeper::Queue | Keeper::Driver => true,
        }
    }

    /// Whether the handle is kept. One that its thread has let go of is nobody's from then on: whoever asks has another core made of the handle.
    pub(crate) fn is_kept_or_given_up(core: &Arc<StreamCore>) -> bool {
        match &core.keeper {
            Keeper::Others(kept) => kept.is_kept_or_given_up(),
            Keeper::Queue | Keeper::Driver => true,
        }
    }

    /// Whether somebody keeps the handle. If so, somebody does as long as the caller has `core`.
    pub(crate) fn is_kept(core: &Arc<StreamCore>) -> bool {
        match &core.keeper {
            Keeper::Others(kept) => kept.is_kept(),
            Keeper::Queue | Keeper::Driver => true,
        }
    }

    /// Lets go of what keeps the handle of others, if nobody else has the core and nothing of it is to be told: gives whether so. Then nobody but the caller may use it, after
    /// [`StreamCore::borrow_again`]. Else somebody keeps it: with `keep`, where it was borrowed alone. Of what the driver keeps there is nothing to let go.
    #[cfg(feature = "cudarc")]
    pub(crate) fn let_go(core: &Arc<StreamCore>, keep: impl FnOnce() -> SharedKeep) -> bool {
        match &core.keeper {
            Keeper::Queue => false,
            Keeper::Driver => true,
            Keeper::Others(kept) => kept.let_go(|| StreamCore::may_be_let_go(core), keep),
        }
    }

    /// The same of a handle that a call has borrowed: gives whether it let go, and else leaves all as it is.
    #[cfg(feature = "cudarc")]
    #[inline]
    pub(crate) fn end_of_call(core: &Arc<StreamCore>) -> bool {
        match &core.keeper {
            Keeper::Others(kept) => kept.end_of_call(|| StreamCore::may_be_let_go(core)),
            Keeper::Queue | Keeper::Driver => false,
        }
    }

    /// Whether nobody but the caller has the core, and nothing of it is to be told. Who gets it from a list of streams meanwhile asks whether it is kept, and is answered afterwards.
    #[cfg(feature = "cudarc")]
    #[inline]
    fn may_be_let_go(core: &Arc<StreamCore>) -> bool {
        let is_alone = Arc::strong_count(core) == 1;
        // What others did with it comes before, as where an `Arc` is dropped.
        fence(Ordering::Acquire);
        is_alone && !core.has_failed.load(Ordering::Relaxed) && !core.may_hang.load(Ordering::Relaxed)
    }

    /// Whether the driver keeps the handle: then whoever has the core may use it.
    #[cfg(feature = "cudarc")]
    #[inline]
    pub(crate) fn is_drivers(&self) -> bool {
        matches!(self.keeper, Keeper::Driver)
    }

    /// What is noted of its queue: of each of the CUDA driver's.
    #[cfg(feature = "cudarc")]
    pub(crate) fn notes(&self) -> Option<&Notes> {
        self.notes.as_deref()
    }

    pub(crate) fn queue(&self) -> &dyn Queue {
        &*self.queue
    }

    /// The driver's handle in the calling thread.
    #[inline]
    pub(crate) fn handle(&self) -> u64 {
        if self.handle == PER_THREAD { self.per_thread_handle() } else { self.handle }
    }

    #[cold]
    #[inline(never)]
    fn per_thread_handle(&self) -> u64 {
        self.notes.as_ref().map_or(PER_THREAD, |notes| notes.per_thread_handle())
    }

    /// Remembers the kernel as the last one launched, for messages.
    #[inline]
    pub(crate) fn note_launch(&self, definition: &'static KernelDefinition) {
        if let Some(notes) = &self.notes {
            notes.last.store(std::ptr::from_ref(definition).cast_mut(), Ordering::Relaxed);
        }
    }

    /// Whether it is others' stream of this handle, by which all threads mean the same one.
    pub(crate) fn has_handle(&self, handle: u64) -> bool {
        self.handle == handle
    }

    /// Whether it is a thread's default stream.
    #[cfg(feature = "cudarc")]
    pub(crate) fn is_per_thread(&self) -> bool {
        self.handle == PER_THREAD
    }

    pub(crate) fn is_synchronous(&self) -> bool {
        self.synchronous
    }

    pub(crate) fn order_after(&self, other: &StreamCore) -> Result<()> {
        if other.may_hang.load(Ordering::Relaxed) {
            self.may_hang();
        }
        self.queue.order_after(other.queue())
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        // What the driver has to say comes first; a failure is looked for when nothing is under way any more.
        self.queue.synchronize()?;
        self.tell_failure()
    }

    /// What is put into it now may have to be given up.
    pub(crate) fn may_hang(&self) {
        self.may_hang.store(true, Ordering::Relaxed);
    }

    /// Whether what is in it, or what it waits for, may have to be given up.
    pub(crate) fn may_be_given_up(&self) -> bool {
        self.may_hang.load(Ordering::Relaxed)
    }

    /// Called before what the host copies: a driver that copies memory of the host waits for the stream with a lock held, and whoever wants to give up what is in the stream could not.
    pub(crate) fn before_host_copy(&self) -> Result<()> {
        if self.may_hang.load(Ordering::Relaxed) { self.queue.synchronize() } else { Ok(()) }
    }

    /// Whether something that is in it may still fail by what the driver does not know of, or has and was not told.
    pub(crate) fn may_have_to_tell(&self) -> bool {
        // One that cannot be asked is of a device that is lost, and says so to whoever asks.
        let is_at_work = || self.queue.mark().is_ok_and(|all| matches!(all.is_complete(), Ok(false)));
        self.has_failed.load(Ordering::Relaxed) || self.may_hang.load(Ordering::Relaxed) && is_at_work()
    }

    /// Whether something in it has failed, and nobody has been told.
    #[cfg(feature = "cudarc")]
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// The failure that nobody has been told: once, and to the caller.
    pub(crate) fn tell_failure(&self) -> Result<()> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_failed.store(false, Ordering::Relaxed);
        failure.take().map_or(Ok(()), Err)
    }

    /// The same, which is told to others, too.
    pub(crate) fn check_failure(&self) -> Result<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }

    /// The first failure of what has run in it, if there is one: what was written is no result then.
    pub(crate) fn check_faults(&self) -> Result<()> {
        self.check_failure().and_then(|()| self.queue.check_faults())
    }

    /// Says that something in it went wrong.
    pub(crate) fn fail(&self, error: Error) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

/// A stream of a device: what is put into it runs in order; what is in different streams may run at the same time.
///
/// Buffers keep order by themselves: a launch that reads what another stream wrote waits for it. Dropping a stream loses nothing:
/// its work goes on, and whoever needs its results waits for them.
#[derive(Clone)]
pub struct Stream {
    device: Device,
    core: Arc<StreamCore>,
}

impl Stream {
    pub(crate) fn new(device: Device, core: Arc<StreamCore>) -> Stream {
        Stream { device, core }
    }

    pub(crate) fn core(&self) -> &Arc<StreamCore> {
        &self.core
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A buffer of these elements, in the order of this stream: nothing waits for other streams, and they wait for it where they use the buffer. So is its end: dropping it
    /// takes the memory back when this stream, behind all that use the buffer, has come so far; nobody waits.
    ///
    /// # Errors
    /// As [`Device::upload`].
    pub fn upload<T: Element>(&self, elements: &[T]) -> Result<Buffer<T>> {
        self.device.upload_in(elements, &self.core)
    }

    /// A buffer of `len` elements, all bytes zero, in the order of this stream, like [`Stream::upload`].
    ///
    /// # Errors
    /// As [`Device::zeros`].
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        self.device.zeros_in(len, &self.core)
    }

    /// Waits until everything in the stream has run.
    ///
    /// # Errors
    /// [`Error::Fault`] if a kernel in it faulted, [`Error::Driver`] if the device failed.
    pub fn synchronize(&self) -> Result<()> {
        self.core.synchronize()
    }

    /// Marks the present end of the stream.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed.
    pub fn record(&self) -> Result<Event> {
        let may_hang = self.core.may_hang.load(Ordering::Relaxed);
        Ok(Event { device: self.device.clone(), marker: self.core.queue().record()?, may_hang, stream: Arc::downgrade(&self.core) })
    }

    /// Lets what comes later in this stream run only after `event`, which may be of another stream of the same device.
    ///
    /// # Errors
    /// [`Error::ForeignObject`] if the event is another device's, [`Error::Driver`] if the device failed.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.device.check_owner("the event", &event.device)?;
        if event.may_hang {
            self.core.may_hang();
        }
        self.core.queue().wait(&*event.marker)
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("device", &self.device).finish_non_exhaustive()
    }
}

/// A place in a stream: passed when everything before it has run.
pub struct Event {
    device: Device,
    marker: Box<dyn Marker>,
    /// Of its stream.
    may_hang: bool,
    /// Which tells what failed before, as long as somebody has it.
    stream: Weak<StreamCore>,
}

impl Event {
    /// Whether the stream has passed it.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device failed; [`Error::Collective`] if a collective did that ran before it.
    pub fn is_complete(&self) -> Result<bool> {
        let is_complete = self.marker.is_complete()?;
        if is_complete { self.check_failure().map(|()| true) } else { Ok(false) }
    }

    /// Waits until the stream has passed it.
    ///
    /// # Errors
    /// As [`Event::is_complete`].
    pub fn synchronize(&self) -> Result<()> {
        self.marker.synchronize()?;
        self.check_failure()
    }

    /// What failed in its stream: that has been told by nobody, so far.
    fn check_failure(&self) -> Result<()> {
        self.stream.upgrade().map_or(Ok(()), |stream| stream.check_failure())
    }

    /// Time from `start` to this event, by the device's clock; by the host's on the simulator and the host twin. Waits for both.
    ///
    /// # Errors
    /// [`Error::ForeignObject`] if `start` is another device's; as [`Event::is_complete`].
    pub fn since(&self, start: &Event) -> Result<Duration> {
        self.device.check_owner("the event", &start.device)?;
        start.synchronize()?;
        self.synchronize()?;
        self.marker.since(&*start.marker)
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Device {
    /// Errors unless `owner` is this device.
    pub(crate) fn check_owner(&self, what: &'static str, owner: &Device) -> Result<()> {
        if self == owner {
            return Ok(());
        }
        Err(Error::ForeignObject { what, owner: owner.to_string(), device: self.to_string() })
    }
}
