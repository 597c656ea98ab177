//! What has no example, and why.

use warpwright::Error;
use warpwright_runtime::sim::FaultKind;
use warpwright_tests::messages::texts::Text;

/// Errors without an example: with what they say, and why.
pub(super) fn errors() -> Vec<(Error, &'static str)> {
    let refused = Error::DeviceCompiler {
        kernel: "saxpy",
        compiler: "the CUDA driver's assembler (CUDA 12.4)".to_owned(),
        code: "CUDA_ERROR_INVALID_PTX (218)".to_owned(),
        log: "ptxas application ptx input, line 20; fatal : Parsing error near '}': syntax error".into(),
    };
    vec![(refused, "takes a driver that refuses what the compiler emits, which would be a mistake of the compiler")]
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
pub(super) const OF_COMMAND: &[Without] = &[
    ("src/cli/compare/page/mod.rs", "the page cannot be made: ", "a mistake in a template of ours, which a test of the page finds"),
    ("src/cli/compare/revision.rs", "` cannot be made: ", "names the process and the commit"),
    ("src/cli/launch/mod.rs", "` has no value", "names are looked at before"),
    ("src/cli/launch/values.rs", "would have ", "names how much memory the machine has left"),
    ("src/cli/launch/variant.rs", "` is no number of the kernel's", "names are looked at before"),
    ("src/cli/mod.rs", "this is a mistake of warpwright's own; please report it", "nothing is known to lead to it"),
    ("src/cli/mod.rs", "no thread can be started: ", "the machine has no room for a thread"),
    ("src/cli/mod.rs", "the output cannot be written: ", "`command_terminal` writes to a full device"),
];

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

/// Files of the runtime whose texts without an example are so for one reason.
pub(super) const FILES: &[(&str, &str)] = &[
    ("runtime/src/collective/meeting.rs", "needs NCCL: ranks of several programs are GPUs"),
    ("runtime/src/collective/nccl.rs", "needs NCCL"),
    ("runtime/src/collective/watch.rs", "needs NCCL, and a rank that is lost"),
    ("runtime/src/cudarc.rs", "needs a GPU of NVIDIA's: `cudarc` calls more of the driver than its stand-in has"),
    ("runtime/src/nvdisasm.rs", "needs NVIDIA's disassembler"),
    ("runtime/src/opencl", "needs an OpenCL driver, which there is not everywhere"),
    ("runtime/src/ptxas.rs", "needs NVIDIA's assemblers, of versions that lack something"),
    ("runtime/src/sim/compile", "kernels are checked before they come here: would be a mistake of the compiler"),
    ("runtime/src/sim/launch.rs", "launches are checked before they come here: would be a mistake of the runtime"),
];

/// Texts of the runtime and of the library of staples without an example.
pub(super) const OF_RUNTIME: &[Without] = &[
    ("runtime/src/arguments.rs", "by-value parameters are handed", "the library does not compile for such a host"),
    ("runtime/src/collective/in_process.rs", "has no collectives", "needs an OpenCL driver, which there is not everywhere"),
    ("runtime/src/collective/in_process.rs", "it was not done", "nothing is known to lead to it"),
    ("runtime/src/cuda/api.rs", "the driver sees no GPU", "needs a driver without a GPU"),
    ("runtime/src/cuda/api.rs", "the library is there, but cuInit failed", "needs a driver that does not start"),
    ("runtime/src/cuda/api.rs", "CUDA error ", "needs a driver that has no name for its error"),
    ("runtime/src/cuda/graph.rs", "graphs, which need CUDA 11.4", "needs a driver that has no graphs: the stand-in's oldest has"),
    ("runtime/src/cuda/graph.rs", "it was compiled for another device", "devices are compared before"),
    ("runtime/src/cuda/mod.rs", "has compute capability ", "needs a GPU older than sm_70"),
    ("runtime/src/cuda/mod.rs", "it ran longer than the display driver allows", "a kernel that runs for minutes"),
    ("runtime/src/cuda/mod.rs", "its stack overflowed or was corrupted", "kernels have no stack that grows"),
    (
        "runtime/src/cuda/mod.rs",
        "it trapped: an assertion or a bounds check failed",
        "needs a GPU: the stand-in tells assertions by another code",
    ),
    (
        "runtime/src/cuda/mod.rs",
        "it accessed memory at an address that is not",
        "buffers begin, and vectors are read, at multiples of their width",
    ),
    (
        "runtime/src/cuda/mod.rs",
        "it trapped, or accessed shared or local memory",
        "needs a GPU: the stand-in tells such accesses by another code",
    ),
    ("runtime/src/cuda/module.rs", "the launch of kernel `", "launches are checked before the driver gets them"),
    ("runtime/src/cuda/module.rs", "no cluster of ", "needs a GPU whose multiprocessors are too small for a cluster"),
    ("runtime/src/cuda/module.rs", "this kernel, with the registers it takes, on ", "needs a GPU's assembler, which counts registers"),
    ("runtime/src/cuda/module.rs", "use a smaller block, or write `#[kernel(block", "the same"),
    ("runtime/src/cuda/module.rs", "parameter `", "would be a mistake of the runtime"),
    ("runtime/src/cuda/module.rs", "the CUDA driver's assembler (CUDA ", "would be a mistake of the compiler; see above"),
    ("runtime/src/cuda/module.rs", "loading kernel `", "needs a driver that fails"),
    ("runtime/src/cuda/module.rs", "of unknown version", "all PTX says its version"),
    ("runtime/src/cuda/queue.rs", "a stream was to wait for one of another kind", "devices are compared before"),
    (
        "runtime/src/cuda/tensor_map.rs",
        "not found",
        "needs a driver of CUDA 11.8 on a GPU that has tensor copies, and it refuses their PTX first",
    ),
    ("runtime/src/cuda/tensor_map.rs", "the driver is older than CUDA 12.0", "the same"),
    ("runtime/src/cuda/texture.rs", "CUDA's arrays do not hold it", "textures are checked before the driver gets them"),
    ("runtime/src/driver.rs", "memory was to be copied from a device", "devices that are not connected copy over the host"),
    ("runtime/src/driver.rs", "a device without peers", "the same"),
    ("runtime/src/driver.rs", "its text holds a zero byte", "nothing that is emitted has one"),
    ("runtime/src/error.rs", " refused kernel `", "would be a mistake of the compiler; see above"),
    ("runtime/src/foreign.rs", "has no addresses that other libraries", "needs an OpenCL driver, which there is not everywhere"),
    ("runtime/src/instance.rs", " arguments for ", "the macro writes as many"),
    ("runtime/src/instance.rs", "has ", "`#[device]` asks for `#[repr(C)]` before"),
    ("runtime/src/launch.rs", "the device timed no run", "no runs are refused before"),
    ("runtime/src/sim/engine.rs", "counts ", "one arrival more than one; see above"),
    ("runtime/src/sim/error.rs", "kernel `", "would be a mistake of the compiler"),
    ("runtime/src/sim/error.rs", "launch of `", "would be a mistake of the runtime"),
    ("runtime/src/sim/error.rs", "output of kernel `", "what kernels print goes to standard output, which is closed there"),
    (
        "runtime/src/sim/error.rs",
        "; that thread has waited for the copy",
        "a barrier that the compiler puts there; it would be its mistake",
    ),
    ("runtime/src/sim/error.rs", "; that thread has waited until it was read", "the same"),
    (
        "runtime/src/sim/error.rs",
        "; it may still run, since that warp has not",
        "a wait that the compiler puts there; it would be its mistake",
    ),
    ("runtime/src/sim/error.rs", "more than 2^32 barrier intervals", "2³² barriers in one launch take days; see above"),
    ("runtime/src/sim/error.rs", "that access", "every access has a line"),
    ("runtime/src/sim/error.rs", "another line", "every atomic has a line"),
    ("runtime/src/sim/error.rs", "have left the loop and wait", "several threads, where one is shown"),
    ("runtime/src/sim/error.rs", "1 more block has", "one block, where several are shown"),
    ("runtime/src/tensor.rs", " bytes behind a multiple of ", "every buffer begins at a multiple of 16 bytes"),
    ("runtime/src/timed.rs", "the device timed no run", "no runs are refused before"),
    ("runtime/src/twin/panics.rs", "the kernel panicked", "kernels panic with a text"),
    ("runtime/src/twin/panics.rs", "attempt to ", "the standard library's words; these tests are built without overflow checks"),
    ("runtime/src/twin/panics.rs", " with overflow", "the same"),
    ("runtime/src/twin/panics.rs", "the device wraps here; write `wrapping_", "these tests are built without overflow checks"),
    ("runtime/src/twin/schedule.rs", "no memory for the stacks of the ", "the machine has no memory left"),
];
