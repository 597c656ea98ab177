//! `FILE[::kernel]`: reading a source file, choosing kernels in it, and filling in their generics.

use super::files::{self, File, Files};
use super::{Stop, complain, render};
use std::path::Path;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir::{self, Lowered};
use warpwright_codegen::schedule::schedule;
use warpwright_codegen::syntax::{ConstValue, Extern, GenericValue, Instance, Program, UnitId, check_subset, free_paths, nearest};

/// A source file, parsed, with the files that it names.
pub(super) struct Source {
    path: String,
    files: Files,
    pub(super) unit: UnitId,
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
        let text = files::read(Path::new(path)).map_err(|error| Stop::usage(unreadable(path, &error)))?;
        Source::parse(path, text, Files::default(), defines)
    }

    /// The same of a file that lies below a folder, where messages are to say something else than the folder's name: `HEAD:src/k.rs`.
    pub(super) fn read_below(folder: &Path, said: &str, path: &str, defines: &[Define]) -> Result<Source, Stop> {
        let text = files::read(Path::new(path)).map_err(|error| Stop::usage(unreadable(path, &error)))?;
        let files = Files::below(folder, said);
        Source::parse(path, text, files, defines)
    }

    fn parse(path: &str, text: String, mut files: Files, defines: &[Define]) -> Result<Source, Stop> {
        let shown = files.shown(Path::new(path));
        let Some(unit) = files.add(Path::new(path), text) else {
            let broken = files.broken.iter().find(|(file, _)| file.path == shown);
            return Err(broken.map_or_else(Stop::findings, |(file, found)| show(found, |_| file)));
        };
        for define in defines {
            define_constant(&mut files.program, define)?;
        }
        Ok(Source { path: shown, files, unit })
    }

    /// A line of one of the files, from 1.
    pub(super) fn line_of(&self, file: &str, line: u32) -> Option<String> {
        let file = self.files.files.iter().find(|known| known.path == file)?;
        file.text.lines().nth(line.checked_sub(1)? as usize).map(str::to_owned)
    }

    pub(super) fn program(&self) -> &Program {
        &self.files.program
    }

    /// The names of the chosen kernels: one, or all of the file.
    pub(super) fn kernels(&self, chosen: Option<&str>) -> Result<Vec<String>, Stop> {
        let unit = &self.program().units[self.unit.0];
        let all: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
        let Some(name) = chosen else { return Ok(all) };
        if all.is_empty() {
            return Err(self.no_kernels());
        }
        if let Some(path) = all.iter().find(|path| *path == name || path.rsplit("::").next() == Some(name)) {
            return Ok(vec![path.clone()]);
        }
        let hint = match nearest(name, all.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the file has {}", quoted(&all)),
        };
        Err(Stop::usage(format!("there is no kernel `{name}` in `{}`; {hint}", self.path)))
    }

    pub(super) fn no_kernels(&self) -> Stop {
        Stop::usage(format!("`{}` has no `#[kernel]` function", self.path))
    }

    /// The instance that the defines (and, where they leave one open, the first declared variant) make of a kernel's generics.
    pub(super) fn instance(&self, kernel: &str, defines: &[Define]) -> Result<Instance, InstanceError> {
        let generics = hir::generics(self.program(), self.unit, kernel).map_err(InstanceError::Source)?;
        let declared = hir::declared_instances(self.program(), self.unit, kernel).map_err(InstanceError::Source)?;
        let mut instance = Instance::default();
        let (mut open, mut wrong) = (Vec::new(), Vec::new());
        for (index, (name, _)) in generics.iter().enumerate() {
            match defines.iter().find(|define| define.name == *name) {
                Some(define) => match hir::parse_generic(self.program(), self.unit, kernel, name, &define.value) {
                    Ok(value) => instance.generics.push(value),
                    Err(found) => wrong.push(format!("`-D {name}={}` does not fit `{kernel}`: {}", define.value, messages(&found))),
                },
                None => match declared.first() {
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
    pub(super) fn lower(&self, kernel: &str, instance: &Instance) -> Result<Lowered, Diagnostics> {
        let mut lowered = hir::lower_kernel(self.program(), self.unit, kernel, instance)?;
        schedule(&mut lowered)?;
        Ok(lowered)
    }

    /// An instance by its generics: name and value.
    pub(super) fn words(&self, kernel: &str, instance: &Instance) -> Vec<(String, String)> {
        let generics = hir::generics(self.program(), self.unit, kernel).unwrap_or_default();
        generics.into_iter().zip(&instance.generics).map(|((name, _), value)| (name, word(value))).collect()
    }

    /// Says on standard error which of several declared variants is looked at, where the defines leave more than one.
    pub(super) fn name_first(&self, kernel: &str, generics: &[(String, String)], defines: &[Define], done: &str) {
        let axes = hir::declared_axes(self.program(), self.unit, kernel).unwrap_or_default();
        let open = axes.iter().filter(|axis| !defines.iter().any(|define| define.name == axis.name));
        let left = open.map(|axis| axis.values.len()).fold(1, usize::saturating_mul);
        if left > 1 {
            let words = super::json::words(generics);
            complain(&format!("note: `{kernel}` is {done} as {words}, one of {left} variants; `-D NAME=VALUE` chooses"));
        }
    }

    /// What else to look at of a kernel whose attribute is wrong: without generics the body can be looked at all the same.
    pub(super) fn bare_instance(&self, kernel: &str) -> Option<Instance> {
        let generics = hir::generics(self.program(), self.unit, kernel).ok()?;
        generics.is_empty().then(Instance::default)
    }

    /// Every name that a define can be for: generics, and constants from outside.
    pub(super) fn definable(&self, kernels: &[String]) -> Vec<String> {
        let unit = &self.program().units[self.unit.0];
        let mut known: Vec<String> = Vec::new();
        for kernel in kernels {
            known.extend(hir::generics(self.program(), self.unit, kernel).unwrap_or_default().into_iter().map(|(name, _)| name));
        }
        known.extend(unit.externs.iter().filter(|(_, value)| matches!(value, Extern::Constant(_))).map(|(name, _)| name.clone()));
        known.extend(free_paths(&unit.items).into_iter().map(|path| path.key));
        known
    }

    /// What is wrong with the file as far as syntax shows it.
    pub(super) fn check_syntax(&self) -> Findings {
        let mut syntax = Diagnostics::new();
        check_subset(&self.program().units[self.unit.0].items, &mut syntax);
        Findings { syntax, types: Vec::new() }
    }

    /// Nothing is wrong so far.
    pub(super) fn no_findings(&self) -> Findings {
        Findings { syntax: Diagnostics::new(), types: Vec::new() }
    }

    /// Prints findings and what else is to say, and stops.
    pub(super) fn findings(&self, found: &Diagnostics) -> Stop {
        for (file, found) in &self.files.broken {
            show(found, |_| file);
        }
        let own = &self.files.files[self.unit.0];
        let stop = show(found, |finding| self.files.of_span(finding.span).unwrap_or(own));
        self.explain_names(found);
        stop
    }

    /// Names that other crates or files give to this one, and that are not known here.
    fn explain_names(&self, found: &Diagnostics) {
        let unit = &self.program().units[self.unit.0];
        let is_named = |key: &String| found.iter().any(|finding| finding.message.contains(&format!("`{key}`")));
        let is_open = |key: &String| !unit.externs.contains_key(key) && is_named(key);
        let names = self.files.elsewhere.iter().filter(|(unit, _)| *unit == self.unit).map(|(_, name)| name);
        let unknown: Vec<String> = names.filter(|name| is_open(name)).cloned().collect();
        if !unknown.is_empty() {
            complain(&format!(
                "note: {} of `{}` come{} from outside it: this command follows `crate::…`, `super::…` and `mod name;` to files, not to other \
                 crates; `cargo check` sees them all\n",
                quoted(&unknown),
                self.path,
                if unknown.len() == 1 { "s" } else { "" }
            ));
        }
    }
}

/// `4`, `f32`.
pub(super) fn word(value: &GenericValue) -> String {
    match value {
        GenericValue::Type(text) => text.to_string(),
        GenericValue::Const(ConstValue::Scalar(value)) => value.to_string(),
        GenericValue::Const(ConstValue::Index(value, _)) => value.to_string(),
        GenericValue::Const(ConstValue::Aggregate(_)) => "…".to_owned(),
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
            let is_refused = self.syntax.iter().any(|refused| overlaps(refused.span, finding.span));
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

fn overlaps(a: proc_macro2::Span, b: proc_macro2::Span) -> bool {
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
            wrong.push(format!("`-D {}=…` is given twice: {} and {}", define.name, first.value, define.value));
        } else if !known.iter().any(|name| define.names(name)) {
            let hint = match nearest(&define.name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "it has no generics".to_owned(),
                None => format!("it has {}", quoted(known)),
            };
            wrong.push(format!("`-D {}=…` names nothing in the kernel; {hint}", define.name));
        }
    }
    wrong
}

/// Gives an outside constant its value, in every file that names it.
fn define_constant(program: &mut Program, define: &Define) -> Result<(), Stop> {
    for unit in &mut program.units {
        if let Some(path) = free_paths(&unit.items).into_iter().find(|path| define.names(&path.key)) {
            let value = hir::parse_constant(&define.value).map_err(|_| {
                let message = format!("`-D {}={}`: `{}` is not a constant", define.name, define.value, define.value);
                Stop::usage(format!("{message}; write a number, like `64` or `2.5f32`, `true` or `false`"))
            })?;
            unit.externs.insert(path.key, Extern::Constant(value));
        }
    }
    Ok(())
}

fn unreadable(path: &str, error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    let hint = match error.kind() {
        ErrorKind::InvalidData => return format!("`{path}` cannot be read: it is not UTF-8 text"),
        ErrorKind::IsADirectory => "; name a file in it, or all: `FOLDER/*.rs`".to_owned(),
        ErrorKind::NotFound => match path.split_once(".rs:") {
            Some((file, kernel)) if !kernel.is_empty() => format!("; a kernel of a file is named `{file}.rs::{kernel}`"),
            _ => String::new(),
        },
        _ => String::new(),
    };
    format!("`{path}` cannot be read: {error}{hint}")
}

/// Prints findings and how many errors they are.
fn show<'f>(found: &Diagnostics, file: impl Fn(&Diagnostic) -> &'f File) -> Stop {
    render::print(found, |finding| {
        let file = file(finding);
        (&file.path, &file.text)
    });
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
