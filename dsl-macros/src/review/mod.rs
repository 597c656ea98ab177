//! Kernels looked at while their crate compiles, with all that they name in its files: what `warpwright check` does, from within `rustc`.
//!
//! | file | what it holds |
//! |---|---|
//! | `here.rs` | where a kernel stands, and which of its tokens stands at a place |
//! | `session.rs` | the files of the crate that is compiled, read once in a process |
//! | `plain.rs` | findings without tokens |
//!
//! The compiler's own spans cannot say where an item of another file stands, and it gives a macro no way to make some that can. So the source is
//! read from text, by proc-macro2 alone ([`apart`]), and what is found is taken back to the compiler's tokens by line and column.

mod here;
mod plain;
mod session;

use here::{Here, words_of};
use plain::Plain;
use proc_macro2::fallback;
use warpwright_codegen::crates::{Crate, KernelPlace};
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics};
use warpwright_codegen::hir;
use warpwright_codegen::manifest::Manifest;
use warpwright_codegen::review::{Scope, required_is_open, review};
use warpwright_codegen::syntax::KernelAttributes;
use warpwright_codegen::target::chosen;

/// Most variants times targets that are estimated while a crate compiles: some two seconds of a macro that is not optimised.
const MOST_ESTIMATED: usize = 192;

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
                let plain = match place.filter(is_as_read) {
                    Some(place) => look(files, &place, of_crate),
                    None => {
                        let alone = fragment.get_or_insert_with(|| Crate::fragment("", &here.text, NOT_SHOWN));
                        let Some((alone, places)) = alone else { continue };
                        let mut found = places.get(index).map_or_else(Vec::new, |place| look(alone, place, of_crate));
                        // An editor's text may be newer than the file, or it has no file to show: nothing is said of what that hides.
                        if here.is_in_editor() || files.has_kernel(here.file.as_deref(), &kernel.name) {
                            found.retain(|finding| !finding.is_about_names);
                        }
                        found.iter_mut().for_each(|finding| finding.is_of_fragment = true);
                        found
                    }
                };
                found.extend(plain.into_iter().map(|finding| (kernel.name.clone(), finding)));
            }
            found
        })
    });
    found.into_iter().map(|(kernel, finding)| (kernel, finding.at_tokens(&here))).collect()
}

/// What is found in one kernel.
fn look(files: &mut Crate, place: &KernelPlace, of_crate: &Manifest) -> Vec<Plain> {
    let reached = files.reach(place, &|_| None);
    let (program, unit, name) = (&reached.program, reached.unit, reached.name());
    let item = reached.item();
    if !reached.missing.is_empty() {
        return Vec::new();
    }
    if !reached.unknown.is_empty() {
        let plain = reached.unchecked(of_crate.findings).map(|finding| Plain::of(finding, files, &reached).about_names());
        return plain.into_iter().collect();
    }
    let found = match hir::declared_instances(program, unit, &name) {
        Err(errors) => errors,
        Ok(instances) if instances.is_empty() => {
            let help = "declare the variants that matter: `variants(N in [1, 2, 4])`";
            Diagnostics::from_iter(required_is_open(item, "the kernel is generic, and declares no variants", help, of_crate.findings))
        }
        Ok(instances) => {
            let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
            let targets = chosen(&attributes, of_crate.targets.as_ref());
            let scope = Scope { targets: &targets, findings: of_crate.findings, most: MOST_ESTIMATED };
            review(program, unit, &name, &instances, scope, None)
        }
    };
    found.into_iter().filter(|finding| !finding.by_rustc).map(|finding| Plain::of(finding, files, &reached)).collect()
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
