//! Which targets a kernel is checked for: NVIDIA's by their rows, OpenCL devices together.

use super::{Target, UnknownTarget};
use crate::nearest::nearest;

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
