//! Waiting for copies that are on their way: what the pass `pipeline` places round the stores to its rings.
//!
//! A target that copies by itself makes of such a store a `cp.async`. On all others the store is one like any other and has arrived when the next
//! instruction runs, so there is nothing to wait for.

use crate::ir::intrinsic::OperandType::Is;
use crate::ir::intrinsic::{Body, Call, Class, CopyStep, DeviceForm, Eval, Intrinsic, OperandType, PtxForm};
use crate::ir::{Completion, Effects, Scope, Type};
use crate::target::Requirement;

/// What a target needs to copy from global to shared memory by itself.
pub(crate) const ASYNC_COPIES: Requirement = Requirement::since(80, 70);

/// What a target needs to have a copy engine: `cp.async.bulk` and the barriers that count its bytes.
pub(crate) const ENGINE: Requirement = Requirement::since(90, 80);

const fn row(
    name: &'static str,
    args: &'static [OperandType],
    ptx: &'static [PtxForm],
    step: CopyStep,
    completes: Completion,
) -> Intrinsic {
    let body = Body::Device(DeviceForm { ptx, opencl: ";", opencl_prelude: "", eval: Eval::Copies(step) });
    Intrinsic::new(name, Call::Pass, Class::None, args, &[], body).effects(Effects { completes, ..Effects::fence(Scope::Block) })
}

macro_rules! form {
    ($text:literal) => {
        &[PtxForm { types: &[], text: $text, needs: ASYNC_COPIES }, PtxForm { types: &[], text: "", needs: Requirement::since(20, 20) }]
    };
}

pub(super) const ROWS: &[Intrinsic] = &[
    row("commit_copies", &[], form!("cp.async.commit_group;"), CopyStep::Commit, Completion::Now)
        .doc("makes a group of this thread's copies since the last one"),
    row("await_copies", &[Is(Type::U32)], form!("cp.async.wait_group {#0};"), CopyStep::Await, Completion::Awaits)
        .doc("waits for this thread's groups of copies, but for so many of the last"),
];
