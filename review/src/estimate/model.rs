//! How fast blocks go through a multiprocessor: a latency bound, throughput bounds, and what lies between them.
//!
//! A block lives for the turnaround of the one before it, its warps' own time, and the passage of its bytes through the multiprocessor; what the copy engine brings passes meanwhile.
//! `blocks` of them live at once: that is the latency bound (Little's law; V. Volkov, "Understanding Latency Hiding on GPUs", 2016). Each resource
//! that blocks share is a throughput bound. A hard minimum of the two is wrong by half near the corner, where queues build up; the
//! smooth one, `1/T = (T₁⁻ᵖ + T₂⁻ᵖ)^(1/p)`, is not. How sharp the corner is depends on what queues: memory that is read and written is far blunter
//! than one that is only read, and arithmetic is nearly sharp. `docs/model.md` has the figures and how well they do.

use crate::machine::{Machine, PIPES, Pipe, SHARPNESS, instructions};
use warpwright_codegen::target::limits::WARP;

/// What the model is asked about: one multiprocessor's blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Warps of a block.
    pub warps: f64,
    /// Blocks that are resident at once.
    pub blocks: f64,
    /// Bytes that a block fetches from device memory.
    pub read: f64,
    /// Bytes that a block writes to device memory, as whole sectors.
    pub written: f64,
    /// Bytes that come into the multiprocessor for it, from memory or the L2 cache.
    pub filled: f64,
    /// Those of them that the copy engine brings while the warps do something else.
    pub ahead: f64,
    /// Bytes that go out of it.
    pub drained: f64,
    /// Clock cycles that a warp takes if nothing but its own dependences delays it.
    pub cycles: f64,
    /// Warp instructions of a warp by [`Pipe`].
    pub pipes: [f64; PIPES],
    /// Barriers that a warp comes to.
    pub barriers: f64,
    /// Registers that loads and shuffles return to a warp.
    pub returned: f64,
    /// Fused multiply-adds of three different registers that a warp issues.
    pub three_registers: f64,
    /// Bytes that a block moves to and from shared memory and the L1 cache, conflicts counted.
    pub shared: f64,
    /// Addresses of constant memory that a block's requests read beyond the first of each.
    pub replays: f64,
    /// Lines of constant memory that it fetches.
    pub constant_lines: f64,
}

impl Work {
    /// No work.
    pub fn none() -> Work {
        Work {
            warps: 1.0,
            blocks: 1.0,
            read: 0.0,
            written: 0.0,
            filled: 0.0,
            ahead: 0.0,
            drained: 0.0,
            cycles: 0.0,
            pipes: [0.0; PIPES],
            barriers: 0.0,
            returned: 0.0,
            three_registers: 0.0,
            shared: 0.0,
            replays: 0.0,
            constant_lines: 0.0,
        }
    }

    /// Work of threads that read and write single elements of device memory, without arithmetic to speak of: `loads` at once of `bytes`
    /// each, `rounds` times one after the other, and, if `stores`, as many bytes written. The quantities that the experiments of docs/documents vary.
    pub fn streaming(machine: &Machine, threads: u32, blocks: u32, bytes: u32, loads: u32, rounds: u32, stores: bool) -> Work {
        let moved = f64::from(threads * bytes * loads * rounds);
        let (warps, rounds, loads) = (f64::from(threads.max(WARP)) / f64::from(WARP), f64::from(rounds), f64::from(loads));
        let cycles = &machine.cycles;
        // The thread's number, the index, the address; in each round the loads and what follows them.
        let address = 3.0 * cycles.integer + cycles.single;
        let mut pipes = [0.0; PIPES];
        pipes[Pipe::Integer as usize] = 3.0 + 2.0 * rounds;
        pipes[Pipe::Memory as usize] = rounds * loads * if stores { 2.0 } else { 1.0 };
        Work {
            warps,
            blocks: f64::from(blocks),
            read: moved,
            written: if stores { moved } else { 0.0 },
            filled: moved,
            drained: if stores { moved } else { 0.0 },
            cycles: address + rounds * (machine.memory.latency * machine.clock + loads),
            pipes,
            ..Work::none()
        }
    }
}

/// What a kernel waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The bandwidth of device memory.
    MemoryBandwidth,
    /// The latency of memory: too few bytes in flight.
    MemoryLatency,
    /// The throughput of arithmetic or of issue.
    Arithmetic,
    /// The throughput of tensor cores.
    Tensor,
    /// The latency of arithmetic: too few independent operations.
    ArithmeticLatency,
    /// The bandwidth of shared memory.
    SharedMemory,
    /// The bandwidth of the L1 cache, which is the same memory.
    Cache,
    /// Constant memory, whose cache answers one address at a time.
    Constants,
    /// How fast blocks begin.
    Blocks,
}

impl Bound {
    /// A word or two, as reports have it.
    pub fn word(self) -> &'static str {
        match self {
            Bound::MemoryBandwidth => "memory bandwidth",
            Bound::MemoryLatency => "memory latency",
            Bound::Arithmetic => "arithmetic",
            Bound::Tensor => "tensor cores",
            Bound::ArithmeticLatency => "arithmetic latency",
            Bound::SharedMemory => "shared memory",
            Bound::Cache => "L1 cache",
            Bound::Constants => "constant memory",
            Bound::Blocks => "start of blocks",
        }
    }

    /// Whether more warps, or more independent work in each, would help.
    pub fn is_latency(self) -> bool {
        matches!(self, Bound::MemoryLatency | Bound::ArithmeticLatency)
    }
}

/// How fast a multiprocessor's blocks go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Seconds from one block's end to the next one's, in the steady state.
    pub block: f64,
    /// What that would be if latency alone counted.
    pub latency: f64,
    /// What it would be if throughput alone counted.
    pub throughput: f64,
    /// What it would be if device memory alone counted; 0 without such bytes.
    pub memory: f64,
    /// The throughput that is scarcest.
    pub scarcest: Bound,
}

impl Rate {
    /// Whether latency is what it waits for rather than throughput.
    pub fn is_latency_bound(&self) -> bool {
        self.latency > self.throughput
    }
}

/// Computes it.
pub fn rate(work: &Work, machine: &Machine) -> Rate {
    let multiprocessors = f64::from(machine.multiprocessors);
    let memory = &machine.memory;
    let bytes = work.read + work.written;
    let written = if bytes > 0.0 { work.written / bytes } else { 0.0 };
    let passage = (work.filled - work.ahead).max(0.0) / memory.fill + work.drained / memory.drain;
    let busy = (work.cycles / machine.clock + passage).max(work.ahead / memory.fill);
    let life = machine.blocks.turnaround + machine.blocks.per_warp * work.warps + busy;
    let latency = life / work.blocks;
    let device = if bytes > 0.0 { bytes * multiprocessors / machine.reach(written) } else { 0.0 };
    let streaming = smooth(latency, device, machine.sharpness(written));
    let mut others = [
        arithmetic(work, machine),
        (Bound::SharedMemory, work.shared / machine.lanes.shared / machine.clock),
        (Bound::Constants, constants(work, machine)),
        (Bound::Blocks, multiprocessors / machine.blocks.rate),
    ];
    others.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (other, most) = others[0];
    Rate {
        block: smooth(streaming, most, SHARPNESS),
        latency,
        throughput: most.max(device),
        memory: device,
        scarcest: if device >= most { Bound::MemoryBandwidth } else { other },
    }
}

/// The smooth maximum of two times: the smooth minimum of their throughputs.
pub fn smooth(a: f64, b: f64, sharpness: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    if more > 0.0 { more * (1.0 + (less / more).powf(sharpness)).powf(1.0 / sharpness) } else { 0.0 }
}

/// How many times a bound's time the latency may be for a smooth minimum to reach the share of the bound's throughput.
pub fn headroom(share: f64, sharpness: f64) -> f64 {
    (share.powf(-sharpness) - 1.0).powf(1.0 / sharpness)
}

/// Seconds that a block keeps the cache of constant memory busy.
fn constants(work: &Work, machine: &Machine) -> f64 {
    (work.replays * machine.cycles.constant + work.constant_lines * machine.cycles.constant_line) / machine.clock
}

/// Seconds that a block occupies the busiest pipe, or the schedulers, and which it is. Warps that do not fill all schedulers alike leave some idle.
fn arithmetic(work: &Work, machine: &Machine) -> (Bound, f64) {
    const SCHEDULERS: f64 = 4.0;
    let resident = work.warps * work.blocks;
    let filled = if resident > 0.0 { resident / (SCHEDULERS * (resident / SCHEDULERS).ceil()) } else { 1.0 };
    // More warps than this even out.
    let filled = if resident > 16.0 { 1.0 } else { filled };
    let dispatch = &machine.dispatch;
    let lost = dispatch.returned * work.returned
        + dispatch.special * work.pipes[Pipe::Special as usize]
        + dispatch.three_registers * work.three_registers;
    let issue = (instructions(&work.pipes) + lost) / machine.lanes.issue / filled;
    let pipe = |(pipe, _): &(Pipe, &str)| {
        let shared_by_all = matches!(pipe, Pipe::Memory);
        work.pipes[*pipe as usize] * f64::from(WARP) / machine.lanes(*pipe) / if shared_by_all { 1.0 } else { filled }
    };
    // Sums go where there is room among products and logic.
    let anywhere: f64 = [Pipe::Integer, Pipe::Logic, Pipe::Product].iter().map(|pipe| work.pipes[*pipe as usize]).sum();
    let integers = anywhere * f64::from(WARP) / machine.lanes(Pipe::Integer) / filled;
    let busiest = Pipe::ALL.iter().map(pipe).fold(issue.max(integers), f64::max);
    let is_tensor =
        [Pipe::Tensor, Pipe::WarpTensor, Pipe::DoubleTensor].iter().any(|of| work.pipes[*of as usize] > 0.0 && pipe(&(*of, "")) == busiest);
    // Warps pass barriers one by one, and nobody issues for those that wait: on an H200, levels of a tree take the sum of both.
    let seconds = (busiest + work.barriers * machine.cycles.barrier_per_warp) * work.warps / machine.clock;
    (if is_tensor { Bound::Tensor } else { Bound::Arithmetic }, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200() -> &'static Machine {
        Machine::of(90).expect("a row")
    }

    #[test]
    fn the_smooth_maximum_is_above_both_and_near_the_greater() {
        for sharpness in [1.0, 2.0, 5.5, 13.1] {
            let (near, far) = (smooth(1.0, 1.0, sharpness), smooth(1.0, 100.0, sharpness));
            assert!((near - 2f64.powf(1.0 / sharpness)).abs() < 1e-12);
            assert!((100.0..=101.0).contains(&far), "{far}");
        }
        assert_eq!(smooth(0.0, 0.0, 2.0), 0.0);
        assert_eq!(smooth(0.0, 3.0, 2.0), 3.0);
    }

    #[test]
    fn headroom_gives_the_share() {
        for sharpness in [2.0, 5.5] {
            let slowed = smooth(headroom(0.9, sharpness), 1.0, sharpness);
            assert!((1.0 / slowed - 0.9).abs() < 1e-12, "{sharpness}: {slowed}");
        }
    }

    /// More resident blocks, and more loads at once, are never slower; more bytes a block never faster.
    #[test]
    fn rates_are_monotonic() {
        let machine = h200();
        let seconds = |threads, blocks, loads| {
            let work = Work::streaming(machine, threads, blocks, 4, loads, 1, true);
            rate(&work, machine).block / f64::from(threads * loads)
        };
        for threads in [32, 128, 1024] {
            for blocks in [1, 2] {
                for loads in [1, 2, 4, 8] {
                    assert!(seconds(threads, 2 * blocks, loads) <= seconds(threads, blocks, loads));
                    assert!(seconds(threads, blocks, 2 * loads) <= seconds(threads, blocks, loads));
                }
            }
        }
    }

    #[test]
    fn what_is_scarcest_has_a_word() {
        let machine = h200();
        let stream = rate(&Work::streaming(machine, 256, 8, 16, 4, 1, true), machine);
        assert_eq!((stream.scarcest, stream.is_latency_bound()), (Bound::MemoryBandwidth, false));
        let one = rate(&Work::streaming(machine, 32, 1, 4, 1, 1, true), machine);
        assert!(one.is_latency_bound());
        // So little work that blocks cannot begin fast enough.
        let short = rate(&Work::streaming(machine, 32, 32, 4, 1, 1, true), machine);
        assert_eq!((short.scarcest, short.is_latency_bound()), (Bound::Blocks, false));
        let mut pipes = [0.0; PIPES];
        pipes[Pipe::Single as usize] = 1e6;
        let busy = rate(&Work { warps: 16.0, cycles: 4e6, pipes, ..Work::none() }, machine);
        assert_eq!((busy.scarcest, busy.is_latency_bound()), (Bound::Arithmetic, true));
    }
}
