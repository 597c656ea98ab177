//! Products that tensor cores make on every target a kernel is looked at for. Facts are of the form that all machines have, in which threads load the factors and multiply one by one: what that form does at
//! such a place, no target does.

use super::Subject;
use std::collections::HashSet;
use warpwright_codegen::ir::{Inst, Kernel, Loc, Op, Tensor};

/// Where they stand.
pub(super) fn places(subject: &Subject<'_>) -> HashSet<Loc> {
    let legal = &subject.known.legal;
    let of_target = subject.known.targets.iter().map(|on| of(legal.on_device(on.target)));
    of_target.reduce(|all, one| all.intersection(&one).copied().collect()).unwrap_or_default()
}

fn of(kernel: &Kernel) -> HashSet<Loc> {
    let is_product = |inst: &Inst| matches!(kernel.insts[*inst].op, Op::Tensor(Tensor::Mma { .. } | Tensor::WarpgroupMma { .. }));
    kernel.insts_in(kernel.body).filter(is_product).map(|inst| kernel.insts[inst].loc).collect()
}
