//! Where slices and buffers are lent: a stream of `cudarc`'s, and what it is here. A thread knows the one that it has lent in last.

use super::{device_of, foreign, of_driver, stream_of};
use crate::device::Device;
use crate::driver::Notes;
use crate::end_of_thread::EndOfThread;
use crate::error::Result;
use crate::foreign::{PER_THREAD, SharedKeep, lend_in};
use crate::stream::{Stream, StreamCore};
use cudarc::driver::CudaStream;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

/// Where something is lent.
#[doc(hidden)]
#[derive(Debug)]
pub struct Place<'p> {
    pub(super) stream: &'p Arc<CudaStream>,
    /// Of the per-thread default stream: in which of them the thread lent before.
    before: Option<*const ()>,
    /// Taken when this is dropped.
    known: ManuallyDrop<Box<Known>>,
}

/// The same for what is lent there: both streams.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct At<'p> {
    pub(super) stream: &'p Arc<CudaStream>,
    pub(super) own: &'p Stream,
}

/// A stream of `cudarc`'s, and what it is here. A thread has the one that it has lent in last for its next call: most programs have one. In a box, which goes from hand to hand at once.
#[derive(Debug)]
#[repr(align(64))]
struct Known {
    /// Where theirs lies. As long as `found` names it, no other lies there.
    theirs: *const CudaStream,
    /// What a call begins and ends with.
    way: Way,
    /// Whether a call has `own`, or had it, and nobody else has whom it would keep from letting go. Else somebody has, and the device's own stream lies there meanwhile.
    is_here: bool,
    /// Between calls it does not keep the stream.
    own: Stream,
    /// How the next call is to find it, if it may.
    found: Option<Found>,
}

/// What a call in a stream begins and ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nothing: the driver keeps the stream, which is the same in all threads, and the thread may know it.
    Nothing,
    /// The call borrows the stream, which `cudarc` has made, and lets go of it.
    Borrows,
    /// More: it is another stream in each thread, or the thread may not know it.
    More,
}

/// How a thread is to find a stream again: by `cudarc`'s, and its core, if somebody has that.
type Found = (Weak<CudaStream>, Weak<StreamCore>);

thread_local! {
    static KNOWN: Cell<Option<Box<Known>>> = const { Cell::new(None) };
}

impl Known {
    /// Whether it is this stream.
    #[inline]
    fn is(&self, stream: &Arc<CudaStream>) -> bool {
        std::ptr::eq(self.theirs, Arc::as_ptr(stream))
    }

    /// Whether a call in this stream can begin, if it is this one, with no more to do.
    #[inline(always)]
    fn begins(&self, stream: &Arc<CudaStream>) -> bool {
        let borrows = || self.way == Way::Borrows && self.is_here && self.own.core().borrow_again();
        self.is(stream) && (self.way == Way::Nothing || borrows())
    }

    /// Whether a call in it can end, with no more to do.
    #[inline(always)]
    fn ends(&self) -> bool {
        self.way == Way::Nothing || self.way == Way::Borrows && StreamCore::end_of_call(self.own.core())
    }

    /// For a call in this stream, if it is this one, its thread has let go of it, and nobody has taken it up since; or if somebody has it still.
    fn take_up(mut self: Box<Known>, stream: &Arc<CudaStream>) -> Option<Box<Known>> {
        if !self.is(stream) {
            return None;
        }
        if self.is_here {
            return self.own.core().borrow_again().then_some(self);
        }
        let core = self.found.as_ref()?.1.upgrade().filter(StreamCore::is_kept)?;
        self.own = Stream::new(self.own.device().clone(), core);
        self.is_here = true;
        Some(self)
    }

    /// Has the thread know it from now on.
    #[inline(always)]
    fn keep(self: Box<Known>) {
        let mut known = Some(self);
        // At a thread's end it knows nothing. What a call within this one has left goes.
        match KNOWN.try_with(|place| place.replace(known.take())) {
            Ok(None) => {}
            Ok(before) => Known::forget(before),
            Err(_) => Known::forget(known),
        }
    }

    #[cold]
    #[inline(never)]
    fn forget(_: Option<Box<Known>>) {}

    /// Has the stream live until it has told what may fail in it, where nobody else may have it.
    fn lives_until_told(&self) {
        let (device, core) = (self.own.device(), self.own.core());
        if self.is_here && core.may_have_to_tell() {
            device.lives_until_told([Arc::clone(core)]);
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        self.lives_until_told();
    }
}

impl<'p> Place<'p> {
    /// A place for a call. Made in the caller, as all of lending: what goes from function to function lies in memory, and in more places of the program than are at hand behind the driver's work.
    #[inline(always)]
    pub(super) fn enter(stream: &'p Arc<CudaStream>) -> Result<Place<'p>> {
        // At a thread's end it knows nothing.
        let (known, before) = match KNOWN.try_with(Cell::take) {
            Ok(Some(known)) if known.begins(stream) => (known, None),
            known => Place::find(stream, known.ok().flatten())?,
        };
        let place = Place { stream, before, known: ManuallyDrop::new(known) };
        if place.own().core().has_failed() {
            // Those who wait by `cudarc`'s means are told by nobody else.
            place.own().core().tell_failure()?;
        }
        Ok(place)
    }

    /// The same of a stream of which more is to be seen to than that the thread knows it, or another than it knows.
    #[cold]
    #[inline(never)]
    fn find(stream: &Arc<CudaStream>, known: Option<Box<Known>>) -> Result<(Box<Known>, Option<*const ()>)> {
        let known = match known.and_then(|known| known.take_up(stream)) {
            Some(known) => known,
            None => Place::find_new(stream)?,
        };
        let before = Place::enter_per_thread(&known.own);
        Ok((known, before))
    }

    /// The stream as it is here.
    #[inline(always)]
    pub(super) fn own(&self) -> &Stream {
        &self.known.own
    }

    #[inline(always)]
    pub(super) fn at(&self) -> At<'_> {
        At { stream: self.stream, own: self.own() }
    }

    /// Lets the calling thread lend in its per-thread default stream, if this is one; gives in which of them it lent before.
    #[inline]
    fn enter_per_thread(own: &Stream) -> Option<*const ()> {
        let notes = own.core().notes().filter(|_| own.core().is_per_thread())?;
        notes.take_stood_for();
        Some(lend_in(notes.address()))
    }

    /// The end of lending in the calling thread's per-thread default stream.
    fn leave_per_thread(device: &Device, core: &Arc<StreamCore>, before: *const ()) {
        let is_stood_for = core.notes().is_some_and(Notes::take_stood_for);
        let ours = lend_in(before);
        if is_stood_for || Arc::strong_count(core) > 1 {
            Place::leave_to_others(device, core, is_stood_for, before, ours);
        }
    }

    /// What comes then where others have the stream, or had.
    #[inline(never)]
    fn leave_to_others(device: &Device, core: &Arc<StreamCore>, is_stood_for: bool, before: *const (), ours: *const ()) {
        if is_stood_for {
            // What is put into this stream next comes behind what others put into the one that stands for it, but who only waits for this one would not wait for that: so it waits itself, for a
            // third stream, which the driver does not keep in order with either.
            let outcome = device.between_default_streams().and_then(|through| through.order_after(core).map(|()| through));
            lend_in(ours);
            if outcome.and_then(|through| core.order_after(through)).is_err() {
                let _ = core.queue().synchronize();
            }
            lend_in(before);
        }
        // Who has it still will ask the stream that stands for it, maybe when there is no such thread any more.
        if Arc::strong_count(core) > 1 && core.queue().mark().is_err() {
            let _ = core.queue().synchronize();
        }
    }

    /// The end of a call where there is more to do: in a stream that is another one in each thread, that somebody else has, or that has something to tell.
    #[inline(never)]
    fn leave(&mut self, mut known: Box<Known>) {
        let (device, core) = (known.own.device(), known.own.core());
        if let Some(before) = self.before {
            Place::leave_per_thread(device, core, before);
        }
        if known.found.is_some() {
            if !StreamCore::let_go(core, || Arc::clone(self.stream) as SharedKeep) {
                known.lives_until_told();
                known.own = Stream::new(device.clone(), Arc::clone(device.own_stream()));
                known.is_here = false;
            }
            known.keep();
        }
    }

    #[cold]
    fn find_new(stream: &Arc<CudaStream>) -> Result<Box<Known>> {
        let is_per_thread = stream.cu_stream() as u64 == PER_THREAD;
        let own = if is_per_thread { device_of(stream.context())?.per_thread_stream()? } else { stream_of(stream)? };
        if is_per_thread {
            EndOfThread::waits_for(own.device());
        }
        // A device of a context of others lives as long as somebody has it, which no thread does that merely knows of it.
        let is_primary = Device::cuda(stream.context().ordinal()).is_ok_and(|primary| primary == *own.device());
        let found = is_primary.then(|| (Arc::downgrade(stream), Arc::downgrade(own.core())));
        let way = match &found {
            Some(_) if own.core().is_drivers() && !is_per_thread => Way::Nothing,
            Some(_) if !is_per_thread => Way::Borrows,
            _ => Way::More,
        };
        Ok(Box::new(Known { theirs: Arc::as_ptr(stream), way, is_here: true, own, found }))
    }
}

impl<'p> At<'p> {
    /// Lets the place come behind another stream, of a slice, where nobody else sees to that: then it gives that stream, which is to come behind the place.
    #[cold]
    #[inline(never)]
    pub(super) fn admit(self, stream: &Arc<CudaStream>) -> Result<Option<Arc<CudaStream>>> {
        let context = stream.context();
        if context.cu_ctx() != self.stream.context().cu_ctx() {
            return Err(foreign("the slice", &device_of(context)?, self.stream.context()));
        }
        let [one, other] = [stream, self.stream].map(|stream| stream.cu_stream() as u64);
        // `cudarc` keeps order where it has made streams of both contexts, which may be two of its objects for one of the driver's; and the driver does between default streams.
        let keeps_order = context.is_managing_stream_synchronization() && self.stream.context().is_managing_stream_synchronization();
        if keeps_order || one == other || one.max(other) <= PER_THREAD {
            return Ok(None);
        }
        self.stream.join(stream).map_err(of_driver)?;
        Ok(Some(Arc::clone(stream)))
    }
}

impl Drop for Place<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: not used again.
        let known = unsafe { ManuallyDrop::take(&mut self.known) };
        if known.ends() { known.keep() } else { self.leave(known) }
    }
}
