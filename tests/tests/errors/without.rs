//! What has no example, and why.

use warpwright::Error;
use warpwright_runtime::sim::FaultKind;
use warpwright_tests::messages::texts::Text;

/// Errors without an example: with what they say, and why.
pub(super) fn errors() -> Vec<(Error, &'static str)> {
    let reason = "it is not as it was checked to be (at `src/launch.rs:118`); this is a mistake of warpwright's own: please report it";
    let internal = Error::Internal { of: "saxpy".to_owned(), reason: reason.to_owned() };
    vec![(internal, "nothing is known to lead to it: what is said of all that was checked before")]
}

/// Faults without an example: the same.
pub(super) const FAULTS: &[(FaultKind, &str)] = &[(FaultKind::IntervalLimit, "2³² barriers in one launch take days")];

/// A text without an example: its file, how it or a part of it begins, and why.
pub(super) type Without = (&'static str, &'static str, &'static str);

/// Whether a row is about a text.
pub(super) fn is_about((file, begins, _): &Without, text: &Text) -> bool {
    text.file == *file && text.begins(begins)
}

/// Texts of the command without an example.
pub(super) const OF_COMMAND: &[Without] = &[(
    "src/cli/mod.rs",
    "this is a mistake of warpwright's own: please report it",
    "nothing is known to lead to it; a test in `src/cli/mod.rs` has work that panics",
)];

/// Where texts of the runtime and of the library of staples stand that are no errors of a program: a file or a folder, and what they are.
pub(super) const NO_ERRORS: &[(&str, &str)] = &[
    ("kernels/src/staples/tuned.rs", "names of variants"),
    ("runtime/src/inspect", "reports of launches"),
    ("runtime/src/issue_order.rs", "reports of machine code"),
    ("runtime/src/opencl/sub_groups.rs", "a kernel that asks a device what its sub-groups do"),
    ("runtime/src/prelude/block.rs", "documentation of fences"),
    ("runtime/src/report.rs", "reports of launches"),
    ("runtime/src/sim/counters.rs", "reports of simulations"),
    ("runtime/src/timing.rs", "reports of times"),
];

/// Texts that are no errors, in files that have others: what they are.
pub(super) const NO_ERROR_TEXTS: &[Without] = &[
    ("runtime/src/ptxas.rs", " bytes stack frame", "what `ptxas` says"),
    ("runtime/src/ptxas.rs", " bytes spill stores", "what `ptxas` says"),
    ("runtime/src/ptxas.rs", " bytes spill loads", "what `ptxas` says"),
    ("runtime/src/ptxas.rs", " bytes smem", "what `ptxas` says"),
    ("runtime/src/ptxas.rs", "instructions are serialized", "what `ptxas` says"),
    ("runtime/src/ptxas.rs", "warpwright-", "a file's name"),
];

/// Why the texts of systems that the tests do not run on have none.
const OF_ANOTHER_SYSTEM: &str = "it is said on that system; a test in `runtime/src/libraries.rs` has what each is told";

/// Texts of the runtime and of the library of staples without an example.
pub(super) const OF_RUNTIME: &[Without] = &[
    ("runtime/src/arguments.rs", "by-value parameters are handed", "stops the build, on hosts that are big-endian"),
    ("runtime/src/error.rs", "it is not as it was checked to be", "nothing is known to lead to it; see above"),
    ("runtime/src/libraries.rs", "NVIDIA has no driver for macOS", OF_ANOTHER_SYSTEM),
    ("runtime/src/libraries.rs", "NVIDIA has no NCCL for macOS", OF_ANOTHER_SYSTEM),
    ("runtime/src/libraries.rs", "NVIDIA has no NCCL for Windows", OF_ANOTHER_SYSTEM),
    ("runtime/src/sim/error.rs", ", called at", "of functions of two files; a test in `tests/tests/simulated/calls.rs` has some"),
    ("runtime/src/sim/fault_text.rs", "more than 2^32 barrier intervals", "2³² barriers in one launch take days; see above"),
];
