//! A launch looked at instead of run: figures to assert on in `cargo test`, and texts to keep as snapshots. No device is needed.

mod comparison;
mod steps;

pub use comparison::Comparison;
pub use steps::{Order, OrderStep};

use crate::check::check_geometry;
use crate::device::Device;
use crate::error::Result;
use crate::instance::{LoweredKernel, with_lowered};
use crate::launch::{Launch, find_target};
use crate::report::Report;
use crate::variants::words;
use std::fmt;
use warpwright_codegen::analysis::access::Range;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::ptx::code::{Instruction, Module, Statement};
use warpwright_codegen::target::occupancy::Occupancy;

// Said here, too: docs.rs shows it where another crate hands the type on.
#[cfg(feature = "inspect")]
impl Launch<'_> {
    /// What is known of this instance on a compute capability, `sm_90` say, before it runs. Needs no device. Where an assembler is found
    /// (see [`crate::ptxas`]), what it measures stands beside what is estimated.
    ///
    /// # Errors
    /// [`Error::UnknownTarget`](crate::Error::UnknownTarget); [`Error::Compile`](crate::Error::Compile) if the kernel does not compile for it.
    pub fn report(&self, target: &str) -> Result<Report> {
        let target = find_target(target)?;
        with_lowered(self.definition, &self.generics, |kernel| Ok(Report::of(kernel, target, &self.words(), self.blocks(kernel))?.0))
    }

    /// What this instance becomes on a compute capability, `sm_90` say: the report, and the texts, to assert on in tests. Needs no device.
    /// `compare!` does it for several launches.
    ///
    /// # Errors
    /// As [`Launch::report`].
    pub fn inspect(&self, target: &str) -> Result<Inspection> {
        let target = find_target(target)?;
        with_lowered(self.definition, &self.generics, |kernel| {
            let (report, ptx) = Report::of(kernel, target, &self.words(), self.blocks(kernel))?;
            Ok(Inspection::new(report, ptx, kernel.emit(&OpenCl, None).map(|emitted| emitted.text)))
        })
    }

    /// The grid, if one is asked for that a launch can have.
    fn blocks(&self, kernel: &LoweredKernel<'_>) -> Option<[u32; 3]> {
        let extents = check_geometry(self.definition, &self.geometry, &kernel.facts(), &Device::simulator());
        extents.ok().map(|extents| extents.grid)
    }

    /// What tells this instance from others of the kernel: `B = 64, ILP = 4`.
    fn words(&self) -> String {
        words(self.definition.generics, &self.generics)
    }
}

/// What an instance of a kernel becomes on one target.
///
/// Figures are *estimated* by the compiler unless they say otherwise; what an assembler *measured*, where there is one, stands beside them in
/// [`Inspection::report`]. Texts and counts are of the PTX as it is emitted.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The kernel and what tells this instance from its siblings: `copy (ILP = 4, BATCH = true)`.
    pub name: String,
    /// Every figure, and what of the kernel's `require(…)` does not hold.
    pub report: Report,
    ptx: String,
    body: Vec<Statement>,
    opencl_c: Result<String>,
}

impl Inspection {
    pub(crate) fn new(report: Report, ptx: Module, opencl_c: Result<String>) -> Inspection {
        let (kernel, variant) = (&report.estimated.kernel, &report.estimated.variant);
        let name = if variant.is_empty() { kernel.clone() } else { format!("{kernel} ({variant})") };
        let code = ptx.without_places();
        Inspection { name, report, ptx: code.to_string(), body: code.entry.body, opencl_c }
    }

    /// Registers of a thread, estimated.
    pub fn registers(&self) -> u32 {
        self.report.estimated.registers.estimate
    }

    /// Resident blocks and warps, from the estimated registers; `None` where the launch decides the block's size.
    pub fn occupancy(&self) -> Option<Occupancy> {
        self.report.estimated.occupancy
    }

    /// Sectors of 32 bytes of the worst request to global memory; `None` without such a request, or where one depends on data.
    pub fn sectors_per_request(&self) -> Option<Range> {
        self.report.estimated.sectors_per_request()
    }

    /// Passes of the worst access to shared memory beyond those it needs: 0 without bank conflicts; `None` without such an access, or where one
    /// depends on data.
    pub fn bank_conflicts(&self) -> Option<Range> {
        self.report.estimated.bank_conflicts()
    }

    /// How many PTX instructions there are of a kind, by the words of the name in front: `"ld.global"` counts `ld.global.nc.f64`, and
    /// `"ld"` counts `ld.param.u64` too. Instructions of a loop's body count once.
    pub fn count(&self, name: &str) -> usize {
        let begins = |opcode: &str| opcode.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        self.instructions_of_body().filter(|instruction| begins(&instruction.opcode.to_string())).count()
    }

    /// All PTX instructions.
    pub fn instructions(&self) -> usize {
        self.instructions_of_body().count()
    }

    /// The order of loads, stores, barriers and jumps in the PTX. Its text is made to be compared: `ld.global.64 x4, st.global.64 x4`.
    pub fn order(&self) -> Order {
        Order::of_ptx(&self.body)
    }

    /// The PTX without places in files: the same wherever the source is and whatever stands above the kernel, as snapshots want it.
    /// [`Launch::ptx`](crate::Launch::ptx) has the places.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The OpenCL C, which names no places.
    ///
    /// # Errors
    /// [`Error::Compile`](crate::Error::Compile) if the kernel does not compile for OpenCL.
    pub fn opencl_c(&self) -> Result<&str> {
        self.opencl_c.as_deref().map_err(Clone::clone)
    }

    fn instructions_of_body(&self) -> impl Iterator<Item = &Instruction> {
        self.body.iter().filter_map(Statement::instruction)
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.report)?;
        writeln!(f, "PTX          {} instructions: {}", self.instructions(), self.order())
    }
}
