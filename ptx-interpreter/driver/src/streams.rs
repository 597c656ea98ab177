//! Streams and events.

use crate::codes::{INVALID_HANDLE, NOT_READY};
use crate::queues::Mark;
use crate::state::{Handle, any_state, current, known, state};
use std::ffi::c_uint;
use std::sync::Arc;

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: c_uint = 1;

/// An event: the context it is of, and where it was recorded last.
pub(crate) struct Event {
    context: Handle,
    mark: Option<Arc<Mark>>,
}

exported! {
    /// A stream.
    fn cuStreamCreate(stream: *mut Handle, flags: c_uint) {
        let mut state = state()?;
        let new = state.new_handle();
        state.streams.insert(new, current()?);
        if flags & NON_BLOCKING != 0 {
            state.non_blocking.insert(new);
        }
        put!(stream, new);
        Ok(())
    }

    /// Its end, behind what it has to do.
    fn cuStreamDestroy_v2(stream: Handle) {
        let mut state = any_state();
        if let Some(context) = state.streams.get(&stream).copied() {
            state.do_all_of_stream(context, stream);
        }
        state.streams.remove(&stream);
        state.non_blocking.remove(&stream);
        Ok(())
    }

    /// Waits for it.
    fn cuStreamSynchronize(stream: Handle) {
        let mut state = state()?;
        let place = state.place_of(stream)?;
        state.come_to_end(place);
        state.told(place.context)
    }

    /// Lets it wait for an event, as that was recorded last.
    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) {
        let mut state = state()?;
        let mark = known(state.events.get(&event))?.mark.clone();
        mark.map_or(Ok(()), |mark| state.wait_in(stream, &mark))
    }

    /// An event.
    fn cuEventCreate(event: *mut Handle, _flags: c_uint) {
        let mut state = state()?;
        let new = state.new_handle();
        state.events.insert(new, Event { context: current()?, mark: None });
        put!(event, new);
        Ok(())
    }

    /// Its end.
    fn cuEventDestroy_v2(event: Handle) {
        any_state().events.remove(&event);
        Ok(())
    }

    /// Happens when a stream of its context has come so far.
    fn cuEventRecord(event: Handle, stream: Handle) {
        let mut state = state()?;
        if known(state.events.get(&event))?.context != state.context_of(stream)? {
            return Err(INVALID_HANDLE);
        }
        let mark = state.mark(stream)?;
        known(state.events.get_mut(&event))?.mark = Some(mark);
        Ok(())
    }

    /// Whether it has happened. Who asks is told so from the second time on, since what comes before it is done then.
    fn cuEventQuery(event: Handle) {
        let mut state = state()?;
        let mark = known(state.events.get(&event))?.mark.clone();
        match mark {
            Some(mark) if mark.passed().is_none() => {
                state.pass(&mark);
                Err(NOT_READY)
            }
            _ => Ok(()),
        }
    }

    /// Waits for it.
    fn cuEventSynchronize(event: Handle) {
        let mut state = state()?;
        let event = known(state.events.get(&event))?;
        let (context, mark) = (event.context, event.mark.clone());
        if let Some(mark) = mark {
            state.pass(&mark);
        }
        state.told(context)
    }

    /// Time of the host between them: an interpreter's, and no GPU's.
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        let state = state()?;
        let at = |event: Handle| known(known(state.events.get(&event))?.mark.as_ref())?.passed().ok_or(NOT_READY);
        put!(milliseconds, at(end)?.duration_since(at(start)?).as_secs_f32() * 1000.0);
        Ok(())
    }
}
