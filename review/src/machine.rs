//! What reference devices do in a second: one row per target, for predictions.
//!
//! The H200's figures were measured by `bench/src/bin/calibrate` on one (driver 580, 1980 MHz, 21 November 2026) and fitted by `bench/fit.py`;
//! `docs/model.md` has the residuals. Others take their multiprocessors, clocks, caches and peak bandwidths from NVIDIA's data sheets and
//! white papers, lanes from the CUDA C++ Programming Guide's table of arithmetic throughput, and latencies from the papers named at
//! each. The memory latencies of V100, A100, GA102 and AD102 are those with which this model fits the curves of bandwidth over threads that
//! gpu-benches (github.com/te42kyfo/gpu-benches, `gpu-stream`) publishes of a V100, an A100 40 GB, an A40 and an L40, to a median of 3 to 5 %;
//! those of others are rough, from what is published of chases through memory, and no better than a quarter. What nobody published, of
//! blocks that begin and end, is the H200's in clock cycles.

/// Instructions by what executes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pipe {
    /// `f32` (and narrower) additions, products and both.
    Single,
    /// `f64`.
    Double,
    /// Integer sums: done where products are done, too, so their lanes are those of sums, products and logic together.
    Integer,
    /// Logic, shifts, comparisons, minima, choices.
    Logic,
    /// Integer products.
    Product,
    /// Special functions and conversions between widths.
    Special,
    /// Loads, stores, shuffles: addresses of a warp instruction.
    Memory,
    /// Branches and barriers.
    Control,
    /// Tensor cores that a warpgroup drives (`wgmma`): multiply-adds of factors of 16 bits, not instructions.
    Tensor,
    /// The same cores, a warp at a time (`mma.sync`).
    WarpTensor,
    /// Those of doubles (`mma.sync`): multiply-adds.
    DoubleTensor,
}

/// How many there are.
pub const PIPES: usize = 11;

/// The first of those that count no instructions.
const FIRST_TENSOR: usize = Pipe::Tensor as usize;

/// Instructions among counts by pipe.
pub fn instructions(pipes: &[f64; PIPES]) -> f64 {
    pipes[..FIRST_TENSOR].iter().sum()
}

impl Pipe {
    /// Every one, in order, with its name.
    pub const ALL: [(Pipe, &'static str); PIPES] = [
        (Pipe::Single, "single precision"),
        (Pipe::Double, "double precision"),
        (Pipe::Integer, "integer"),
        (Pipe::Logic, "logic"),
        (Pipe::Product, "integer product"),
        (Pipe::Special, "special function"),
        (Pipe::Memory, "load and store"),
        (Pipe::Control, "control"),
        (Pipe::Tensor, "tensor cores"),
        (Pipe::WarpTensor, "tensor cores, warp by warp"),
        (Pipe::DoubleTensor, "tensor cores of doubles"),
    ];
}

/// Lanes of a multiprocessor: thread instructions a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes {
    /// Warp instructions a clock, all schedulers together.
    pub issue: f64,
    /// By [`Pipe`], in its order.
    pub pipes: [f64; PIPES],
    /// Bytes of shared memory a clock.
    pub shared: f64,
}

/// Clock cycles until a result can be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// `f32` arithmetic and integer products.
    pub single: f64,
    /// `f64` arithmetic.
    pub double: f64,
    /// Integer arithmetic.
    pub integer: f64,
    /// Special functions.
    pub special: f64,
    /// A shuffle.
    pub shuffle: f64,
    /// A load from shared memory.
    pub shared: f64,
    /// A load that hits the L1 cache.
    pub l1: f64,
    /// A load that hits the L2 cache.
    pub l2: f64,
    /// A barrier that nobody waits for, of a block of one warp.
    pub barrier: f64,
    /// More for each further warp: they come one by one.
    pub barrier_per_warp: f64,
    /// A branch taken, beyond its issue.
    pub branch: f64,
    /// Each further address of constant memory that the lanes of a warp read: the multiprocessor's cache answers them one after another.
    pub constant: f64,
    /// Each line of constant memory that comes from the L2 cache, for the whole multiprocessor.
    pub constant_line: f64,
}

/// Issue slots of a scheduler in which the dispatcher holds back although warps are ready, beyond an instruction's own. Profilers call that a dispatch stall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispatch {
    /// For each register that a load or a shuffle returns: it is written when it comes.
    pub returned: f64,
    /// For each special function.
    pub special: f64,
    /// For each fused multiply-add of three different registers: often two of them are in one bank.
    pub three_registers: f64,
}

/// Device memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryRates {
    /// Bytes a second by the data sheet.
    pub peak: f64,
    /// Bytes a second that reads alone, or writes alone, reach.
    pub reach: f64,
    /// Bytes a second that as many reads as writes reach.
    pub reach_mixed: f64,
    /// Seconds until a streaming load's value can be used, the memory idle.
    pub latency: f64,
    /// How much later the last of many far loads comes than a single one, as a share of the latency.
    pub spread: f64,
    /// How sharply reads alone saturate: the exponent of the smooth minimum.
    pub sharpness: f64,
    /// The same for as many writes as reads.
    pub sharpness_mixed: f64,
    /// Bytes a second that a multiprocessor takes in.
    pub fill: f64,
    /// Bytes a second that a multiprocessor gives out.
    pub drain: f64,
    /// Bytes of the L2 cache.
    pub l2_bytes: u64,
}

/// What blocks and launches cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks {
    /// Seconds from the end of a block to the first instruction of the one that takes its place.
    pub turnaround: f64,
    /// Seconds more for each of its warps.
    pub per_warp: f64,
    /// Blocks a second that begin on the whole device, at most.
    pub rate: f64,
    /// Seconds of a launch that does nothing, without those of its blocks.
    pub launch: f64,
}

/// A device that stands for its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// Its compute capability, 10·major + minor.
    pub capability: u16,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Groups of them (GPCs), in one of which the blocks of a cluster run, at most, where that is known.
    pub groups: Option<u32>,
    /// Clock cycles a second.
    pub clock: f64,
    /// What a multiprocessor does in a clock.
    pub lanes: Lanes,
    /// What results take.
    pub cycles: Cycles,
    /// What keeps its schedulers from issuing.
    pub dispatch: Dispatch,
    /// Device memory.
    pub memory: MemoryRates,
    /// Blocks and launches.
    pub blocks: Blocks,
    /// Where its latencies and rates are from, if not as this file says on top.
    pub source: &'static str,
}

/// The second exponent: how sharply a bound other than memory's takes over. From chains of arithmetic, W warps by I chains.
pub const SHARPNESS: f64 = 13.1;

/// The H200's shares, for memories whose own nobody measured.
const REACH: f64 = 4.590 / 4.8;
const REACH_MIXED: f64 = 4.284 / 4.8;

/// Clock cycles of blocks on the H200, at 1.98 GHz: what other devices are taken to need.
const TURNAROUND: f64 = 318.0;
const PER_WARP: f64 = 5.7;
const BLOCKS_PER_CYCLE: f64 = 0.835;
/// Bytes a clock that a multiprocessor takes in and gives out.
const FILL: f64 = 31.5;
const DRAIN: f64 = 35.5;

/// A device's memory by its data sheet: gigabytes a second; and clock cycles until a load's value can be used, KiB of the L2 cache.
struct Sheet {
    is_graphics: bool,
    peak_gb: f64,
    latency_cycles: f64,
    l2_kib: u64,
}

const fn stacked(peak_gb: f64, latency_cycles: f64, l2_kib: u64) -> Sheet {
    Sheet { is_graphics: false, peak_gb, latency_cycles, l2_kib }
}

/// Graphics memory is blunted less by writes, and reaches more of its peak with them: so say the curves of bandwidth over threads that the
/// benchmark suite gpu-benches publishes of an A40 and an L40.
const fn graphics(peak_gb: f64, latency_cycles: f64, l2_kib: u64) -> Sheet {
    Sheet { is_graphics: true, peak_gb, latency_cycles, l2_kib }
}

impl Sheet {
    const fn memory(self, clock: f64) -> MemoryRates {
        let peak = self.peak_gb * 1e9;
        let stacked = MemoryRates {
            peak,
            reach: peak * REACH,
            reach_mixed: peak * REACH_MIXED,
            latency: self.latency_cycles / clock,
            spread: 0.46,
            sharpness: 5.5,
            sharpness_mixed: 2.0,
            fill: FILL * clock,
            drain: DRAIN * clock,
            l2_bytes: self.l2_kib * 1024,
        };
        if !self.is_graphics {
            return stacked;
        }
        MemoryRates { reach: 0.976 * peak, reach_mixed: 0.93 * peak, sharpness: 7.0, sharpness_mixed: 4.0, ..stacked }
    }
}

const fn blocks(clock: f64) -> Blocks {
    Blocks { turnaround: TURNAROUND / clock, per_warp: PER_WARP / clock, rate: BLOCKS_PER_CYCLE * clock, launch: 3.6e-6 }
}

/// Lanes since cc 5.0: 4 schedulers. `single`, `double`, `logic`, `product`, then bytes of shared memory a clock.
const fn lanes(single: f64, double: f64, logic: f64, product: f64, shared: f64) -> Lanes {
    let integer = if logic + product < 128.0 { logic + product } else { 128.0 };
    Lanes { issue: 4.0, pipes: [single, double, integer, logic, product, 16.0, 32.0, 64.0, NO_TENSOR, NO_TENSOR, double], shared }
}

/// Where there are no tensor cores, or none of this kind: nothing that runs there asks for them.
const NO_TENSOR: f64 = 1.0;

impl Lanes {
    /// With tensor cores that do so many multiply-adds of 16-bit factors to `f32` sums a clock, warp by warp.
    const fn tensor(mut self, by_warp: f64) -> Lanes {
        self.pipes[Pipe::WarpTensor as usize] = by_warp;
        self
    }

    /// With tensor cores that do so many multiply-adds of doubles a clock; where nothing is said, no more than are done one by one.
    const fn double_tensor(mut self, by_warp: f64) -> Lanes {
        self.pipes[Pipe::DoubleTensor as usize] = by_warp;
        self
    }
}

const MAXWELL_LANES: Lanes = lanes(128.0, 4.0, 128.0, 32.0, 128.0);
const VOLTA_LANES: Lanes = lanes(64.0, 32.0, 64.0, 64.0, 128.0).tensor(512.0);
/// 16 lanes load and store: half of Volta's.
const TURING_LANES: Lanes =
    Lanes { pipes: [64.0, 2.0, 128.0, 64.0, 64.0, 16.0, 16.0, 64.0, NO_TENSOR, 512.0, 2.0], ..lanes(64.0, 2.0, 64.0, 64.0, 64.0) };
/// Tensor cores by the data sheets' dense rates of `f16` with `f32` sums, and of `f64` (19.5 TFLOP/s), over multiprocessors and clock.
const A100_LANES: Lanes = VOLTA_LANES.tensor(1024.0).double_tensor(64.0);
const AMPERE_LANES: Lanes = lanes(128.0, 2.0, 64.0, 64.0, 128.0).tensor(256.0);
const ORIN_LANES: Lanes = AMPERE_LANES.tensor(1024.0);
/// 2048 by the data sheet's rate. A chip whose tensor cores are busy lowers its clock: cuBLAS's best on an H200, short runs of bf16 at 8192, is 772 TFLOP/s of the 1,071 that are
/// lanes and clock. Warp by warp they do 63 % of what they do for warpgroups (measured on an H200, hand-written kernels). Of doubles 128 (67 TFLOP/s by the data sheet).
const HOPPER_TENSOR: f64 = 2048.0 * 772.0 / 1071.0;
const HOPPER_LANES: Lanes = {
    let mut lanes = lanes(128.0, 64.0, 64.0, 64.0, 128.0).tensor(0.63 * HOPPER_TENSOR).double_tensor(128.0);
    lanes.pipes[Pipe::Tensor as usize] = HOPPER_TENSOR;
    lanes
};
/// Nothing is published of `mma.sync` on it: as an A100's.
const B200_LANES: Lanes = lanes(128.0, 64.0, 64.0, 64.0, 128.0).tensor(1024.0);
/// Blackwell's cards compute integers in all lanes (NVIDIA RTX Blackwell white paper).
const BLACKWELL_LANES: Lanes = lanes(128.0, 2.0, 128.0, 64.0, 128.0).tensor(256.0);

/// Measured on an H200 (`dispatch` of `calibrate`, shared loads); what other devices are taken to need.
const DISPATCH: Dispatch = Dispatch { returned: 0.34, special: 1.2, three_registers: 0.23 };

/// Measured on an H200: sums of a table of 1,024 words, all lanes at one word or each at another (`experiments::constants` of the kernels), take 1.06 and
/// 72.3 ms. What other devices are taken to need.
const CONSTANT: f64 = 4.6;

/// Timed on an H200: MRI's and CP's walks along 64,000 bytes of constant memory, where nothing else takes as long. 100 to 230, the middle.
const CONSTANT_LINE: f64 = 160.0;

/// Cycles since Volta, measured on an H200.
const HOPPER: Cycles = Cycles {
    single: 4.0,
    double: 8.0,
    integer: 5.0,
    special: 17.0,
    shuffle: 24.0,
    shared: 24.0,
    l1: 36.0,
    l2: 283.0,
    barrier: 17.0,
    barrier_per_warp: 2.0,
    branch: 11.0,
    constant: CONSTANT,
    constant_line: CONSTANT_LINE,
};

/// Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018), and of Turing (2019): 28 and 32 cycles of the
/// L1 cache, 193 and 188 of the second, 19 of shared memory.
const VOLTA: Cycles = Cycles { shared: 19.0, l1: 28.0, l2: 193.0, ..HOPPER };
const TURING: Cycles = Cycles { shared: 19.0, l1: 32.0, l2: 188.0, double: 40.0, ..HOPPER };
/// Abdelkhalik et al., "Demystifying the NVIDIA Ampere Architecture through Microbenchmarking and Instruction-level Analysis" (2022).
const AMPERE: Cycles = Cycles { shared: 23.0, l1: 33.0, l2: 200.0, ..HOPPER };
/// Chases of gpu-benches on an L40.
const ADA: Cycles = Cycles { l1: 36.0, l2: 276.0, ..AMPERE };
/// Jia et al. (2018), tables of Maxwell and Pascal: arithmetic of 6 cycles, shared memory of 23 and 24, L2 cache of 194 to 234.
const MAXWELL: Cycles = Cycles {
    single: 6.0,
    integer: 6.0,
    double: 48.0,
    special: 20.0,
    shuffle: 33.0,
    shared: 23.0,
    l1: 82.0,
    l2: 207.0,
    barrier: 20.0,
    barrier_per_warp: 2.0,
    branch: 12.0,
    constant: CONSTANT,
    constant_line: CONSTANT_LINE,
};
const P100_CYCLES: Cycles = Cycles { double: 8.0, shared: 24.0, l2: 234.0, ..MAXWELL };
const PASCAL: Cycles = Cycles { l2: 216.0, ..MAXWELL };

/// CUDA C Programming Guide 4.x, "Multiprocessor Level": about 22 cycles of arithmetic on cc 2.x. Wong et al., "Demystifying GPU
/// Microarchitecture through Microbenchmarking" (2010), has the generation before: 24 cycles, shared memory 38, a barrier about as long as one instruction.
const FERMI: Cycles = Cycles {
    single: 22.0,
    double: 22.0,
    integer: 22.0,
    special: 40.0,
    shuffle: 26.0,
    shared: 26.0,
    l1: 45.0,
    l2: 250.0,
    barrier: 22.0,
    barrier_per_warp: 2.0,
    branch: 22.0,
    constant: CONSTANT,
    constant_line: CONSTANT_LINE,
};

const fn machine(
    name: &'static str,
    capability: u16,
    multiprocessors: u32,
    clock: f64,
    lanes: Lanes,
    cycles: Cycles,
    sheet: Sheet,
) -> Machine {
    let (memory, blocks) = (sheet.memory(clock), blocks(clock));
    Machine { name, capability, multiprocessors, groups: None, clock, lanes, cycles, dispatch: DISPATCH, memory, blocks, source: "" }
}

/// The device a prediction for a target is about, in order of capability.
pub const MACHINES: &[Machine] = &[
    C2050,
    machine("GeForce GTX 750 Ti", 50, 5, 1.085e9, MAXWELL_LANES, MAXWELL, graphics(86.4, 368.0, 2048)),
    machine("GeForce GTX 980", 52, 16, 1.216e9, MAXWELL_LANES, MAXWELL, graphics(224.0, 368.0, 2048)),
    machine("Jetson TX1", 53, 2, 0.998e9, MAXWELL_LANES, MAXWELL, graphics(25.6, 368.0, 256)),
    machine("Tesla P100", 60, 56, 1.48e9, lanes(64.0, 32.0, 64.0, 16.0, 128.0), P100_CYCLES, stacked(732.0, 545.0, 4096)),
    machine("GeForce GTX 1080", 61, 20, 1.733e9, MAXWELL_LANES, PASCAL, graphics(320.0, 545.0, 2048)),
    machine("Jetson TX2", 62, 2, 1.3e9, MAXWELL_LANES, MAXWELL, graphics(59.7, 545.0, 512)),
    machine("Tesla V100", 70, 80, 1.53e9, VOLTA_LANES, VOLTA, stacked(900.0, 577.0, 6144)),
    machine("Jetson AGX Xavier", 72, 8, 1.377e9, VOLTA_LANES, VOLTA, graphics(137.0, 700.0, 512)),
    machine("Tesla T4", 75, 40, 1.59e9, TURING_LANES, TURING, graphics(320.0, 616.0, 4096)),
    machine("A100 40 GB SXM", 80, 108, 1.41e9, A100_LANES, AMPERE, stacked(1555.0, 624.0, 40 * 1024)),
    machine("GeForce RTX 3090", 86, 82, 1.695e9, AMPERE_LANES, AMPERE, graphics(936.0, 534.0, 6144)),
    machine("Jetson AGX Orin", 87, 16, 1.3e9, ORIN_LANES, AMPERE, graphics(204.8, 700.0, 4096)),
    machine("GeForce RTX 4090", 89, 128, 2.52e9, AMPERE_LANES, ADA, graphics(1008.0, 725.0, 72 * 1024)),
    H200,
    machine("B200", 100, 148, 1.965e9, B200_LANES, HOPPER, stacked(8000.0, 830.0, 126 * 1024)),
    machine("B300", 103, 148, 1.92e9, ORIN_LANES, HOPPER, stacked(8000.0, 830.0, 126 * 1024)),
    machine("Jetson T5000", 110, 20, 1.575e9, ORIN_LANES, HOPPER, graphics(273.0, 800.0, 32 * 1024)),
    machine("GeForce RTX 5090", 120, 170, 2.407e9, BLACKWELL_LANES, HOPPER, graphics(1792.0, 880.0, 96 * 1024)),
    machine("GB10", 121, 48, 2.418e9, BLACKWELL_LANES, HOPPER, graphics(273.0, 900.0, 24 * 1024)),
];

/// Two schedulers of half the clock that its lanes have, so one warp instruction a clock; 16 lanes load and store, 4 are special.
const FERMI_LANES: Lanes =
    Lanes { issue: 1.0, pipes: [32.0, 16.0, 32.0, 32.0, 16.0, 4.0, 16.0, 16.0, NO_TENSOR, NO_TENSOR, 16.0], shared: 64.0 };

const C2050_CLOCK: f64 = 1.15e9;

const C2050: Machine = Machine {
    memory: MemoryRates {
        // What saxpy of 2²⁰·20 elements reaches on the M2050, its sister of 148 GB/s: 110 GB/s ("How to Implement Performance Metrics in
        // CUDA C/C++", NVIDIA's technical blog, 2012).
        reach: 144e9 * 0.75,
        reach_mixed: 144e9 * 0.75,
        // "400 to 800 clock cycles" (CUDA C Programming Guide 4.x): the middle.
        latency: 600.0 / C2050_CLOCK,
        // Caches and what starts blocks run at half the lanes' clock.
        ..graphics(144.0, 300.0, 768).memory(C2050_CLOCK / 2.0)
    },
    blocks: Blocks { launch: 5e-6, ..blocks(C2050_CLOCK / 2.0) },
    source: "data sheet; CUDA C Programming Guide 4.x; NVIDIA's technical blog, 2012",
    ..machine("Tesla C2050", 20, 14, C2050_CLOCK, FERMI_LANES, FERMI, graphics(144.0, 300.0, 768))
};

/// The one that was measured.
pub const H200: Machine = Machine {
    groups: Some(8),
    source: "measured by our micro-kernels on an H200, 21 November 2026",
    ..machine("H200 SXM", 90, 132, 1.98e9, HOPPER_LANES, HOPPER, stacked(4800.0, 773.0, 50 * 1024))
};

impl Machine {
    /// The device that stands for a capability. `sm_101` is the older name of `sm_110`.
    pub fn of(capability: u16) -> Option<&'static Machine> {
        let capability = if capability == 101 { 110 } else { capability };
        MACHINES.iter().find(|machine| machine.capability == capability)
    }

    /// The lanes of a pipe.
    pub fn lanes(&self, pipe: Pipe) -> f64 {
        self.lanes.pipes[pipe as usize]
    }

    /// Bytes a second that reads and writes reach if `written` of all bytes (0 to 1) are written: least where it is half of them.
    pub fn reach(&self, written: f64) -> f64 {
        let mixed = mixed(written);
        self.memory.reach + (self.memory.reach_mixed - self.memory.reach) * mixed
    }

    /// Bytes that a multiprocessor has to have on their way for its share of the bandwidth of reads: the latency times that share (Little's law).
    pub fn bytes_in_flight_needed(&self) -> f64 {
        self.memory.latency * self.memory.reach / f64::from(self.multiprocessors)
    }

    /// How sharply that saturates.
    pub fn sharpness(&self, written: f64) -> f64 {
        self.memory.sharpness + (self.memory.sharpness_mixed - self.memory.sharpness) * mixed(written)
    }
}

/// 0 for reads or writes alone, 1 for as many of each.
fn mixed(written: f64) -> f64 {
    4.0 * written * (1.0 - written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright_codegen::target::TARGETS;

    #[test]
    fn every_target_but_one_has_a_device() {
        let without: Vec<_> = TARGETS.iter().filter(|target| Machine::of(target.capability).is_none()).map(|target| target.name).collect();
        // Nothing is published of the device of cc 8.8.
        assert_eq!(without, ["sm_88"]);
        assert!(MACHINES.windows(2).all(|pair| pair[0].capability < pair[1].capability));
    }

    #[test]
    fn rates_are_possible() {
        for machine in MACHINES {
            let memory = &machine.memory;
            assert!(memory.reach_mixed <= memory.reach && memory.reach <= memory.peak, "{}", machine.name);
            // A multiprocessor's share of the memory goes through it.
            assert!(memory.fill * f64::from(machine.multiprocessors) > memory.reach, "{}", machine.name);
            assert!((0.1e-6..1e-6).contains(&memory.latency), "{}: {}", machine.name, memory.latency);
            assert!(machine.lanes.pipes[..FIRST_TENSOR].iter().all(|lanes| *lanes <= 32.0 * machine.lanes.issue), "{}", machine.name);
        }
    }
}
