//! Meetings: every thread comes, and what a thread outside the mask passes contributes nothing.

use super::Converge;
use crate::intrinsics::{Row, RowId, function};
use crate::ir::{BinaryOp, Inst, Op, Type, Value};

/// What a thread that takes no part passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    /// `false`: it votes for nothing.
    No,
    /// `true`: it objects to nothing.
    Yes,
    /// Anything: it is cut out of the resulting set of lanes.
    CutOut,
    /// Anything: nobody may ask for its value.
    Anything,
}

const ABSENT: &[(&str, Absent)] = &[
    ("shuffle", Absent::Anything),
    ("shuffle_up", Absent::Anything),
    ("shuffle_down", Absent::Anything),
    ("shuffle_xor", Absent::Anything),
    ("ballot", Absent::No),
    ("any", Absent::No),
    ("all", Absent::Yes),
    ("match_any", Absent::CutOut),
    ("sync_warp", Absent::Anything),
    ("sync_threads", Absent::Anything),
    ("sync_threads_count", Absent::No),
    ("sync_threads_and", Absent::Yes),
    ("sync_threads_or", Absent::No),
];

fn absent(row: &Row) -> Absent {
    ABSENT.iter().find(|(name, _)| *name == row.name).map_or(Absent::Anything, |(_, absent)| *absent)
}

impl Converge<'_> {
    /// Brings all threads to a meeting, of which those of `on` take part.
    pub(super) fn meet(&mut self, inst: Inst, on: Value) {
        self.rewrite.resolve_operands(inst);
        let Op::Intrinsic(row, args) = self.kernel().insts[inst].op.clone() else { return };
        let results = self.kernel().insts[inst].results.clone();
        self.masked.extend(&results);
        let absent = if on == self.yes { Absent::Anything } else { absent(row.row()) };
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
        if let (Absent::CutOut, Some(present)) = (absent, function("ballot")) {
            let present = self.builder().intrinsic(present, vec![on], Type::U32);
            let lanes = self.builder().binary(BinaryOp::And, results[0], present);
            self.stand_for(results[0], lanes);
        }
    }

    /// Whether any thread of the block passes `true`.
    pub(super) fn anyone(&mut self, wants: Value) -> Value {
        let row: RowId = function("sync_threads_or").unwrap_or_else(|| unreachable!("the table has `sync_threads_or`"));
        self.builder().intrinsic(row, vec![wants], Type::Bool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsics::rows;

    #[test]
    fn every_meeting_says_what_an_absent_thread_passes() {
        let meetings = rows().filter(|row| row.device().is_some() && row.effects.is_convergent());
        let missing: Vec<&str> = meetings.map(|row| row.name).filter(|name| !ABSENT.iter().any(|(known, _)| known == name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
