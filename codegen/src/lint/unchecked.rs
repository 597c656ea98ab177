//! `unchecked`: something that a kernel asks to be checked is not. Found where kernels are reviewed.

use super::Lint;
use crate::diagnostic::Level;

pub(super) const LINT: Lint = Lint {
    name: "unchecked",
    level: Some(Level::Warning),
    summary: "a contract, a variant or a kernel is not checked here",
    of_machine: false,
    page: include_str!("unchecked.md"),
    check: |_, _| {},
};
