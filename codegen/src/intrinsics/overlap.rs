//! Kernels of a stream that overlap: what the pass `overlap` places in a kernel that may begin before the one before it has ended.
//!
//! A launch that asks for nothing begins when all before it has ended: there is nothing to wait for then, and the next launch begins at the kernel's end (PTX ISA, "griddepcontrol").

use crate::ir::intrinsic::{Body, Call, Class, DeviceForm, Eval, Intrinsic, PtxForm};
use crate::ir::{Effects, MemoryOrder, Scope};
use crate::target::Requirement;

/// What a target needs to begin a kernel before the one before it has ended.
pub(crate) const OVERLAP: Requirement = Requirement::since(90, 78);

const fn row(name: &'static str, ptx: &'static [PtxForm], order: MemoryOrder) -> Intrinsic {
    let body = Body::Device(DeviceForm { ptx, opencl: ";", opencl_prelude: "", eval: Eval::Fence(order) });
    Intrinsic::new(name, Call::Pass, Class::None, &[], &[], body).effects(Effects::fence(Scope::Device))
}

pub(super) const ROWS: &[Intrinsic] = &[
    row("await_earlier", &[PtxForm { types: &[], text: "griddepcontrol.wait;", needs: OVERLAP }], MemoryOrder::AcqRel)
        .doc("waits until the kernels before this one in the stream are done; what they wrote is seen behind it"),
    row("admit_next", &[PtxForm { types: &[], text: "griddepcontrol.launch_dependents;", needs: OVERLAP }], MemoryOrder::AcqRel)
        .doc("the next kernel of the stream may begin, as soon as a thread of every block has said so or the block has ended"),
];
