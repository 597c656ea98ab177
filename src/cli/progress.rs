//! How far a command is that goes through variants: a bar on standard error with an estimate of the time left, where a person looks at it
//! and there is something to wait for.

use super::style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Nothing is shown of what takes no longer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar; it goes when this does.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Who shows it in time, and what ends that wait when it is dropped.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Of so many steps; `done` is what they are afterwards: `timed`.
    pub(super) fn new(steps: usize, done: &'static str) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden()).with_prefix(done);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {prefix}, {eta} left: {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let waiting = style::shows_progress().then(|| show_in_time(bar.clone())).flatten();
        Progress { bar, waiting }
    }

    /// This is what is done now.
    pub(super) fn begin(&self, variant: &str) {
        self.bar.set_message(variant.to_owned());
    }

    /// A step is done.
    pub(super) fn advance(&self) {
        self.bar.inc(1);
    }

    /// So many of the steps are not to come.
    pub(super) fn leave_out(&self, steps: usize) {
        self.bar.set_length(self.bar.length().unwrap_or_default().saturating_sub(steps as u64));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.waiting.take() {
            drop(end);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Draws a bar once patience is at an end, be it in the middle of a step. Afterwards steps draw it: nothing runs beside what is timed.
fn show_in_time(bar: ProgressBar) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (end, ended) = channel();
    let show = move || {
        if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.tick();
        }
    };
    Some((end, Builder::new().spawn(show).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps that are left out do not count; what is not on a terminal is never drawn, and ends at once.
    #[test]
    fn steps_are_counted() {
        let progress = Progress::new(6, "timed");
        progress.begin("B = 64");
        progress.advance();
        progress.leave_out(2);
        assert_eq!((progress.bar.position(), progress.bar.length(), progress.bar.message().as_str()), (1, Some(4), "B = 64"));
        assert!(progress.bar.is_hidden());
    }
}
