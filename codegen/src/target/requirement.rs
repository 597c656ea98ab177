//! What an instruction needs of a target. Capabilities have an order, and what one has all later ones have; the variants of a capability
//! have more, which later capabilities lack (PTX ISA, ".target").

use super::Target;

/// A variant of a compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchitectureVariant {
    /// `sm_90a`: what this capability has, and no other.
    Architecture,
    /// `sm_100f`: what this capability has, and later ones of the same major number.
    Family,
}

impl ArchitectureVariant {
    /// What it adds to the name of a target.
    fn suffix(self) -> &'static str {
        match self {
            ArchitectureVariant::Architecture => "a",
            ArchitectureVariant::Family => "f",
        }
    }
}

/// What an instruction needs, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Lowest compute capability, as 10·major + minor.
    pub capability: u16,
    /// The variant of that capability, if the capability itself lacks it.
    pub variant: Option<ArchitectureVariant>,
    /// Lowest PTX version, as 10·major + minor. A module is written in the lowest one that has all it uses.
    pub ptx_version: u16,
}

impl Requirement {
    /// A capability and all later ones.
    pub const fn since(capability: u16, ptx_version: u16) -> Requirement {
        Requirement { capability, variant: None, ptx_version }
    }

    /// Whether a target has it.
    pub fn is_met_by(&self, target: &Target) -> bool {
        let is_family = target.capability / 10 == self.capability / 10;
        match self.variant {
            None => target.capability >= self.capability,
            Some(ArchitectureVariant::Architecture) => {
                target.capability == self.capability && target.variant == Some(ArchitectureVariant::Architecture)
            }
            // Code for one capability of the family has what the family has.
            Some(ArchitectureVariant::Family) => is_family && target.capability >= self.capability && target.variant.is_some(),
        }
    }

    /// What a target lacks, and what would help; `None` if it lacks nothing.
    pub fn missing(&self, target: &Target) -> Option<(String, String)> {
        let name = format!("sm_{}{}", self.capability, self.variant.map_or("", ArchitectureVariant::suffix));
        let help = match self.variant {
            None => format!("choose a target from {name} on"),
            Some(ArchitectureVariant::Architecture) => format!("choose the target {name}: no other has it, later ones included"),
            Some(ArchitectureVariant::Family) => format!("choose {name}, or a later target of its family"),
        };
        (!self.is_met_by(target)).then(|| (format!("needs {name}, and the target is {}", target.name), help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TARGETS;

    fn target(name: &'static str, capability: u16, variant: Option<ArchitectureVariant>) -> Target {
        Target { name, capability, variant, ..TARGETS[0] }
    }

    const ARCHITECTURE: Option<ArchitectureVariant> = Some(ArchitectureVariant::Architecture);
    const FAMILY: Option<ArchitectureVariant> = Some(ArchitectureVariant::Family);

    #[test]
    fn what_a_capability_has_later_ones_and_their_variants_have() {
        let needs = Requirement::since(75, 70);
        assert!(!needs.is_met_by(&target("sm_70", 70, None)));
        for variant in [None, ARCHITECTURE] {
            assert!(needs.is_met_by(&target("sm_75", 75, variant)) && needs.is_met_by(&target("sm_100", 100, variant)));
        }
        let (message, help) = needs.missing(&target("sm_70", 70, None)).expect("it lacks it");
        assert_eq!((message.as_str(), help.as_str()), ("needs sm_75, and the target is sm_70", "choose a target from sm_75 on"));
    }

    #[test]
    fn what_an_architecture_has_no_other_has() {
        let needs = Requirement { variant: ARCHITECTURE, ..Requirement::since(90, 80) };
        assert_eq!(needs.missing(&target("sm_90a", 90, ARCHITECTURE)), None);
        for other in
            [target("sm_90", 90, None), target("sm_100", 100, None), target("sm_100a", 100, ARCHITECTURE), target("sm_100f", 100, FAMILY)]
        {
            let (message, help) = needs.missing(&other).expect("it lacks it");
            assert_eq!(message, format!("needs sm_90a, and the target is {}", other.name));
            assert_eq!(help, "choose the target sm_90a: no other has it, later ones included");
        }
    }

    #[test]
    fn what_a_family_has_its_later_capabilities_have() {
        let needs = Requirement { variant: FAMILY, ..Requirement::since(100, 88) };
        for has in [target("sm_100f", 100, FAMILY), target("sm_103f", 103, FAMILY), target("sm_103a", 103, ARCHITECTURE)] {
            assert_eq!(needs.missing(&has), None, "{}", has.name);
        }
        for lacks in [target("sm_100", 100, None), target("sm_90a", 90, ARCHITECTURE), target("sm_120f", 120, FAMILY)] {
            let (message, help) = needs.missing(&lacks).expect("it lacks it");
            assert_eq!(message, format!("needs sm_100f, and the target is {}", lacks.name));
            assert_eq!(help, "choose sm_100f, or a later target of its family");
        }
    }
}
