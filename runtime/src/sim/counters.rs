//! What a simulated launch did, counted: per source line and in total.
//!
//! Units. An *instruction* is one of the IR's (constants and register moves cost nothing and are not counted; a `for` costs an addition,
//! a comparison and a branch per iteration). A *warp instruction* is one that a warp executed, whatever its mask; a *thread
//! instruction* is one that an active lane executed. A *request* is a memory instruction of one warp. A *sector* is 32 aligned bytes of
//! global memory; buffers are taken to begin at a sector. *Passes* are those of
//! shared-memory requests, counted as a profiler counts wavefronts (`warpwright_codegen::analysis::banks` has the rule): 1 up to 32 bits per lane,
//! 2 for 64, 4 for 128, fewer where lanes read the same, more where they meet in banks. *Replays* are those that meet: bank conflicts.
//! Every figure is *simulated*: none is measured on a device.

use std::fmt;
use std::ops::AddAssign;
use warpwright_codegen::target::limits::SECTOR;

/// What kind of work an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub enum InstructionClass {
    /// Integer and `bool` arithmetic, comparisons, selections.
    Integer,
    /// `f16` and `bf16` arithmetic.
    Half,
    /// `f32` arithmetic.
    F32,
    /// `f64` arithmetic.
    F64,
    /// Rows of the special-function unit: transcendentals, roots, reciprocals.
    Special,
    /// Casts.
    Convert,
    /// Loads, stores and atomics, of any space but by-value parameters.
    Memory,
    /// Branches, loops, exits, assertions.
    Control,
    /// Exchanges between lanes.
    Warp,
    /// Barriers and fences.
    Barrier,
    /// Special registers, parameters, prints.
    Other,
}

impl InstructionClass {
    /// Every class, in the order of [`Tally::warp_instructions`].
    pub const ALL: [(InstructionClass, &'static str); INSTRUCTION_CLASSES] = [
        (InstructionClass::Integer, "integer"),
        (InstructionClass::Half, "half"),
        (InstructionClass::F32, "f32"),
        (InstructionClass::F64, "f64"),
        (InstructionClass::Special, "special"),
        (InstructionClass::Convert, "convert"),
        (InstructionClass::Memory, "memory"),
        (InstructionClass::Control, "control"),
        (InstructionClass::Warp, "warp"),
        (InstructionClass::Barrier, "barrier"),
        (InstructionClass::Other, "other"),
    ];
}

/// How many classes there are.
pub const INSTRUCTION_CLASSES: usize = 11;

/// One set of figures. Units: see the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Warp instructions by class, in the order of [`InstructionClass::ALL`].
    pub warp_instructions: [u64; INSTRUCTION_CLASSES],
    /// Thread instructions by class.
    pub thread_instructions: [u64; INSTRUCTION_CLASSES],
    /// Requests to global memory: loads, stores and atomics.
    pub global_requests: u64,
    /// Sectors they touch.
    pub global_sectors: u64,
    /// Different bytes they use, summed over requests: at most 32 per sector.
    pub global_bytes: u64,
    /// Requests to shared memory.
    pub shared_requests: u64,
    /// Their passes, conflicts among them: a profiler's wavefronts.
    pub shared_passes: u64,
    /// Those of them that are conflicts: beyond what the width and different words of the lanes need.
    pub shared_replays: u64,
    /// Branches (of `if` and of loops) that split a warp.
    pub divergent_branches: u64,
    /// Barriers, counted once per block that passes.
    pub barriers: u64,
    /// Atomic operations, counted per thread.
    pub atomics: u64,
}

impl Tally {
    /// Warp instructions of all classes.
    pub fn total_warp_instructions(&self) -> u64 {
        self.warp_instructions.iter().sum()
    }

    /// Thread instructions of all classes.
    pub fn total_thread_instructions(&self) -> u64 {
        self.thread_instructions.iter().sum()
    }

    /// Sectors per request to global memory; 4 is perfect for 4-byte elements. 0 if there were no requests.
    pub fn sectors_per_request(&self) -> f64 {
        ratio(self.global_sectors, self.global_requests)
    }

    /// The share of the fetched sectors' bytes that were used, 0 to 1.
    pub fn global_efficiency(&self) -> f64 {
        ratio(self.global_bytes, self.global_sectors * u64::from(SECTOR))
    }
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        for class in 0..INSTRUCTION_CLASSES {
            self.warp_instructions[class] += other.warp_instructions[class];
            self.thread_instructions[class] += other.thread_instructions[class];
        }
        self.global_requests += other.global_requests;
        self.global_sectors += other.global_sectors;
        self.global_bytes += other.global_bytes;
        self.shared_requests += other.shared_requests;
        self.shared_passes += other.shared_passes;
        self.shared_replays += other.shared_replays;
        self.divergent_branches += other.divergent_branches;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
    }
}

/// The figures of one source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineCounters {
    /// The file; empty for code from nowhere.
    pub file: String,
    /// The line, from 1; 0 for code from nowhere.
    pub line: u32,
    /// Its figures.
    pub tally: Tally,
}

/// What a simulated launch did. `Display` is a table of the lines with a summary below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The kernel.
    pub kernel: String,
    /// Blocks that ran.
    pub blocks: u64,
    /// Threads that ran.
    pub threads: u64,
    /// All lines together.
    pub total: Tally,
    /// Lines that did anything, ordered by file and line.
    pub lines: Vec<LineCounters>,
}

impl Counters {
    /// The figures of a line, of the first file that has it.
    pub fn line(&self, line: u32) -> Option<&Tally> {
        self.lines.iter().find(|l| l.line == line).map(|l| &l.tally)
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "simulated: `{}`, {} blocks, {} threads", self.kernel, self.blocks, self.threads)?;
        let width = self.lines.iter().map(|l| l.file.len() + digits(l.line) + 1).max().unwrap_or(0).max("line".len());
        writeln!(
            f,
            "{:width$} {:>12} {:>14} {:>10} {:>10} {:>12} {:>10} {:>9} {:>9} {:>9}",
            "line", "warp instr", "thread instr", "requests", "sectors", "bytes used", "shared", "passes", "replays", "divergent"
        )?;
        for line in &self.lines {
            let place = if line.line == 0 { "?".to_string() } else { format!("{}:{}", line.file, line.line) };
            fmt_row(f, &place, width, &line.tally)?;
        }
        fmt_row(f, "total", width, &self.total)?;
        write!(f, "thread instructions:")?;
        for (class, name) in InstructionClass::ALL {
            let count = self.total.thread_instructions[class as usize];
            if count != 0 {
                write!(f, " {name} {count}")?;
            }
        }
        writeln!(f)?;
        let total = &self.total;
        if total.global_requests != 0 {
            let (sectors, share) = (total.sectors_per_request(), total.global_efficiency() * 100.0);
            writeln!(f, "global: {sectors:.2} sectors per request, {share:.1} % of fetched bytes used")?;
        }
        writeln!(f, "barriers: {}, atomics: {}", total.barriers, total.atomics)
    }
}

fn digits(n: u32) -> usize {
    n.checked_ilog10().unwrap_or(0) as usize + 1
}

fn fmt_row(f: &mut fmt::Formatter<'_>, place: &str, width: usize, t: &Tally) -> fmt::Result {
    writeln!(
        f,
        "{place:width$} {:>12} {:>14} {:>10} {:>10} {:>12} {:>10} {:>9} {:>9} {:>9}",
        t.total_warp_instructions(),
        t.total_thread_instructions(),
        t.global_requests,
        t.global_sectors,
        t.global_bytes,
        t.shared_requests,
        t.shared_passes,
        t.shared_replays,
        t.divergent_branches
    )
}
