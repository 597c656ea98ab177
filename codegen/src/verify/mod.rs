//! The invariants of the IR. [`verify`] collects every violation; it runs between passes in debug builds and in tests.
//!
//! **Names.** Every value, instruction, block, object and location that is named exists. A block reachable from the body has one
//! owner, an instruction one place. A value's definition names the instruction or block that lists it, at that position.
//! (Where this part is broken the rest is not looked at.)
//!
//! **Structure.** A block's last instruction is a terminator, and no other is. An operand is defined earlier in the same block or in
//! one around it; an instruction's results are not visible in its own blocks. The body has no parameters and does not yield.
//! Blocks of an `If` or a `Block` have no parameters; a `For`'s has the induction variable and its carried values, a `Loop`'s its
//! carried values, of the types of `init`. A `For` gives its carried values. `Break` leaves a `For`, `Loop` or `Block` around
//! it with that one's results; `Continue` goes on with a `For` or `Loop` around it, with its carried values; `Yield` gives the
//! results of an `If` or `Block`, the carried values of a loop.
//!
//! **Types.** As each [`Op`] says; in short, one type for all operands and the result, but for the count of a shift (`u32`), the result of
//! a comparison (`bool`), the condition of a `select`, casts and bit casts. Arithmetic is for integers and floats, logic for
//! integers and `bool`, shifts for integers. `bool` casts to integers, nothing casts to `bool`. An intrinsic's row has a device's
//! body, its type variable is in its class, arguments and results are of the types that it names.
//!
//! **Memory.** Parameters are `Value`, `Global` and `Constant` objects, each once, and all of these are parameters. A `Global` holds a slice,
//! a `Shared` one may (dynamic), nothing else does, at any depth. A table has as many scalars, of its type, as its type has places.
//! The path of an access leads to a scalar; indices are `u32`, or `u64` too where the index type is. 1, 2, 4, 8 or 16 scalars are
//! read or written at once, more than one only where the path ends in an index. Read-only objects are not written. Atomics are on
//! global or shared memory: on integers of 4 or 8 bytes and, but for logic, floats.
//!
//! **The copy engine's** barriers are elements of shared arrays of `u64` that nothing else touches. It copies whole vectors, of a buffer's elements.
//!
//! **Products** have factors that fit each other, and sums that are shared out evenly, up to `schedule`. The sums of one that is left running (V6) go to the next one
//! or to who awaits them.
//!
//! **Roles.** Where a kernel has a producer, one `if` of the body parts the roles. A barrier counts as many arrivals as are made in a phase, all by threads of one role, and the other role waits for
//! it (V1). The work touches what copies fill behind a wait for them, and arrives behind the last touch, in the block that waits (V2). Within the producer there is no barrier of the block (V4).
//!
//! **Annotations** belong to a `For` or a `Loop`, and there are none from `Scheduled` on.
//!
//! **Stages.** Accesses of memory go to an `Address::Path` until `Legal`, to an `Address::Pointer` in `Addressed` only, as values that are pointers are
//! (`Compute::Address`, `Compute::Offset`). A pointer's space is its object's, its offset as wide as it is.

// A new instruction is to make the compiler list what must know it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

use crate::ir::{Block, Inst, Kernel, Location, Op, Stage, Value};
use std::fmt;

mod engine;
mod memory;
mod names;
mod roles;
mod structure;
mod tensor;
#[cfg(test)]
mod tests;
mod types;

/// Whether every pass's result is verified: in debug builds of this workspace, whose `.cargo/config.toml` sets the variable. Who uses the crates compiles
/// the macro in debug, too, and would wait for it at every check.
pub const AFTER_EACH_PASS: bool = cfg!(debug_assertions) && option_env!("WARPWRIGHT_VERIFY").is_some();

/// Something in a kernel that an invariant forbids: a mistake of the compiler, not of its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The instruction, by the kernel's own numbers (`{:#}` prints them).
    pub inst: Option<Inst>,
    /// Its place in the source.
    pub location: Location,
    /// What is wrong, without the instruction.
    pub message: String,
    /// The word of the instruction, for reading.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(inst) = self.inst {
            write!(f, "{inst}")?;
            if self.location != Location::default() {
                write!(f, " (line {}:{})", self.location.line, self.location.column)?;
            }
            write!(f, " `{}`: ", self.what)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Violation {}

/// Checks the invariants of the kernel's stage; gives every violation, in program order.
pub fn verify(kernel: &Kernel) -> Result<(), Vec<Violation>> {
    let mut verifier = Verifier {
        kernel,
        violations: Vec::new(),
        inst: None,
        visible: vec![false; kernel.values.len()],
        scope: Vec::new(),
        owners: Vec::new(),
    };
    verifier.check_names();
    verifier.check_annotations();
    if verifier.violations.is_empty() {
        verifier.check_objects();
        verifier.check_block(kernel.body);
        verifier.check_barriers_are_alone();
        verifier.check_running_products();
        verifier.check_roles();
    }
    if verifier.violations.is_empty() { Ok(()) } else { Err(verifier.violations) }
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    violations: Vec<Violation>,
    /// The instruction being looked at.
    inst: Option<Inst>,
    /// By value: whether it is defined at this point.
    visible: Vec<bool>,
    /// The visible values, in order of definition.
    scope: Vec<Value>,
    /// The instructions around this point that own blocks, outermost first.
    owners: Vec<Inst>,
}

impl Verifier<'_> {
    fn complain(&mut self, message: impl Into<String>) {
        let kernel = self.kernel;
        let data = self.inst.and_then(|inst| kernel.insts.get(inst));
        let location = data.and_then(|data| kernel.locations.get(data.loc)).copied().unwrap_or_default();
        let what = data.map_or_else(String::new, |data| data.op.to_string());
        self.violations.push(Violation { inst: self.inst, location, message: message.into(), what });
    }

    /// Complains unless `holds`; gives it back.
    fn require(&mut self, holds: bool, message: impl FnOnce() -> String) -> bool {
        if !holds {
            self.complain(message());
        }
        holds
    }

    fn check_annotations(&mut self) {
        let kernel = self.kernel;
        for inst in kernel.annotations.keys() {
            let is_loop = kernel.insts.get(*inst).is_some_and(|data| data.op.is_loop());
            self.require(is_loop, || format!("{inst} is annotated and no loop"));
            self.require(kernel.stage == Stage::Built, || format!("{inst} is still annotated"));
        }
    }

    fn op(&self, inst: Inst) -> &Op {
        &self.kernel.insts[inst].op
    }

    fn params(&self, block: Block) -> &[Value] {
        &self.kernel.blocks[block].params
    }
}
