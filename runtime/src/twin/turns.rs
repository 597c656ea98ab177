//! How often a thread goes round a loop: one that never ends becomes a panic, and so an error that names it, where it would hang the program.
//!
//! Each execution of a `while` or `loop` has a counter of its own, so counting costs an addition a turn, and threads that take turns do not
//! disturb each other's. A `for` ends by itself. Outside a launch there is no limit.

use super::context;
use crate::sim;

/// Turns of a loop that is running.
pub struct Turns {
    left: u64,
}

impl Turns {
    /// A loop that begins.
    #[inline]
    #[expect(clippy::new_without_default, reason = "a loop that begins is not a default of anything")]
    pub fn new() -> Turns {
        Turns { left: context::loop_limit() }
    }

    /// The next turn.
    #[inline]
    #[track_caller]
    pub fn next(&mut self) {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => fail(),
        }
    }
}

#[cold]
#[track_caller]
fn fail() -> ! {
    let waits = "or a wait for what a thread does that runs after this one here?";
    panic!("{}", sim::loop_limit_reached("a thread", "this loop", waits, context::loop_limit()));
}
