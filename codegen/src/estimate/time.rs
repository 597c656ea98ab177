//! What bounds a kernel, and how long it takes, on the device that stands for a target.

use super::flight::{Flight, flight};
use super::mix::{self, Mix, Weights};
pub use super::model::{Bound, Rate, Work};
use super::model::{headroom, rate};
use super::occupancy::Occupancy;
use crate::analysis::access::{AccessFact, Pattern};
use crate::ir::{Kernel, Space};
use crate::target::Target;
use crate::target::machine::{Machine, SHARPNESS};

/// The share of the memory's (or of another bound's) throughput that counts as reached.
pub const REACHED: f64 = 0.9;

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
    /// Floating-point operations per second, all multiprocessors together.
    pub operations: f64,
    /// Independent global loads of a thread that are in flight at once, at most.
    pub loads_in_flight: u32,
    /// Bytes in flight per multiprocessor.
    pub bytes_in_flight: f64,
    /// Bytes in flight per multiprocessor with which the kernel would reach nine tenths of the memory's bandwidth.
    pub bytes_needed: f64,
    /// Resident warps of a multiprocessor.
    pub warps: f64,
    /// Resident warps with which the kernel, each thread as it is, would reach nine tenths of its scarcest throughput.
    pub warps_needed: f64,
    /// The share of its scarcest throughput that it reaches, 0 to 1.
    pub attained: f64,
    /// What the figures are computed from.
    pub work: Work,
    /// Whether the work of a thread is known: no loop's trips are decided at the launch.
    pub exact: bool,
    machine: &'static Machine,
}

impl Prediction {
    /// Seconds of a launch of this many blocks; meaningful where the work is [`exact`](Prediction::exact).
    pub fn seconds(&self, grid: u64) -> f64 {
        launch_seconds(&self.work, grid as f64, self.machine)
    }
}

/// Seconds of a launch: its floor, and the blocks in waves. Where the last wave is not full, what shares nothing with other
/// multiprocessors waits for it.
pub fn launch_seconds(work: &Work, grid: f64, machine: &Machine) -> f64 {
    let each = grid / f64::from(machine.multiprocessors);
    let work = Work { blocks: work.blocks.min(each.ceil()).max(1.0), ..*work };
    let rate = rate(&work, machine);
    let shared_by_all = matches!(rate.scarcest, Bound::MemoryBandwidth | Bound::Blocks) && !rate.is_latency_bound();
    let rounds = if shared_by_all { each.max(work.blocks) } else { (each / work.blocks).ceil() * work.blocks };
    machine.blocks.launch + rounds * rate.block
}

/// What the kernel's threads do, and what they wait for: what predictions for all targets start from.
#[derive(Clone, Debug)]
pub struct Threads {
    /// What one executes.
    pub mix: Mix,
    /// What a warp by itself waits for, on a device of today: the order of its loads.
    pub flight: Flight,
    weights: Weights,
    /// Bytes of a warp that are fetched and written back, as whole sectors.
    fetched: (f64, f64),
    /// Bytes of a warp that go to or from shared memory, conflicts counted.
    shared: f64,
}

impl Threads {
    /// Looks at an `Addressed` kernel; `accesses` and `branches` are facts about it when it was `Legal`.
    pub fn of(kernel: &Kernel, accesses: &[AccessFact], branches: &[crate::analysis::access::BranchFact]) -> Threads {
        let weights = Weights::of(kernel, branches);
        let mix = mix::mix(kernel, &weights);
        let (fetched, shared) = traffic(kernel, &weights, accesses);
        // Any will do for the order of loads, if a load takes much longer than anything else.
        let machine = Machine::of(90).unwrap_or(&crate::target::machine::H100);
        let flight = flight(kernel, &weights, machine);
        Threads { mix, flight, weights, fetched, shared }
    }
}

/// Bytes of a warp: fetched, written; and to and from shared memory.
fn traffic(kernel: &Kernel, weights: &Weights, accesses: &[AccessFact]) -> ((f64, f64), f64) {
    let mut patterns: Vec<Option<&Pattern>> = vec![None; kernel.insts.len()];
    for access in accesses {
        if let Some(slot) = patterns.get_mut(usize::from(access.inst)) {
            *slot = Some(&access.pattern);
        }
    }
    let (mut fetched, mut shared) = ((0.0, 0.0), 0.0);
    kernel.for_each_inst(|kernel, _, inst| {
        let Some((space, is_write, bytes)) = mix::access(kernel, inst) else { return };
        let weight = weights.get(inst);
        let pattern = patterns.get(usize::from(inst)).copied().flatten();
        let dense = 32.0 * f64::from(bytes);
        match space {
            Space::Global => {
                let moved = match pattern {
                    Some(Pattern::Global { sectors, .. }) => 32.0 * f64::from(sectors.least + sectors.most) / 2.0,
                    _ => dense,
                };
                *(if is_write { &mut fetched.1 } else { &mut fetched.0 }) += weight * moved;
            }
            Space::Shared => {
                let degree = match pattern {
                    Some(Pattern::Shared { degree, .. }) => f64::from(degree.least + degree.most) / 2.0,
                    _ => 1.0,
                };
                // Narrow accesses take a whole pass.
                shared += weight * degree * dense.max(128.0);
            }
            _ => {}
        }
    });
    (fetched, shared)
}

/// Predicts a kernel of stage `Addressed`.
pub fn predict(kernel: &Kernel, threads: &Threads, occupancy: Option<&Occupancy>, target: &'static Target) -> Option<Prediction> {
    let machine = Machine::of(target.capability)?;
    let occupancy = occupancy.filter(|occupancy| occupancy.blocks > 0)?;
    let flight = flight(kernel, &threads.weights, machine);
    let block = f64::from(occupancy.demand.threads);
    let warps = (block / 32.0).ceil();
    // Lanes that are not there move nothing.
    let filled = block / 32.0;
    let work = Work {
        warps,
        blocks: f64::from(occupancy.blocks),
        read: filled * threads.fetched.0,
        written: filled * threads.fetched.1,
        cycles: flight.cycles,
        pipes: threads.mix.pipes,
        shared: warps * threads.shared,
    };
    let rate = rate(&work, machine);
    let per_second = f64::from(machine.multiprocessors) * block / rate.block;
    let bandwidth = per_second * (threads.mix.read + threads.mix.written);
    let bytes_in_flight = work.blocks * block * flight.bytes;
    let written = work.written / (work.read + work.written).max(1.0);
    let memory_ratio = if rate.memory > 0.0 { rate.latency / rate.memory } else { 0.0 };
    let sharpness = if rate.scarcest == Bound::MemoryBandwidth { machine.sharpness(written) } else { SHARPNESS };
    let resident = work.warps * work.blocks;
    Some(Prediction {
        device: machine.name,
        bound: bound(&rate, &threads.mix, &flight, machine),
        bandwidth,
        share_of_peak: bandwidth / machine.memory.peak,
        operations: per_second * threads.mix.operations,
        loads_in_flight: flight.loads,
        bytes_in_flight,
        bytes_needed: bytes_in_flight * memory_ratio / headroom_inverse(machine.sharpness(written)),
        warps: resident,
        warps_needed: resident * rate.latency / rate.throughput / headroom_inverse(sharpness),
        attained: rate.throughput / rate.block,
        work,
        exact: threads.mix.exact,
        machine,
    })
}

/// The share of a bound's time that latency may take for [`REACHED`] of its throughput.
fn headroom_inverse(sharpness: f64) -> f64 {
    headroom(REACHED, sharpness)
}

/// What it waits for: the scarcest throughput, or latency, and whose.
fn bound(rate: &Rate, mix: &Mix, flight: &Flight, machine: &Machine) -> Bound {
    if !rate.is_latency_bound() {
        return rate.scarcest;
    }
    // A thread that loads waits for its loads, unless its own time is many times theirs.
    let loads = machine.memory.latency * machine.clock;
    let waits = if mix.read > 0.0 { flight.cycles / loads } else { f64::INFINITY };
    let many = if flight.bytes > 0.0 { 4.0 * (mix.read / flight.bytes).max(1.0) } else { 0.0 };
    if waits > many { Bound::ArithmeticLatency } else { Bound::MemoryLatency }
}
