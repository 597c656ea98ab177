//! `register_spill`: more registers are needed than there can be.
//!
//! The need is estimated, and may be two registers too high: a value that is cheap to compute again is not kept. So the lint speaks from three
//! registers over the limit on; `tests/tests/spills_foreseen.rs` holds that to what assemblers do.

use super::{Finding, Lint, Subject, each, what_if};
use crate::estimate::Estimate;
use proc_macro2::Span;
use warpwright_codegen::ir::KernelOptions;
use warpwright_codegen::target::limits::{BLOCK_THREADS, WARP};
use warpwright_codegen::target::occupancy::{Demand, Options, occupancy};

pub(super) const LINT: Lint = Lint {
    name: "register_spill",
    summary: "more registers are needed than there can be",
    of_machine: true,
    page: include_str!("register_spill.md"),
    check,
};

/// How many registers the estimate may be over the limit without a spill.
const MARGIN: u32 = 2;

/// Assemblers give a thread this many, whatever they are allowed. Source: `ptxas` 13.0 with `.maxnreg 16`.
const FEWEST: u32 = 24;

/// What keeps a thread from having more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// `max_registers`.
    Argument,
    /// `min_blocks`.
    Blocks,
    /// The registers of a block of that many threads.
    Block,
    /// The registers of a thread.
    Thread,
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let known = subject.known;
    let spills = |on: &&Estimate| on.registers.needed > on.registers.room.max(FEWEST) + MARGIN;
    let short: Vec<&Estimate> = known.targets.iter().filter(spills).collect();
    let Some(worst) = short.iter().max_by_key(|on| on.registers.needed - on.registers.room) else { return };
    let options = &known.legal.options;
    let (limit, registers) = (cause(options, worst), &worst.registers);
    let figure = |on: &&Estimate| (on.target, format!("about {} against {}", on.registers.needed, on.registers.room));
    let why = match limit {
        Limit::Argument => "`max_registers` allows",
        Limit::Blocks => "`min_blocks` leaves",
        Limit::Block => "blocks of this size leave",
        Limit::Thread => "a thread can have",
    };
    let place = |loc: &warpwright_codegen::ir::Loc| (subject.span(*loc), "most values are live here".to_owned());
    findings.push(Finding {
        span: anchor(subject, limit),
        message: format!(
            "more registers are needed than {why}, and the others go to local memory: {} (estimated)",
            each(short.iter().map(figure))
        ),
        labels: registers.peak.first().map(place).into_iter().collect(),
        help: help(options, limit, worst),
    });
}

/// What keeps the threads of this estimate from having more registers.
fn cause(options: &KernelOptions, on: &Estimate) -> Limit {
    let limit = on.registers.estimate;
    if options.max_registers == Some(limit) {
        Limit::Argument
    } else if limit >= on.target.limits.registers_per_thread {
        Limit::Thread
    } else if options.min_blocks.is_some_and(|blocks| blocks > 1) {
        Limit::Blocks
    } else {
        Limit::Block
    }
}

fn anchor(subject: &Subject<'_>, limit: Limit) -> Span {
    let arguments: &[&str] = match limit {
        Limit::Argument => &["max_registers"],
        Limit::Blocks => &["min_blocks"],
        Limit::Block => &["block"],
        Limit::Thread => return what_if::growth(subject),
    };
    subject.sites.argument(arguments)
}

/// The edit that makes room.
fn help(options: &KernelOptions, limit: Limit, on: &Estimate) -> String {
    let needed = on.registers.needed;
    let demand = |threads: u32| Demand { threads, registers: needed, ..Demand::default() };
    let blocks = |threads: u32| occupancy(on.target.limits, &demand(threads), &Options::default()).blocks;
    let threads = options.block.map_or(BLOCK_THREADS, |block| block.iter().product());
    let fewer = "keep fewer values at once: a smaller `ilp`, `unroll` or array of a thread".to_owned();
    match limit {
        Limit::Argument => match needed.next_multiple_of(8) {
            more if more <= on.target.limits.registers_per_thread => format!("write `max_registers = {more}`, or leave it out"),
            _ => fewer,
        },
        Limit::Blocks => match blocks(threads) {
            0 | 1 => "leave out `min_blocks`".to_owned(),
            some => format!("write `min_blocks = {some}`, or leave it out"),
        },
        Limit::Block => {
            let fits = (1..threads.div_ceil(WARP)).rev().map(|warps| warps * WARP).find(|threads| blocks(*threads) > 0);
            fits.map_or(fewer, |threads| format!("use blocks of at most {threads} threads"))
        }
        Limit::Thread => fewer,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::found_at;

    /// Sums of a thread, all of them live at once.
    fn sums(attribute: &str, count: u32) -> Vec<(String, String, String)> {
        found_at(
            "register_spill",
            &format!(
                "#[kernel({attribute})] fn k(n: usize, x: &Global<f32>, y: &mut Global<f32>) {{
                    let mut sums = [0.0f32; {count}];
                    for j in 0..n {{ #[unroll] for k in 0..{count} {{ sums[k] = sums[k] * 0.5 + x[j * {count} + k]; }} }}
                    #[unroll] for k in 0..{count} {{ y[global_id().x * {count} + k] = sums[k]; }}
                }}"
            ),
        )
    }

    #[test]
    fn what_keeps_a_thread_from_having_more() {
        let said = |why: &str| format!("more registers are needed than {why}, and the others go to local memory: about ");
        let (at, message, help) = sums("block = 256, max_registers = 64", 80).remove(0);
        assert!(at == "max_registers" && message.starts_with(&said("`max_registers` allows")), "{at}: {message}");
        assert!(message.contains(" against 64 on sm_80") && message.ends_with("(estimated)"), "{message}");
        assert!(help.starts_with("write `max_registers = ") && help.ends_with("`, or leave it out"), "{help}");
        let (at, message, help) = sums("block = 256, min_blocks = 4", 80).remove(0);
        assert!(at == "min_blocks" && message.starts_with(&said("`min_blocks` leaves")) && message.contains("against 64"), "{message}");
        assert_eq!(help, "write `min_blocks = 2`, or leave it out");
        // Elements of a thread in blocks of 1024, as the talk's eight that Fermi could not launch.
        let (at, message, help) = sums("block = 1024", 80).remove(0);
        assert!(at == "block" && message.starts_with(&said("blocks of this size leave")) && message.contains("against 64"), "{message}");
        assert_eq!(help, "use blocks of at most 640 threads");
        let (at, message, help) = sums("block = 64", 255).remove(0);
        assert!(at == "unroll" && message.starts_with(&said("a thread can have")) && message.contains("against 255"), "{at}: {message}");
        assert_eq!(help, "keep fewer values at once: a smaller `ilp`, `unroll` or array of a thread");
    }

    #[test]
    fn what_fits_and_what_assemblers_give_all_the_same() {
        assert_eq!(sums("block = 256, max_registers = 64", 40), []);
        assert_eq!(sums("block = 1024", 40), []);
        assert_eq!(sums("block = 64", 200), []);
        // Sixteen registers are allowed, and twenty-four are given.
        assert_eq!(sums("block = 256, max_registers = 16", 8), []);
    }
}
