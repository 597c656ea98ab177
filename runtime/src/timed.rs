//! Timing of what is more than one launch, or needs something to be done before each run.

use crate::device::{Device, DeviceKind};
use crate::driver::Marker;
use crate::error::{Error, Result};
use crate::launch::Launch;
use crate::timing::{Clock, Timing};
use std::fmt;
use std::time::Duration;

/// Runs that are put into the stream before the host waits for them.
const AT_ONCE: usize = 128;

/// One run of what [`Device::time`] times: its launches count, the rest does not.
pub struct TimedRun<'d> {
    device: &'d Device,
    /// Around its launches.
    span: Option<(Box<dyn Marker>, Box<dyn Marker>)>,
}

impl TimedRun<'_> {
    /// Launches a kernel on the device, as [`Launch::launch`] does. The run begins with its first launch and ends with its last; what the device
    /// does in between counts.
    ///
    /// # Errors
    /// As [`Launch::launch`].
    pub fn launch(&mut self, launch: Launch<'_>) -> Result<()> {
        let queue = self.device.own_stream().queue();
        let mut start = None;
        let is_first = self.span.is_none();
        // What is checked and, the first time, compiled is none of the device's work: the start is marked behind that.
        launch.launch_after(self.device, || {
            if is_first {
                start = Some(queue.record()?);
            }
            Ok(())
        })?;
        let end = queue.record()?;
        match (&mut self.span, start) {
            (Some((_, last)), _) => *last = end,
            (none, start) => *none = start.map(|start| (start, end)),
        }
        Ok(())
    }
}

impl fmt::Debug for TimedRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedRun").field("device", self.device).finish_non_exhaustive()
    }
}

impl Device {
    /// Times what one launch is not enough for: a sequence of launches as one, or launches that need something done before each run. `work` is
    /// called `runs + 1` times, and the last `runs` are timed by the device's clock. Of each, time runs from the first
    /// [`TimedRun::launch`] to the end of the last.
    ///
    /// ```text
    /// let timing = device.time(10, |run| {
    ///     y.copy_from(&first)?; // before each run, and not timed
    ///     run.launch(double(&mut y).cover(256))?;
    ///     run.launch(double(&mut y).cover(256)) // both are timed, as one
    /// })?;
    /// ```
    ///
    /// A GPU begins with the first launch as soon as it gets it, so where it has nothing else to do, the figure of a short run has the gap in it
    /// that the host needs to send the rest. `copy_from` and `clear` are work that keeps it busy; `write` and `download` wait for the GPU, and
    /// leave it idle.
    ///
    /// # Errors
    /// Those of `work`; the faults of its kernels; [`Error::Untimed`] if it launches nothing by way of the run, or for no runs at all.
    pub fn time(&self, runs: usize, mut work: impl FnMut(&mut TimedRun<'_>) -> Result<()>) -> Result<Timing> {
        if runs == 0 {
            return Err(Error::Untimed { reason: "`device.time(0, …)` has no runs; give 1 or more" });
        }
        let mut one = || {
            let mut run = TimedRun { device: self, span: None };
            work(&mut run)?;
            run.span.ok_or(Error::Untimed { reason: "no kernel was launched by way of the run; write `run.launch(kernel(…).cover(n))?`" })
        };
        one()?;
        let stream = self.own_stream();
        let mut times: Vec<Duration> = Vec::new();
        while times.len() < runs {
            let spans = (0..AT_ONCE.min(runs - times.len())).map(|_| one()).collect::<Result<Vec<_>>>()?;
            stream.synchronize()?;
            for (start, end) in spans {
                times.push(end.since(&*start)?);
            }
        }
        let clock = match self.kind() {
            DeviceKind::Cuda => Clock::DeviceEvents,
            DeviceKind::OpenCl => Clock::DeviceProfiling,
            DeviceKind::Simulator | DeviceKind::Host => Clock::Host,
        };
        Timing::new(times, clock).ok_or_else(|| Error::internal("time"))
    }
}
