//! The one way from source to text.
//!
//! ```text
//! source ──lower──▶ Built ──schedule──▶ Scheduled ──optimize──▶ Legal ──address──▶ Addressed
//!           hir               schedule       │          passes    │         passes      │
//!                                          Rust             OpenCL C, simulator        PTX
//! ```
//!
//! Each stage is a type round an [`ir::Kernel`](crate::ir::Kernel), with read access. It is got from the stage before, by the function that establishes
//! it, or of a kernel that was made by hand or read from the text form, if the verifier accepts it ([`Built::verified`]). The macro, the command, the
//! runtime and the tests come in here: [`compile`]. Nothing else calls the front end, `schedule` and the passes one after another.
//!
//! Spans belong to one thread, kernels do not: [`Lowered`] is a kernel of some stage with what ties it to its source.

mod stages;
#[cfg(test)]
mod tests;

pub use stages::{Addressed, Built, Legal, Scheduled};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::hir::{self, Instead, Lowered};
use crate::parallel;
use crate::schedule::Refusal;
use crate::syntax::{Instance, Program, Unit, UnitId};

/// Types and lowers one instance of the kernel `name` (its path within the unit) of `unit`, and keeps its annotations.
///
/// # Errors
/// All that is wrong with the source, or every promise that cannot be kept.
pub fn compile(program: &Program, unit: UnitId, name: &str, instance: &Instance) -> Result<Lowered<Scheduled>, Diagnostics> {
    lower(program, unit, name, instance)?.schedule()
}

/// The same of a kernel in a text that needs no other, a file of this name.
///
/// # Errors
/// As [`compile`].
pub fn compile_text(file: &str, text: &str, name: &str, instance: &Instance) -> Result<Lowered<Scheduled>, Diagnostics> {
    let mut program = Program::default();
    let unit = program.add(Unit::parse(file, 1, 1, text)?);
    compile(&program, unit, name, instance)
}

/// The same of several instances at once, each with the kernel before its annotations were kept.
pub fn compile_each<'i>(
    program: &Program,
    unit: UnitId,
    name: &str,
    instances: impl Iterator<Item = &'i Instance>,
) -> Vec<Result<(Lowered<Scheduled>, Built), Diagnostics>> {
    let lowered: Vec<_> = instances.map(|instance| lower(program, unit, name, instance)).collect();
    let built: Vec<_> = lowered.iter().flatten().map(|lowered| (&lowered.kernel, &lowered.statements)).collect();
    let mut scheduled = parallel::map(&built, |(built, statements)| built.schedule(statements)).into_iter();
    let finish = |lowered: Result<Lowered<Built>, Diagnostics>| lowered?.keep(scheduled.next().unwrap_or_default());
    lowered.into_iter().map(finish).collect()
}

/// Types and lowers one instance: what the source says, annotations still to be kept.
///
/// # Errors
/// All that is wrong with the source.
pub fn lower(program: &Program, unit: UnitId, name: &str, instance: &Instance) -> Result<Lowered<Built>, Diagnostics> {
    lower_instead(program, unit, name, instance, Instead::default())
}

/// The same with every index checked, as if the kernel had `bounds = trap`: for a device that says nothing of an access beyond an array.
///
/// # Errors
/// As [`lower`].
pub fn lower_checked(program: &Program, unit: UnitId, name: &str, instance: &Instance) -> Result<Lowered<Built>, Diagnostics> {
    lower_instead(program, unit, name, instance, Instead { checks_bounds: true, ..Instead::default() })
}

/// The same with locations that know where the function was called that they stand in, for who says where a running kernel is: they are several of one place then, where lints and texts want one.
///
/// # Errors
/// As [`lower`].
pub fn lower_with_calls(program: &Program, unit: UnitId, name: &str, instance: &Instance) -> Result<Lowered<Built>, Diagnostics> {
    lower_instead(program, unit, name, instance, Instead { keeps_calls_apart: true, ..Instead::default() })
}

fn lower_instead(
    program: &Program,
    unit: UnitId,
    name: &str,
    instance: &Instance,
    instead: Instead,
) -> Result<Lowered<Built>, Diagnostics> {
    let lowered = match hir::lower_kernel(program, unit, name, instance, instead)? {
        (lowered, None) => lowered,
        (_, Some(refused)) => retry_with_one_element(program, unit, name, instance, (instead, refused))?,
    };
    Ok(lowered.map(Built::new))
}

/// The retry of `best_effort`: a kernel whose threads cannot do several elements each does one.
///
/// # Errors
/// What was refused, without `best_effort`.
fn retry_with_one_element(
    program: &Program,
    unit: UnitId,
    name: &str,
    instance: &Instance,
    (instead, refused): (Instead, Diagnostic),
) -> Result<Lowered, Diagnostics> {
    let mut warnings = Diagnostics::from(refused);
    warnings.barrier()?;
    let (mut lowered, _) = hir::lower_kernel(program, unit, name, instance, Instead { one_element: true, ..instead })?;
    lowered.warnings.append(warnings);
    Ok(lowered)
}

impl Lowered<Built> {
    /// Keeps every annotation. What `best_effort` let pass is among the warnings.
    ///
    /// # Errors
    /// Every promise that cannot be kept, at its annotation.
    pub fn schedule(self) -> Result<Lowered<Scheduled>, Diagnostics> {
        let outcome = self.kernel.schedule(&self.statements);
        Ok(self.keep(outcome)?.0)
    }

    /// Takes over what [`Built::schedule`] gave.
    fn keep(mut self, (scheduled, findings): (Option<Scheduled>, Vec<Refusal>)) -> Result<(Lowered<Scheduled>, Built), Diagnostics> {
        let found: Diagnostics = findings.into_iter().map(|finding| finding.diagnostic(|loc| self.span(loc))).collect();
        self.warnings.append(found);
        self.warnings.barrier()?;
        let scheduled = scheduled.ok_or_else(Diagnostics::new)?;
        let Lowered { kernel: built, spans, statements, warnings, required } = self;
        Ok((Lowered { kernel: scheduled, spans, statements, warnings, required }, built))
    }
}
