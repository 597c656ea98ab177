//! What of a kernel OpenCL devices cannot run, for whoever asks while it is compiled.
//!
//! Two things: what OpenCL C has no words for, which printing finds; and exchanges of a warp whose lanes may have parted. Those can be printed, and
//! give what they should where the lanes have not. But a kernel that is to run on any OpenCL device must not hang on how this device
//! treats a warp that is split: nothing there is like the lanes of NVIDIA's devices that wait for each other.

use super::forms;
use crate::analysis::access::uniform_in_warps;
use crate::analysis::parting::{Parting, partings};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Inst, Kernel, Loc, Op};
use crate::pipeline::Legal;
use proc_macro2::Span;

/// Everything that keeps a `Legal` kernel from OpenCL devices, each at its place. Empty: it runs there.
pub(super) fn refusals(kernel: &Legal, span: &dyn Fn(Loc) -> Span) -> Diagnostics {
    let mut found = forms::refusals(kernel, span);
    found.extend(split_exchanges(kernel, span));
    found
}

/// The exchanges that the lanes of a warp may not all come to, with what parts them. `None`: the kernel has no exchanges.
pub(super) fn parted_exchanges(kernel: &Kernel) -> Option<Vec<(Inst, Parting)>> {
    let is_exchange = |op: &Op| op.effects(kernel).is_of_warp();
    let mut has_exchanges = false;
    kernel.for_each_inst(|kernel, _, inst| has_exchanges |= is_exchange(&kernel.insts[inst].op));
    has_exchanges.then(|| partings(kernel, &uniform_in_warps(kernel), &is_exchange))
}

/// The exchanges that the lanes of a warp may not all come to, each call of the source once.
fn split_exchanges(kernel: &Kernel, span: &dyn Fn(Loc) -> Span) -> Vec<Diagnostic> {
    let mut said: Vec<Loc> = Vec::new();
    let mut found = Vec::new();
    for (inst, parting) in parted_exchanges(kernel).unwrap_or_default() {
        let loc = kernel.insts[inst].loc;
        if !said.contains(&loc) {
            said.push(loc);
            found.push(split_exchange(kernel.called(inst), span(loc), parting, span(kernel.insts[parting.inst()].loc)));
        }
    }
    found
}

fn split_exchange(name: &str, at: Span, parting: Parting, by: Span) -> Diagnostic {
    let place = match parting {
        Parting::Condition(_) => "under a condition",
        Parting::Loop(_) => "in a loop",
        Parting::Exit(_) => "behind an exit",
    };
    let (label, edit) = parting.of_warp(name);
    let message = format!("`{name}` is {place} that may split a warp; the target `opencl` needs all lanes of the warp to reach it");
    Diagnostic::error(at, message).label(by, label).help(edit)
}

#[cfg(test)]
mod tests;
