//! `FILE[::kernel]`: reading a source file, choosing kernels in it, and filling in their generics.

use super::{Stop, complain, render};
use proc_macro2::Span;
use std::cell::RefCell;
use std::path::Path;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir::{self, Axis, Lowered};
use warpwright_codegen::nearest::nearest;
use warpwright_codegen::pipeline::{self, Built, Scheduled};
use warpwright_codegen::syntax::{ConstValue, GenericValue, Instance, Program, SourcePlace, check_rust_rules, check_subset};
use warpwright_review::crates::{Crate, Reached, SourceFile};
use warpwright_review::{OfLaunch, ReviewScope, ReviewedVariant, review_launched};

/// A source file, parsed, with what its kernels name in other files of its crate.
pub(super) struct Source {
    path: String,
    files: Crate,
    /// The file's items, but for modules that lie elsewhere.
    items: Vec<syn::Item>,
    /// What is said of modules without a file.
    absent: Vec<Diagnostic>,
    /// Its kernels by their path in it.
    kernels: Vec<(String, Reached)>,
    /// Its device functions and types, each with all that it names.
    device: Vec<Reached>,
}

/// One `-D NAME=VALUE`.
#[derive(Clone, Debug)]
pub(super) struct Define {
    pub(super) name: String,
    pub(super) value: String,
}

impl std::str::FromStr for Define {
    type Err = String;
    fn from_str(text: &str) -> Result<Define, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Define { name: name.trim().to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("write `NAME=VALUE`, or after `--set` `NAME=V1,V2,…`".to_owned()),
        }
    }
}

impl Define {
    /// Whether it is for this name: a generic, or the end of a path.
    fn names(&self, name: &str) -> bool {
        name == self.name || name.ends_with(&format!("::{}", self.name))
    }
}

/// Splits `FILE::kernel::path` at the first `::` after the file's name.
pub(super) fn split(argument: &str) -> (&str, Option<&str>) {
    if let Some(end) = argument.find(".rs::") {
        return (&argument[..end + 3], Some(&argument[end + 5..]));
    }
    (argument, None)
}

impl Source {
    /// Reads and parses a file. Findings are printed.
    pub(super) fn read(path: &str, defines: &[Define]) -> Result<Source, Stop> {
        Source::parse(path, Crate::new(None, Box::new(|path| std::fs::read_to_string(path).ok())), defines)
    }

    /// The same of a file that lies below a folder, where messages are to say something else than the folder's name: `HEAD:src/k.rs`.
    pub(super) fn read_below(folder: &Path, said: &str, path: &str, defines: &[Define]) -> Result<Source, Stop> {
        let files = Crate::new(None, Box::new(|path| std::fs::read_to_string(path).ok()));
        Source::parse(path, files.below(folder, said), defines)
    }

    fn parse(path: &str, mut files: Crate, defines: &[Define]) -> Result<Source, Stop> {
        let file = Path::new(path);
        std::fs::read_to_string(file).map_err(|error| Stop::usage(unreadable(path, &error)))?;
        let shown = files.shown(file);
        let is_elsewhere = |item: &syn::Item| matches!(item, syn::Item::Mod(module) if module.content.is_none());
        let read = match files.file(file) {
            Ok(read) => {
                let absent: Vec<Diagnostic> = read.items.iter().filter_map(|item| absent_module(item, file)).collect();
                Ok((read.items.iter().filter(|item| !is_elsewhere(item)).cloned().collect(), absent))
            }
            Err(_) => Err(()),
        };
        let Ok((items, absent)) = read else {
            show_broken(&files, |name| name == shown);
            return Err(Stop::findings());
        };
        let wrong = RefCell::new(None);
        let given = |key: &str| {
            let define = defines.iter().find(|define| define.names(key))?;
            match hir::parse_constant(&define.value) {
                Ok(value) => Some(value),
                Err(_) => {
                    wrong.replace(Some(define));
                    None
                }
            }
        };
        let places = files.kernels(file);
        let kernels = places.iter().map(|place| (place.path.clone(), files.reach(place, &given))).collect();
        let places = files.device_items(file);
        let device = places.iter().map(|place| files.reach(place, &given)).collect();
        if let Some(define) = wrong.take() {
            let message = format!("`-D {}={}`: `{}` is not a constant", define.name, define.value, define.value);
            return Err(Stop::usage(format!("{message}; write a number, like `64` or `2.5f32`, `true` or `false`")));
        }
        Ok(Source { path: shown, files, items, absent, kernels, device })
    }

    /// A line of one of the files, from 1.
    pub(super) fn line_of(&self, file: &str, line: u32) -> Option<String> {
        let file = self.files.named(file)?;
        file.text.lines().nth(line.checked_sub(1)? as usize).map(str::to_owned)
    }

    /// The file's items.
    pub(super) fn items(&self) -> &[syn::Item] {
        &self.items
    }

    /// A kernel with all that it names.
    ///
    /// # Errors
    /// There is no such kernel: another revision of a file may lack it.
    pub(super) fn reached(&self, kernel: &str) -> Result<&Reached, Diagnostics> {
        let found = self.kernels.iter().find(|(path, _)| path == kernel).map(|(_, reached)| reached);
        found.ok_or_else(|| {
            let message = format!("there is no kernel `{kernel}` in {}", self.path);
            Diagnostic::error(Span::call_site(), message).into()
        })
    }

    /// A kernel's item.
    pub(super) fn item(&self, kernel: &str) -> Option<&syn::ItemFn> {
        self.reached(kernel).ok().map(Reached::item)
    }

    /// The program of a kernel that there is.
    pub(super) fn program(&self, kernel: &str) -> &Program {
        &self.reached(kernel).expect("the kernel is one of the file's").program
    }

    /// Where a span stands.
    pub(super) fn place(&self, span: Span) -> Option<SourcePlace> {
        self.files.place(span)
    }

    /// The generics of a kernel, each with whether it stands for a type.
    pub(super) fn generics(&self, kernel: &str) -> Result<Vec<(String, bool)>, Diagnostics> {
        let reached = self.reached(kernel)?;
        hir::generics(&reached.program, reached.unit, &reached.name())
    }

    /// The values that a kernel declares for its generics.
    pub(super) fn declared_axes(&self, kernel: &str) -> Result<Vec<Axis>, Diagnostics> {
        let reached = self.reached(kernel)?;
        hir::declared_axes(&reached.program, reached.unit, &reached.name())
    }

    /// The instances that a kernel declares.
    pub(super) fn declared_instances(&self, kernel: &str) -> Result<Vec<Instance>, Diagnostics> {
        let reached = self.reached(kernel)?;
        hir::declared_instances(&reached.program, reached.unit, &reached.name())
    }

    /// Reads the value of a generic.
    pub(super) fn parse_generic(&self, kernel: &str, generic: &str, text: &str) -> Result<GenericValue, Diagnostics> {
        let reached = self.reached(kernel)?;
        hir::parse_generic(&reached.program, reached.unit, &reached.name(), generic, text)
    }

    /// Reviews instances of a kernel, in the launches that `launch` tells.
    pub(super) fn review(
        &self,
        kernel: &str,
        instances: &[Instance],
        scope: ReviewScope<'_>,
        (launch, mut look): (&mut OfLaunch<'_>, impl FnMut(&ReviewedVariant<'_>) -> Vec<Diagnostic>),
    ) -> Diagnostics {
        match self.reached(kernel) {
            Ok(reached) => review_launched(&reached.program, reached.unit, &reached.name(), instances, scope, (launch, Some(&mut look))),
            Err(found) => found,
        }
    }

    /// The names of the chosen kernels: one, or all of the file.
    pub(super) fn kernels(&self, chosen: Option<&str>) -> Result<Vec<String>, Stop> {
        let all: Vec<String> = self.kernels.iter().map(|(path, _)| path.clone()).collect();
        let Some(name) = chosen else { return Ok(all) };
        if all.is_empty() {
            return Err(self.no_kernels());
        }
        if let Some(path) = all.iter().find(|path| *path == name || path.rsplit("::").next() == Some(name)) {
            return Ok(vec![path.clone()]);
        }
        let hint = meant(name, all.iter().map(String::as_str));
        Err(Stop::usage(format!("there is no kernel `{name}` in `{}`; {hint}", self.path)))
    }

    /// What is said of a file without kernels: what is wrong with it, which may be why.
    pub(super) fn no_kernels(&self) -> Stop {
        let findings = self.check_syntax().finish();
        if findings.has_errors() {
            return self.findings(&findings);
        }
        Stop::usage(format!("`{}` has no `#[kernel]` function; put `#[kernel]` before one, or name another file", self.path))
    }

    /// The instance that the defines (and, where they leave one open, the first declared variant) make of a kernel's generics.
    pub(super) fn instance(&self, kernel: &str, defines: &[Define]) -> Result<Instance, InstanceError> {
        let generics = self.generics(kernel).map_err(InstanceError::Source)?;
        let declared = self.declared_instances(kernel).map_err(InstanceError::Source)?;
        // Values that are declared together stay together.
        let fits = |one: &&Instance| {
            generics.iter().zip(&one.generics).all(|((name, _), value)| {
                let define = defines.iter().find(|define| define.name == *name);
                define.is_none_or(|define| self.parse_generic(kernel, name, &define.value).is_ok_and(|given| given == *value))
            })
        };
        let first = declared.iter().find(fits).or(declared.first());
        let mut instance = Instance::default();
        let (mut open, mut wrong) = (Vec::new(), Vec::new());
        for (index, (name, _)) in generics.iter().enumerate() {
            match defines.iter().find(|define| define.name == *name) {
                Some(define) => match self.parse_generic(kernel, name, &define.value) {
                    Ok(value) => instance.generics.push(value),
                    Err(found) => wrong.push(format!("`-D {name}={}` does not fit `{kernel}`: {}", define.value, messages(&found))),
                },
                None => match first {
                    Some(first) => instance.generics.push(first.generics[index].clone()),
                    None => open.push(name.clone()),
                },
            }
        }
        if !open.is_empty() {
            let flags: Vec<String> = open.iter().map(|name| format!("-D {name}=…")).collect();
            wrong.push(format!("`{kernel}` is generic in {}; give {}", quoted(&open), flags.join(" ")));
        }
        if wrong.is_empty() { Ok(instance) } else { Err(InstanceError::Usage(wrong.join("\nerror: "))) }
    }

    /// An instance with its annotations kept.
    pub(super) fn compile(&self, kernel: &str, instance: &Instance) -> Result<Lowered<Scheduled>, Diagnostics> {
        self.lower(kernel, instance)?.schedule()
    }

    /// The same for who says where the kernel is as it runs: of a device function, where it was called, too.
    pub(super) fn compile_with_calls(&self, kernel: &str, instance: &Instance) -> Result<Lowered<Scheduled>, Diagnostics> {
        let reached = self.reached(kernel)?;
        pipeline::lower_with_calls(&reached.program, reached.unit, &reached.name(), instance)?.schedule()
    }

    /// The same with every index checked.
    pub(super) fn compile_checked(&self, kernel: &str, instance: &Instance) -> Result<Lowered<Scheduled>, Diagnostics> {
        let reached = self.reached(kernel)?;
        pipeline::lower_checked(&reached.program, reached.unit, &reached.name(), instance)?.schedule()
    }

    /// An instance with its annotations still to be kept.
    pub(super) fn lower(&self, kernel: &str, instance: &Instance) -> Result<Lowered<Built>, Diagnostics> {
        let reached = self.reached(kernel)?;
        pipeline::lower(&reached.program, reached.unit, &reached.name(), instance)
    }

    /// An instance by its generics: name and value.
    pub(super) fn words(&self, kernel: &str, instance: &Instance) -> Vec<(String, String)> {
        let generics = self.generics(kernel).unwrap_or_default();
        generics.into_iter().zip(&instance.generics).map(|((name, _), value)| (name, word(value))).collect()
    }

    /// Says on standard error which of several declared variants is looked at, where the defines leave more than one.
    pub(super) fn name_first(&self, kernel: &str, generics: &[(String, String)], defines: &[Define], done: &str) {
        let axes = self.declared_axes(kernel).unwrap_or_default();
        let open: Vec<Axis> = axes.into_iter().filter(|axis| !defines.iter().any(|define| define.name == axis.name)).collect();
        let left = hir::number_of_instances(&open);
        if left > 1 {
            let words = super::json::words(generics);
            complain(&format!("note: `{kernel}` is {done} as {words}, one of {left} variants; `-D NAME=VALUE` chooses"));
        }
    }

    /// What else to look at of a kernel whose attribute is wrong: without generics the body can be looked at all the same.
    pub(super) fn bare_instance(&self, kernel: &str) -> Option<Instance> {
        let generics = self.generics(kernel).ok()?;
        generics.is_empty().then(Instance::default)
    }

    /// Every name that a define can be for: generics, and constants from outside.
    pub(super) fn definable(&self, kernels: &[String]) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for kernel in kernels {
            known.extend(self.generics(kernel).unwrap_or_default().into_iter().map(|(name, _)| name));
            known.extend(self.reached(kernel).into_iter().flat_map(|reached| reached.definable.clone()));
        }
        known
    }

    /// What is wrong with the file as far as syntax shows it.
    pub(super) fn check_syntax(&self) -> Findings {
        let mut syntax = Diagnostics::new();
        check_subset(&self.items, &mut syntax);
        // No `rustc` looks at the file.
        let mut of_rust = Diagnostics::new();
        check_rust_rules(&self.items, &mut of_rust);
        let is_new = |finding: &Diagnostic| syntax.iter().all(|known| known.span.start() != finding.span.start());
        let more: Vec<Diagnostic> = of_rust.into_iter().filter(is_new).collect();
        syntax.extend(more);
        syntax.extend(self.absent.iter().cloned());
        let mut findings = Findings { syntax: each_once(syntax), types: Vec::new() };
        if !findings.syntax.has_errors() {
            self.check_unasked(&mut findings);
        }
        findings
    }

    /// What `rustc` looks at and no kernel may ask for. What names something unknown is left to it.
    fn check_unasked(&self, findings: &mut Findings) {
        let device = self.device.iter().map(|reached| (reached, true));
        let kernels = self.kernels.iter().map(|(_, reached)| (reached, false));
        for (reached, all) in device.chain(kernels).filter(|(reached, _)| reached.unknown.is_empty()) {
            let found = hir::check_unasked(&reached.program, all);
            let is_new = |finding: &Diagnostic| findings.syntax.iter().all(|known| known.span.start() != finding.span.start());
            let new: Vec<Diagnostic> = found.into_iter().filter(is_new).collect();
            findings.syntax.extend(new);
        }
    }

    /// Stops if syntax shows something wrong with the file: what such kernels do is not what Rust says. Then what types show of these kernels is said with it.
    pub(super) fn refuse_syntax(&self, kernels: &[String], defines: &[Define]) -> Result<(), Stop> {
        let mut findings = self.check_syntax();
        if !findings.syntax.has_errors() {
            return Ok(());
        }
        for kernel in kernels {
            let instance = match self.instance(kernel, defines) {
                Ok(instance) => Some(instance),
                Err(InstanceError::Source(found)) => {
                    findings.add(found);
                    self.bare_instance(kernel)
                }
                Err(InstanceError::Usage(_)) => None,
            };
            let lowered = instance.map(|instance| self.lower(kernel, &instance).and_then(|built| built.schedule()));
            if let Some(Err(found)) = lowered {
                findings.add(found);
            }
        }
        Err(self.findings(&findings.finish()))
    }

    /// Prints findings and what else is to say, and stops.
    pub(super) fn findings(&self, found: &Diagnostics) -> Stop {
        show_broken(&self.files, |_| true);
        let own = self.files.named(&self.path).expect("the file was read");
        let stop = show(found, |span| {
            let SourceFile { name, text, .. } = self.files.file_of(span).unwrap_or(own);
            (name, text)
        });
        self.explain_names(found);
        stop
    }

    /// Names that findings are about because no file of the crate explains them.
    fn explain_names(&self, found: &Diagnostics) {
        let mut said: Vec<String> = Vec::new();
        for unknown in self.kernels.iter().flat_map(|(_, reached)| &reached.unknown) {
            let is_named = |finding: &Diagnostic| finding.lint.is_none() && finding.message.contains(&format!("`{}`", unknown.key));
            if found.iter().any(is_named) && !said.contains(&unknown.key) {
                complain(&format!("note: `{}` {}: this command reads the files of one crate\n", unknown.key, unknown.reason));
                said.push(unknown.key.clone());
            }
        }
    }
}

/// `4`, `f32`.
pub(super) fn word(value: &GenericValue) -> String {
    match value {
        GenericValue::Type(text) => text.to_string(),
        GenericValue::Const(ConstValue::Scalar(value)) => value.to_string(),
        GenericValue::Const(ConstValue::Index(value, _)) => value.to_string(),
        GenericValue::Const(ConstValue::Array(_) | ConstValue::Tuple(_)) => "…".to_owned(),
    }
}

/// Why a kernel has no instance.
pub(super) enum InstanceError {
    /// The defines do not fit, or do not suffice.
    Usage(String),
    /// The source is wrong.
    Source(Diagnostics),
}

/// All that is wrong with a file, each thing once.
#[derive(Default)]
pub(super) struct Findings {
    /// What syntax shows.
    syntax: Diagnostics,
    /// What types show.
    types: Vec<Diagnostic>,
}

impl Findings {
    /// Adds what types show of one instance: the others share most of it, and where syntax was refused already there is nothing to
    /// add.
    pub(super) fn add(&mut self, found: Diagnostics) {
        for finding in found {
            let same = |known: &Diagnostic| known.message == finding.message && known.span.start() == finding.span.start();
            let is_of_it = |refused: &Diagnostic| overlaps(refused.span, finding.span) || is_same_name(refused, &finding);
            let is_refused = self.syntax.iter().any(is_of_it);
            if !is_refused && !self.types.iter().any(same) {
                self.types.push(finding);
            }
        }
    }

    pub(super) fn finish(self) -> Diagnostics {
        let mut all = self.syntax;
        self.types.into_iter().for_each(|finding| all.push(finding));
        all
    }
}

/// What is said of `mod name;` where there is no such file. Of a `cfg` or a `path` nothing is known.
fn absent_module(item: &syn::Item, file: &Path) -> Option<Diagnostic> {
    let syn::Item::Mod(module) = item else { return None };
    if module.content.is_some() || module.attrs.iter().any(|attr| !attr.path().is_ident("doc") && !attr.path().is_ident("allow")) {
        return None;
    }
    let name = module.ident.to_string();
    let folder = file.parent().unwrap_or(Path::new(""));
    // A file that is no `mod.rs` and begins no crate has its modules in a folder of its own.
    let folders = [Some(folder.to_path_buf()), file.file_stem().map(|stem| folder.join(stem))];
    let mut places =
        folders.into_iter().flatten().flat_map(|folder| [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")]);
    if places.any(|place| place.exists()) {
        return None;
    }
    let message = format!("the module `{name}` has no file: there is neither `{name}.rs` nor `{name}/mod.rs`");
    let help = format!("write the file, or the module here: `mod {name} {{ … }}`");
    Some(Diagnostic::error(module.ident.span(), message).help(help))
}

/// The findings without those about the very same text as one before: of two the first is about the cause.
fn each_once(found: Diagnostics) -> Diagnostics {
    let mut known: Vec<(String, [usize; 4])> = Vec::new();
    found.filter_map(|finding| {
        let place = finding.place();
        let is_new = !known.contains(&place);
        known.push(place);
        is_new.then_some(finding)
    })
}

/// Whether a finding is about the name that another refuses: what is said of its uses follows from that.
fn is_same_name(refused: &Diagnostic, finding: &Diagnostic) -> bool {
    let name = refused.message.split('`').nth(1).filter(|name| !name.is_empty());
    refused.level == Level::Error && name.is_some_and(|name| finding.message.contains(&format!("`{name}`")))
}

fn overlaps(a: Span, b: Span) -> bool {
    let place = |at: proc_macro2::LineColumn| (at.line, at.column);
    place(a.start()) < place(b.end()) && place(b.start()) < place(a.end())
}

/// Refuses defines that nothing known is named by, and those given twice.
pub(super) fn check_defines(known: &[String], defines: &[Define]) -> Result<(), Stop> {
    let wrong = wrong_defines(known, defines);
    if wrong.is_empty() { Ok(()) } else { Err(Stop::usage(wrong.join("\nerror: "))) }
}

/// What is wrong with the names of defines.
pub(super) fn wrong_defines(known: &[String], defines: &[Define]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, define) in defines.iter().enumerate() {
        if let Some(first) = defines[..index].iter().find(|first| first.name == define.name) {
            wrong.push(format!("`-D {}=…` is given twice, {} and {}; leave one out", define.name, first.value, define.value));
        } else if !known.iter().any(|name| define.names(name)) {
            let hint = match known {
                [] => "it has no generics: leave `-D` out".to_owned(),
                _ => meant(&define.name, known.iter().map(String::as_str)),
            };
            wrong.push(format!("`-D {}=…` names nothing in the kernel; {hint}", define.name));
        }
    }
    wrong
}

/// What helps where a name is unknown: the nearest of these, or all of them.
pub(super) fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    if let Some(near) = nearest(name, known.clone()) {
        return format!("did you mean `{near}`?");
    }
    let one_of = if known.clone().count() > 1 { "one of " } else { "" };
    format!("write {one_of}{}", known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
}

/// What is said of a file that cannot be read.
pub(super) fn unreadable(path: &str, error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    let hint = match error.kind() {
        ErrorKind::InvalidData => return format!("`{path}` cannot be read: it is not UTF-8 text; name a Rust file, or save it as UTF-8"),
        ErrorKind::IsADirectory => "; name a file in it, or all: `FOLDER/*.rs`".to_owned(),
        ErrorKind::NotFound => match path.split_once(".rs:") {
            Some((file, kernel)) if !kernel.is_empty() => format!("; for a kernel of a file write `{file}.rs::{kernel}`"),
            _ => beside(path),
        },
        _ => String::new(),
    };
    format!("`{path}` cannot be read: {error}{hint}")
}

/// What helps where there is no such file: those that are in its folder.
fn beside(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let folder = path.strip_suffix(&*name).unwrap_or_default();
    let entries = std::fs::read_dir(if folder.is_empty() { "." } else { folder });
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".rs")).map(|name| format!("{folder}{name}")).collect();
    names.sort();
    let all = || names.iter().map(String::as_str);
    if nearest(path, all()).is_some() || (1..=MOST_FILES).contains(&names.len()) {
        format!("; {}", meant(path, all()))
    } else {
        "; name a Rust file that is there: paths begin at the current folder".to_owned()
    }
}

/// Files that an error lists, at most.
const MOST_FILES: usize = 8;

/// Prints what is wrong with files that are no Rust.
fn show_broken(files: &Crate, which: impl Fn(&str) -> bool) {
    for (name, text, found) in files.broken().filter(|(name, _, _)| which(name)) {
        show(found, |_| (name, text));
    }
}

/// Prints findings, each label of them in the file (name and text) that it is about, and how many errors they are.
fn show<'f>(found: &Diagnostics, file: impl Fn(Span) -> (&'f str, &'f str)) -> Stop {
    render::print(found, file);
    let errors = found.iter().filter(|finding| finding.level == Level::Error).count();
    if errors > 0 {
        complain(&format!("{errors} error{}", if errors == 1 { "" } else { "s" }));
    }
    Stop::findings()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn messages(found: &Diagnostics) -> String {
    found.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}
