//! What the compiler says of small sources, and from which line of its own: what the index of messages, `docs/messages.md`, is made of and held to.
//!
//! `tests/messages` has the examples: a file for each file of the compiler that says something, or for a few; in it examples stand one after the other, each under a line
//! `// ---- TITLE`. `// target sm_90a` in an example asks for other targets than all.

use crate::command::root;
use crate::front_end::exercise::instance;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use warpwright_codegen::backend::BACKENDS;
use warpwright_codegen::diagnostic::{Diagnostics, Level};
use warpwright_codegen::hir::declared_instances;
use warpwright_codegen::pipeline;
use warpwright_codegen::syntax::{Program, Unit, check_subset};
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

/// All that the compiler says of a source: the same once.
pub fn said(text: &str) -> Vec<Said> {
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    let mut add = |found: &Diagnostics| {
        for finding in found.iter() {
            let file = finding.raised_at.file().replace('\\', "/");
            let site = Site { file, line: finding.raised_at.line() };
            let at = finding.span.source_text().unwrap_or_default();
            if seen.insert((site.clone(), finding.message.clone())) {
                all.push(Said {
                    site,
                    level: finding.level,
                    lint: finding.lint,
                    message: finding.message.clone(),
                    help: finding.help.clone(),
                    at: at.lines().next().unwrap_or_default().to_owned(),
                });
            }
        }
    };
    let unit = match Unit::parse("example.rs", 1, 1, text) {
        Ok(unit) => unit,
        Err(found) => {
            add(&found);
            return all;
        }
    };
    let mut found = Diagnostics::new();
    check_subset(&unit.items, &mut found);
    add(&found);
    let kernels: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
    let mut program = Program::default();
    let unit = program.add(unit);
    let asked: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("// target ")).collect();
    let targets = if asked.is_empty() { USUAL.to_vec() } else { asked };
    for kernel in kernels {
        let instances = match declared_instances(&program, unit, &kernel) {
            Ok(declared) if declared.is_empty() => instance(&program, unit, &kernel).into_iter().collect(),
            Ok(declared) => declared,
            Err(found) => {
                add(&found);
                continue;
            }
        };
        for instance in &instances {
            let built = match pipeline::lower(&program, unit, &kernel, instance) {
                Ok(built) => built,
                Err(found) => {
                    add(&found);
                    continue;
                }
            };
            add(&built.warnings);
            let lowered = match built.schedule() {
                Ok(lowered) => lowered,
                Err(found) => {
                    add(&found);
                    continue;
                }
            };
            add(&lowered.warnings);
            for backend in BACKENDS {
                for target in targets.iter().filter(|target| **target != "opencl") {
                    let target = Target::find(target).unwrap_or_else(|unknown| panic!("{unknown}"));
                    if let Err(found) = lowered.emit(*backend, Some(target)) {
                        add(&found);
                    }
                }
            }
        }
        let asked = Targets::named(targets.iter().copied());
        let scope = ReviewScope { targets: &asked, findings: None, most: usize::MAX };
        add(&review(&program, unit, &kernel, &instances, scope, None));
    }
    all
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

/// The types that these folders' sources declare, but for names of one word: those may be anybody's.
///
/// # Panics
/// A folder is not there.
pub fn own_types(folders: &[&str]) -> BTreeSet<String> {
    let mut types = BTreeSet::new();
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                types.extend(std::fs::read_to_string(&path).unwrap_or_default().lines().filter_map(declared));
            }
        }
    }
    types
}

/// The type that a line declares, if its name has more than one capital.
fn declared(line: &str) -> Option<String> {
    let mut rest = line.trim_start();
    for visibility in ["pub(crate) ", "pub(super) ", "pub "] {
        rest = rest.trim_start_matches(visibility);
    }
    let rest = ["struct ", "enum "].iter().find_map(|word| rest.strip_prefix(word))?;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    (name.chars().filter(|c| c.is_uppercase()).count() > 1).then_some(name)
}
