//! What no target changes: memory, accesses, branches.

use super::launched::Launched;
use warpwright_codegen::analysis::access::{self, AccessFact, AccessPatterns, BranchFact, Race, Races};
use warpwright_codegen::ir::{Kernel, MemoryType, ObjectKind};

/// What holds for a variant on every target.
#[derive(Clone, Debug)]
pub struct VariantFacts {
    /// Bytes of memory by space.
    pub memory: MemoryUse,
    /// Every access to global, shared and constant memory, in program order.
    pub accesses: Vec<AccessFact>,
    /// Every branch, of an `if` and of a `for`, in program order.
    pub branches: Vec<BranchFact>,
    /// Shared elements that two threads touch with no barrier between.
    pub races: Vec<Race>,
}

/// Bytes of memory that a kernel asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Static shared arrays of a block, padding included. Where a kernel has several forms, the most that one takes.
    pub shared: u64,
    /// Bytes of an element of the dynamic shared array; `None` if there is none.
    pub dynamic_shared_element: Option<u64>,
    /// Constant parameters and tables.
    pub constant: u64,
    /// Arrays of a thread that are in local memory.
    pub local: u64,
}

impl VariantFacts {
    /// Gathers them from a kernel of stage `Legal`, for any launch.
    pub fn of(kernel: &Kernel) -> VariantFacts {
        VariantFacts::of_launched(kernel, &Launched::default(), Races::Sought)
    }

    /// The same for a launch, as far as it is known.
    pub fn of_launched(kernel: &Kernel, launched: &Launched, races: Races) -> VariantFacts {
        let AccessPatterns { accesses, branches, races } = access::analyse_launched(kernel, &launched.numbers, launched.grid, races);
        VariantFacts { memory: MemoryUse::of(kernel), accesses, branches, races }
    }
}

impl MemoryUse {
    /// What a kernel takes, in its form for all machines or another.
    pub fn of(kernel: &Kernel) -> MemoryUse {
        let mut memory = MemoryUse::default();
        for object in kernel.objects.values() {
            let bytes = object.ty.size(&kernel.structs);
            match (&object.kind, &object.ty) {
                (ObjectKind::Shared, MemoryType::Slice(element)) => memory.dynamic_shared_element = Some(element.size(&kernel.structs)),
                (ObjectKind::Shared, _) => memory.shared += bytes,
                (ObjectKind::Constant | ObjectKind::Table(_), _) => memory.constant += bytes,
                (ObjectKind::Local, _) => memory.local += bytes,
                // Those of a cluster's blocks are each block's own.
                (ObjectKind::Value | ObjectKind::Global { .. } | ObjectKind::Texture | ObjectKind::Peers(_), _) => {}
            }
        }
        memory
    }
}
