//! What can be wrong with a text, and what can go wrong while it runs.

use std::fmt::{Display, Formatter};

/// Why a text is no module that can be executed here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line of the text, from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
}

impl Display for ParseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// The kinds of faults, as drivers tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// The launch itself is not possible: nothing ran.
    BadLaunch,
    /// An access outside of all allocations of its state space.
    IllegalAddress,
    /// An address that is no multiple of what is accessed.
    Misaligned,
    /// `__assertfail` was called.
    Assert,
    /// `trap`.
    Trap,
    /// All threads wait, and nothing can end it.
    Deadlock,
    /// More instructions were executed than the launch allows.
    TooLong,
    /// The instruction has no meaning in this state: PTX leaves it undefined.
    Undefined,
}

/// What stopped a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What kind it is.
    pub kind: FaultKind,
    /// What happened, with the instruction, its line, the thread and the block.
    pub message: String,
    /// The line of the text, from 1; 0 if it is about no instruction.
    pub line: u32,
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// What an instruction stumbled over, before it is said where.
#[derive(Debug)]
pub(crate) struct Stumble {
    pub(crate) kind: FaultKind,
    pub(crate) what: String,
}

impl Stumble {
    pub(crate) fn new(kind: FaultKind, what: impl Into<String>) -> Box<Stumble> {
        Box::new(Stumble { kind, what: what.into() })
    }

    pub(crate) fn undefined(what: impl Into<String>) -> Box<Stumble> {
        Stumble::new(FaultKind::Undefined, what)
    }
}

/// The result of what may stumble. The error is boxed: it is rare, and results are passed for each instruction.
pub(crate) type Step<T = ()> = Result<T, Box<Stumble>>;
