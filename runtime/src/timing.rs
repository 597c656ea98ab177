//! How long a kernel takes, and by whose clock.

use std::fmt;
use std::time::Duration;

/// The clock a time was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// CUDA events: the GPU's own clock, about half a microsecond fine.
    DeviceEvents,
    /// OpenCL profiling: the device's own clock, from the start to the end of the kernel.
    DeviceProfiling,
    /// The host's clock around the call: the simulator and the host twin, whose speed says nothing about a GPU's.
    Host,
}

/// What [`Launch::time`](crate::Launch::time) or [`Device::time`](crate::Device::time) measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The fastest run.
    pub min: Duration,
    /// The middle run (of an even number, the mean of the middle two).
    pub median: Duration,
    /// The slowest run.
    pub max: Duration,
    /// How many were timed.
    pub runs: usize,
    /// By which clock.
    pub clock: Clock,
}

impl Timing {
    /// Sums up the runs; `None` if there were none.
    pub(crate) fn new(mut times: Vec<Duration>, clock: Clock) -> Option<Timing> {
        times.sort_unstable();
        let (min, max) = (*times.first()?, *times.last()?);
        let middle = times.len() / 2;
        let median = if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2 };
        Some(Timing { min, median, max, runs: times.len(), clock })
    }

    /// Bytes per second at the median time, `bytes` being what one run moves.
    pub fn bandwidth(&self, bytes: u64) -> f64 {
        bytes as f64 / self.median.as_secs_f64()
    }
}

impl fmt::Display for Timing {
    /// `12.3µs (min 12.1µs, max 15.0µs, 100 runs, device events)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = match self.clock {
            Clock::DeviceEvents => "device events",
            Clock::DeviceProfiling => "device profiling",
            Clock::Host => "host clock",
        };
        write!(f, "{:?} (min {:?}, max {:?}, {} runs, {clock})", self.median, self.min, self.max, self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_up_odd_and_even_numbers_of_runs() {
        let us = Duration::from_micros;
        let odd = Timing::new(vec![us(9), us(1), us(4)], Clock::Host).unwrap();
        assert_eq!((odd.min, odd.median, odd.max, odd.runs), (us(1), us(4), us(9), 3));
        let even = Timing::new(vec![us(9), us(1), us(4), us(6)], Clock::Host).unwrap();
        assert_eq!(even.median, us(5));
        assert_eq!(Timing::new(vec![], Clock::Host), None);
        assert_eq!(odd.to_string(), "4µs (min 1µs, max 9µs, 3 runs, host clock)");
    }
}
