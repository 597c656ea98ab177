//! What a block of a kernel asks of a multiprocessor, and the occupancy that follows: [`warpwright_codegen::target::occupancy`] is the arithmetic.

use super::MemoryUse;
use warpwright_codegen::ir::{Kernel, Op, with_producer};
use warpwright_codegen::target::Target;
use warpwright_codegen::target::occupancy::{Demand, Occupancy, Options, occupancy};

/// The occupancy of a kernel of stage `Legal` with this many registers and bytes of dynamic shared memory, if its attribute fixes the block.
pub fn of_kernel(kernel: &Kernel, registers: u32, dynamic_shared: u32, target: &'static Target) -> Option<Occupancy> {
    let demand = demand_of(kernel, registers, kernel.options.block?, dynamic_shared)?;
    Some(occupancy(target.limits, &demand, &Options::default()))
}

/// What a block of a kernel of stage `Legal` asks for in a launch with this block, a producer's threads included that the launch adds, and so many bytes of
/// dynamic shared memory. `None` if a figure is beyond anything a launch can have.
pub fn demand_of(kernel: &Kernel, registers: u32, block: [u32; 3], dynamic_shared: u32) -> Option<Demand> {
    let block = if kernel.has_producer() { with_producer(block)? } else { block };
    let threads = block.iter().try_fold(1u32, |threads, side| threads.checked_mul(*side))?;
    let shared = u32::try_from(MemoryUse::of(kernel).shared).ok()?.checked_add(dynamic_shared)?;
    Some(Demand { threads, registers, shared, barriers: barriers(kernel), virtual_resources: 0 })
}

/// Named barriers of a block: all that this compiler prints are barrier 0, but for those of the work beside a producer.
fn barriers(kernel: &Kernel) -> u32 {
    let is_barrier = |op: &Op| op.effects(kernel).is_barrier();
    let mut insts = kernel.blocks.values().flat_map(|block| &block.insts);
    u32::from(insts.any(|inst| is_barrier(&kernel.insts[*inst].op))) + u32::from(kernel.has_producer())
}
