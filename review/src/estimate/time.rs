//! What bounds a kernel, and how long it takes, on the device that stands for a target.

use super::flight::{Flight, flight};
use super::launched::Launched;
use super::mix::{self, Mix};
pub use super::model::{Bound, Rate, Work};
use super::model::{headroom, rate};
use super::traffic::{Requests, Traffic};
use super::weights::{Certainty, Weights};
use crate::machine::{H200, Machine, Pipe, SHARPNESS};
use warpwright_codegen::analysis::access::{AccessFact, BranchFact};
use warpwright_codegen::ir::{Inst, Kernel};
use warpwright_codegen::target::Target;
use warpwright_codegen::target::limits::WARP;
use warpwright_codegen::target::occupancy::Occupancy;

/// The share of the memory's (or of another bound's) throughput that counts as reached.
pub const REACHED: f64 = 0.9;

/// What is predicted of a kernel on the target's reference device; *estimated*.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The device that the figures are for.
    pub device: &'static str,
    /// What it waits for.
    pub bound: Bound,
    /// Bytes of device memory per second that the kernel uses (not what it fetches), all multiprocessors together, once they are full. What caches
    /// answer is not among them, so that it is never more than the memory's bandwidth.
    pub bandwidth: f64,
    /// That as a share of the device's peak, 0 to 1.
    pub share_of_peak: f64,
    /// Floating-point operations per second, all multiprocessors together.
    pub operations: f64,
    /// The most of them that the device's arithmetic has, of the precision that the kernel computes in.
    pub peak_operations: f64,
    /// Independent global loads of a thread that are in flight at once, at most.
    pub loads_in_flight: u32,
    /// Bytes in flight per multiprocessor.
    pub bytes_in_flight: f64,
    /// Bytes in flight per multiprocessor with which the kernel would reach nine tenths of the memory's bandwidth, if no block found in the second
    /// cache what another has left there.
    pub bytes_needed: f64,
    /// Resident warps of a multiprocessor.
    pub warps: f64,
    /// Resident warps with which the kernel, each thread as it is, would reach nine tenths of its scarcest throughput.
    pub warps_needed: f64,
    /// The share of its scarcest throughput that it reaches, 0 to 1.
    pub attained: f64,
    /// Seconds from block to block on a multiprocessor that is full.
    pub block_seconds: f64,
    /// What the figures are computed from.
    pub work: Work,
    /// Whether the work of a thread is known: no loop's trips are decided at the launch, or by data.
    pub certainty: Certainty,
    machine: &'static Machine,
}

impl Prediction {
    /// Whether operations are what it is to be measured by: arithmetic, or what feeds it, bounds it, and it does one for each byte at least.
    pub fn computes(&self) -> bool {
        let is_inside = !matches!(self.bound, Bound::MemoryBandwidth | Bound::MemoryLatency | Bound::Blocks);
        is_inside && self.operations >= self.bandwidth.max(1e9)
    }

    /// What it reaches, in the unit that it is to be measured by, and the share of the device's peak, 0 to 1.
    pub fn speed(&self) -> (String, f64) {
        if self.computes() {
            (operations_text(self.operations), self.operations / self.peak_operations)
        } else {
            (format!("{:.0} GB/s", self.bandwidth / 1e9), self.share_of_peak)
        }
    }

    /// Whether the work of a thread is known.
    pub fn is_exact(&self) -> bool {
        self.certainty == Certainty::Known
    }

    /// Whether seconds of a launch mean something: no number of it is missing that decides how long loops are.
    pub fn is_of_launch(&self) -> bool {
        self.certainty != Certainty::Open
    }

    /// Seconds of a launch of this many blocks; meaningful where it [`is_of_launch`](Prediction::is_of_launch).
    pub fn seconds(&self, grid: u64) -> f64 {
        launch_seconds(&self.work, grid as f64, self.machine)
    }

    /// How many times as fast each thread's work would be done with this occupancy, the kernel as it is: 1 where more warps do not help.
    pub fn speed_up(&self, with: &Occupancy) -> f64 {
        let warps = f64::from(with.demand.threads.div_ceil(WARP));
        let ratio = warps / self.work.warps;
        let Work { read, written, filled, ahead, drained, shared, replays, constant_lines, .. } = self.work;
        let work = Work {
            warps,
            blocks: f64::from(with.blocks),
            read: read * ratio,
            written: written * ratio,
            filled: filled * ratio,
            ahead: ahead * ratio,
            drained: drained * ratio,
            shared: shared * ratio,
            replays: replays * ratio,
            constant_lines: constant_lines * ratio,
            ..self.work
        };
        rate(&self.work, self.machine).block / rate(&work, self.machine).block * ratio
    }
}

/// Operations a second, as reports have them.
pub fn operations_text(per_second: f64) -> String {
    if per_second >= 1e12 { format!("{:.1} TFLOP/s", per_second / 1e12) } else { format!("{:.0} GFLOP/s", per_second / 1e9) }
}

/// Two operations in each lane of the pipe that most of them go to.
fn peak_operations(threads: &Threads, machine: &Machine) -> f64 {
    let of = |pipe: &Pipe| threads.mix.of(*pipe);
    let pipes = [Pipe::Tensor, Pipe::WarpTensor, Pipe::DoubleTensor, Pipe::Double, Pipe::Single];
    let pipe = pipes.into_iter().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(Pipe::Single);
    2.0 * machine.lanes(pipe) * machine.clock * f64::from(machine.multiprocessors)
}

/// Seconds of a launch: its floor, and the blocks in waves. What shares nothing with other multiprocessors waits for the one with most blocks; its last ones
/// go as fast as so few do: those that wait take as long as a full wave, those that share a throughput have more of it.
pub fn launch_seconds(work: &Work, grid: f64, machine: &Machine) -> f64 {
    let each = grid / f64::from(machine.multiprocessors);
    let work = Work { blocks: work.blocks.min(each.ceil()).max(1.0), ..*work };
    let rate = rate(&work, machine);
    let shared_by_all = matches!(rate.scarcest, Bound::MemoryBandwidth | Bound::Blocks) && !rate.is_latency_bound();
    if shared_by_all {
        return machine.blocks.launch + each.max(work.blocks) * rate.block;
    }
    let most = each.ceil().max(work.blocks);
    let full = (most / work.blocks).floor() * work.blocks;
    let rest = most - full;
    let last = if rest > 0.0 { rest * super::model::rate(&Work { blocks: rest, ..work }, machine).block } else { 0.0 };
    machine.blocks.launch + full * rate.block + last
}

/// What the kernel's threads do, and what they wait for: what predictions for all targets start from.
#[derive(Clone, Debug)]
pub struct Threads {
    /// What one executes.
    pub mix: Mix,
    /// What a warp by itself waits for, on a device of today: the order of its loads.
    pub flight: Flight,
    weights: Weights,
    requests: Requests,
    /// The bytes that a warp moves, if what it comes back to stays in the L1 cache.
    pub traffic: Traffic,
}

impl Threads {
    /// How often one runs an instruction.
    pub fn times(&self, inst: Inst) -> f64 {
        self.weights.get(inst)
    }

    /// Looks at an `Addressed` kernel; `accesses` and `branches` are facts about it when it was `Legal`.
    pub fn of(kernel: &Kernel, accesses: &[AccessFact], branches: &[BranchFact], launched: &Launched) -> Threads {
        let weights = Weights::of(kernel, branches, accesses, launched);
        let mix = mix::mix(kernel, &weights);
        let block: Option<u32> = kernel.options.block.or(launched.block).map(|block| block.iter().product());
        let requests = Requests::of(kernel, &weights, accesses, launched);
        let traffic = requests.traffic(0.0, 0.0);
        // Any will do for the order of loads, if a load takes much longer than anything else.
        let machine = &H200;
        let warps = block.map_or(1.0, |threads| f64::from(threads.div_ceil(WARP)));
        let flight = flight(kernel, &weights, &requests.sources(0.0, 0.0), warps, machine);
        Threads { mix, flight, weights, requests, traffic }
    }
}

/// Predicts a kernel of stage `Addressed`.
pub fn predict(kernel: &Kernel, threads: &Threads, occupancy: Option<&Occupancy>, target: &'static Target) -> Option<Prediction> {
    let machine = Machine::of(target.capability)?;
    let occupancy = occupancy.filter(|occupancy| occupancy.blocks > 0)?;
    // What threads of a producer do is the copy engine's.
    let block = f64::from(kernel.options.block.map_or(occupancy.demand.threads, |block| block.iter().product()));
    let warps = (block / f64::from(WARP)).ceil();
    let resident = warps * f64::from(occupancy.blocks);
    let cache = first_cache(occupancy);
    let traffic = threads.requests.traffic(resident, cache);
    let flight = flight(kernel, &threads.weights, &threads.requests.sources(resident, cache), warps, machine);
    // Lanes that are not there move nothing.
    let filled = block / f64::from(WARP);
    let work = Work {
        warps,
        blocks: f64::from(occupancy.blocks),
        read: filled * traffic.read,
        written: filled * traffic.written,
        filled: filled * traffic.filled,
        ahead: (block * threads.mix.copied).min(filled * traffic.filled),
        drained: filled * traffic.drained,
        cycles: flight.cycles,
        pipes: threads.mix.pipes,
        barriers: threads.mix.barriers,
        returned: threads.mix.returned,
        three_registers: threads.mix.three_registers,
        shared: warps * (traffic.shared + traffic.cache + threads.mix.operands),
        replays: warps * traffic.replays,
        constant_lines: warps * traffic.constant_lines,
    };
    let rate = rate(&work, machine);
    let per_second = f64::from(machine.multiprocessors) * block / rate.block;
    let bandwidth = per_second * traffic.used / f64::from(WARP);
    let bytes_in_flight = work.blocks * block * flight.bytes;
    let written = work.written / (work.read + work.written).max(1.0);
    // As many times what there is hides the latency.
    let sharpness = if rate.scarcest == Bound::MemoryBandwidth { machine.sharpness(written) } else { SHARPNESS };
    // All that comes into the multiprocessor counts as the memory's: of what the L2 cache gives, no number in flight would ask too much of it.
    let all = ((work.filled + work.drained) / (work.read + work.written).max(1.0)).max(1.0);
    let memory_ratio = if rate.memory > 0.0 { rate.latency / (rate.memory * all) } else { 0.0 };
    Some(Prediction {
        device: machine.name,
        bound: bound(&rate, threads, &flight, machine),
        bandwidth,
        share_of_peak: bandwidth / machine.memory.peak,
        operations: per_second * threads.mix.operations,
        peak_operations: peak_operations(threads, machine),
        loads_in_flight: flight.loads,
        bytes_in_flight,
        bytes_needed: bytes_in_flight * memory_ratio / headroom_inverse(machine.sharpness(written)),
        warps: resident,
        warps_needed: resident * rate.latency / rate.throughput / headroom_inverse(sharpness),
        attained: rate.throughput / rate.block,
        block_seconds: rate.block,
        work,
        certainty: threads.mix.certainty,
        machine,
    })
}

/// Bytes of L1 cache that a multiprocessor has left when these blocks have their shared memory: both are one memory, of which this much more
/// than all of the shared memory is there since Volta.
fn first_cache(occupancy: &Occupancy) -> f64 {
    const BESIDE: u32 = 28 * 1024;
    let limits = occupancy.limits;
    let taken = occupancy.blocks * (occupancy.demand.shared + limits.shared_reserved);
    let set = limits.carve_outs.iter().copied().find(|size| *size >= taken).unwrap_or(limits.shared);
    f64::from((limits.shared + BESIDE).saturating_sub(set))
}

/// The share of a bound's time that latency may take for [`REACHED`] of its throughput.
fn headroom_inverse(sharpness: f64) -> f64 {
    headroom(REACHED, sharpness)
}

/// What it waits for: the scarcest throughput, or latency, and whose.
fn bound(rate: &Rate, threads: &Threads, flight: &Flight, machine: &Machine) -> Bound {
    let Threads { mix, traffic, .. } = threads;
    // A warp that waits at a barrier waits for the products of the others: what is nearly all of its time is what it is about.
    let is_tensor = rate.scarcest == Bound::Tensor && rate.throughput >= REACHED * rate.latency;
    if is_tensor || !rate.is_latency_bound() {
        let is_cache = rate.scarcest == Bound::SharedMemory && traffic.cache > traffic.shared;
        return if is_cache { Bound::Cache } else { rate.scarcest };
    }
    // A thread that loads waits for its loads, unless its own time is many times theirs.
    let loads = machine.memory.latency * machine.clock;
    let waits = if mix.read > 0.0 { flight.cycles / loads } else { f64::INFINITY };
    let many = if flight.bytes > 0.0 { 4.0 * (mix.read / flight.bytes).max(1.0) } else { 0.0 };
    if waits > many { Bound::ArithmeticLatency } else { Bound::MemoryLatency }
}
