//! Which variants of a kernel are looked at: `--set`, `-D`, and what the kernel declares.

use super::source::{Define, Source, meant, wrong_defines};
use super::{Stop, VARIANTS, complain};
use warpwright_codegen::hir::{self, Axis};
use warpwright_codegen::syntax::Instance;

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

/// The variants of one kernel.
pub(super) struct Chosen {
    pub(super) kernel: String,
    /// Its generics with their values.
    pub(super) axes: Vec<Axis>,
    /// Their combinations.
    pub(super) instances: Vec<Instance>,
}

impl AxisArguments {
    /// One value of each of these.
    pub(super) fn of_defines(defines: &[Define]) -> AxisArguments {
        AxisArguments { set: Vec::new(), define: defines.to_vec() }
    }

    /// The variants of one kernel that has values for all its generics.
    ///
    /// # Errors
    /// All that is wrong with what was written, at once.
    pub(super) fn instances(&self, source: &Source, kernel: &str) -> Result<Vec<Instance>, Stop> {
        let mut wrong = Vec::new();
        let axes = self.axes(source, kernel, &mut wrong)?;
        if wrong.is_empty() { Ok(hir::instances(&axes).unwrap_or_default()) } else { Err(Stop::usage(wrong.join("\nerror: "))) }
    }

    /// The variants of each kernel. Where several are looked at, those whose generics have no values are left out, and that is said.
    ///
    /// # Errors
    /// All that is wrong with what was written, at once.
    pub(super) fn choose(&self, source: &Source, kernels: &[String]) -> Result<Vec<Chosen>, Stop> {
        let mut wrong = wrong_defines(&source.definable(kernels), &self.define);
        wrong.extend(self.wrong_names(source, kernels));
        let (mut chosen, mut open) = (Vec::new(), Vec::new());
        for kernel in kernels {
            let axes = self.axes(source, kernel, &mut wrong)?;
            let without: Vec<&str> = axes.iter().filter(|axis| axis.values.is_empty()).map(|axis| axis.name.as_str()).collect();
            if !without.is_empty() {
                let names = without.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let set = without.iter().map(|name| format!("{name}=…")).collect::<Vec<_>>().join(" ");
                open.push(format!("`{kernel}` is generic in {names} and declares no values of it: give `--set {set}`"));
                continue;
            }
            match hir::instances(&axes) {
                Ok(instances) => chosen.push(Chosen { kernel: kernel.clone(), axes, instances }),
                Err(total) => {
                    let choose = "choose some with `--set NAME=V1,V2` or `-D NAME=VALUE`";
                    wrong.push(format!("`{kernel}` would have {total} variants: {choose}"));
                }
            }
        }
        // What was given for an axis and is wrong leaves the axis without values: that is said.
        if chosen.is_empty() && wrong.is_empty() {
            wrong.append(&mut open);
        }
        if !wrong.is_empty() {
            return Err(Stop::usage(wrong.join("\nerror: ")));
        }
        open.iter().for_each(|kernel| complain(&format!("note: left out: {kernel}")));
        Ok(chosen)
    }

    /// The values of each generic of a kernel: those of `--set`, of `-D`, else those that the kernel declares.
    fn axes(&self, source: &Source, kernel: &str, wrong: &mut Vec<String>) -> Result<Vec<Axis>, Stop> {
        let mut axes = source.declared_axes(kernel).map_err(|found| source.findings(&found))?;
        for which in 0..axes.len() {
            let name = axes[which].name.clone();
            let (option, texts) = self.texts(&name);
            if texts.is_empty() {
                continue;
            }
            let mut values = Vec::new();
            for text in texts {
                match source.parse_generic(kernel, &name, text) {
                    Ok(value) if values.contains(&value) => wrong.push(format!("`{option} {name}=…` has {text} twice; leave one out")),
                    Ok(value) => values.push(value),
                    Err(found) => {
                        let why: Vec<String> = found.iter().map(|finding| finding.message.clone()).collect();
                        wrong.push(format!("`{option} {name}={text}` does not fit `{kernel}`: {}", why.join("; ")));
                    }
                }
            }
            hir::set_values(&mut axes, which, values);
        }
        Ok(axes)
    }

    /// What is written of a generic's values, and with which option.
    fn texts(&self, generic: &str) -> (&'static str, Vec<&str>) {
        let named = |list: &'_ [Define]| list.iter().position(|define| define.name == generic);
        match (named(&self.set), named(&self.define)) {
            (Some(at), _) => ("--set", self.set[at].value.split(',').map(str::trim).collect()),
            (None, Some(at)) => ("-D", vec![&self.define[at].value]),
            (None, None) => ("", Vec::new()),
        }
    }

    /// What is wrong with the names of `--set`: none of the kernels has them, or they are given twice.
    fn wrong_names(&self, source: &Source, kernels: &[String]) -> Vec<String> {
        let generics = |kernel: &String| source.generics(kernel).unwrap_or_default();
        let names: Vec<String> = kernels.iter().flat_map(generics).map(|(name, _)| name).collect();
        let mut wrong = Vec::new();
        for (at, Define { name, .. }) in self.set.iter().enumerate() {
            if self.set[..at].iter().any(|before| before.name == *name) {
                wrong.push(format!("`--set {name}=…` is given twice; write `--set {name}=V1,V2`"));
            }
            if self.define.iter().any(|define| define.name == *name) {
                wrong.push(format!("`{name}` is given by `--set` and by `-D`; leave one out"));
            }
            if !names.contains(name) {
                let hint = match &names[..] {
                    [] => "there are no generics: leave `--set` out".to_owned(),
                    names => meant(name, names.iter().map(String::as_str)),
                };
                wrong.push(format!("`--set {name}=…` names no generic of the kernel; {hint}"));
            }
        }
        wrong
    }
}
