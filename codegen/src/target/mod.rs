//! What each device can do: one row per compute capability.
//!
//! Sources: PTX ISA, "Release Notes" (first version of each target); CUDA C++ Programming Guide, "Technical Specifications per Compute
//! Capability" (memory, registers, threads).

use crate::syntax::nearest;

/// A compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `sm_90`.
    pub name: &'static str,
    /// 10·major + minor, as in `sm_NN`.
    pub capability: u16,
    /// First PTX version that knows it, 10·major + minor.
    pub ptx_version: u16,
    /// Most shared memory a block can ask for statically, bytes.
    pub static_shared: u32,
    /// Most shared memory a block can have, bytes (dynamic, opted in).
    pub max_shared: u32,
    /// Most registers of a thread.
    pub max_registers: u32,
    /// Most threads of a block.
    pub max_threads: u32,
}

/// A row: every target since sm_50 has 48 KiB of static shared memory, 255 registers a thread and 1024 threads a block.
const fn row(name: &'static str, capability: u16, ptx_version: u16, max_shared_kib: u32) -> Target {
    Target {
        name,
        capability,
        ptx_version,
        static_shared: 48 * 1024,
        max_shared: max_shared_kib * 1024,
        max_registers: 255,
        max_threads: 1024,
    }
}

/// Every target, in order of capability.
pub const TARGETS: &[Target] = &[
    row("sm_50", 50, 40, 48),
    row("sm_52", 52, 41, 48),
    row("sm_53", 53, 42, 48),
    row("sm_60", 60, 50, 48),
    row("sm_61", 61, 50, 48),
    row("sm_62", 62, 50, 48),
    row("sm_70", 70, 60, 96),
    row("sm_72", 72, 61, 96),
    row("sm_75", 75, 63, 64),
    row("sm_80", 80, 70, 163),
    row("sm_86", 86, 71, 99),
    row("sm_87", 87, 74, 163),
    row("sm_88", 88, 90, 99),
    row("sm_89", 89, 78, 99),
    row("sm_90", 90, 78, 227),
    row("sm_100", 100, 86, 227),
    row("sm_101", 101, 86, 227),
    row("sm_103", 103, 88, 227),
    row("sm_110", 110, 90, 227),
    row("sm_120", 120, 87, 99),
    row("sm_121", 121, 88, 99),
];

/// A name that is no target's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a target")]
pub struct UnknownTarget {
    /// The name.
    pub name: String,
    /// What it was probably meant to be.
    pub nearest: Option<&'static str>,
}

impl UnknownTarget {
    /// The edit that mends it.
    pub fn help(&self) -> String {
        match self.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("the targets are {}", TARGETS.iter().map(|t| t.name).collect::<Vec<_>>().join(", ")),
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
                return UnknownTarget { name: name.to_owned(), nearest };
            }
            let full = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("sm_{name}") } else { name.to_owned() };
            UnknownTarget { name: name.to_owned(), nearest: nearest(&full, TARGETS.iter().map(|t| t.name)) }
        })
    }

    /// The best target for a device of this capability (10·major + minor): the highest not above it, whose PTX the device's driver
    /// can assemble. None below the first.
    pub fn for_capability(capability: u16) -> Option<&'static Target> {
        TARGETS.iter().rev().find(|t| t.capability <= capability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_by_name() {
        for target in TARGETS {
            assert_eq!(Target::find(target.name), Ok(target));
            assert_eq!(target.name, format!("sm_{}", target.capability));
        }
        assert_eq!(Target::find("9.0").map(|t| t.name), Ok("sm_90"));
        assert_eq!(Target::find("120").map(|t| t.capability), Ok(120));
        let error = Target::find("sm_85").unwrap_err();
        assert_eq!(error.to_string(), "`sm_85` is not a target");
        assert_eq!(error.nearest, Some("sm_86"));
        assert_eq!(Target::find("sm90").unwrap_err().nearest, Some("sm_90"));
        assert!(Target::find("gfx90a").unwrap_err().help().starts_with("the targets are sm_50, "));
    }

    #[test]
    fn a_device_takes_the_highest_target_not_above_it() {
        assert_eq!(Target::for_capability(90).map(|t| t.name), Some("sm_90"));
        assert_eq!(Target::for_capability(107).map(|t| t.name), Some("sm_103"));
        assert_eq!(Target::for_capability(35), None);
    }

    #[test]
    fn rows_stand_in_order() {
        assert!(TARGETS.windows(2).all(|pair| pair[0].capability < pair[1].capability));
    }
}
