//! Order between streams: who still works with a piece of memory, and who must wait for whom.
//!
//! Within a stream all is in order. Memory used on several streams is kept in order here: a reader runs after the last writer, a
//! writer after the last writer and all readers since. Used on one stream only, which is the rule, that costs a comparison.

#![expect(unsafe_code, reason = "lent memory names its stream without counting")]

use crate::error::Result;
use crate::stream::StreamCore;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Readers remembered one by one; one more makes the host wait for the oldest.
const READERS: usize = 4;

/// Which streams may still work with a piece of memory.
// What launches look at comes first.
#[repr(C)]
pub(crate) struct Uses {
    /// The stream that wrote last, if nobody else has read since; else null. That stream may read and write without a look at `state`, which keeps it alive
    /// and which nothing that it does would change. Who writes has the memory for himself, so nobody writes while another looks. Of lent memory that nobody else has used it is this alone that names the
    /// stream.
    alone: AtomicPtr<StreamCore>,
    /// The stream that `state` counted among the readers last; or null. It may read without another look.
    reader: AtomicPtr<StreamCore>,
    state: Mutex<State>,
}

struct State {
    /// The stream of the last write.
    writer: Option<Arc<StreamCore>>,
    /// Streams that read since, each already ordered after `writer`.
    readers: [Option<Arc<StreamCore>>; READERS],
}

impl State {
    const NONE: State = State { writer: None, readers: [const { None }; READERS] };

    /// Out of the way of lent memory, which counts no writer, as a rule.
    #[cold]
    #[inline(never)]
    fn forget_writer(&mut self) {
        self.writer = None;
    }

    fn is_empty(&self) -> bool {
        self.writer.is_none() && self.readers.iter().all(Option::is_none)
    }
}

impl Uses {
    /// Of memory that nobody uses. A constant, which is written to its place at once: what is put together would be copied there, and a processor waits for copies that read across what it has just written.
    #[expect(clippy::declare_interior_mutable_const, reason = "each use is another one")]
    pub(crate) const NONE: Uses =
        Uses { alone: AtomicPtr::new(null_mut()), reader: AtomicPtr::new(null_mut()), state: Mutex::new(State::NONE) };

    /// Of memory that a stream wrote last, and that is lent: it does not count that it names the stream, until somebody else uses it.
    ///
    /// # Safety
    /// The stream lives as long as this.
    #[cfg(feature = "cudarc")]
    #[inline]
    pub(crate) unsafe fn lent_on(stream: &Arc<StreamCore>) -> Uses {
        let alone = if stream.is_synchronous() { null_mut() } else { Arc::as_ptr(stream).cast_mut() };
        Uses { alone: AtomicPtr::new(alone), ..Uses::NONE }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.writer.is_none() {
            state.writer = lender(self.alone.load(Ordering::Acquire));
        }
        state
    }

    /// Whether `stream` wrote last and nobody else has read since. What it read is in order before whoever waits for it.
    #[inline]
    pub(crate) fn has_alone(&self, stream: &Arc<StreamCore>) -> bool {
        std::ptr::eq(self.alone.load(Ordering::Acquire), Arc::as_ptr(stream))
    }

    /// Whether a stream may read, or write, without another look.
    #[inline]
    pub(crate) fn knows(&self, stream: &Arc<StreamCore>, writes: bool) -> bool {
        self.has_alone(stream) || !writes && std::ptr::eq(self.reader.load(Ordering::Acquire), Arc::as_ptr(stream))
    }

    /// `stream` is about to read: orders it after the last writer.
    #[inline]
    pub(crate) fn read_on(&self, stream: &Arc<StreamCore>) -> Result<()> {
        if self.knows(stream, false) || stream.is_synchronous() { Ok(()) } else { self.add_reader(stream) }
    }

    #[cold]
    fn add_reader(&self, stream: &Arc<StreamCore>) -> Result<()> {
        let state = &mut *self.lock();
        self.alone.store(null_mut(), Ordering::Release);
        if state.readers.iter().flatten().any(|reader| Arc::ptr_eq(reader, stream)) {
            return Ok(());
        }
        if let Some(writer) = &state.writer
            && !Arc::ptr_eq(writer, stream)
        {
            stream.order_after(writer)?;
        }
        let free = state.readers.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            // The oldest first: it goes last, where the new one takes its place.
            state.readers.rotate_left(1);
            READERS - 1
        });
        if let Some(oldest) = &state.readers[slot] {
            // What went wrong in it is told to who synchronises it himself.
            oldest.queue().synchronize()?;
        }
        state.readers[slot] = Some(Arc::clone(stream));
        self.reader.store(Arc::as_ptr(stream).cast_mut(), Ordering::Release);
        Ok(())
    }

    /// `stream` is about to write: orders it after the last writer and all readers.
    #[inline]
    pub(crate) fn write_on(&self, stream: &Arc<StreamCore>) -> Result<()> {
        if self.knows(stream, true) || stream.is_synchronous() { Ok(()) } else { self.set_writer(stream) }
    }

    #[cold]
    fn set_writer(&self, stream: &Arc<StreamCore>) -> Result<()> {
        let state = &mut *self.lock();
        for other in state.writer.iter().chain(state.readers.iter().flatten()) {
            if !Arc::ptr_eq(other, stream) {
                stream.order_after(other)?;
            }
        }
        state.readers = State::NONE.readers;
        match &state.writer {
            Some(writer) if Arc::ptr_eq(writer, stream) => {}
            _ => state.writer = Some(Arc::clone(stream)),
        }
        self.reader.store(null_mut(), Ordering::Release);
        self.alone.store(Arc::as_ptr(stream).cast_mut(), Ordering::Release);
        Ok(())
    }

    /// What was known; nothing is from now on.
    fn forget(&mut self) -> State {
        let mut known = std::mem::replace(self, Uses::NONE);
        let mut state = known.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if state.writer.is_none() {
            state.writer = lender(*known.alone.get_mut());
        }
        state
    }

    /// Orders a stream after all that work with it, and forgets them: whoever comes next has to come after that stream. What cannot be ordered is waited for; a failure shows at the next call.
    #[inline]
    pub(crate) fn hand_over(&mut self, to: &Arc<StreamCore>) {
        if !self.has_alone(to) {
            return self.hand_all_over(to);
        }
        // It wrote behind all others, and nobody has come since: there are no readers to forget.
        *self.alone.get_mut() = null_mut();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.writer.is_some() {
            state.forget_writer();
        }
    }

    #[cold]
    #[inline(never)]
    fn hand_all_over(&mut self, to: &Arc<StreamCore>) {
        let state = self.forget();
        for other in state.writer.iter().chain(state.readers.iter().flatten()) {
            if !Arc::ptr_eq(other, to) && to.order_after(other).is_err() {
                let _ = other.queue().synchronize();
            }
        }
    }

    /// The fault of the stream that wrote last, if there is one: then what was written is no result.
    pub(crate) fn check_faults(&self) -> Result<()> {
        let writer = self.lock().writer.clone();
        writer.map_or(Ok(()), |writer| writer.check_faults())
    }

    /// Waits until no stream works with it any more. The first failure comes back after all have been waited for.
    pub(crate) fn settle(&mut self) -> Result<()> {
        if self.alone.get_mut().is_null() && self.state.get_mut().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return Ok(());
        }
        let state = self.forget();
        let mut outcome = Ok(());
        for stream in state.writer.iter().chain(state.readers.iter().flatten()) {
            let settled = stream.queue().synchronize();
            outcome = outcome.and(settled);
        }
        outcome
    }
}

/// The stream that lent memory names, counted; none of memory that names none.
fn lender(alone: *mut StreamCore) -> Option<Arc<StreamCore>> {
    (!alone.is_null()).then(|| {
        // SAFETY: an `Arc`'s: what is not counted yet is the stream of `lent_on`, which lives.
        unsafe {
            Arc::increment_strong_count(alone);
            Arc::from_raw(alone)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::HostQueue;

    #[test]
    fn readers_are_forgotten_oldest_first() {
        let uses = Uses::NONE;
        let streams: Vec<_> = (0..READERS + 3).map(|_| Arc::new(StreamCore::new(Box::new(HostQueue), false))).collect();
        streams.iter().for_each(|stream| uses.read_on(stream).unwrap());
        let state = uses.lock();
        let remembered = |stream: &Arc<StreamCore>| state.readers.iter().flatten().any(|reader| Arc::ptr_eq(reader, stream));
        let found: Vec<_> = streams.iter().map(remembered).collect();
        assert_eq!(found, [false, false, false, true, true, true, true]);
    }

    #[cfg(feature = "cudarc")]
    #[test]
    fn lent_memory_counts_its_stream_once_another_has_used_it() {
        let stream = || Arc::new(StreamCore::new(Box::new(HostQueue), false));
        let (own, other) = (stream(), stream());
        // SAFETY: `own` lives to the end.
        let mut uses = unsafe { Uses::lent_on(&own) };
        uses.write_on(&own).unwrap();
        uses.read_on(&own).unwrap();
        assert_eq!(Arc::strong_count(&own), 1);
        uses.hand_over(&own);
        assert!(uses.lock().writer.is_none());

        // SAFETY: as above.
        let mut uses = unsafe { Uses::lent_on(&own) };
        uses.read_on(&other).unwrap();
        assert!(Arc::ptr_eq(uses.lock().writer.as_ref().unwrap(), &own));
        assert_eq!((Arc::strong_count(&own), Arc::strong_count(&other)), (2, 2));
        uses.hand_over(&own);
        assert_eq!((Arc::strong_count(&own), Arc::strong_count(&other)), (1, 1));

        // SAFETY: as above.
        let mut uses = unsafe { Uses::lent_on(&own) };
        assert!(Arc::ptr_eq(uses.forget().writer.as_ref().unwrap(), &own));
        assert!(uses.lock().writer.is_none());
        assert_eq!(Arc::strong_count(&own), 1);
    }
}
