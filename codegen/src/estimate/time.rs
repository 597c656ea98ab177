//! What bounds a kernel, and how long it takes.

use super::Facts;
use super::occupancy::Occupancy;
use crate::ir::Kernel;
use crate::target::Target;

/// What a kernel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The bandwidth of device memory.
    MemoryBandwidth,
    /// The latency of memory: too few bytes in flight.
    MemoryLatency,
    /// The throughput of arithmetic or of issue.
    Arithmetic,
    /// The latency of arithmetic: too few independent operations.
    ArithmeticLatency,
    /// The bandwidth of shared memory.
    SharedMemory,
}

/// What is predicted of a kernel on the target's reference device; *estimated*.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The device that the figures are for.
    pub device: &'static str,
    /// What it waits for.
    pub bound: Bound,
    /// Bytes of global memory per second that the kernel uses (not what it fetches), all multiprocessors together, once they are full.
    pub bandwidth: f64,
    /// That as a share of the device's peak, 0 to 1.
    pub share_of_peak: f64,
    /// Independent global loads of a thread that are in flight at once, at most.
    pub loads_in_flight: u32,
    /// Bytes in flight per multiprocessor.
    pub bytes_in_flight: f64,
    /// Bytes in flight per multiprocessor that the memory's bandwidth needs.
    pub bytes_needed: f64,
}

/// Predicts a kernel of stage `Legal`.
pub fn predict(_kernel: &Kernel, _facts: &Facts, _occupancy: Option<&Occupancy>, _target: &'static Target) -> Option<Prediction> {
    None
}
