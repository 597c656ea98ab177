//! Registers that move from the producer's threads, which need few, to the others, where a kernel has a producer: `setmaxnreg`, on `sm_90a`.
//!
//! It means something only where a multiprocessor holds one block, whole warpgroups of threads: what these begin with is all that there is. The assembler takes it only beside a bound
//! for the kernel (`.maxnreg`), and ignores it otherwise (C7508); code behind it has the registers that it names (`ptxas` 12.9, 13).

use crate::ir::{Kernel, ObjectKind, PRODUCER_THREADS, Roles};
use crate::target::{ArchitectureVariant, Requirement, Target};

/// What moving registers needs.
pub(crate) const MOVE_REGISTERS: Requirement =
    Requirement { variant: Some(ArchitectureVariant::Architecture), ..Requirement::since(90, 80) };

/// What registers are counted in where they are moved.
const UNIT: u32 = 8;

/// Registers of a thread of the producer, and of one of the work, by warpgroups of the work: the work has as many as a multiple of 8 allows, so that all have no more than where the kernel
/// begins. One warpgroup has as many as a thread can address anyway.
const SPLITS: [(u32, u32, u32); 5] = [(2, 40, 232), (3, 32, 160), (4, 32, 112), (5, 40, 88), (6, 24, 80)];

/// How registers are moved between the roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MovedRegisters {
    /// Those of every thread where the kernel begins: the kernel's bound.
    pub entry: u32,
    /// Those of a thread of the producer then.
    pub producer: u32,
    /// Those of a thread of the work.
    pub work: u32,
}

impl MovedRegisters {
    /// How they are moved in a kernel on a target; nothing where they stay as they are.
    pub fn of(kernel: &Kernel, target: &Target) -> Option<MovedRegisters> {
        let options = &kernel.options;
        let threads = options.block?.iter().product::<u32>();
        // Whoever does nothing gives nothing.
        let works = |roles: Roles| kernel.blocks[roles.producer].insts.len() > 1;
        if !MOVE_REGISTERS.is_met_by(target) || options.max_registers.is_some() || !kernel.roles().is_some_and(works) {
            return None;
        }
        let &(warpgroups, producer, work) = SPLITS.iter().find(|(warpgroups, ..)| warpgroups * PRODUCER_THREADS == threads)?;
        let shared = kernel.objects.values().filter(|data| data.kind == ObjectKind::Shared);
        let shared: u64 = shared.map(|data| data.ty.size(&kernel.structs)).sum();
        let is_alone = options.min_blocks.map_or(2 * shared > u64::from(target.limits.shared), |blocks| blocks == 1);
        let entry = target.limits.registers / ((warpgroups + 1) * PRODUCER_THREADS) / UNIT * UNIT;
        is_alone.then_some(MovedRegisters { entry, producer, work })
    }
}

#[cfg(test)]
mod tests {
    use super::{SPLITS, UNIT};
    use crate::ir::PRODUCER_THREADS;
    use crate::target::Target;

    #[test]
    fn a_block_has_no_more_registers_than_it_begins_with() {
        let registers = Target::find("sm_90a").expect("a target").limits.registers;
        for (warpgroups, producer, work) in SPLITS {
            let entry = registers / ((warpgroups + 1) * PRODUCER_THREADS) / UNIT * UNIT;
            assert!(producer + warpgroups * work <= entry * (warpgroups + 1), "{warpgroups}");
            assert!(producer < entry && entry < work && [producer, work].iter().all(|n| n.is_multiple_of(UNIT)), "{warpgroups}");
            // One more unit each would be too much.
            assert!(24 + warpgroups * (work + UNIT) > entry * (warpgroups + 1) || warpgroups == 2, "{warpgroups}");
        }
    }
}
