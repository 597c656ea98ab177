//! One thread of a block as a fibre: a body on a stack of its own, which stops where threads wait for each other.
#![expect(unsafe_code, reason = "fibres switch stacks")]

use super::panics::{self, Panic};
use super::schedule::Arrival;
use super::{TwinArguments, TwinEntry};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// Bytes of a fibre's stack, below which is a guard page. Only pages that are touched take memory.
const STACK_BYTES: usize = 256 * 1024;

/// Stacks kept for later launches: those of one block.
const KEPT_STACKS: usize = 1024;

thread_local! {
    /// The running fibre's way out; null where no fibre runs.
    static RUNNING: Cell<*const Yielder<u64, Arrival>> = const { Cell::new(ptr::null()) };
}

/// Stops the running fibre until the others have arrived; gives the scheduler's reply. `None` where no fibre runs.
#[inline]
pub(super) fn wait(arrival: Arrival) -> Option<u64> {
    let yielder = RUNNING.get();
    if yielder.is_null() {
        return None;
    }
    // SAFETY: not null while the fibre that owns it runs, which is now: set at its start and after each wait, reset at its end.
    let reply = unsafe { (*yielder).suspend(arrival) };
    RUNNING.set(yielder);
    Some(reply)
}

/// While it lives, code runs outside the fibre that runs, if one does: in a launch within a launch.
pub(super) struct Outside {
    before: *const Yielder<u64, Arrival>,
}

/// Leaves the running fibre, for the code of a launch.
pub(super) fn leave() -> Outside {
    Outside { before: RUNNING.replace(ptr::null()) }
}

impl Drop for Outside {
    fn drop(&mut self) {
        RUNNING.set(self.before);
    }
}

/// Stacks that no fibre uses.
#[derive(Default)]
pub(super) struct Stacks(Vec<DefaultStack>);

/// Stacks between launches.
static KEPT: Mutex<Stacks> = Mutex::new(Stacks(Vec::new()));

impl Stacks {
    /// Those that earlier launches left.
    pub(super) fn take_kept() -> Stacks {
        std::mem::take(&mut KEPT.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Leaves them for later launches.
    pub(super) fn keep(mut self) {
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.truncate(KEPT_STACKS - kept.0.len().min(KEPT_STACKS));
        kept.0.append(&mut self.0);
    }

    fn take(&mut self) -> std::io::Result<DefaultStack> {
        self.0.pop().map_or_else(|| DefaultStack::new(STACK_BYTES), Ok)
    }
}

/// A thread that has begun.
pub(super) struct Fibre<'a> {
    coroutine: Coroutine<u64, Arrival, Result<(), Panic>, DefaultStack>,
    /// What came of it, once it has ended.
    result: Result<(), Panic>,
    arguments: PhantomData<&'a TwinArguments<'a>>,
}

impl<'a> Fibre<'a> {
    /// A fibre that will call `entry`.
    ///
    /// # Errors
    /// There is no memory for its stack.
    pub(super) fn new(stacks: &mut Stacks, entry: TwinEntry, arguments: &'a TwinArguments<'a>) -> std::io::Result<Fibre<'a>> {
        let stack = stacks.take()?;
        let body = move |yielder: &Yielder<u64, Arrival>, _: u64| {
            RUNNING.set(yielder);
            let result = panics::catch(|| entry(arguments));
            RUNNING.set(ptr::null());
            result
        };
        // SAFETY: the body borrows `arguments` only, which outlive the fibre by its lifetime.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        Ok(Fibre { coroutine, result: Ok(()), arguments: PhantomData })
    }

    /// Runs it until it waits, and says where; or until it ends. `reply` is what its last wait was for.
    ///
    /// Invariant: not after it has ended.
    #[inline]
    pub(super) fn resume(&mut self, reply: u64) -> Option<Arrival> {
        match self.coroutine.resume(reply) {
            CoroutineResult::Yield(arrival) => Some(arrival),
            CoroutineResult::Return(result) => {
                self.result = result;
                None
            }
        }
    }

    /// What came of it, after it has ended; its stack goes back.
    pub(super) fn end(self, stacks: &mut Stacks) -> Result<(), Panic> {
        stacks.0.push(self.coroutine.into_stack());
        self.result
    }

    /// Ends it where it waits.
    pub(super) fn abandon(self) {
        #[cfg(panic = "abort")]
        {
            let mut fibre = self;
            // SAFETY: a kernel's frames hold plain values; nothing on the stack has a destructor.
            unsafe { fibre.coroutine.force_reset() };
        }
        // Else dropping it unwinds its stack.
    }
}
