//! `Launch::report`: what is known of an instance before it runs.

use crate::error::Result;
use crate::instance::LoweredKernel;
use crate::ptxas::{Measured, Ptxas, PtxasError};
use std::fmt;
use warpwright_codegen::backend::ptx::code::Module;
use warpwright_codegen::syntax::Setting;
use warpwright_codegen::target::Target;
use warpwright_review::estimate::estimate;
use warpwright_review::lint::wave_tail;
use warpwright_review::require::judge;

pub use warpwright_codegen::analysis::access::{AccessKind, Divergence, Pattern, Range};
pub use warpwright_codegen::syntax::SourcePlace;
pub use warpwright_review::estimate::MemoryUse;
pub use warpwright_review::estimate::registers::Registers;
pub use warpwright_review::estimate::time::{Bound, Prediction};
pub use warpwright_review::report::{AccessReport, BranchReport, Estimated, conflict_text, range_text};

/// What is known of an instance on a target: what the compiler estimates, and beside it, never in its place, what an assembler measured.
#[derive(Clone, Debug)]
pub struct Report {
    /// Every figure of the compiler.
    pub estimated: Estimated,
    /// The assembler's figures, with its release: measured by ptxas. `None` if none was found.
    pub measured: Option<(String, Measured)>,
    /// Why there is an assembler and no figures.
    pub not_measured: Option<PtxasError>,
    /// The clauses of the kernel's `require(…)` that do not hold or cannot be decided, one text each.
    pub broken: Vec<String>,
    /// What lints find in this launch that they cannot see of a kernel alone, since it is about the grid: `wave_tail`. Empty where the launch has no `.grid(…)` or `.cover(…)`.
    pub found: Vec<String>,
}

impl Report {
    /// What is known of an instance, and its PTX. Asks the assembler that is found about it.
    pub(crate) fn of(kernel: &LoweredKernel<'_>, target: &'static Target, words: &str, grid: Option<[u32; 3]>) -> Result<(Report, Module)> {
        let known = estimate(kernel.legal(), &[target]);
        let judged = judge(&kernel.lowered.required, &known, |loc| kernel.lowered.span(loc));
        let broken = judged.iter().map(|finding| finding.message.clone()).collect();
        let blocks = grid.map(|grid| grid.iter().map(|extent| u64::from(*extent)).product());
        let tail =
            blocks.filter(|_| kernel.setting("wave_tail") != Some(Setting::Allow)).and_then(|blocks| wave_tail::finding(&known, blocks));
        let found = tail.map(|(message, help)| format!("wave_tail: {message}; {help}")).into_iter().collect();
        let estimated = Estimated::all(words, &known).into_iter().next().expect("one target, one report");
        let ptx = kernel.ptx(target)?;
        let asked = Ptxas::find().and_then(|found| match found {
            Some(ptxas) => ptxas.measure(&ptx.to_string(), target.capability).map(|measured| Some((ptxas.release.clone(), measured))),
            None => Ok(None),
        });
        let (measured, not_measured) = match asked {
            Ok(measured) => (measured, None),
            Err(error) => (None, Some(error)),
        };
        Ok((Report { estimated, measured, not_measured, broken, found }, ptx))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.estimated)?;
        if let Some((release, measured)) = &self.measured {
            let Measured { registers, stack, spill_stores, spill_loads, shared, serialized, .. } = measured;
            let products = if *serialized { ", products one after another" } else { "" };
            writeln!(
                f,
                "measured     by ptxas {release}: {registers} registers, {shared} B shared, {stack} B stack, spills {spill_stores} B out, {spill_loads} B in{products}"
            )?;
        }
        if let Some(error) = &self.not_measured {
            writeln!(f, "not measured {error}")?;
        }
        self.broken.iter().try_for_each(|text| writeln!(f, "requirement  {text}"))?;
        self.found.iter().try_for_each(|text| writeln!(f, "finding      {text}"))
    }
}
