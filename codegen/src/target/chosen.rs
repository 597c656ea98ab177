//! Which targets a kernel is checked for: those of its attribute, else those of its crate's manifest, else three that stand for what is in use.

use super::{Target, UnknownTarget};
use crate::syntax::{KernelAttributes, nearest};

/// What kernels are checked for where nothing is said: data centre cards of two generations, and what desktops have.
pub const DEFAULT_TARGETS: [&str; 3] = ["sm_80", "sm_89", "sm_90"];

/// The name that stands for every OpenCL device.
pub const OPENCL: &str = "opencl";

/// What kernels are checked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// NVIDIA's, in the order named: of these, figures are estimated.
    pub gpus: Vec<&'static Target>,
    /// Whether OpenCL devices are among them: what these cannot run is refused. Of them, nothing is estimated.
    pub opencl: bool,
}

impl Targets {
    /// Adds the target of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn add(&mut self, name: &str) -> Result<(), UnknownTarget> {
        if name == OPENCL {
            self.opencl = true;
            return Ok(());
        }
        let found = Target::find(name).map_err(|unknown| UnknownTarget {
            nearest: unknown.nearest.or_else(|| nearest(&name.to_lowercase(), [OPENCL])),
            is_of_a_list: true,
            ..unknown
        });
        self.gpus.push(found?);
        Ok(())
    }

    /// The targets of these names. Unknown ones are left out.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Targets {
        let mut targets = Targets::default();
        // Whoever reads names from a user has reported them.
        names.into_iter().for_each(|name| drop(targets.add(name)));
        targets
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.gpus.is_empty() && !self.opencl
    }
}

/// The targets of a kernel, whose crate asks for `of_crate`. Unknown names are left out: they are errors already.
pub fn chosen(attributes: &KernelAttributes, of_crate: Option<&Targets>) -> Targets {
    let names: Vec<String> = attributes.targets.iter().map(ToString::to_string).collect();
    let own = Targets::named(names.iter().map(String::as_str));
    match of_crate {
        _ if !own.is_empty() => own,
        Some(targets) => targets.clone(),
        None => Targets::named(DEFAULT_TARGETS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;

    fn names(targets: &Targets) -> Vec<&'static str> {
        targets.gpus.iter().map(|target| target.name).chain(targets.opencl.then_some(OPENCL)).collect()
    }

    #[test]
    fn the_nearest_list_counts() {
        let attributes = |text: &str| KernelAttributes::parse(text.parse().unwrap(), &mut Diagnostics::new());
        let of_crate = Targets::named(["sm_75", "opencl"]);
        assert_eq!(names(&chosen(&attributes("targets = [sm_90]"), Some(&of_crate))), ["sm_90"]);
        assert_eq!(names(&chosen(&attributes("targets = [opencl]"), Some(&of_crate))), ["opencl"]);
        assert_eq!(names(&chosen(&attributes(""), Some(&of_crate))), ["sm_75", "opencl"]);
        assert_eq!(names(&chosen(&attributes(""), None)), DEFAULT_TARGETS);
    }

    #[test]
    fn opencl_is_one_of_a_list_and_none_of_its_own() {
        let help = |name: &str| Targets::default().add(name).unwrap_err().help();
        assert_eq!(help("OpenCL"), "did you mean `opencl`?");
        assert_eq!(help("opencI"), "did you mean `opencl`?");
        assert_eq!(help("sm_85"), "did you mean `sm_86`?");
        assert!(help("gfx90a").ends_with(", sm_121, opencl"), "{}", help("gfx90a"));
        let alone = Target::find("opencl").unwrap_err();
        assert_eq!(alone.to_string(), "`opencl` is not a compute capability: nothing is estimated for OpenCL devices");
        assert_eq!(alone.help(), "name one of NVIDIA's, `sm_90`, say");
    }
}
