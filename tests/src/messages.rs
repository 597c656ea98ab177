//! What the compiler says of small sources, and from which line of its own: what the index of messages, `docs/messages.md`, is made of and held to.
//!
//! `tests/messages` has the examples: a file for each file of the compiler that says something, or for a few; in it examples stand one after the other, each under a line
//! `// ---- TITLE`. Other comments in an example ask for what its source does not say (`messages/asked.rs`): `// target sm_90a` for another target than the usual ones.

mod asked;
pub mod attributes;
pub mod texts;
pub mod types;

use crate::command::root;
use crate::front_end::exercise::instance;
use asked::Asked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use warpwright_codegen::backend::BACKENDS;
use warpwright_codegen::diagnostic::{Diagnostic, Diagnostics, Level};
use warpwright_codegen::hir::{declared_instances, parse_constant, parse_generic};
use warpwright_codegen::pipeline;
use warpwright_codegen::syntax::{Instance, Program, Unit, UnitId, absent_names, check_rust_rules, check_subset, foreign_syntax};
use warpwright_codegen::target::{Target, Targets};
use warpwright_review::{ReviewScope, review};

/// A line of the compiler that says something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// From the root of the repository.
    pub file: String,
    /// From 1.
    pub line: u32,
}

/// What is said.
#[derive(Clone, Debug)]
pub struct Said {
    /// From where.
    pub site: Site,
    /// Error or warning.
    pub level: Level,
    /// The lint that found it, if it is a lint.
    pub lint: Option<&'static str>,
    /// What is wrong.
    pub message: String,
    /// The edit that mends it.
    pub help: Option<String>,
    /// The text that it points at.
    pub at: String,
}

/// An example.
#[derive(Clone, Debug)]
pub struct Example {
    /// What it shows.
    pub title: String,
    /// The source.
    pub text: String,
}

/// Targets that an example is emitted for: the oldest, a common one, and the one with most.
const USUAL: &[&str] = &["sm_70", "sm_80", "sm_90a"];

/// All that is said, the same once.
#[derive(Default)]
struct Found {
    all: Vec<Said>,
    seen: BTreeSet<(Site, String)>,
}

impl Found {
    fn add(&mut self, found: &Diagnostics) {
        found.iter().for_each(|finding| self.add_one(finding));
    }

    fn add_one(&mut self, finding: &Diagnostic) {
        let file = finding.raised_at.file().replace('\\', "/");
        let site = Site { file, line: finding.raised_at.line() };
        let at = finding.span.source_text().unwrap_or_default();
        if self.seen.insert((site.clone(), finding.message.clone())) {
            self.all.push(Said {
                site,
                level: finding.level,
                lint: finding.lint,
                message: finding.message.clone(),
                help: finding.help.clone(),
                at: at.lines().next().unwrap_or_default().to_owned(),
            });
        }
    }

    /// What a stage made, if it made something.
    fn made<T>(&mut self, made: Result<T, Diagnostics>) -> Option<T> {
        made.map_err(|found| self.add(&found)).ok()
    }
}

/// All that the compiler says of a source: the same once.
pub fn said(text: &str) -> Vec<Said> {
    let mut found = Found::default();
    let asked = Asked::of(text);
    let reached = asked::reached(text);
    for reached in &reached {
        reached.unchecked(None).iter().for_each(|finding| found.add_one(finding));
        of_kernel(&reached.program, reached.unit, &reached.name(), &asked, &mut found);
    }
    if reached.is_empty() {
        of_text(text, &asked, &mut found);
    }
    found.all
}

/// What is said of a text.
fn of_text(text: &str, asked: &Asked, found: &mut Found) {
    let unit = match Unit::parse("example.rs", 1, 1, text) {
        Ok(unit) => unit,
        Err(broken) => {
            // What is no Rust may be C.
            let of_c = text.parse().ok().and_then(foreign_syntax);
            of_c.iter().for_each(|finding| found.add_one(finding));
            return found.add(&broken);
        }
    };
    let mut of_subset = Diagnostics::new();
    check_subset(&unit.items, &mut of_subset);
    found.add(&of_subset);
    let mut of_rust = Diagnostics::new();
    check_rust_rules(&unit.items, &mut of_rust);
    found.add(&of_rust);
    found.add(&absent_names(&unit.items, &asked.absent));
    let kernels: Vec<String> = match &asked.kernel {
        Some(kernel) => vec![kernel.clone()],
        None => unit.kernels().into_iter().map(|(path, _)| path).collect(),
    };
    let mut program = Program::default();
    let unit = program.add(unit);
    kernels.iter().for_each(|kernel| of_kernel(&program, unit, kernel, asked, found));
}

/// What is said of a kernel.
fn of_kernel(program: &Program, unit: UnitId, kernel: &str, asked: &Asked, found: &mut Found) {
    for (name, value) in &asked.defines {
        found.made(parse_generic(program, unit, kernel, name, value));
    }
    for value in &asked.constants {
        found.made(parse_constant(value));
    }
    let instances = match &asked.instance {
        Some(generics) => vec![Instance { generics: generics.clone() }],
        None => match found.made(declared_instances(program, unit, kernel)) {
            Some(declared) if declared.is_empty() => instance(program, unit, kernel).into_iter().collect(),
            Some(declared) => declared,
            None => return,
        },
    };
    let targets: Vec<&str> = if asked.targets.is_empty() { USUAL.to_vec() } else { asked.targets.iter().map(String::as_str).collect() };
    for instance in &instances {
        let Some(built) = found.made(pipeline::lower(program, unit, kernel, instance)) else { continue };
        found.add(&built.warnings);
        let Some(lowered) = found.made(built.schedule()) else { continue };
        found.add(&lowered.warnings);
        for backend in BACKENDS {
            for target in targets.iter().filter(|target| **target != "opencl") {
                let target = Target::find(target).unwrap_or_else(|unknown| panic!("{unknown}"));
                found.made(lowered.emit(*backend, Some(target)));
            }
        }
    }
    if program.units[unit.0].kernel(kernel).is_ok() {
        let targets = Targets::named(targets.iter().copied());
        let scope = ReviewScope { targets: &targets, findings: None, most: asked.most.unwrap_or(usize::MAX) };
        found.add(&review(program, unit, kernel, &instances, scope, None));
    }
}

/// The examples of a file.
pub fn examples(text: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("// ---- ") {
            all.push(Example { title: title.to_owned(), text: String::new() });
        } else if let Some(last) = all.last_mut() {
            last.text += line;
            last.text.push('\n');
        }
    }
    all.iter_mut().for_each(|example| example.text = format!("{}\n", example.text.trim()));
    all
}

/// The files of examples, in the order of their names.
///
/// # Panics
/// There is no such folder.
pub fn files() -> Vec<PathBuf> {
    let folder = root().join("tests/messages");
    let mut all: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    all.sort();
    all
}

/// Every line of the compiler's sources that says something, with its text.
pub fn sites() -> BTreeMap<Site, String> {
    let mut all = BTreeMap::new();
    let root = root();
    for folder in ["codegen/src", "review/src"] {
        let mut folders = vec![root.join(folder)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("diagnostic.rs") {
                    of_file(&root, &path, &mut all);
                }
            }
        }
    }
    all
}

fn of_file(root: &Path, path: &Path, all: &mut BTreeMap<Site, String>) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = path.strip_prefix(root).expect("it is below the root").display().to_string().replace('\\', "/");
    let lines: Vec<&str> = text.lines().collect();
    for (n, line) in lines.iter().enumerate() {
        // Tests within a file stand at its end.
        if line.trim() == "#[cfg(test)]" && lines.get(n + 1).is_some_and(|next| next.starts_with("mod ") && next.ends_with('{')) {
            break;
        }
        let is_code = !line.trim_start().starts_with("//");
        if is_code && ["Diagnostic::error(", "Diagnostic::warning("].iter().any(|call| line.contains(call)) {
            all.insert(Site { file: file.clone(), line: n as u32 + 1 }, line.trim().to_owned());
        }
    }
}
