//! What each device can do: one row per compute capability. What stands for many devices together, `opencl`, has none: see [`Family`].
//!
//! What is compiled for stands here; what a device holds, of these and of older ones, in [`limits`].
//!
//! Source: PTX ISA, "Release Notes" (first version of each target).

pub mod limits;
pub mod occupancy;

mod chosen;
mod requirement;

pub use chosen::{DEFAULT_TARGETS, FAMILIES, Family, OPENCL, Targets};
pub use requirement::{ArchitectureVariant, Requirement};

use crate::nearest::nearest;
use limits::Limits;

/// A compute capability that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `sm_90`.
    pub name: &'static str,
    /// 10·major + minor, as in `sm_NN`.
    pub capability: u16,
    /// Whether it is a variant of the capability: `sm_90a`.
    pub variant: Option<ArchitectureVariant>,
    /// First PTX version that knows it, 10·major + minor.
    pub ptx_version: u16,
    /// What a multiprocessor and a block of it hold.
    pub limits: &'static Limits,
}

const fn row(name: &'static str, capability: u16, ptx_version: u16) -> Target {
    match Limits::of(capability) {
        Some(limits) => Target { name, capability, variant: None, ptx_version, limits },
        None => panic!("a target needs a row of limits"),
    }
}

/// What this capability has and no other, later ones included.
const fn architecture(name: &'static str, capability: u16, ptx_version: u16) -> Target {
    Target { variant: Some(ArchitectureVariant::Architecture), ..row(name, capability, ptx_version) }
}

/// Every target, in order of capability, variants behind what they are variants of.
pub const TARGETS: &[Target] = &[
    row("sm_50", 50, 40),
    row("sm_52", 52, 41),
    row("sm_53", 53, 42),
    row("sm_60", 60, 50),
    row("sm_61", 61, 50),
    row("sm_62", 62, 50),
    row("sm_70", 70, 60),
    row("sm_72", 72, 61),
    row("sm_75", 75, 63),
    row("sm_80", 80, 70),
    row("sm_86", 86, 71),
    row("sm_87", 87, 74),
    row("sm_88", 88, 90),
    row("sm_89", 89, 78),
    row("sm_90", 90, 78),
    architecture("sm_90a", 90, 80),
    row("sm_100", 100, 86),
    row("sm_101", 101, 86),
    row("sm_103", 103, 88),
    row("sm_110", 110, 90),
    row("sm_120", 120, 87),
    row("sm_121", 121, 88),
];

/// A name that is no target's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a {}", Family::find(name).map_or("target".to_owned(), |family| format!("compute capability: nothing is estimated for {}", family.devices)))]
pub struct UnknownTarget {
    /// The name.
    pub name: String,
    /// What it was probably meant to be.
    pub nearest: Option<&'static str>,
    /// Whether it stands in a list of what kernels are checked for, where families may stand, too.
    pub is_of_a_list: bool,
}

impl UnknownTarget {
    /// The edit that mends it.
    pub fn help(&self) -> String {
        match self.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None if Family::find(&self.name).is_some() => "name an NVIDIA target, for example `sm_90`".to_owned(),
            None => {
                let families = FAMILIES.iter().filter(|_| self.is_of_a_list).map(|family| family.name);
                format!("choose one of {}", TARGETS.iter().map(|t| t.name).chain(families).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Target {
    /// The target of this name, `sm_90`; `90` and `9.0` will do, too.
    pub fn find(name: &str) -> Result<&'static Target, UnknownTarget> {
        let digits: String = name.strip_prefix("sm_").unwrap_or(name).split('.').collect();
        TARGETS.iter().find(|t| t.name.strip_prefix("sm_") == Some(&digits)).ok_or_else(|| {
            // A capability that there is not: the one next to it. Anything else is a slip of the fingers.
            let next = digits.parse::<u16>().ok().filter(|n| (TARGETS[0].capability..1000).contains(n));
            if let Some(n) = next {
                let nearest = TARGETS.iter().min_by_key(|t| t.capability.abs_diff(n)).map(|t| t.name);
                return UnknownTarget { name: name.to_owned(), nearest, is_of_a_list: false };
            }
            let full = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("sm_{name}") } else { name.to_owned() };
            UnknownTarget { name: name.to_owned(), nearest: nearest(&full, TARGETS.iter().map(|t| t.name)), is_of_a_list: false }
        })
    }

    /// The best target for a device of this capability (10·major + minor) whatever the kernel: the highest not above it, whose PTX the device's
    /// driver can assemble. None below the first. A kernel may need a variant of it: [`crate::pipeline::Scheduled::target_on`].
    pub fn for_capability(capability: u16) -> Option<&'static Target> {
        TARGETS.iter().rev().find(|t| t.variant.is_none() && t.capability <= capability)
    }

    /// Whether a device of this capability (10·major + minor) takes its PTX: one of the same or a later capability. Variants are for fewer devices.
    pub fn runs_on(&self, capability: u16) -> bool {
        match self.variant {
            None => self.capability <= capability,
            Some(ArchitectureVariant::Architecture) => self.capability == capability,
            Some(ArchitectureVariant::Family) => self.capability / 10 == capability / 10 && self.capability <= capability,
        }
    }

    /// The variants of the same capability.
    pub fn variants(&self) -> impl Iterator<Item = &'static Target> {
        TARGETS.iter().filter(move |other| other.capability == self.capability && other.variant.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_by_name() {
        for target in TARGETS {
            assert_eq!(Target::find(target.name), Ok(target));
            let variant = if target.variant.is_some() { "a" } else { "" };
            assert_eq!(target.name, format!("sm_{}{variant}", target.capability));
        }
        assert_eq!(Target::find("9.0a").map(|t| t.name), Ok("sm_90a"));
        assert_eq!(Target::find("sm_90b").unwrap_err().nearest, Some("sm_90"));
        assert_eq!(Target::find("sm90a").unwrap_err().nearest, Some("sm_90a"));
        assert_eq!(Target::find("9.0").map(|t| t.name), Ok("sm_90"));
        assert_eq!(Target::find("120").map(|t| t.capability), Ok(120));
        let error = Target::find("sm_85").unwrap_err();
        assert_eq!(error.to_string(), "`sm_85` is not a target");
        assert_eq!(error.nearest, Some("sm_86"));
        assert_eq!(Target::find("sm90").unwrap_err().nearest, Some("sm_90"));
        assert!(Target::find("gfx90a").unwrap_err().help().starts_with("choose one of sm_50, "));
    }

    #[test]
    fn a_device_takes_the_highest_target_not_above_it() {
        assert_eq!(Target::for_capability(90).map(|t| t.name), Some("sm_90"));
        assert_eq!(Target::for_capability(107).map(|t| t.name), Some("sm_103"));
        assert_eq!(Target::for_capability(35), None);
    }

    #[test]
    fn a_variant_runs_on_its_own_capability() {
        let runs = |name: &str| [80, 90, 100].map(|capability| Target::find(name).is_ok_and(|t| t.runs_on(capability)));
        assert_eq!(runs("sm_90"), [false, true, true]);
        assert_eq!(runs("sm_90a"), [false, true, false]);
        let names = |name: &str| Target::find(name).map(|t| t.variants().map(|t| t.name).collect::<Vec<_>>());
        assert_eq!((names("sm_90"), names("sm_80")), (Ok(vec!["sm_90a"]), Ok(vec![])));
    }

    #[test]
    fn rows_stand_in_order() {
        assert!(
            TARGETS
                .windows(2)
                .all(|pair| (pair[0].capability, pair[0].variant.is_some()) < (pair[1].capability, pair[1].variant.is_some()))
        );
    }
}
