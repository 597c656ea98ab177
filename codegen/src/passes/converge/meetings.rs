//! Meetings: every thread comes, and what a thread outside the mask passes contributes nothing.

use super::Converge;
use crate::intrinsics::{called, function};
use crate::ir::intrinsic::{Absent, IntrinsicId};
use crate::ir::{BinaryOp, Inst, Op, Type, Value};

impl Converge<'_> {
    /// Brings all threads to a meeting, of which those of `on` take part.
    pub(super) fn meet(&mut self, inst: Inst, on: Value) {
        self.rewrite.resolve_operands(inst);
        let Op::Intrinsic(row, args) = self.kernel().insts[inst].op.clone() else { return };
        let results = self.kernel().insts[inst].results.clone();
        self.masked.extend(&results);
        let absent = if on == self.yes { Absent::Anything } else { row.row().meeting.map_or(Absent::Anything, |meeting| meeting.absent) };
        let passed = match absent {
            Absent::No => Some(self.and(on, args[0])),
            Absent::Yes => {
                let off = self.not(on);
                Some(self.or(off, args[0]))
            }
            Absent::CutOut | Absent::Anything => None,
        };
        if let Some(passed) = passed {
            self.rewrite.kernel.insts[inst].op = Op::Intrinsic(row, vec![passed]);
        }
        self.rewrite.keep(self.at, inst);
        if let (Absent::CutOut, Some(present)) = (absent, function(called::BALLOT)) {
            let present = self.builder().intrinsic(present, vec![on], Type::U32);
            let lanes = self.builder().binary(BinaryOp::And, results[0], present);
            self.stand_for(results[0], lanes);
        }
    }

    /// Whether any thread of the block passes `true`.
    pub(super) fn anyone(&mut self, wants: Value) -> Value {
        let row: IntrinsicId = function(called::SYNC_THREADS_OR).unwrap_or_else(|| unreachable!("the table has it"));
        self.builder().intrinsic(row, vec![wants], Type::Bool)
    }
}
