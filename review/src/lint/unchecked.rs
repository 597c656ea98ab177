//! `unchecked`: something that a kernel asks to be checked is not. Found where kernels are reviewed.

use super::Lint;

pub(super) const LINT: Lint = Lint {
    name: "unchecked",
    summary: "a requirement, a variant or a kernel is not checked",
    of_machine: false,
    page: include_str!("unchecked.md"),
    check: |_, _| {},
};
