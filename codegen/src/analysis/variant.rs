//! Whether a kernel has instructions that a variant of a target has, and the target itself has not.

use super::moved_registers::MovedRegisters;
use crate::intrinsics::WARPGROUPS;
use crate::ir::{Engine, Inst, Kernel, Op, Tensor};
use crate::target::{ArchitectureVariant, Requirement, Target};

/// Whether a kernel that is printed for `variant` (`sm_90a`) has an instruction that is not in what it is a variant of.
pub(crate) fn needs_variant(kernel: &Kernel, variant: &Target) -> bool {
    let mut needs = MovedRegisters::of(kernel, variant).is_some();
    kernel.for_each_inst(|kernel, _, inst| {
        needs |= requirement(kernel, inst, variant).is_some_and(|requirement| requirement.variant.is_some());
    });
    needs
}

/// What `.multicast::cluster` needs to be fast: it is "optimized for target architecture sm_90a", and may be much slower elsewhere (PTX ISA, "cp.async.bulk.tensor").
const FAST_MULTICAST: Requirement = Requirement { variant: Some(ArchitectureVariant::Architecture), ..Requirement::since(90, 80) };

/// What an instruction needs, in the spelling that it has on a target.
fn requirement(kernel: &Kernel, inst: Inst, target: &Target) -> Option<Requirement> {
    let data = &kernel.insts[inst];
    if matches!(data.op, Op::Tensor(Tensor::WarpgroupMma { .. } | Tensor::Await { .. })) {
        return Some(WARPGROUPS);
    }
    if matches!(data.op, Op::Engine(Engine::CopyTile { share: Some(_), .. })) {
        return Some(FAST_MULTICAST);
    }
    let Op::Intrinsic(id, args) = &data.op else { return None };
    let ty = args.first().or(data.results.first()).map(|value| kernel.ty(*value));
    id.row().device()?.ptx_on(target, ty).map(|form| form.needs)
}
