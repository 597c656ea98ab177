//! Sees to it that collectives end: a thread for each communicator that looks at what it has under way, and aborts it when the time limit is over or NCCL reports an error.

use super::nccl::Handle;
use crate::driver::Marker;
use crate::error::Error;
use crate::stream::StreamCore;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often it looks, at first and at last.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// A collective under way.
struct UnderWay {
    what: String,
    passed: Box<dyn Marker>,
    stream: Arc<StreamCore>,
    end: Instant,
}

#[derive(Default)]
struct State {
    under_way: VecDeque<UnderWay>,
    failure: Option<String>,
    is_closed: bool,
}

/// What the thread and its communicator share.
pub(super) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
}

impl Watch {
    /// A watch over a communicator, and its thread.
    pub(super) fn start(handle: &Arc<Handle>) -> std::io::Result<Arc<Watch>> {
        let watch = Arc::new(Watch { state: Mutex::default(), changed: Condvar::new() });
        let (shared, handle) = (Arc::clone(&watch), Arc::downgrade(handle));
        std::thread::Builder::new().name("warpwright-nccl".to_owned()).spawn(move || shared.run(&handle))?;
        Ok(watch)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a collective that was just put into a stream.
    pub(super) fn add(&self, what: String, passed: Box<dyn Marker>, stream: &Arc<StreamCore>, end: Instant) {
        self.lock().under_way.push_back(UnderWay { what, passed, stream: Arc::clone(stream), end });
        self.changed.notify_all();
    }

    /// Why the communicator is of no use any more, if it is.
    pub(super) fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Says that it is of no use any more.
    pub(super) fn fail(&self, why: String) {
        self.lock().failure.get_or_insert(why);
    }

    /// Ends the thread once nothing is under way, and waits for that. Gives whether the communicator is sound.
    pub(super) fn close(&self) -> bool {
        let mut state = self.lock();
        state.is_closed = true;
        self.changed.notify_all();
        while !state.under_way.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failure.is_none()
    }

    fn run(&self, handle: &Weak<Handle>) {
        let [mut pause, longest] = PAUSES;
        let mut state = self.lock();
        loop {
            let Some(first) = state.under_way.front() else {
                if state.is_closed {
                    return;
                }
                pause = PAUSES[0];
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            match first.passed.is_complete() {
                Ok(true) => {
                    state.under_way.pop_front();
                    pause = PAUSES[0];
                    self.changed.notify_all();
                    continue;
                }
                Ok(false) => {}
                Err(error) => {
                    // The device is lost, and says so to whoever asks.
                    let why = error.to_string();
                    state.failure.get_or_insert(why);
                    state.under_way.clear();
                    self.changed.notify_all();
                    continue;
                }
            }
            let Some(handle) = handle.upgrade() else { return };
            let why = match handle.async_error() {
                Some(error) => Some(format!("{} failed: {error}", first.what)),
                None if Instant::now() >= first.end => Some(format!(
                    "{} has not ended within the time limit: a rank is lost, never came, or launched another collective or one of another size",
                    first.what
                )),
                None => None,
            };
            if let Some(why) = why {
                // Told before it is aborted: who waits for a stream goes on then.
                for one in &state.under_way {
                    one.stream.fail(Error::Collective { reason: why.clone() });
                }
                state.failure = Some(why);
                state.under_way.clear();
                drop(state);
                handle.abort();
                self.changed.notify_all();
                state = self.lock();
                continue;
            }
            drop(handle);
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
            pause = (pause * 2).min(longest);
        }
    }
}
