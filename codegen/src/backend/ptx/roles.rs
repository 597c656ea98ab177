//! Kernels with a producer: what stands before the instructions of a role, and the barriers of the work's threads.
//!
//! Before the roles part, barriers are of all threads, and have the number 0. Within the work, `bar.sync 0` would wait for the producer's threads, which do not come: barriers there have the
//! number 1, and count the declared block's threads. Those of a warpgroup have the numbers behind.

use super::code::{Operand, RegisterClass};
use super::emitter::{Emitter, ptx};
use crate::analysis::moved_registers::{MOVE_REGISTERS, MovedRegisters};
use crate::ir::{Scalar, Type, Value, WARPGROUP};

/// The barrier of the work's threads.
const OF_WORK: i64 = 1;

/// That of the first warpgroup; those of the others follow.
const OF_WARPGROUPS: u32 = 2;

impl Emitter<'_> {
    /// What stands before the instructions of a role.
    pub(super) fn role_begins(&mut self, is_work: bool) {
        self.is_work = is_work;
        let Some(moved) = MovedRegisters::of(self.kernel, self.target) else { return };
        self.needs(MOVE_REGISTERS.ptx_version);
        if is_work {
            ptx!(self, Setmaxnreg.Inc.Sync.Aligned.U32 moved.work);
        } else {
            ptx!(self, Setmaxnreg.Dec.Sync.Aligned.U32 moved.producer);
        }
    }

    /// The operands that say which barrier is meant: its number, and the threads that come to it if these are not all.
    pub(super) fn barrier_operands(&self) -> Vec<Operand> {
        let number = |n: i64| Operand::Constant(Scalar::int(Type::I64, n.into()));
        match self.kernel.options.block {
            Some(block) if self.is_work => vec![number(OF_WORK), number(block.iter().map(|n| i64::from(*n)).product())],
            _ => vec![number(0)],
        }
    }

    /// The threads of a warpgroup meet.
    pub(super) fn meet(&mut self, warpgroup: Value) {
        let (group, number) = (self.in_register(warpgroup), self.temp(RegisterClass::Word));
        ptx!(self, Add.U32 number, group, OF_WARPGROUPS);
        ptx!(self, Bar.Sync number, WARPGROUP as u32);
    }
}
