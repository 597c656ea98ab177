//! Order between streams: who still works with a piece of memory, and who must wait for whom.
//!
//! Within a stream all is in order. Memory used on several streams is kept in order here: a reader runs after the last writer, a
//! writer after the last writer and all readers since. Used on one stream only, which is the rule, that costs a comparison.

use crate::error::Result;
use crate::stream::StreamCore;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Readers remembered one by one; one more makes the host wait for the oldest.
const READERS: usize = 4;

/// Which streams may still work with a piece of memory.
#[derive(Default)]
pub(crate) struct Uses {
    state: Mutex<State>,
    /// The address of the stream that wrote last, if nobody else has read since; else 0. That stream may read and write without a look at `state`, which keeps it alive
    /// and which nothing that it does would change. Who writes has the memory for himself, so nobody writes while another looks.
    alone: AtomicUsize,
    /// The address of the stream that `state` counted among the readers last; or 0. It may read without another look.
    reader: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// The stream of the last write.
    writer: Option<Arc<StreamCore>>,
    /// Streams that read since, each already ordered after `writer`.
    readers: [Option<Arc<StreamCore>>; READERS],
}

impl Uses {
    /// Of memory that a stream wrote last.
    #[cfg(feature = "cudarc")]
    pub(crate) fn written_on(stream: &Arc<StreamCore>) -> Uses {
        if stream.is_synchronous() {
            return Uses::default();
        }
        let state = State { writer: Some(Arc::clone(stream)), ..State::default() };
        Uses { state: Mutex::new(state), alone: AtomicUsize::new(Arc::as_ptr(stream).addr()), reader: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `stream` wrote last and nobody else has read since. What it read is in order before whoever waits for it.
    #[inline]
    fn has_alone(&self, stream: &Arc<StreamCore>) -> bool {
        self.alone.load(Ordering::Acquire) == Arc::as_ptr(stream).addr()
    }

    /// `stream` is about to read: orders it after the last writer.
    #[inline]
    pub(crate) fn read_on(&self, stream: &Arc<StreamCore>) -> Result<()> {
        let is_known = self.has_alone(stream) || self.reader.load(Ordering::Acquire) == Arc::as_ptr(stream).addr();
        if is_known || stream.is_synchronous() { Ok(()) } else { self.add_reader(stream) }
    }

    #[cold]
    fn add_reader(&self, stream: &Arc<StreamCore>) -> Result<()> {
        let state = &mut *self.lock();
        self.alone.store(0, Ordering::Release);
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
        self.reader.store(Arc::as_ptr(stream).addr(), Ordering::Release);
        Ok(())
    }

    /// `stream` is about to write: orders it after the last writer and all readers.
    #[inline]
    pub(crate) fn write_on(&self, stream: &Arc<StreamCore>) -> Result<()> {
        if self.has_alone(stream) || stream.is_synchronous() { Ok(()) } else { self.set_writer(stream) }
    }

    #[cold]
    fn set_writer(&self, stream: &Arc<StreamCore>) -> Result<()> {
        let state = &mut *self.lock();
        for other in state.writer.iter().chain(state.readers.iter().flatten()) {
            if !Arc::ptr_eq(other, stream) {
                stream.order_after(other)?;
            }
        }
        state.readers = Default::default();
        match &state.writer {
            Some(writer) if Arc::ptr_eq(writer, stream) => {}
            _ => state.writer = Some(Arc::clone(stream)),
        }
        self.reader.store(0, Ordering::Release);
        self.alone.store(Arc::as_ptr(stream).addr(), Ordering::Release);
        Ok(())
    }

    /// What was known; nothing is from now on.
    fn forget(&mut self) -> State {
        std::mem::take(self).state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Orders a stream after all that work with it, and forgets them: whoever comes next has to come after that stream.
    pub(crate) fn hand_over(&mut self, to: &Arc<StreamCore>) -> Result<()> {
        let state = self.forget();
        let others = state.writer.iter().chain(state.readers.iter().flatten()).filter(|other| !Arc::ptr_eq(other, to));
        // What cannot be ordered is waited for: the memory is somebody else's then.
        others.map(|other| to.order_after(other).or_else(|_| other.queue().synchronize())).fold(Ok(()), Result::and)
    }

    /// The fault of the stream that wrote last, if there is one: then what was written is no result.
    pub(crate) fn check_faults(&self) -> Result<()> {
        let writer = self.lock().writer.clone();
        writer.map_or(Ok(()), |writer| writer.check_faults())
    }

    /// Waits until no stream works with it any more. The first failure comes back after all have been waited for.
    pub(crate) fn settle(&mut self) -> Result<()> {
        let state = self.forget();
        let mut outcome = Ok(());
        for stream in state.writer.iter().chain(state.readers.iter().flatten()) {
            let settled = stream.queue().synchronize();
            outcome = outcome.and(settled);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::HostQueue;

    #[test]
    fn readers_are_forgotten_oldest_first() {
        let uses = Uses::default();
        let streams: Vec<_> = (0..READERS + 3).map(|_| Arc::new(StreamCore::new(Box::new(HostQueue), false))).collect();
        streams.iter().for_each(|stream| uses.read_on(stream).unwrap());
        let state = uses.lock();
        let remembered = |stream: &Arc<StreamCore>| state.readers.iter().flatten().any(|reader| Arc::ptr_eq(reader, stream));
        let found: Vec<_> = streams.iter().map(remembered).collect();
        assert_eq!(found, [false, false, false, true, true, true, true]);
    }
}
