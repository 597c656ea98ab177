//! What streams have to do, where it is done late (`PTX_INTERPRETER_STREAMS=late`): nothing runs before somebody waits for it, and then only what has to come before that.
//!
//! That is an order in which a GPU may run it, and the worst for a program that forgets to have one stream wait for another: what nobody waits for runs behind all that somebody waits for. Where it is done at
//! once, which is the default, a forgotten wait does not show.

use crate::codes::{Code, ILLEGAL_ADDRESS};
use crate::state::{Handle, State, current};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;
use std::time::Instant;

/// Whether streams do what they have to late.
fn is_late() -> bool {
    static CHOSEN: OnceLock<bool> = OnceLock::new();
    *CHOSEN.get_or_init(|| std::env::var("PTX_INTERPRETER_STREAMS").is_ok_and(|said| said == "late"))
}

/// The legacy default stream, which the driver knows by two handles, and that of the calling thread.
const LEGACY: Handle = 1;
const PER_THREAD: Handle = 2;

/// A stream of a context. Each thread has another default stream of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    pub(crate) context: Handle,
    stream: Handle,
    thread: Option<ThreadId>,
}

/// A place in a stream, and when it was passed.
pub(crate) struct Mark {
    of: Place,
    passed: OnceLock<Instant>,
}

impl Mark {
    /// When it was passed, if it was.
    pub(crate) fn passed(&self) -> Option<Instant> {
        self.passed.get().copied()
    }
}

/// What is done in the order of a stream.
type Work = Box<dyn FnOnce(&mut State) -> Result<(), Code> + Send>;

/// A thing to do.
enum Step {
    Work(Work),
    Pass(Arc<Mark>),
    Wait(Arc<Mark>),
}

/// What a stream has to do.
#[derive(Default)]
pub(crate) struct Queue {
    steps: VecDeque<Step>,
    /// Whether it and the legacy default stream wait for each other.
    is_blocking: bool,
}

impl State {
    /// The stream of a handle, in the calling thread.
    pub(crate) fn place_of(&self, stream: Handle) -> Result<Place, Code> {
        let context = self.context_of(stream)?;
        Ok(match stream {
            0 | LEGACY => Place { context, stream: LEGACY, thread: None },
            PER_THREAD => Place { context, stream, thread: Some(std::thread::current().id()) },
            stream => Place { context, stream, thread: None },
        })
    }

    /// Does something in the order of a stream: at once, or late.
    pub(crate) fn in_stream(
        &mut self,
        stream: Handle,
        work: impl FnOnce(&mut State) -> Result<(), Code> + Send + 'static,
    ) -> Result<(), Code> {
        let place = self.place_of(stream)?;
        if !is_late() {
            return work(self);
        }
        self.add(place, Step::Work(Box::new(work)));
        Ok(())
    }

    /// Marks the present end of a stream.
    pub(crate) fn mark(&mut self, stream: Handle) -> Result<Arc<Mark>, Code> {
        let of = self.place_of(stream)?;
        let mark = Arc::new(Mark { of, passed: OnceLock::new() });
        if is_late() {
            self.add(of, Step::Pass(Arc::clone(&mark)));
        } else {
            mark.passed.get_or_init(Instant::now);
        }
        Ok(mark)
    }

    /// Lets what comes later in a stream come behind a mark.
    pub(crate) fn wait_in(&mut self, stream: Handle, mark: &Arc<Mark>) -> Result<(), Code> {
        let place = self.place_of(stream)?;
        if mark.passed().is_none() {
            self.add(place, Step::Wait(Arc::clone(mark)));
        }
        Ok(())
    }

    /// Puts something into a stream.
    fn add(&mut self, place: Place, step: Step) {
        self.do_others(place);
        let is_blocking = self.is_blocking(place);
        let queue = self.queues.entry(place).or_default();
        queue.is_blocking = is_blocking;
        queue.steps.push_back(step);
    }

    /// Whether a stream and the legacy default stream wait for each other.
    fn is_blocking(&self, place: Place) -> bool {
        place.stream == PER_THREAD || place.stream != LEGACY && !self.non_blocking.contains(&place.stream)
    }

    /// Does what comes before anything that is put into a stream now, and is in others: the legacy default stream and those that block wait for each other.
    fn do_others(&mut self, place: Place) {
        if place.stream == LEGACY {
            let is_other = |(of, queue): &(&Place, &Queue)| of.context == place.context && queue.is_blocking;
            let others: Vec<Place> = self.queues.iter().filter(is_other).map(|(of, _)| *of).collect();
            others.into_iter().for_each(|other| self.do_all(other));
        } else if self.is_blocking(place) {
            self.do_all(Place { stream: LEGACY, thread: None, ..place });
        }
    }

    /// Does all that comes before what is done at the end of a stream now, by the host.
    pub(crate) fn come_to_end(&mut self, place: Place) {
        self.do_others(place);
        self.do_all(place);
    }

    /// Does what a stream has to do, and what comes before that in others.
    pub(crate) fn do_all(&mut self, place: Place) {
        self.do_until(place, None);
        self.queues.remove(&place);
    }

    /// The same of a stream that was made.
    pub(crate) fn do_all_of_stream(&mut self, context: Handle, stream: Handle) {
        self.do_all(Place { context, stream, thread: None });
    }

    /// Does what comes before a mark.
    pub(crate) fn pass(&mut self, mark: &Arc<Mark>) {
        self.do_until(mark.of, Some(mark));
    }

    fn do_until(&mut self, place: Place, mark: Option<&Mark>) {
        while mark.is_none_or(|mark| mark.passed().is_none()) {
            let Some(step) = self.queues.get_mut(&place).and_then(|queue| queue.steps.pop_front()) else { return };
            match step {
                Step::Pass(passed) => {
                    passed.passed.get_or_init(Instant::now);
                }
                // Put there before this was, so that no stream waits for itself.
                Step::Wait(other) => self.pass(&other),
                Step::Work(work) => self.do_work(place.context, work),
            }
        }
    }

    /// What fails here, which the call that asked for it could not know, makes the context lost.
    fn do_work(&mut self, context: Handle, work: Work) {
        let is_lost = self.gpu_of(context).map_or(true, |gpu| gpu.lost.is_some());
        if is_lost {
            return;
        }
        if let Err(code) = work(self) {
            eprintln!("PTX interpreter: code {code} when a stream came to it");
            if let Ok(gpu) = self.gpu_of(context) {
                gpu.lost.get_or_insert(ILLEGAL_ADDRESS);
            }
        }
    }

    /// Does what all streams of these contexts have to do.
    pub(crate) fn do_all_of(&mut self, is_one: impl Fn(&State, Handle) -> bool) {
        let places: Vec<Place> = self.queues.keys().filter(|place| is_one(self, place.context)).copied().collect();
        places.into_iter().for_each(|place| self.do_all(place));
    }

    /// Does all that there is to do.
    pub(crate) fn do_everything(&mut self) {
        self.do_all_of(|_, _| true);
    }

    /// Does what the streams of the calling thread's context have to do; its code, if that or what was before made it lost.
    pub(crate) fn synchronized(&mut self) -> Result<(), Code> {
        let context = current()?;
        self.do_all_of(|_, of| of == context);
        self.told(context)
    }

    /// The code of a context that is lost.
    pub(crate) fn told(&mut self, context: Handle) -> Result<(), Code> {
        self.gpu_of(context)?.lost.map_or(Ok(()), Err)
    }
}
