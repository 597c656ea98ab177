//! Constants of the model, one row for each target that they were fitted for. Printed by `tests/fit_registers.py` from what
//! `cargo run -p warpwright-tests --bin register_data` measures; `docs/registers.md` says how, and how well they do.

/// What is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    /// The target, 10·major + minor.
    capability: u16,
    /// Registers that the assembler takes beyond what is counted, where it does not stop at a step. Below 0: fewer.
    pub(super) offset: i32,
    /// Registers by which a step must have more than is needed, to be chosen.
    pub(super) margin: u32,
    /// How far the interval reaches down and up from the estimate, in sixteenths of [`scale`].
    pub(super) below: u32,
    pub(super) above: u32,
}

/// What errors grow with.
pub(super) fn scale(estimate: u32) -> u32 {
    8 + estimate
}

const fn row(capability: u16, offset: i32, margin: u32, below: u32, above: u32) -> Constants {
    Constants { capability, offset, margin, below, above }
}

/// In order of capability.
const TABLE: &[Constants] = &[
    row(50, 1, 0, 3, 5),
    row(60, 1, 4, 3, 4),
    row(70, 2, 1, 3, 3),
    row(75, 2, 0, 4, 4),
    row(80, 1, 2, 3, 3),
    row(86, 2, 2, 3, 3),
    row(89, 2, 2, 3, 3),
    row(90, 2, 0, 3, 3),
    row(100, 2, 0, 3, 3),
    row(120, 2, 0, 4, 3),
];

impl Constants {
    /// Those of a capability: of the nearest one that is not above it.
    pub(super) fn of(capability: u16) -> Constants {
        TABLE.iter().rev().find(|row| row.capability <= capability).copied().unwrap_or(TABLE[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capability_has_constants() {
        assert!(TABLE.windows(2).all(|pair| pair[0].capability < pair[1].capability));
        assert_eq!(Constants::of(35).capability, 50);
        assert_eq!(Constants::of(87).capability, 86);
        assert_eq!(Constants::of(121).capability, 120);
    }
}
