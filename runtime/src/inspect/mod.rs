//! A launch looked at instead of run: figures to assert on in `cargo test`, and texts to keep as snapshots. No device is needed.

mod comparison;
mod steps;

pub use comparison::Comparison;
pub use steps::{Order, OrderStep};

use crate::error::Result;
use crate::instance::with_lowered;
use crate::launch::{Launch, find_target};
use crate::report::Report;
use crate::tuned::without_places;
use crate::variants::words;
use std::fmt;
use warpwright_codegen::analysis::access::Range;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::target::occupancy::Occupancy;

impl Launch<'_> {
    /// What is known of this instance on a compute capability, `sm_90` say, before it runs. Needs no device. Where an assembler is found
    /// (see [`crate::ptxas`]), what it measures stands beside what is estimated.
    ///
    /// # Errors
    /// [`Error::UnknownTarget`](crate::Error::UnknownTarget); [`Error::Compile`](crate::Error::Compile) if the kernel does not compile for it.
    pub fn report(&self, target: &str) -> Result<Report> {
        let target = find_target(target)?;
        with_lowered(self.definition, &self.generics, |kernel| Ok(Report::of(kernel, target, &self.words())?.0))
    }

    /// What this instance becomes on a compute capability, `sm_90` say: the report, and the texts, to assert on in tests. Needs no device.
    /// `compare!` does it for several launches.
    ///
    /// # Errors
    /// As [`Launch::report`].
    pub fn inspect(&self, target: &str) -> Result<Inspection> {
        let target = find_target(target)?;
        with_lowered(self.definition, &self.generics, |kernel| {
            let (report, ptx) = Report::of(kernel, target, &self.words())?;
            Ok(Inspection::new(report, &ptx, kernel.emit(&OpenCl, None).map(|emitted| emitted.text)))
        })
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
    opencl_c: Result<String>,
}

impl Inspection {
    pub(crate) fn new(report: Report, ptx: &str, opencl_c: Result<String>) -> Inspection {
        let (kernel, variant) = (&report.estimated.kernel, &report.estimated.variant);
        let name = if variant.is_empty() { kernel.clone() } else { format!("{kernel} ({variant})") };
        Inspection { name, report, ptx: without_places(ptx), opencl_c }
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
        self.opcodes().filter(|opcode| begins(opcode)).count()
    }

    /// All PTX instructions.
    pub fn instructions(&self) -> usize {
        self.opcodes().count()
    }

    /// The order of loads, stores, barriers and jumps in the PTX. Its text is made to be compared: `ld.global.64 x4, st.global.64 x4`.
    pub fn order(&self) -> Order {
        Order::of_ptx(&self.ptx)
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

    /// The names of all instructions, in order.
    fn opcodes(&self) -> impl Iterator<Item = &str> {
        let body = self.ptx.split_once("\n{").map_or("", |(_, body)| body);
        body.lines().filter_map(opcode)
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.report)?;
        writeln!(f, "PTX          {} instructions: {}", self.instructions(), self.order())
    }
}

/// The name of the instruction in a line of a kernel's body: directives (`.reg`), labels and braces have none.
fn opcode(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = match line.strip_prefix('@') {
        Some(predicated) => predicated.split_once(char::is_whitespace)?.1.trim_start(),
        None => line,
    };
    let end = line.find(|c: char| c.is_whitespace() || c == ';')?;
    let name = &line[..end];
    name.starts_with(|c: char| c.is_ascii_lowercase()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_from_the_rest() {
        let names = [
            ("\tld.global.nc.f64 %fd1, [%rd4];", Some("ld.global.nc.f64")),
            ("\t@!%p1 bra $L1;", Some("bra")),
            ("\tret;", Some("ret")),
            ("$L1:", None),
            ("\t.reg .pred	%p<5>;", None),
            ("}", None),
            ("", None),
        ];
        for (line, name) in names {
            assert_eq!(opcode(line), name, "{line}");
        }
    }
}
