//! The simulator: runs a kernel's IR warp by warp without a GPU, checks everything it does, and counts it.
//!
//! [`SimProgram::compile`] turns a kernel into a pre-decoded program once; [`SimProgram::run`] launches it.

mod arithmetic;
mod blocks;
mod buffer;
mod cells;
mod clock;
mod cluster;
mod compile;
mod copied_matrix;
mod counters;
mod delay;
mod engine;
mod error;
mod fault_text;
mod flight;
mod fused;
mod launch;
mod machine;
mod meeting;
mod memory;
mod multicast;
mod order;
mod ordered;
mod origins;
mod print;
mod program;
mod registers;
mod shadow;
mod stores;
mod tallies;
mod tensor;
mod texture;
mod traffic;
mod warp;
mod weak;
mod worker;

#[cfg(test)]
mod tests;

pub use counters::{Counters, INSTRUCTION_CLASSES, InstructionClass, LineCounters, Tally};
pub use engine::Misuse;
pub use error::{AccessKind, Error, Fault, FaultKind, FaultPlace};
pub(crate) use fault_text::{loop_limit_reached, missing_lane};
pub use order::MissingFence;
pub use origins::{Origin, OriginRole};

use crate::texture::Picture;
use std::io::Write;
use std::sync::Arc;
use warpwright_codegen::ir::{Kernel, Stage};
use warpwright_codegen::passes;

/// The environment variable for [`SimOptions::loop_limit`].
pub const LOOP_LIMIT: &str = "WARPWRIGHT_LOOP_LIMIT";

/// The environment variable for [`SimOptions::weak_memory`].
pub const WEAK_MEMORY: &str = "WARPWRIGHT_WEAK_MEMORY";

/// What a program checks and allows, fixed when it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// Whether integer `+ - *`, negation and `MIN / -1` that do not fit are faults; the language says that they wrap.
    pub overflow: bool,
    /// How many times one warp may go round loops, in a block, before that is a fault.
    pub loop_limit: u64,
    /// Most operating-system threads to run blocks on; 0: as many as the machine has cores.
    pub workers: usize,
    /// Whether atomics may see and do what the memory model of PTX lets them beyond any order of the steps, chosen by this seed. Races of plain accesses are for runs without: fences of one order hide some here. Without one a step comes after another,
    /// and what a load gives was written last.
    pub weak_memory: Option<u64>,
}

impl SimOptions {
    /// The default, but for what the environment says. Errors: the value of [`LOOP_LIMIT`] is no number of turns, that of [`WEAK_MEMORY`] no seed.
    pub fn of_environment() -> Result<SimOptions, String> {
        let mut options = SimOptions::default();
        if let Some(value) = std::env::var_os(LOOP_LIMIT).filter(|value| !value.is_empty()) {
            let turns = value.to_str().and_then(|value| value.replace('_', "").parse().ok());
            options.loop_limit = turns.ok_or_else(|| {
                format!(
                    "`{LOOP_LIMIT}` is {value:?}; it must be a number of iterations; set it to one, for example `100000000`, or unset it"
                )
            })?;
        }
        if let Some(value) = std::env::var_os(WEAK_MEMORY).filter(|value| !value.is_empty()) {
            let seed = value.to_str().and_then(|value| value.parse().ok());
            options.weak_memory = Some(seed.ok_or_else(|| {
                format!("`{WEAK_MEMORY}` is {value:?}; it must be a seed, a number from 0 on; set it to one, or unset it")
            })?);
        }
        Ok(options)
    }
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions { overflow: false, loop_limit: 1 << 24, workers: 0, weak_memory: None }
    }
}

/// A launch's geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimLaunch {
    /// Blocks of the grid in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
}

/// An argument, one per kernel parameter, in order.
#[derive(Debug)]
pub enum SimArgument<'a> {
    /// A by-value parameter: its `repr(C)` bytes.
    Value(&'a [u8]),
    /// A buffer that may be written.
    Global {
        /// Its contents: whole elements.
        bytes: &'a mut [u8],
    },
    /// A buffer for a parameter that nobody writes.
    GlobalReadOnly {
        /// Its contents: whole elements.
        bytes: &'a [u8],
    },
    /// A texture.
    Texture {
        /// Its texels, row by row.
        texels: &'a [u8],
        /// What it is without them.
        picture: Picture,
    },
    /// Constant memory.
    Constant {
        /// Its contents.
        bytes: &'a [u8],
    },
}

/// A kernel, compiled for the simulator.
#[derive(Clone, Debug)]
pub struct SimProgram {
    program: program::Program,
}

impl SimProgram {
    /// Compiles a kernel with default options.
    pub fn compile(kernel: &Kernel) -> Result<SimProgram, Error> {
        SimProgram::compile_with(kernel, SimOptions::default())
    }

    /// Compiles a kernel of any stage. Errors: it breaks an invariant of the IR, or is beyond what the simulator can hold.
    pub fn compile_with(kernel: &Kernel, options: SimOptions) -> Result<SimProgram, Error> {
        let mut placed = (kernel.options.persistent && kernel.stage() != Stage::Addressed).then(|| kernel.clone());
        placed.as_mut().map(passes::meet);
        let placed = passes::place(placed.as_ref().unwrap_or(kernel));
        let mut placed = placed.unwrap_or_else(|| kernel.clone());
        if options.weak_memory.is_some() {
            delay::delay(&mut placed);
        }
        let mut program = compile::compile(Arc::new(placed), options)?;
        program.is_persistent = kernel.options.persistent;
        program.asked_cluster = kernel.options.cluster;
        Ok(SimProgram { program })
    }

    /// The same with another seed for [`SimOptions::weak_memory`], where it has one.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> SimProgram {
        self.program.options.weak_memory = self.program.options.weak_memory.map(|_| seed);
        self
    }

    /// Launches; prints go to standard output. Errors: the launch or its arguments do not fit the kernel, or a thread is at fault; buffers
    /// then hold what was written before.
    pub fn run(&self, launch: &SimLaunch, arguments: &mut [SimArgument<'_>]) -> Result<Counters, Error> {
        self.run_with(launch, arguments, &mut std::io::stdout())
    }

    /// Launches; prints go to `output`.
    pub fn run_with(&self, launch: &SimLaunch, arguments: &mut [SimArgument<'_>], output: &mut dyn Write) -> Result<Counters, Error> {
        launch::run(&self.program, launch, arguments, output)
    }
}
