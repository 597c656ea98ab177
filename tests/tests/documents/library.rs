//! The crate `kernels` as `warpwright check` reads it, and what is known of single variants of its kernels.

use std::path::{Path, PathBuf};
use warpwright_codegen::backend::ptx::Ptx;
use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::hir;
use warpwright_codegen::syntax::{Instance, KernelAttributes};
use warpwright_codegen::target::{Target, Targets};
use warpwright_review::crates::{Crate, Reached};
use warpwright_review::estimate::Known;
use warpwright_review::{ReviewScope, ReviewedVariant, review};
use warpwright_tests::command::root;
use warpwright_tests::corpus;

/// A kernel and its generics, `B=64 ILP=4`, as `-D` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The file, below `kernels/src`.
    pub(super) file: &'static str,
    /// The kernel.
    pub(super) kernel: &'static str,
    /// Its generics; empty if it has none.
    pub(super) generics: &'static str,
}

impl Named {
    /// `kernel::<64, 4>`.
    pub(super) fn short(&self) -> String {
        let values: Vec<&str> = self.generics.split_whitespace().filter_map(|one| Some(one.split_once('=')?.1)).collect();
        if values.is_empty() { self.kernel.to_owned() } else { format!("{}::<{}>", self.kernel, values.join(", ")) }
    }
}

/// One variant on one target.
pub(super) struct Looked {
    /// What is known of it.
    pub(super) known: Known,
    /// What the target's assembler is given.
    pub(super) ptx: String,
}

/// The kernels' files.
pub(super) struct Library(Crate);

impl Library {
    /// As they are.
    pub(super) fn new() -> Library {
        Library::read(|text| text)
    }

    /// As if no kernel allowed a finding: what each allows, it asks for.
    pub(super) fn without_allowances() -> Library {
        Library::read(|text| text.replace("#[allow(", "#[expect(").replace("allow(", " warn("))
    }

    fn read(change: fn(String) -> String) -> Library {
        let read = move |path: &Path| Some(change(std::fs::read_to_string(path).ok()?));
        Library(Crate::new(Some(&file("lib.rs")), Box::new(read)))
    }

    /// Every kernel that allows findings, with the names of what it allows, in their order.
    pub(super) fn allowances(&mut self) -> Vec<(String, String, Vec<String>)> {
        let mut all = Vec::new();
        for path in corpus::library() {
            for place in self.0.kernels(&path) {
                let Some(item) = self.0.kernel(&place) else { continue };
                let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).expect("a kernel's attributes");
                let named = |lint: &&warpwright_review::lint::Lint| attributes.levels.of(lint.name).is_some();
                let lints: Vec<String> =
                    warpwright_review::lint::LINTS.iter().copied().filter(named).map(|lint| lint.name.to_owned()).collect();
                if !lints.is_empty() {
                    let below = path.strip_prefix(file("")).expect("below the kernels").to_string_lossy().replace('\\', "/");
                    all.push((below, place.path, lints));
                }
            }
        }
        all
    }

    fn reached(&mut self, path: &str, kernel: &str) -> Reached {
        let places = self.0.kernels(&file(path));
        let place = places.iter().find(|place| place.path == kernel).unwrap_or_else(|| panic!("{path} has no `{kernel}`"));
        let reached = self.0.reach(place, &|_| None);
        assert!(reached.unknown.is_empty(), "{path}::{kernel} names what its crate does not show: {:?}", reached.unknown);
        reached
    }

    /// The names of the lints that find something in any declared variant of a kernel, on the targets that it is checked for, once each.
    pub(super) fn lints_of_all(&mut self, path: &str, kernel: &str) -> Vec<String> {
        let reached = self.reached(path, kernel);
        let instances = hir::declared_instances(&reached.program, reached.unit, &reached.name()).expect("declared variants");
        lints(&reached, &instances)
    }

    /// Whether a kernel declares this variant, so that `compare` and `tune` know it.
    pub(super) fn declares(&mut self, named: Named) -> bool {
        let reached = self.reached(named.file, named.kernel);
        let declared = hir::declared_instances(&reached.program, reached.unit, &reached.name()).expect("declared variants");
        declared.contains(&instance(&reached, named))
    }

    /// The same of one variant.
    pub(super) fn lints(&mut self, named: Named) -> Vec<String> {
        let reached = self.reached(named.file, named.kernel);
        let instance = instance(&reached, named);
        lints(&reached, &[instance])
    }

    /// What is known of one variant on a target.
    pub(super) fn look(&mut self, named: Named, target: &'static Target) -> Looked {
        let reached = self.reached(named.file, named.kernel);
        let instance = instance(&reached, named);
        let targets = Targets { gpus: vec![target], families: Vec::new() };
        let mut looked = None;
        let mut look = |variant: &ReviewedVariant<'_>| {
            let emitted = variant.lowered.emit(&Ptx, Some(target));
            let ptx = emitted.unwrap_or_else(|found| panic!("{named:?} has no PTX: {found:?}")).text;
            looked = Some(Looked { known: variant.known.clone(), ptx });
            Vec::new()
        };
        let scope = ReviewScope { targets: &targets, findings: None, most: usize::MAX };
        let found = review(&reached.program, reached.unit, &reached.name(), &[instance], scope, Some(&mut look));
        looked.unwrap_or_else(|| panic!("{named:?} does not compile: {found:?}"))
    }
}

fn file(below: &str) -> PathBuf {
    root().join("kernels/src").join(below)
}

/// The instance with these generics.
fn instance(reached: &Reached, named: Named) -> Instance {
    let name = reached.name();
    let written: Vec<(&str, &str)> = named.generics.split_whitespace().filter_map(|one| one.split_once('=')).collect();
    let value = |(generic, _): &(String, bool)| {
        let (_, text) = written.iter().find(|(name, _)| name == generic).unwrap_or_else(|| panic!("{named:?} lacks `{generic}`"));
        let value = hir::parse_generic(&reached.program, reached.unit, &name, generic, text);
        value.unwrap_or_else(|found| panic!("{named:?}: {found:?}"))
    };
    let generics = hir::generics(&reached.program, reached.unit, &name).expect("generics");
    assert_eq!(generics.len(), written.len(), "{named:?}");
    Instance { generics: generics.iter().map(value).collect() }
}

fn lints(reached: &Reached, instances: &[Instance]) -> Vec<String> {
    let attributes = KernelAttributes::find(&reached.item().attrs, &mut Diagnostics::new()).expect("a kernel's attributes");
    let targets = attributes.targets_or(None);
    let scope = ReviewScope { targets: &targets, findings: None, most: usize::MAX };
    let found = review(&reached.program, reached.unit, &reached.name(), instances, scope, None);
    let name = |finding: &warpwright_codegen::diagnostic::Diagnostic| {
        assert!(finding.level == Level::Warning, "{}: {}", reached.name(), finding.message);
        finding.lint.expect("a warning is of a lint").to_owned()
    };
    let mut names: Vec<String> = found.iter().map(name).collect();
    names.sort();
    names.dedup();
    names
}
