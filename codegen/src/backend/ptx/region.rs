//! Where shared arrays lie, if a block has more of them than it can without asking for it.
//!
//! Up to 48 KiB, arrays are variables of the kernel. Beyond, a block can have more where the GPU has it (from sm_70 on), as dynamic shared memory alone, for which a launch
//! must ask. So all arrays of fixed length then lie in one region of it, one behind another, and the launch's own dynamic array behind them.

use super::emitter::Emitter;
use crate::collections::HashMap;
use crate::ir::{Kernel, MemoryType, Object, ObjectKind};
use crate::target::Target;

/// What an array of the region begins at multiples of, if it does not need more (`Kernel::far_aligned`).
const ALIGN: u64 = 16;

/// The region, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedRegion {
    /// Where each array begins; the dynamic one behind all others.
    places: HashMap<Object, u64>,
    /// What the arrays of fixed length take.
    pub(super) bytes: u64,
    /// What it begins at multiples of.
    pub(super) align: u64,
}

impl SharedRegion {
    /// Of a kernel on a target; none where its arrays are few enough to be variables.
    pub(super) fn of(kernel: &Kernel, target: &Target) -> Option<SharedRegion> {
        let is_shared = |(_, data): &(Object, &crate::ir::ObjectData)| data.kind == ObjectKind::Shared;
        let mut region = SharedRegion { align: ALIGN, ..SharedRegion::default() };
        let (dynamic, fixed): (Vec<_>, Vec<_>) =
            kernel.objects.iter().filter(is_shared).partition(|(_, data)| matches!(data.ty, MemoryType::Slice(_)));
        let far = kernel.far_aligned();
        let align = |object: Object| far.get(&object).copied().unwrap_or(ALIGN);
        // Those of the largest multiples first: there is little room between them.
        let mut fixed = fixed;
        fixed.sort_by_key(|(object, _)| std::cmp::Reverse(align(*object)));
        for (object, data) in fixed {
            region.align = region.align.max(align(object));
            region.bytes = region.bytes.next_multiple_of(align(object));
            region.places.insert(object, region.bytes);
            region.bytes = (region.bytes + data.ty.size(&kernel.structs).max(1)).next_multiple_of(ALIGN);
        }
        region.places.extend(dynamic.into_iter().map(|(object, _)| (object, region.bytes)));
        (region.bytes > u64::from(target.limits.shared_per_block)).then_some(region)
    }
}

impl Emitter<'_> {
    /// The region's name.
    pub(super) fn region_symbol(&self) -> String {
        format!("{}_shared", self.entry)
    }

    /// Where in the region an object begins, if it is there.
    pub(super) fn place_in_region(&self, object: Object) -> Option<u64> {
        self.region.as_ref()?.places.get(&object).copied()
    }
}
