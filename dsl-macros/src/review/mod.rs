//! Kernels looked at while their crate compiles, with all that they name in its files: what `warpwright check` does, from within `rustc`.
//!
//! | file | what it holds |
//! |---|---|
//! | `here.rs` | where a kernel stands, and which of its tokens stands at a place |
//! | `session.rs` | the files of the crate that is compiled, read once in a process |
//! | `arguments.rs` | what the compiler's command line tells |
//! | `plain.rs` | findings without tokens |
//! | `memory.rs`, `written.rs` | findings that are kept from build to build, and how they are written |
//!
//! The compiler's own spans cannot say where an item of another file stands, and it gives a macro no way to make some that can. So the source is
//! read from text, by proc-macro2 alone ([`apart`]), and what is found is taken back to the compiler's tokens by line and column.

mod arguments;
mod here;
mod memory;
mod plain;
mod session;
mod written;

use here::{Here, KernelHere, words_of, words_of_item};
use memory::Memory;
use plain::{Found, Placed};
use proc_macro2::fallback;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::hir;
use warpwright_codegen::syntax::{AbsentName, KernelAttributes};
use warpwright_review::crates::{Crate, KernelPlace, Reached, item_name_span};
use warpwright_review::manifest::Manifest;
use warpwright_review::{BUILD, ReviewScope, required_is_open, review};

/// Most instructions that are estimated while a crate compiles, those of all variants and targets of a kernel together.
const MOST_ESTIMATED: usize = 100_000;

/// Why names outside a kernel are not known if its file does not show it.
const NOT_SHOWN: &str = "is outside the kernel, which its file does not show: a macro made it, or it stands in a function";

/// What is found in the kernels of a unit, each finding with the kernel's name. `of_crate` is what the manifest says.
pub(crate) fn review_unit(items: &[syn::Item], of_crate: &Manifest) -> Vec<(String, Diagnostic)> {
    let Some(here) = Here::of(items) else { return Vec::new() };
    let found = apart(|| {
        session::with_files(|files| {
            let mut fragment = None;
            let mut found = Vec::new();
            for (index, kernel) in here.kernels.iter().enumerate() {
                let place = here.file.as_ref().and_then(|file| files.kernel_at(file, kernel.at));
                let is_as_read = |place: &KernelPlace| files.kernel(place).is_some_and(|item| words_of(item) == kernel.words);
                match place.filter(is_as_read) {
                    Some(place) => found.push((kernel, look(files, &place, of_crate).0, false)),
                    None => {
                        let alone = fragment.get_or_insert_with(|| Crate::fragment("", &here.text, NOT_SHOWN));
                        let Some((alone, places)) = alone else { continue };
                        let Some(place) = places.get(index) else { continue };
                        let (placed, about) = look(alone, place, of_crate);
                        // An editor's text may be newer than the file, or it has no file to show: nothing is said of what that hides.
                        let is_hidden = here.is_in_editor() || files.has_kernel(here.file.as_deref(), &kernel.name);
                        if !(is_hidden && about == About::Names) {
                            found.push((kernel, placed, true));
                        }
                    }
                }
            }
            found
        })
    });
    let at_tokens = |(kernel, placed, is_of_text): (&KernelHere, Vec<Placed>, bool)| {
        let name = &kernel.name;
        placed.into_iter().filter_map(|finding| Some((name.clone(), finding.at_tokens(&here, is_of_text)?))).collect::<Vec<_>>()
    };
    found.into_iter().flat_map(at_tokens).collect()
}

/// The names of a unit's device code that its crate's files show to be nowhere, or the standard library's; `None`: they do not show the unit. `item` is the unit as it stands in its file.
pub(crate) fn absent(item: &syn::Item) -> Option<Vec<AbsentName>> {
    let span = item_name_span(item)?;
    let file = span.local_file()?;
    let (at, words) = (span.start(), words_of_item(item));
    apart(|| session::with_files(|files| files.absent(&file, at, &|shown| words_of_item(shown) == words)))
}

/// What findings are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Kernel,
    /// That the kernel names something unknown.
    Names,
}

/// What is found in one kernel.
fn look(files: &mut Crate, place: &KernelPlace, of_crate: &Manifest) -> (Vec<Placed>, About) {
    let reached = files.reach(place, &|_| None);
    if !reached.missing.is_empty() {
        return (Vec::new(), About::Kernel);
    }
    let (found, about) = if reached.unknown.is_empty() {
        (review_program(&reached, &place.path, of_crate), About::Kernel)
    } else {
        let found = reached.unchecked(of_crate.findings);
        (found.map(|finding| Found::of(finding, &reached)).into_iter().collect(), About::Names)
    };
    (found.into_iter().map(|finding| finding.placed(&reached)).collect(), about)
}

/// What is found in a kernel all of whose names are known. What was found in the same program before is not looked for again.
fn review_program(reached: &Reached, path: &str, of_crate: &Manifest) -> Vec<Found> {
    let item = reached.item();
    let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
    let targets = attributes.targets_or(of_crate.targets.as_ref());
    let scope = ReviewScope { targets: &targets, findings: of_crate.findings, most: MOST_ESTIMATED };
    let kernel = format!("{} {path}", reached.program.units[reached.unit.0].file);
    Memory::recall_or(&kernel, &question(BUILD, scope, reached), || {
        let (program, unit, name) = (&reached.program, reached.unit, reached.name());
        let found = match hir::declared_instances(program, unit, &name) {
            Err(errors) => errors,
            Ok(instances) if instances.is_empty() => {
                let help = "declare the variants that matter: `variants(N in [1, 2, 4])`";
                let reason = "the kernel is generic, and declares no variants";
                Diagnostics::from_iter(required_is_open(item, reason, help, of_crate.findings))
            }
            Ok(instances) => review(program, unit, &name, &instances, scope, None),
        };
        found.into_iter().filter(|finding| !finding.by_rustc).map(|finding| Found::of(finding, reached)).collect()
    })
}

/// All that the findings in a program depend on.
fn question(compiler: &str, scope: ReviewScope<'_>, reached: &Reached) -> String {
    // All of it, whatever else it may come to hold.
    format!("{compiler}\n{scope:?}\n{}", reached.identity())
}

/// Runs something for which proc-macro2 reads tokens itself, instead of asking the compiler: nothing of the compiler's may go in or come out.
/// The macros run one at a time (`crate::alone`).
fn apart<R>(work: impl FnOnce() -> R) -> R {
    struct Apart;
    impl Drop for Apart {
        fn drop(&mut self) {
            fallback::unforce();
        }
    }
    fallback::force();
    let _apart = Apart;
    work()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpwright_codegen::syntax::Setting;
    use warpwright_codegen::target::Targets;

    #[test]
    fn another_compiler_or_another_scope_asks_another_question() {
        let text = "#[kernel(block = 64)] fn k(y: &mut Global<f32>) { y[0] = 1.0; }";
        let asked = |compiler: &str, targets: &[&str], findings, most| {
            let (mut files, kernels) = Crate::fragment("", text, NOT_SHOWN).expect("Rust");
            let reached = files.reach(&kernels[0], &|_| None);
            let targets = Targets::named(targets.iter().copied());
            question(compiler, ReviewScope { targets: &targets, findings, most }, &reached)
        };
        let first = asked("0.1.0-3", &["sm_80"], None, 5);
        assert_eq!(asked("0.1.0-3", &["sm_80"], None, 5), first);
        let others = [
            asked("0.1.0-4", &["sm_80"], None, 5),
            asked("0.1.0-3", &["sm_80", "sm_90"], None, 5),
            asked("0.1.0-3", &["sm_80", "opencl"], None, 5),
            asked("0.1.0-3", &["sm_80"], Some(Setting::Deny), 5),
            asked("0.1.0-3", &["sm_80"], None, 6),
        ];
        assert!(others.iter().all(|other| *other != first));
        // The compiler's own source is part of its name.
        assert!(BUILD.starts_with(concat!(env!("CARGO_PKG_VERSION"), "-")) && BUILD.len() > 20, "{BUILD}");
    }
}
