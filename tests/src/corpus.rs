//! The project's kernels as kernels of the IR: every declared variant of the crate `kernels`, and of folders of source files.

use proc_macro2::Span;
use std::path::{Path, PathBuf};
use warpwright_codegen::backend::Backend;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir;
use warpwright_codegen::pipeline::{self, Scheduled};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, KernelAttributes, Program, Unit, UnitId};
use warpwright_codegen::target::{Target, Targets};
use warpwright_review::crates::Crate;

/// One variant, ready to be printed.
pub struct Variant {
    /// The file that it is from, without its ending.
    pub family: String,
    /// The kernel's name and its generics' values.
    pub name: String,
    /// The kernel.
    pub kernel: Scheduled,
    /// The targets that its `#[kernel(targets = […])]` names; empty where it is for all.
    pub targets: Targets,
}

impl Variant {
    /// Whether it is meant for a target: a kernel may name its own, for want of clusters or of shared memory elsewhere.
    pub fn is_for(&self, target: &Target) -> bool {
        self.targets.is_empty() || self.targets.gpus.iter().any(|own| std::ptr::eq(*own, target))
    }

    /// Its text for a target, or for any device; none if the language cannot have it.
    pub fn text(&self, backend: &dyn Backend, target: Option<&Target>) -> Option<String> {
        backend.emit(&self.kernel, target, &|_| Span::call_site()).ok().map(|emitted| emitted.text)
    }
}

/// Every declared variant of the crate `kernels`, one family for each of its files, and the kernels that declare none.
pub fn kernels() -> (Vec<Variant>, Vec<String>) {
    // As the one crate that they are: files name items of each other.
    let modules = sources("../kernels/src").into_iter().filter(|(name, _)| name != "lib");
    let text: String = modules.map(|(name, text)| format!("pub mod {name} {{\n{text}\n}}\n")).collect();
    let (mut variants, left_out) = of_text("", &text);
    for variant in &mut variants {
        let (family, name) = variant.name.split_once("::").unwrap_or(("", &variant.name));
        (variant.family, variant.name) = (family.to_owned(), name.to_owned());
    }
    (variants, left_out)
}

/// The files of the crate `kernels`, in order, those of its folders and of theirs, too.
pub fn library() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/src")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the kernels").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() { folders.push(entry) } else { files.push(entry) }
        }
    }
    files.sort();
    files
}

/// Every declared variant of the kernels in the files of [`library`], each with what it names elsewhere in the crate; one family for each file.
pub fn library_variants() -> Vec<Variant> {
    let mut variants = Vec::new();
    for file in library() {
        let mut files = Crate::new(None, Box::new(|path| std::fs::read_to_string(path).ok()));
        let named = if file.ends_with("mod.rs") { file.parent().unwrap_or(&file) } else { &file };
        let family = named.file_stem().unwrap_or_default().to_string_lossy();
        for place in files.kernels(&file) {
            let reached = files.reach(&place, &|_| None);
            let (program, kernel) = (&reached.program, reached.name());
            for instance in hir::declared_instances(program, reached.unit, &kernel).unwrap_or_default() {
                variants.extend(variant(program, reached.unit, &family, &kernel, &instance));
            }
        }
    }
    variants
}

/// The kernels of a folder of files that stand for themselves, one family for each file, and those that cannot be compiled so: they
/// are generic without variants, name what is elsewhere, or are wrong on purpose.
pub fn folder(folder: &str) -> (Vec<Variant>, Vec<String>) {
    let (mut variants, mut left_out) = (Vec::new(), Vec::new());
    for (name, text) in sources(folder) {
        let (found, missing) = of_text(&name, &text);
        variants.extend(found);
        left_out.extend(missing.into_iter().map(|kernel| format!("{name}::{kernel}")));
    }
    (variants, left_out)
}

/// The kernels of a text, and those left out.
pub fn of_text(family: &str, text: &str) -> (Vec<Variant>, Vec<String>) {
    let (mut variants, mut left_out) = (Vec::new(), Vec::new());
    let Ok(unit) = Unit::parse(family, 1, 1, text) else { return (variants, vec![family.to_owned()]) };
    let kernels: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
    let mut program = Program::default();
    let unit = program.add(unit);
    for kernel in kernels {
        let instances = hir::declared_instances(&program, unit, &kernel).unwrap_or_default();
        let before = variants.len();
        for instance in instances {
            variants.extend(variant(&program, unit, family, &kernel, &instance));
        }
        if variants.len() == before {
            left_out.push(kernel);
        }
    }
    (variants, left_out)
}

/// An instance of a kernel; none if it cannot be compiled.
fn variant(program: &Program, unit: UnitId, family: &str, kernel: &str, instance: &Instance) -> Option<Variant> {
    let lowered = pipeline::compile(program, unit, kernel, instance).ok()?;
    let generics: Vec<String> = instance.generics.iter().map(generic).collect();
    let name = if generics.is_empty() { kernel.to_owned() } else { format!("{kernel}::<{}>", generics.join(", ")) };
    Some(Variant { family: family.to_owned(), name, kernel: lowered.kernel, targets: own_targets(&program.units[unit.0], kernel) })
}

/// The targets that a kernel's attributes name; none where they leave them to the crate.
pub fn own_targets(unit: &Unit, kernel: &str) -> Targets {
    let item = unit.kernel(kernel).expect("a kernel");
    let attributes = KernelAttributes::find(&item.attrs, &mut Diagnostics::new()).unwrap_or_default();
    attributes.targets_or(Some(&Targets::default()))
}

fn generic(value: &GenericValue) -> String {
    match value {
        GenericValue::Const(ConstValue::Index(value, _)) => value.to_string(),
        GenericValue::Const(ConstValue::Scalar(value)) => value.to_string(),
        GenericValue::Const(value) => format!("{value:?}"),
        GenericValue::Type(ty) => ty.clone(),
    }
}

/// The `.rs` files of a folder below this crate's, by name.
fn sources(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).map(|files| files.flatten().map(|file| file.path()).collect()).unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    let read = |file: PathBuf| Some((file.file_stem()?.to_string_lossy().into_owned(), std::fs::read_to_string(&file).ok()?));
    files.into_iter().filter_map(read).collect()
}
