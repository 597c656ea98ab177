//! What a run moves and computes, counted from its formula; and how long the device needs for that at the least.
//!
//! Limits are the device's own clock, multiprocessors and memory, times what a multiprocessor of its compute capability does in a clock cycle (the
//! compiler's table). A multiplication that is fused with an addition counts as two operations, and the limit as if all were fused.

use warpwright::Device;
use warpwright_review::machine::{Machine, Pipe};

/// What there is only so much of in a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Bytes from and to the device's memory.
    Memory,
    /// What a kind of instruction is executed by: operations of single threads.
    Pipe(Pipe),
}

impl Resource {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Resource::Memory => "memory",
            Resource::Pipe(pipe) => Pipe::ALL.iter().find(|(each, _)| *each == pipe).map_or("", |(_, name)| name),
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Resource::Memory => "GB/s",
            Resource::Pipe(Pipe::Single) => "GFLOP/s",
            Resource::Pipe(_) => "Gop/s",
        }
    }
}

/// What one run needs of each resource. Counted, not measured: what must be moved and computed by the program's definition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Work(Vec<(Resource, f64)>);

impl Work {
    /// So many bytes of memory, and nothing else yet.
    pub(crate) fn bytes(bytes: f64) -> Work {
        Work(vec![(Resource::Memory, bytes)])
    }

    /// And so many operations.
    pub(crate) fn and(mut self, pipe: Pipe, operations: f64) -> Work {
        self.0.push((Resource::Pipe(pipe), operations));
        self
    }

    /// What of it takes the device longest, at its best: `None` where its limits are not known.
    pub(crate) fn nearest(&self, limits: &Limits) -> Option<Nearest> {
        let nearest = |&(resource, amount): &(Resource, f64)| Some(Nearest { resource, amount, limit: limits.of(resource)? });
        self.0.iter().filter_map(nearest).max_by(|a, b| a.least_seconds().total_cmp(&b.least_seconds()))
    }
}

/// The nearest limit: how much a run needs of what, and how much the device can do of it in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) resource: Resource,
    pub(crate) amount: f64,
    pub(crate) limit: f64,
}

impl Nearest {
    /// Below which no run can be.
    pub(crate) fn least_seconds(&self) -> f64 {
        self.amount / self.limit
    }

    /// The rate of a run of so many seconds, in billions a second.
    pub(crate) fn rate(&self, seconds: f64) -> f64 {
        self.amount / seconds / 1e9
    }

    /// What part of the limit that is.
    pub(crate) fn share(&self, seconds: f64) -> f64 {
        self.least_seconds() / seconds
    }
}

/// What a device can do in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    machine: Option<&'static Machine>,
    /// Multiprocessors times clock.
    cycles: Option<f64>,
    bandwidth: Option<f64>,
}

impl Limits {
    pub(crate) fn of_device(device: &Device) -> Limits {
        let told = device.properties();
        let capability = told.compute_capability.map(|(major, minor)| (10 * major + minor) as u16);
        Limits {
            machine: capability.and_then(Machine::of),
            cycles: told.clock_hz.zip(told.multiprocessors).map(|(clock, count)| clock as f64 * f64::from(count)),
            bandwidth: told.memory_bandwidth(),
        }
    }

    fn of(&self, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Memory => self.bandwidth,
            Resource::Pipe(pipe) => {
                let operations = if pipe == Pipe::Single { 2.0 } else { 1.0 };
                Some(self.cycles? * self.machine?.lanes(pipe) * operations)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An H200: 132 multiprocessors at 1.98 GHz, 4.8 TB/s.
    fn h200() -> Limits {
        Limits { machine: Machine::of(90), cycles: Some(132.0 * 1.98e9), bandwidth: Some(4.8e12) }
    }

    #[test]
    fn the_limits_of_an_h200_are_those_of_its_data_sheet() {
        assert_eq!(h200().of(Resource::Memory), Some(4.8e12));
        // 67 TFLOP/s.
        assert!(h200().of(Resource::Pipe(Pipe::Single)).is_some_and(|limit| (limit / 67e12 - 1.0).abs() < 0.01));
    }

    #[test]
    fn the_nearest_limit_is_the_one_that_takes_longest() {
        let few = Work::bytes(12.0).and(Pipe::Single, 2.0).nearest(&h200()).expect("limits are known");
        assert_eq!((few.resource, few.amount), (Resource::Memory, 12.0));
        let many = Work::bytes(4.0).and(Pipe::Single, 8e3).and(Pipe::Special, 1e3).nearest(&h200()).expect("limits are known");
        assert_eq!((many.resource.name(), many.resource.unit()), ("special function", "Gop/s"));
        let (seconds, least) = (2.0 * many.least_seconds(), many.least_seconds());
        assert!((many.share(seconds) - 0.5).abs() < 1e-12 && (many.rate(least) * 1e9 / many.limit - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_simulator_has_no_limits() {
        assert_eq!(Work::bytes(1.0).and(Pipe::Single, 1.0).nearest(&Limits::of_device(&Device::simulator())), None);
    }
}
