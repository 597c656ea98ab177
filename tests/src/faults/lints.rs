//! Which lints see mistakes while a kernel is compiled: those about correctness.

use super::sweep::Judged;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::syntax::{Instance, KernelAttributes, Program, UnitId};
use warpwright_codegen::target::Targets;
use warpwright_review::crates::Crate;
use warpwright_review::{ReviewScope, review};

/// The lints whose findings are mistakes, and not costs.
pub const OF_CORRECTNESS: &[&str] = &["divergent_barrier", "divergent_exchange", "missing_barrier", "unwritten_shared"];

/// Most instructions that are looked at.
const MOST: usize = 100_000;

/// What is said while a kernel is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Lints of correctness, by name.
    pub lints: BTreeSet<String>,
    /// Whether it is refused.
    pub is_refused: bool,
}

/// What is said of a kernel of a program.
pub fn of_program(program: &Program, unit: UnitId, kernel: &str) -> Said {
    let refused = Said { is_refused: true, ..Said::default() };
    let Ok(instances) = declared_instances(program, unit, kernel) else { return refused };
    of_instances(program, unit, kernel, &instances)
}

/// What is said of these instances of a kernel.
pub fn of_instances(program: &Program, unit: UnitId, kernel: &str, instances: &[Instance]) -> Said {
    let refused = Said { is_refused: true, ..Said::default() };
    let Ok(item) = program.units[unit.0].kernel(kernel) else { return refused };
    let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
    let targets = attributes.targets_or(Some(&Targets::named(["sm_90"])));
    let scope = ReviewScope { targets: &targets, findings: None, most: MOST };
    let found = review(program, unit, kernel, instances, scope, None);
    let lints = found.iter().filter_map(|finding| finding.lint).filter(|lint| OF_CORRECTNESS.contains(lint)).map(str::to_owned);
    let is_refused = found.iter().any(|finding| finding.level == Level::Error);
    Said { lints: lints.collect(), is_refused }
}

/// What is said of a kernel in a file, or in another text of it.
fn of_file(file: &Path, kernel: &str, text: Option<String>) -> Option<Said> {
    let own = file.to_owned();
    let read = move |path: &Path| match &text {
        Some(text) if path == own => Some(text.clone()),
        _ => std::fs::read_to_string(path).ok(),
    };
    let mut files = Crate::new(None, Box::new(read));
    let place = files.kernels(file).into_iter().find(|place| place.path == kernel)?;
    let reached = files.reach(&place, &|_| None);
    Some(of_program(&reached.program, reached.unit, &reached.name()))
}

/// The path of a file that the compiler names from the repository's root.
fn path_of(file: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    root.join(file)
}

/// What is said of a kernel as it is.
pub fn of_clean(mutant: &Judged) -> Option<Said> {
    of_file(&path_of(mutant.file), &mutant.kernel, None)
}

/// What is said of a mutant: the edit is made in its file.
pub fn of_mutant(mutant: &Judged) -> Option<Said> {
    let file = path_of(mutant.file);
    let text = std::fs::read_to_string(&file).ok()?;
    let begins = text.split_inclusive('\n').take(mutant.at.0 as usize - 1).map(str::len).sum::<usize>();
    let at = begins + mutant.at.1 as usize - 1;
    let rest = text.get(at..)?.strip_prefix(mutant.replaced.as_str())?;
    let edited = format!("{}{}{rest}", &text[..at], mutant.edit.with);
    of_file(&file, &mutant.kernel, Some(edited))
}
