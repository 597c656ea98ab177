//! What comments of an example ask for beside its source: what a command line or a program says of a kernel.

use std::path::Path;
use warpwright_codegen::hir::parse_constant;
use warpwright_codegen::syntax::{AbsentName, FreePathKind, GenericValue};
use warpwright_review::crates::{Crate, Reached};

/// What is asked for.
#[derive(Default)]
pub(super) struct Asked {
    /// `// target sm_90a`: another target than the usual ones.
    pub(super) targets: Vec<String>,
    /// `// -D B=64`: a value of a generic, as the command takes it.
    pub(super) defines: Vec<(String, String)>,
    /// `// constant 2.5`: a value of a constant from outside, in the same way.
    pub(super) constants: Vec<String>,
    /// `// instance 64, f32`: the generics that a program asks for.
    pub(super) instance: Option<Vec<GenericValue>>,
    /// `// kernel saxpy`: a kernel by its name.
    pub(super) kernel: Option<String>,
    /// `// most 10000`: so many instructions at most are looked at.
    pub(super) most: Option<usize>,
    /// `// there is no function add`: a name that `rustc` does not find, as the macro knows.
    pub(super) absent: Vec<AbsentName>,
}

impl Asked {
    /// What the comments of an example say.
    ///
    /// # Panics
    /// A figure is none.
    pub(super) fn of(text: &str) -> Asked {
        let mut asked = Asked::default();
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("// ")) {
            if let Some(target) = line.strip_prefix("target ") {
                asked.targets.push(target.to_owned());
            } else if let Some((name, value)) = line.strip_prefix("-D ").and_then(|define| define.split_once('=')) {
                asked.defines.push((name.to_owned(), value.to_owned()));
            } else if let Some(value) = line.strip_prefix("constant ") {
                asked.constants.push(value.to_owned());
            } else if let Some(values) = line.strip_prefix("instance ") {
                asked.instance = Some(values.split("; ").map(value).collect());
            } else if let Some(name) = line.strip_prefix("kernel ") {
                asked.kernel = Some(name.to_owned());
            } else if let Some(most) = line.strip_prefix("most ") {
                asked.most = Some(most.parse().expect("a number of instructions"));
            } else if let Some(absent) = line.strip_prefix("there is no ") {
                asked.absent.extend(absent_name(absent));
            }
        }
        asked
    }
}

/// A constant, or else a type.
fn value(text: &str) -> GenericValue {
    parse_constant(text).map_or_else(|_| GenericValue::Type(text.to_owned()), GenericValue::Const)
}

/// `function add`, `function std::cmp::max of std`, `type Real`.
fn absent_name(text: &str) -> Option<AbsentName> {
    let (text, is_std) = text.strip_suffix(" of std").map_or((text, false), |text| (text, true));
    let (kind, key) = text.split_once(' ')?;
    let kind = match kind {
        "function" => FreePathKind::Function,
        "type" => FreePathKind::Type,
        "constant" => FreePathKind::Constant,
        _ => return None,
    };
    Some(AbsentName { key: key.to_owned(), kind, is_std })
}

/// The kernels of an example that has several files, each under a line `// file src/other.rs`, with all that they name in the others; none of an example that is one text.
pub(super) fn reached(text: &str) -> Vec<Reached> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("// file ") {
            files.push((name.to_owned(), String::new()));
        } else if let Some((_, last)) = files.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    let Some((first, _)) = files.first().cloned() else { return Vec::new() };
    let read = move |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| text.clone());
    let mut all = Crate::new(None, Box::new(read));
    let places = all.kernels(Path::new(&first));
    places.iter().map(|place| all.reach(place, &|_| None)).collect()
}
