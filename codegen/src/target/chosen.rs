//! Which targets a kernel is checked for: NVIDIA's by their rows, families of devices together.

use super::{Target, UnknownTarget};
use crate::nearest::nearest;

/// What kernels are checked for where nothing is said: data centre cards of two generations, and what desktops have.
pub const DEFAULT_TARGETS: [&str; 3] = ["sm_80", "sm_89", "sm_90"];

/// Devices that are one target together: what one of them may not run is refused, and nothing is estimated for them.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    /// The name in lists of targets.
    pub name: &'static str,
    /// What its devices are called.
    pub devices: &'static str,
}

/// Every OpenCL device.
pub static OPENCL: Family = Family { name: "opencl", devices: "OpenCL devices" };

/// Every family. A back end prints for each (`Backend::family`).
pub static FAMILIES: &[&Family] = &[&OPENCL];

impl Family {
    /// The family of this name.
    pub fn find(name: &str) -> Option<&'static Family> {
        FAMILIES.iter().copied().find(|family| family.name == name)
    }
}

/// What kernels are checked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// NVIDIA's, in the order named: of these, figures are estimated.
    pub gpus: Vec<&'static Target>,
    /// Families of devices.
    pub families: Vec<&'static Family>,
}

impl Targets {
    /// Adds the target of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn add(&mut self, name: &str) -> Result<(), UnknownTarget> {
        if let Some(family) = Family::find(name) {
            self.families.push(family);
            return Ok(());
        }
        let found = Target::find(name).map_err(|unknown| UnknownTarget {
            nearest: unknown.nearest.or_else(|| nearest(&name.to_lowercase(), FAMILIES.iter().map(|family| family.name))),
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
        self.gpus.is_empty() && self.families.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opencl_is_one_of_a_list_and_none_of_its_own() {
        let help = |name: &str| Targets::default().add(name).unwrap_err().help();
        assert_eq!(help("OpenCL"), "did you mean `opencl`?");
        assert_eq!(help("opencI"), "did you mean `opencl`?");
        assert_eq!(help("sm_85"), "did you mean `sm_86`?");
        assert!(help("gfx90a").ends_with(", sm_121, opencl"), "{}", help("gfx90a"));
        let alone = Target::find("opencl").unwrap_err();
        assert_eq!(alone.to_string(), "`opencl` is not a compute capability: nothing is estimated for OpenCL devices");
        assert_eq!(alone.help(), "name an NVIDIA target, for example `sm_90`");
    }
}
