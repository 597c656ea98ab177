//! `best_effort`: an annotation could not be kept, and was asked for only if it can be. Found where annotations are kept.

use super::Lint;

pub(super) const LINT: Lint = Lint {
    name: "best_effort",
    summary: "an annotation that says `best_effort` is not kept",
    of_machine: false,
    page: include_str!("best_effort.md"),
    check: |_, _| {},
};
