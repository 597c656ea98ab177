//! How many registers an assembler is to be allowed where loads were moved ahead.
//!
//! `ptxas` gives a kernel as many registers as leave the multiprocessor full (32 on most devices) where it finds a way to do with so few, and the way is to
//! sink loads to their uses: of eight loads in a row it makes load, use, load, use. Told how many registers it may take (`.maxnreg`), it takes what the
//! order needs and keeps it. So a kernel with `batch_loads`, or with `prefetch` of shared arrays, that says nothing of registers itself is given a bound: the
//! fewest that have room for all that is live in the text, rounded up to where a block less would be resident. Prefetched loads of global memory need none:
//! they stand ahead of a barrier, which `ptxas` sinks no load past.
//!
//! Measured with ptxas 12.9 and 13.5 (`tests/tests/issue_order.rs` holds it): more than the bound changes little, less undoes the order.

use super::code::{Reg, RegisterClass, Statement};
use crate::annotations::BATCH_LOADS;
use crate::collections::HashMap;
use crate::ir::{EarlyLoads, Kernel};
use crate::target::Target;
use crate::target::limits::BLOCK_THREADS;
use crate::target::occupancy::register_ladder;

/// Registers that an assembler takes for addresses and constants beyond what is live in the text, and those that the system keeps. With 8, one kernel of
/// the library spills (`tests/tests/no_spills.rs`).
const MARGIN: u32 = 12;

/// How many registers a thread may have so that loads stay early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterBound {
    /// Registers that hold what is live in the text, without the assembler's own.
    pub live: u32,
    /// The most that the assembler may take.
    pub most: u32,
}

/// The bound for a kernel's text: `None` where the source decides, where no loads need it, and where a full multiprocessor has room.
pub fn register_bound(kernel: &Kernel, body: &[Statement], target: &Target) -> Option<RegisterBound> {
    let options = &kernel.options;
    // Those that the assembler sinks where registers are short.
    let is_sunk = |early: &EarlyLoads| *early.annotation == BATCH_LOADS || early.are_fragments(kernel);
    let needs_room = |index: usize| kernel.early_loads.get(index).is_some_and(is_sunk);
    let mut instructions = body.iter().filter_map(Statement::instruction);
    if options.min_blocks.is_some() || options.max_registers.is_some() || !instructions.any(|one| one.early.is_some_and(needs_room)) {
        return None;
    }
    let threads = kernel.started_block().map_or(BLOCK_THREADS, |block| block.iter().product()).clamp(1, BLOCK_THREADS);
    let steps = register_ladder(target.limits, threads);
    let live = live(body);
    let wanted = live + MARGIN;
    let most = steps.iter().copied().find(|step| *step >= wanted).or(steps.last().copied())?;
    (Some(&most) != steps.first()).then_some(RegisterBound { live, most })
}

/// Most registers of 32 bits that are live at once in the order of the text: each from where it is first written to where it is last read, round loops that
/// it is used in.
fn live(body: &[Statement]) -> u32 {
    let mut spans: HashMap<Reg, (usize, usize)> = HashMap::default();
    let mut labels = HashMap::default();
    let mut loops = Vec::new();
    for (n, statement) in body.iter().enumerate() {
        match statement {
            Statement::Label(label) => _ = labels.insert(*label, n),
            Statement::Instruction(one) => {
                for operand in &one.operands {
                    for reg in operand.registers() {
                        spans.entry(*reg).or_insert((n, n)).1 = n;
                    }
                    if let super::code::Operand::Label(label) = operand
                        && let Some(first) = labels.get(label)
                    {
                        loops.push((*first, n));
                    }
                }
            }
            _ => {}
        }
    }
    // Inner loops end first: what they keep alive, the outer ones see.
    for (first, last) in loops {
        for span in spans.values_mut().filter(|span| span.0 < first && span.1 > first && span.1 < last) {
            span.1 = last;
        }
    }
    // What begins and ends at each statement.
    let mut changes = vec![0i64; body.len() + 1];
    for (reg, (first, last)) in spans {
        let words = match reg.class {
            RegisterClass::Predicate => 0,
            RegisterClass::Half | RegisterClass::Word | RegisterClass::Float => 1,
            RegisterClass::Long | RegisterClass::Double => 2,
        };
        changes[first] += words;
        changes[last] -= words;
    }
    let mut now = 0;
    changes
        .iter()
        .map(|change| {
            now += change;
            now
        })
        .max()
        .unwrap_or(0)
        .max(0) as u32
}
