//! Streams and events. What is put into a stream has been done when the call returns.

use crate::state::{Handle, any_state, current, known, state};
use std::ffi::c_uint;
use std::time::Instant;

exported! {
    /// A stream.
    fn cuStreamCreate(stream: *mut Handle, _flags: c_uint) {
        let mut state = state()?;
        let new = state.new_handle();
        state.streams.insert(new, current()?);
        put!(stream, new);
        Ok(())
    }

    /// Its end.
    fn cuStreamDestroy_v2(stream: Handle) {
        any_state().streams.remove(&stream);
        Ok(())
    }

    /// All is done already.
    fn cuStreamSynchronize(stream: Handle) {
        state()?.context_of(stream).map(|_| ())
    }

    /// It has happened already.
    fn cuStreamWaitEvent(_stream: Handle, event: Handle, _flags: c_uint) {
        known(state()?.events.get(&event)).map(|_| ())
    }

    /// An event.
    fn cuEventCreate(event: *mut Handle, _flags: c_uint) {
        let mut state = state()?;
        let new = state.new_handle();
        state.events.insert(new, None);
        put!(event, new);
        Ok(())
    }

    /// Its end.
    fn cuEventDestroy_v2(event: Handle) {
        any_state().events.remove(&event);
        Ok(())
    }

    /// Happens now.
    fn cuEventRecord(event: Handle, _stream: Handle) {
        let mut state = state()?;
        *known(state.events.get_mut(&event))? = Some(Instant::now());
        Ok(())
    }

    /// It has happened.
    fn cuEventQuery(event: Handle) {
        known(state()?.events.get(&event)).map(|_| ())
    }

    /// It has happened.
    fn cuEventSynchronize(event: Handle) {
        known(state()?.events.get(&event)).map(|_| ())
    }

    /// Time of the host between them: an interpreter's, and no GPU's.
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        let state = state()?;
        let at = |event: Handle| known(state.events.get(&event).copied().flatten());
        put!(milliseconds, at(end)?.duration_since(at(start)?).as_secs_f32() * 1000.0);
        Ok(())
    }
}
