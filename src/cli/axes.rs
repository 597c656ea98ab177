//! Which variants of a kernel are looked at: `--set`, `-D`, and what the kernel declares.

use super::source::{Define, Source};
use super::{Stop, VARIANTS};
use warpwright_codegen::hir::{self, Axis};
use warpwright_codegen::syntax::{Instance, nearest};

/// Which variants are looked at.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct AxisArguments {
    /// The values of a generic, instead of those that the kernel declares.
    #[arg(long, value_name = "NAME=V1,V2,…", num_args = 1.., help_heading = VARIANTS)]
    set: Vec<Define>,
    /// Give a generic or an outside constant one value.
    #[arg(short = 'D', value_name = "NAME=VALUE", help_heading = VARIANTS)]
    pub(super) define: Vec<Define>,
}

impl AxisArguments {
    /// The values of each generic of a kernel: those of `--set`, of `-D`, else those that the kernel declares; and their combinations.
    pub(super) fn variants(&self, source: &Source, kernel: &str) -> Result<(Vec<Axis>, Vec<Instance>), Stop> {
        let mut axes = hir::declared_axes(source.program(), source.unit, kernel).map_err(|found| source.findings(&found))?;
        let mut wrong = Vec::new();
        for axis in &mut axes {
            let texts = self.texts(&axis.name);
            if texts.is_empty() {
                if axis.values.is_empty() {
                    wrong.push(format!("`{kernel}` is generic in `{0}` and declares no values of it: give `--set {0}=…`", axis.name));
                }
                continue;
            }
            axis.values.clear();
            for text in texts {
                match hir::parse_generic(source.program(), source.unit, kernel, &axis.name, text) {
                    Ok(value) => axis.values.push(value),
                    Err(found) => {
                        let why: Vec<String> = found.iter().map(|finding| finding.message.clone()).collect();
                        wrong.push(format!("`{}={text}` does not fit `{kernel}`: {}", axis.name, why.join("; ")));
                    }
                }
            }
        }
        if !wrong.is_empty() {
            return Err(Stop::usage(wrong.join("\nerror: ")));
        }
        let instances = hir::instances(&axes).map_err(|total| {
            Stop::usage(format!("`{kernel}` would have {total} variants: choose some with `--set NAME=V1,V2` or `-D NAME=VALUE`"))
        })?;
        Ok((axes, instances))
    }

    /// What is written of a generic's values.
    fn texts(&self, generic: &str) -> Vec<&str> {
        let named = |list: &'_ [Define]| list.iter().position(|define| define.name == generic);
        match (named(&self.set), named(&self.define)) {
            (Some(at), _) => self.set[at].value.split(',').map(str::trim).collect(),
            (None, Some(at)) => vec![&self.define[at].value],
            (None, None) => Vec::new(),
        }
    }

    /// Refuses a `--set` of what none of the kernels has.
    pub(super) fn check_names(&self, source: &Source, kernels: &[String]) -> Result<(), Stop> {
        let generics = |kernel: &String| hir::generics(source.program(), source.unit, kernel).unwrap_or_default();
        let names: Vec<String> = kernels.iter().flat_map(generics).map(|(name, _)| name).collect();
        let Some(unknown) = self.set.iter().find(|define| !names.contains(&define.name)) else { return Ok(()) };
        let hint = match nearest(&unknown.name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "there are no generics".to_owned(),
            None => format!("there are {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        Err(Stop::usage(format!("`--set {}=…` names no generic of the kernel; {hint}", unknown.name)))
    }
}
