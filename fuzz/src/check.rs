//! Whether all that this program can run by itself agrees on a kernel: every form of it, every stage, passes left out and in another order, and edits that change nothing.

use crate::executions::{Output, compiled, difference, simulator};
use crate::random::{Failure, Random};
use crate::source::metamorphic::Edit;
use crate::source::{Form, Kernel};
use std::collections::BTreeSet;
use warpwright_codegen::backend::opencl::OpenCl;
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::backend::rust::{Rust, emit_rust};
use warpwright_codegen::hir::Lowered;
use warpwright_codegen::ir;
use warpwright_codegen::passes::{self, ADDRESS, OPTIMIZE, Pass};
use warpwright_codegen::pipeline::Scheduled;
use warpwright_codegen::target::{self, Target};
use warpwright_codegen::verify::verify;

/// Targets that texts are executed for: one of each kind of text. Texts are printed for every target that the compiler has ([`also_printed_for`]).
pub const TARGETS: [&str; 4] = ["sm_70", "sm_80", "sm_90", "sm_90a"];

/// The target that a kernel's PTX is for: by its number, among those that it can be for.
pub fn target_of(kernel: &Kernel, number: u64) -> &'static str {
    let all = if kernel.has_clusters || kernel.has_engine { &TARGETS[2..] } else { &TARGETS[..] };
    all[number as usize % all.len()]
}

/// One more target that a kernel's PTX is printed for, and not executed: by its number, among all that there are.
pub fn also_printed_for(number: u64) -> &'static Target {
    // Not in step with what else is chosen by the number.
    &target::TARGETS[(number / target::TARGETS.len() as u64 + number) as usize % target::TARGETS.len()]
}

/// What a kernel showed.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// What its buffers hold.
    pub output: Output,
    /// Passes that changed something.
    pub passes: BTreeSet<&'static str>,
    /// Targets that texts were printed for.
    pub targets: BTreeSet<&'static str>,
    /// A target that lacks what the kernel asks for, as the compiler said.
    pub lacking: Option<&'static str>,
    /// Whether the compiler refused its annotations as they were drawn.
    pub is_refused: bool,
    /// Warnings with `best_effort`: annotations left out.
    pub left_out: usize,
    /// Executions that were compared.
    pub compared: usize,
}

/// What the stripped form computes: what everything else is held to.
///
/// # Errors
/// [`Failure::NoCase`] if that is no kernel, or does not run.
pub fn expected(kernel: &Kernel) -> Result<Output, Failure> {
    let plain = compiled::scheduled(kernel, Form::Stripped).map_err(|said| Failure::NoCase(format!("refused: {said}")))?;
    simulator::run(kernel, plain.kernel.legal()).map_err(|fault| Failure::NoCase(format!("fault: {fault}")))
}

/// Checks a kernel; `number` chooses among what would take too long on every one.
///
/// # Errors
/// What disagrees, or that the kernel is none.
pub fn check(kernel: &Kernel, number: u64) -> Result<Shown, Failure> {
    let mut shown = Shown { output: expected(kernel)?, ..Shown::default() };
    let wrong = |what: &str, why: String| Failure::Wrong(format!("{what}: {why}"));
    let kept = compiled::scheduled(kernel, Form::BestEffort).map_err(|said| wrong("best effort", format!("refused: {said}")))?;
    shown.left_out = kept.warnings.iter().count();
    compare(&mut shown, "best effort", kernel, kept.kernel.legal())?;
    weakly(&mut shown, kernel, kept.kernel.legal(), number)?;
    match compiled::scheduled(kernel, Form::Annotated) {
        Ok(annotated) => {
            if number.is_multiple_of(4) {
                compare(&mut shown, "annotated", kernel, annotated.kernel.legal())?;
            }
        }
        Err(_) => shown.is_refused = true,
    }
    // Without passes and without annotations: what shares least with the rest.
    let plain = compiled::scheduled(kernel, Form::Stripped).map_err(|said| wrong("stripped, again", said))?;
    compare(&mut shown, "no passes", kernel, &plain.kernel)?;
    stages(&mut shown, kernel, &kept, number)?;
    if number.is_multiple_of(2) {
        let edit = Edit::ALL[(number / 2) as usize % Edit::ALL.len()];
        let edited = edit.apply(kernel, &mut Random::new(number));
        let what = format!("edit {edit:?}");
        let made = compiled::scheduled(&edited, Form::BestEffort)
            .map_err(|said| wrong(&what, format!("refused: {said}\n{}", edited.file(Form::BestEffort))))?;
        compare(&mut shown, &what, &edited, made.kernel.legal()).map_err(|failure| {
            if let Failure::Wrong(why) = failure {
                Failure::Wrong(format!("{why}\nedited:\n{}", edited.file(Form::BestEffort)))
            } else {
                failure
            }
        })?;
    }
    texts(&mut shown, kernel, &kept, number)?;
    Ok(shown)
}

/// What the kernel with its annotations computes, and nothing else: for campaigns whose other judges are asked about many kernels.
///
/// # Errors
/// As [`expected`].
pub fn run_once(kernel: &Kernel) -> Result<Shown, Failure> {
    let kept = compiled::scheduled(kernel, Form::BestEffort).map_err(|said| Failure::NoCase(format!("refused: {said}")))?;
    let output = simulator::run(kernel, kept.kernel.legal()).map_err(|fault| Failure::NoCase(format!("fault: {fault}")))?;
    Ok(Shown { output, left_out: kept.warnings.iter().count(), ..Shown::default() })
}

/// On a weak memory.
fn weakly(shown: &mut Shown, kernel: &Kernel, ir: &ir::Kernel, seed: u64) -> Result<(), Failure> {
    shown.compared += 1;
    let found = simulator::run_weakly(kernel, ir, seed).map_err(|fault| Failure::Wrong(format!("on a weak memory: {fault}")))?;
    difference(&shown.output, &found).map_or(Ok(()), |difference| Err(Failure::Wrong(format!("on a weak memory: {difference}"))))
}

fn compare(shown: &mut Shown, what: &str, kernel: &Kernel, ir: &ir::Kernel) -> Result<(), Failure> {
    shown.compared += 1;
    let found = simulator::run(kernel, ir).map_err(|fault| Failure::Wrong(format!("{what}: {fault}")))?;
    match difference(&shown.output, &found) {
        Some(difference) => Err(Failure::Wrong(format!("{what}: {difference}"))),
        None => Ok(()),
    }
}

/// The kernel after these passes; those that changed something are noted.
fn after(kernel: &ir::Kernel, list: &[&Pass], shown: &mut Shown, verifies: bool) -> Result<ir::Kernel, Failure> {
    let mut kernel = kernel.clone();
    for pass in list {
        if (pass.run)(&mut kernel) {
            shown.passes.insert(pass.name);
        }
        if verifies && let Err(violations) = verify(&kernel) {
            return Err(Failure::Wrong(format!("after {}: {:?}", pass.name, violations.first())));
        }
    }
    Ok(kernel)
}

/// The stages of the kernel with its annotations: addresses, a pass left out, another order.
fn stages(shown: &mut Shown, kernel: &Kernel, kept: &Lowered<Scheduled>, number: u64) -> Result<(), Failure> {
    let scheduled: &ir::Kernel = &kept.kernel;
    let all: Vec<&Pass> = OPTIMIZE.iter().collect();
    let mut legal = after(scheduled, &all, shown, number.is_multiple_of(8))?;
    if passes::meet(&mut legal) {
        shown.passes.insert("meet");
    }
    if passes::place(&legal).is_some() {
        shown.passes.insert("blocks");
    }
    let addressed = after(&legal, &ADDRESS.iter().collect::<Vec<_>>(), shown, number % 8 == 1)?;
    compare(shown, "with addresses", kernel, &addressed)?;
    match number % 3 {
        0 => {
            let names = passes::pass_names();
            let off = names[(number / 3) as usize % names.len()];
            let but = |list: &'static [Pass]| list.iter().filter(|pass| pass.name != off).collect::<Vec<_>>();
            let mut without = after(scheduled, &but(OPTIMIZE), shown, false)?;
            // Between the two, as ever: rounds of threads that return apart have barriers by it.
            passes::meet(&mut without);
            let without = after(&without, &but(ADDRESS), shown, false)?;
            compare(shown, &format!("without {off}"), kernel, &without)?;
        }
        1 => {
            let mut random = Random::new(number);
            let mut list = all;
            for at in (1..list.len()).rev() {
                list.swap(at, random.below(at + 1));
            }
            let shuffled = after(scheduled, &list, shown, true)?;
            let names: Vec<&str> = list.iter().map(|pass| pass.name).collect();
            compare(shown, &format!("passes in the order {names:?}"), kernel, &shuffled)?;
        }
        _ => {
            let alone = &OPTIMIZE[(number / 3) as usize % OPTIMIZE.len()];
            let one = after(scheduled, &[alone], shown, true)?;
            compare(shown, &format!("{} alone", alone.name), kernel, &one)?;
        }
    }
    // Forms for machines with a copy engine or tensor cores.
    for form in kept.kernel.legal().forms() {
        shown.passes.insert("forms");
        compare(shown, "form for a target", kernel, form)?;
    }
    Ok(())
}

/// Every text can be printed.
fn texts(shown: &mut Shown, kernel: &Kernel, kept: &Lowered<Scheduled>, number: u64) -> Result<(), Failure> {
    let name = target_of(kernel, number);
    let target = Target::find(name).map_err(|_| Failure::NoCase(format!("no target {name}")))?;
    let refused = |what: &str, found: warpwright_codegen::diagnostic::Diagnostics| {
        Failure::Wrong(format!("{what} refuses it: {}", found.into_iter().next().map(|found| found.message).unwrap_or_default()))
    };
    kept.emit(&Ptx, Some(target)).map_err(|found| refused(name, found))?;
    let legal: &ir::Kernel = kept.kernel.legal();
    if passes::overlaps_on(legal, target) {
        shown.passes.insert("overlap");
    }
    shown.targets.insert(name);
    let other = also_printed_for(number);
    match kept.emit(&Ptx, Some(other)) {
        Ok(_) => drop(shown.targets.insert(other.name)),
        // A message about what the target lacks names it.
        Err(found) if found.iter().all(|found| found.message.contains(other.name)) => shown.lacking = Some(other.name),
        Err(found) => return Err(refused(other.name, found)),
    }
    if number % 4 == 1 && !kernel.has_clusters {
        // What OpenCL C is printed of where exchanges of a warp become barriers of its block. The simulator places blocks itself.
        if let Some(converged) = passes::converge(legal) {
            shown.passes.insert("converge");
            compare(shown, "with all threads at every exchange", kernel, &converged)?;
        }
        kept.emit(&OpenCl, None).map_err(|found| refused("OpenCL C", found))?;
        shown.targets.insert("opencl");
    }
    if number % 8 == 3 {
        // What is printed for people, and the same with what is known or unused left in: expressions of constants.
        let text =
            if number % 16 == 3 { kept.emit(&Rust, None).map_err(|found| refused("Rust", found))?.text } else { emit_rust(&kept.kernel) };
        shown.targets.insert("rust");
        // The launch has fewer blocks where a thread has several elements, which the printed kernel does not say.
        if kernel.elements == 1 {
            let again = compiled::printed(&text).map_err(|said| Failure::Wrong(format!("printed Rust is refused: {said}\n{text}")))?;
            shown.targets.insert("rust, read again and run");
            compare(shown, "printed Rust", kernel, again.kernel.legal()).map_err(|failure| match failure {
                Failure::Wrong(why) => Failure::Wrong(format!("{why}\n{text}")),
                failure @ Failure::NoCase(_) => failure,
            })?;
        }
    }
    Ok(())
}
