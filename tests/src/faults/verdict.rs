//! What is thought of a mutant that ran: whether its fault is at the right line, and what is left where it has none.

use super::mistakes::{Edit, Mistake};
use super::mutant::Ran;
use super::names::TouchedLines;
use warpwright_runtime::definition::SourceText;
use warpwright_runtime::sim::{Fault, FaultKind};

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The compiler refuses it, or the launch.
    Refused,
    /// A fault at the line that is changed, or at the read of an element that this line was to write; of a mistake of order, at accesses of the array that it names, or where threads were to
    /// meet.
    AtItsLine,
    /// A fault elsewhere that names the line: its index or its condition comes from it, or it writes what is waited for.
    Named,
    /// Another fault elsewhere: what the mistake led to.
    Behind,
    /// A fault or another result on a weak memory, and nothing without.
    OnWeakMemory,
    /// No fault, and another result.
    WrongResult,
    /// No fault, and the same result.
    SameResult,
}

/// What is judged against.
pub struct Expected<'e> {
    /// What the kernel leaves in its buffers as it is.
    pub memory: &'e [Vec<u8>],
    /// Lines by what they touch, of the kernel's text.
    pub lines: &'e TouchedLines,
    /// The kernel's text.
    pub kernel: SourceText,
    /// The text that is edited: the kernel's, or that of a function that it calls.
    pub edited: SourceText,
}

impl Expected<'_> {
    /// The verdict on a mutant.
    pub fn judge(&self, edit: &Edit, ran: &Ran) -> Verdict {
        match ran {
            Ran::Refused(_) => Verdict::Refused,
            Ran::Ended(memory) if memory == self.memory => Verdict::SameResult,
            Ran::Ended(_) => Verdict::WrongResult,
            Ran::Faulted(fault) if self.is_at_its_line(edit, fault) => Verdict::AtItsLine,
            Ran::Faulted(fault) if self.is_named(edit, fault) => Verdict::Named,
            Ran::Faulted(_) => Verdict::Behind,
        }
    }

    fn is_at_its_line(&self, edit: &Edit, fault: &Fault) -> bool {
        let is_edited = |line: u32| (edit.lines.0..=edit.lines.1).contains(&within(&self.edited, line));
        let is_there = fault.file == self.edited.file;
        if is_there && (is_edited(fault.line) || other_line(&fault.kind).is_some_and(is_edited)) {
            return true;
        }
        // A function that is called in the edited loop, or under the edited condition.
        if fault.calls.iter().any(|call| call.file == self.edited.file && is_edited(call.line)) {
            return true;
        }
        if !edit.mistake.row().is_of_order {
            return self.is_left_unwritten(edit, fault);
        }
        // A line of another file is one of a function that is called.
        let in_kernel = |line: u32| if fault.file == self.kernel.file { within(&self.kernel, line) } else { u32::MAX };
        let touches = |object: &str, line: u32| self.lines.touches(object, in_kernel(line));
        match &fault.kind {
            FaultKind::Race { object, other_line, .. } => {
                touches(object, fault.line) && other_line.is_none_or(|line| touches(object, line))
            }
            FaultKind::Uninitialised { object, .. } | FaultKind::NoPeer { object, .. } => touches(object, fault.line),
            FaultKind::CopyInFlight { object, .. } | FaultKind::StoreInFlight { object, .. } => touches(object, fault.line),
            FaultKind::DivergentBarrier { .. }
            | FaultKind::DivergentWarp { .. }
            | FaultKind::MissingLane { .. }
            | FaultKind::ClusterApart { .. } => edit.mistake == Mistake::EarlyReturn && self.lines.calls(in_kernel(fault.line)),
            // Shared memory that lacks a value that it is to have may hold no index.
            _ => false,
        }
    }

    /// Whether a fault names a changed line among those that it comes from.
    fn is_named(&self, edit: &Edit, fault: &Fault) -> bool {
        let mut places = fault.origins.iter().flat_map(|origin| &origin.places).filter(|place| place.file == self.edited.file);
        places.any(|place| (edit.lines.0..=edit.lines.1).contains(&within(&self.edited, place.line)))
    }

    /// Whether a fault is that an element is read which nobody has written, of an array that the changed lines of the kernel write.
    fn is_left_unwritten(&self, edit: &Edit, fault: &Fault) -> bool {
        let FaultKind::Uninitialised { object, .. } = &fault.kind else { return false };
        let is_kernel = (self.edited.file, self.edited.line) == (self.kernel.file, self.kernel.line);
        let in_kernel = if fault.file == self.kernel.file { within(&self.kernel, fault.line) } else { u32::MAX };
        is_kernel && self.lines.writes(object, edit.lines) && self.lines.touches(object, in_kernel)
    }
}

/// A line of a file as one of a text of it; 0 if it comes before.
pub fn within(text: &SourceText, line: u32) -> u32 {
    (line + 1).saturating_sub(text.line)
}

/// The second line that a fault names.
pub fn other_line(kind: &FaultKind) -> Option<u32> {
    match kind {
        FaultKind::Race { other_line, .. }
        | FaultKind::DivergentBarrier { other_line, .. }
        | FaultKind::ClusterApart { other_line, .. } => *other_line,
        FaultKind::CopyInFlight { line, .. } | FaultKind::StoreInFlight { line, .. } | FaultKind::ProductInFlight { line, .. } => *line,
        FaultKind::Deadlock { barrier_line, .. } => *barrier_line,
        _ => None,
    }
}
