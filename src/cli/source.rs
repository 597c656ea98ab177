//! `FILE[::kernel]`: reading a source file, choosing kernels in it, and filling in their generics.

use super::{Stop, render};
use std::path::Path;
use warpwright_codegen::diagnostic::Diagnostics;
use warpwright_codegen::hir;
use warpwright_codegen::syntax::{Extern, Instance, Program, Unit, UnitId, free_paths, nearest};

/// A source file, parsed.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) program: Program,
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
            _ => Err("expected NAME=VALUE".to_owned()),
        }
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
        let text = std::fs::read_to_string(Path::new(path)).map_err(|error| Stop::usage(format!("`{path}` cannot be read: {error}")))?;
        let mut unit = match Unit::parse(path, 1, 1, &text) {
            Ok(unit) => unit,
            Err(found) => {
                render::print(&found, path, &text);
                return Err(Stop::findings());
            }
        };
        let free = free_paths(&unit.items);
        for define in defines {
            if let Some(path) = free.iter().find(|path| path.key == define.name || path.key.ends_with(&format!("::{}", define.name))) {
                let value = hir::parse_constant(&define.value).map_err(|_| Stop::usage(format!("`{}` is not a constant", define.value)))?;
                unit.externs.insert(path.key.clone(), Extern::Constant(value));
            }
        }
        let mut program = Program::default();
        let unit = program.add(unit);
        Ok(Source { path: path.to_owned(), text, program, unit })
    }

    /// The names of the chosen kernels: one, or all of the file.
    pub(super) fn kernels(&self, chosen: Option<&str>) -> Result<Vec<String>, Stop> {
        let unit = &self.program.units[self.unit.0];
        let all: Vec<String> = unit.kernels().into_iter().map(|(path, _)| path).collect();
        let Some(name) = chosen else {
            if all.is_empty() {
                return Err(Stop::usage(format!("`{}` has no `#[kernel]` function", self.path)));
            }
            return Ok(all);
        };
        if let Some(path) = all.iter().find(|path| *path == name || path.rsplit("::").next() == Some(name)) {
            return Ok(vec![path.clone()]);
        }
        let hint = match nearest(name, all.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if all.is_empty() => "the file has no `#[kernel]` function".to_owned(),
            None => format!("the file has {}", quoted(&all)),
        };
        Err(Stop::usage(format!("there is no kernel `{name}` in `{}`; {hint}", self.path)))
    }

    /// The instance that the defines (and, where they leave one open, the first declared variant) make of a kernel's generics.
    pub(super) fn instance(&self, kernel: &str, defines: &[Define]) -> Result<Instance, Stop> {
        let generics = hir::generics(&self.program, self.unit, kernel).map_err(|found| self.findings(&found))?;
        let declared = hir::declared_instances(&self.program, self.unit, kernel).map_err(|found| self.findings(&found))?;
        let mut instance = Instance::default();
        let mut open = Vec::new();
        for (index, (name, _)) in generics.iter().enumerate() {
            match defines.iter().find(|define| define.name == *name) {
                Some(define) => {
                    let value = hir::parse_generic(&self.program, self.unit, kernel, name, &define.value);
                    instance.generics.push(value.map_err(|found| Stop::usage(messages(&found)))?);
                }
                None => match declared.first() {
                    Some(first) => instance.generics.push(first.generics[index].clone()),
                    None => open.push(name.clone()),
                },
            }
        }
        if !open.is_empty() {
            let flags: Vec<String> = open.iter().map(|name| format!("-D {name}=…")).collect();
            return Err(Stop::usage(format!("`{kernel}` is generic in {}; give {}", quoted(&open), flags.join(" "))));
        }
        Ok(instance)
    }

    /// Refuses defines that nothing in the chosen kernels uses.
    pub(super) fn check_defines(&self, kernels: &[String], defines: &[Define]) -> Result<(), Stop> {
        let unit = &self.program.units[self.unit.0];
        let mut known: Vec<String> = unit.externs.keys().cloned().collect();
        known.extend(free_paths(&unit.items).into_iter().map(|path| path.key));
        for kernel in kernels {
            let generics = hir::generics(&self.program, self.unit, kernel).map_err(|found| self.findings(&found))?;
            known.extend(generics.into_iter().map(|(name, _)| name));
        }
        for define in defines {
            let is_known = known.iter().any(|name| *name == define.name || name.ends_with(&format!("::{}", define.name)));
            if !is_known {
                let hint = match nearest(&define.name, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "the kernel has no generics".to_owned(),
                    None => format!("it has {}", quoted(&known)),
                };
                return Err(Stop::usage(format!("`-D {}=…` names nothing in the kernel; {hint}", define.name)));
            }
        }
        Ok(())
    }

    /// Prints findings and stops.
    pub(super) fn findings(&self, found: &Diagnostics) -> Stop {
        render::print(found, &self.path, &self.text);
        Stop::findings()
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn messages(found: &Diagnostics) -> String {
    found.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}
