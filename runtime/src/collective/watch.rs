//! Sees to it that collectives end: a thread for each communicator that looks at what it has under way, and aborts it when the time limit is over, NCCL reports an error, or ranks of this program do not agree.

use super::Task;
use super::ledger::Ledger;
use super::nccl::Handle;
use crate::device::Device;
use crate::driver::Marker;
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often it looks, at first and at last.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];

/// A collective under way.
struct UnderWay {
    number: u64,
    task: Task,
    /// Which rank of how many has it.
    rank: [usize; 2],
    device: Device,
    /// Where it has ended; nothing as long as it is not in its stream: NCCL makes connections then, and waits for others.
    passed: Option<Box<dyn Marker>>,
    limit: Duration,
    end: Option<Instant>,
}

impl UnderWay {
    fn what(&self) -> String {
        let [rank, ranks] = self.rank;
        format!("{} on rank {rank} of {ranks} ({})", self.task, self.device)
    }

    /// One that cannot be asked is of a device that is lost, and says so to whoever asks.
    fn has_ended(&self) -> bool {
        self.passed.as_ref().is_some_and(|passed| !matches!(passed.is_complete(), Ok(false)))
    }
}

#[derive(Default)]
struct State {
    under_way: VecDeque<UnderWay>,
    /// Whether the thread waits until something is under way. Else it looks again by itself: to wake it at each collective, and to have it ask the driver then, costs more than the launch.
    is_idle: bool,
    launched: u64,
    failure: Option<String>,
    /// Another rank launches something else in the place of what was launched here.
    is_disagreed_with: bool,
    is_closed: bool,
}

/// What the thread and its communicator share.
pub(super) struct Watch {
    state: Mutex<State>,
    changed: Condvar,
    device: Device,
}

impl Watch {
    /// A watch over the communicator of a rank, and its thread.
    pub(super) fn start(handle: &Arc<Handle>, ledger: &Arc<Ledger>, rank: usize, device: &Device) -> std::io::Result<Arc<Watch>> {
        let watch = Arc::new(Watch { state: Mutex::default(), changed: Condvar::new(), device: device.clone() });
        ledger.tells(rank, &watch);
        let (shared, handle, ledger) = (Arc::clone(&watch), Arc::downgrade(handle), Arc::clone(ledger));
        std::thread::Builder::new().name("warpwright-nccl".to_owned()).spawn(move || shared.run(&handle, &ledger))?;
        Ok(watch)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a collective that is about to be launched; gives its number.
    pub(super) fn begin(&self, task: Task, rank: [usize; 2], device: &Device, limit: Duration) -> u64 {
        let end = Instant::now().checked_add(limit);
        let mut state = self.lock();
        state.launched += 1;
        let number = state.launched;
        state.under_way.push_back(UnderWay { number, task, rank, device: device.clone(), passed: None, limit, end });
        if std::mem::take(&mut state.is_idle) {
            self.changed.notify_all();
        }
        number
    }

    /// It is in its stream, and has ended when that has come so far. An error if it was given up meanwhile.
    pub(super) fn launched(&self, number: u64, passed: Box<dyn Marker>) -> Result<()> {
        let mut state = self.lock();
        if let Some(reason) = &state.failure {
            return Err(Error::Collective { reason: reason.clone() });
        }
        if let Some(one) = state.under_way.iter_mut().rev().find(|one| one.number == number) {
            one.passed = Some(passed);
        }
        Ok(())
    }

    /// What was launched is told by its launch, whatever comes of it.
    pub(super) fn withdraw(&self, number: u64) {
        if let Some(one) = self.lock().under_way.iter_mut().find(|one| one.number == number) {
            one.passed = None;
        }
    }

    /// Another rank launches something else in the place of what was launched here, which may have ended: who waits for nobody, as the root of a broadcast, may be done before the others come.
    pub(super) fn disagrees(&self) {
        let mut state = self.lock();
        state.is_disagreed_with = true;
        state.is_idle = false;
        self.changed.notify_all();
    }

    /// Why the communicator is of no use any more, if it is.
    pub(super) fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Gives up what is under way: told before it is aborted, since who waits for a stream goes on then. One that is not in its stream yet is told by its launch, and by nothing else. Where all has ended with which another rank
    /// does not agree, the device is told.
    pub(super) fn give_up(&self, handle: &Handle, why: &str) {
        let mut state = self.lock();
        let is_first = state.failure.is_none();
        state.failure.get_or_insert_with(|| why.to_owned());
        if std::mem::take(&mut state.is_disagreed_with) && is_first && state.under_way.is_empty() {
            self.device.fail(&Error::Collective { reason: why.to_owned() });
        }
        for one in state.under_way.drain(..).filter(|one| one.passed.is_some()) {
            one.device.fail(&Error::Collective { reason: why.to_owned() });
        }
        drop(state);
        handle.abort();
        self.changed.notify_all();
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

    fn run(&self, handle: &Weak<Handle>, ledger: &Ledger) {
        let [mut pause, longest] = PAUSES;
        let mut state = self.lock();
        loop {
            let before = state.under_way.len();
            // They end in their order, as a rule: what is behind one that has not is not asked for.
            while state.under_way.front().is_some_and(UnderWay::has_ended) {
                state.under_way.pop_front();
            }
            if state.under_way.len() != before {
                pause = PAUSES[0];
                self.changed.notify_all();
            }
            if state.under_way.is_empty() && !state.is_disagreed_with {
                if state.is_closed {
                    return;
                }
                pause = PAUSES[0];
                state.is_idle = true;
                state = self.changed.wait_while(state, |state| state.is_idle && !state.is_closed).unwrap_or_else(PoisonError::into_inner);
                state.is_idle = false;
                continue;
            }
            let Some(handle) = handle.upgrade() else { return };
            let now = Instant::now();
            let overdue = state.under_way.iter().find(|one| one.end.is_some_and(|end| now >= end) && !one.has_ended());
            let overdue = overdue.map(|one| {
                format!(
                    "{} has not ended within the time limit, {:?}: a rank is lost, never came, or launched another collective or one of another size; help: look at what the other ranks say, or have all tell each other what they launch, by `check_agreement(true)`",
                    one.what(),
                    one.limit
                )
            });
            let failed = || handle.async_error().zip(state.under_way.front()).map(|(error, one)| format!("{} failed: {error}", one.what()));
            let disagree = ledger.failure().map(str::to_owned);
            if let Some(why) = disagree.or(overdue).or_else(failed) {
                drop(state);
                self.give_up(&handle, &why);
                state = self.lock();
                continue;
            }
            drop(handle);
            if state.is_closed {
                // Somebody waits for the end.
                pause = PAUSES[0];
            }
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
            pause = (pause * 2).min(longest);
        }
    }
}
